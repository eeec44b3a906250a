"""Bad input: tables, labels, weights, domains and parameters of every kind, given to `fit` and `predict`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import RandomState

from torture.judging import judge
from torture.outcomes import Row
from torture.tables import (
    CONTENTS,
    DOMAINS,
    FAITHFUL,
    FORMS,
    LABELS,
    N_CLASSES,
    N_NEW,
    N_SOURCE,
    N_TARGET,
    TIED,
    WEIGHTS,
    UnfitError,
    rows,
)
from torture.worker import run_cases

QUICK = {"C": 1.0, "n_iter": 3, "n_estimators": 3, "random_state": 0}
# Ways to fit Ad-REM that take paths of their own through the code.
WAYS: dict[str, dict[str, Any]] = {
    "AdREM": {},
    "AdREM, rows": {"machine": "rows"},
    "AdREM, log loss": {"loss": "log_loss"},
    "AdREM, log loss, rows": {"loss": "log_loss", "machine": "rows"},
    "AdREM, C chosen": {"C": "cv"},
    "AdREM, intercept": {"fit_intercept": True},
    "AdREM, rbf": {"kernel": "rbf"},
    "AdREM, shares estimated": {"class_prior": "estimate"},
    "AdREM, neighbours": {"neighbors": 3},
    "AdREM, refined": {"refine": 5},
}
BASELINES = (
    "SourceOnly", "HardEM", "SoftEM", "CORAL", "SubspaceAlignment", "GFK", "TCA", "FLDA", "DASVM", "SCL", "SPL",
    "ImportanceWeighting", "KMM",
)  # fmt: skip
PARAMETERS: dict[str, list[Any]] = {
    "C": [0, -1, np.nan, np.inf, 1e-300, 1e300, "best", [], [1.0, -1.0], None, "1.0", 1j, [[1.0]], True],
    "n_iter": [0, -1, 2.5, "many", None, 10**6 * 0 + 1],
    "n_estimators": [0, -3, 1.5, None, "eleven", 1],
    "loss": ["squared", None, 3, ["hinge"]],
    "class_prior": ["equal", [0.5, 0.5], [1, 1, 1], [-1, 1, 1], {0: 1.0}, np.nan, [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],
    "random_state": ["seed", -1, 2.5, 2**40, None, RandomState(0), np.random.default_rng(0)],
    "tol": [0, -1, np.nan, 1e-300, 1e300],
    "kernel": ["rbf", "sigmoid", "precomputed", 3, lambda *_: np.nan],
    "neighbors": [0, -1, 10**9, "all", True, 2.5],
    "refine": [0, -1, 10**3, "yes"],
    "n_jobs": [0, 1, 2, -1, "all", 2.5],
    "memory_limit": [0, 1, -5, "1 GB"],
    "fit_intercept": ["yes", 2, None],
    "nonsense": [1],
}


def estimator_of(way: str, **params: Any) -> Any:
    """An unfitted estimator by the name of its way, quick and seeded."""
    from adrem import AdREM, Committee, baselines

    if way == "Committee":
        return Committee(**{"n_iter": 2, "n_estimators": 2, "random_state": 0, **params})
    if way in WAYS:
        return AdREM(**{**QUICK, **WAYS[way], **params})
    usual = {"random_state": 0} if way == "SPL" else {"C": 1.0, "random_state": 0}
    return getattr(baselines, way)(**{**usual, **params})


def ingredients(**changed: Any) -> dict[str, Any]:
    """Arguments of a fit and rows to predict, good where nothing else is given."""
    good = {"X": rows(N_SOURCE, 1), "y": np.arange(N_SOURCE) % N_CLASSES, "X_target": rows(N_TARGET, 2)}
    return {**good, "X_new": rows(N_NEW, 3), **changed}


def table_case(form: str, content: str) -> dict[str, Any]:
    change, put = CONTENTS[content], FORMS[form]
    return {
        name: value if name == "y" else put(value if name == "X_new" else change(value))
        for name, value in ingredients().items()
    }


def target_case(form: str) -> dict[str, Any]:
    return ingredients(X_target=FORMS[form](rows(N_TARGET, 2)))


def new_case(form: str, content: str) -> dict[str, Any]:
    return ingredients(X_new=FORMS[form](CONTENTS[content](rows(N_NEW, 3))))


def label_case(labels: str) -> dict[str, Any]:
    return ingredients(y=LABELS[labels](np.arange(N_SOURCE) % N_CLASSES))


def weight_case(weights: str) -> dict[str, Any]:
    return ingredients(sample_weight=WEIGHTS[weights](N_SOURCE))


def domain_case(domains: str) -> dict[str, Any]:
    both = ingredients()
    X, y = np.vstack([both["X"], both["X_target"]]), np.append(both["y"], np.zeros(N_TARGET, dtype=int))
    return {"X": X, "y": y, "sample_domain": DOMAINS[domains](N_SOURCE, N_TARGET), "X_new": both["X_new"]}


MAKERS: dict[str, Callable[..., dict[str, Any]]] = {
    "table": table_case,
    "target": target_case,
    "new rows": new_case,
    "labels": label_case,
    "weights": weight_case,
    "domains": domain_case,
}
SEPARATOR = " | "


def all_cases() -> list[str]:
    """Names of cases: a kind, a way to fit, and what is fed."""
    every = [*WAYS, *BASELINES]
    cases: list[tuple[str, ...]] = [("table", "AdREM", form, content) for form in FORMS for content in CONTENTS]
    few = ("float64", "float32", "CSR", "CSR, entries in parts")
    cases += [("table", way, form, content) for way in every[1:] for form in few for content in CONTENTS]
    cases += [("table", "Committee", form, content) for form in ("float64", "CSR") for content in CONTENTS]
    cases += [("table", way, form, "as it is") for way in (*every, "Committee") for form in FORMS if form not in few]
    cases += [("target", "AdREM", form) for form in FORMS]
    cases += [("new rows", "AdREM", form, content) for form in FORMS for content in CONTENTS]
    cases += [("new rows", way, form, "as it is") for way in every[1:] for form in FORMS]
    cases += [("labels", way, labels) for way in (*every, "Committee") for labels in LABELS]
    cases += [("weights", way, weights) for way in every for weights in WEIGHTS]
    cases += [("domains", way, domains) for way in every for domains in DOMAINS]
    cases += [("parameter", "AdREM", f"{name}={k}") for name, values in PARAMETERS.items() for k in range(len(values))]
    return [SEPARATOR.join(case) for case in cases if _fits(case)]


def _fits(case: tuple[str, ...]) -> bool:
    try:
        if case[0] != "parameter":
            with np.errstate(all="ignore"):
                MAKERS[case[0]](*case[2:])
    except (UnfitError, ImportError, ValueError, TypeError):
        return False  # there is no such table
    return True


def serving(way: str) -> Callable[[str], str]:  # noqa: ARG001
    """What answers for a case in a process of its own."""
    for name in WAYS:  # compile what there is to compile, so that time is that of the case
        _fit(estimator_of(name), ingredients())
    return outcome_of


def outcome_of(name: str) -> str:
    """Make a case, run it, and judge what comes of it."""
    kind, way, *what = name.split(SEPARATOR)
    params = {}
    if kind == "parameter":
        parameter, _, k = what[0].partition("=")
        params = {parameter: PARAMETERS[parameter][int(k)]}
        given = ingredients()
    else:
        with np.errstate(all="ignore"):
            given = MAKERS[kind](*what)
    reference = None
    # For sparse rows a committee has other kinds.
    if kind == "table" and way != "Committee" and what[0] in FAITHFUL and what[1] not in TIED:
        with np.errstate(all="ignore"):
            reference = table_case("float64", what[1])
    return judge(lambda: _wrong(way, params, given, reference), given)


def _wrong(way: str, params: dict[str, Any], given: dict[str, Any], reference: dict[str, Any] | None) -> str | None:
    model, warned = _fit_warned(estimator_of(way, **params), given)
    finding = _wrong_answer(model, given)
    if finding is None and reference is not None:
        expected, also_warned = _fit_warned(estimator_of(way, **params), reference)
        same = np.mean(model.transduction_ == expected.transduction_)
        # Where rounding decides, any order of the same sums gives other labels: both forms have to say so.
        if same < 0.9 and not (warned and also_warned):
            return f"{100 * same:.0f} % of the labels are those of the same numbers as a plain table"
    return finding


def _fit_warned(model: Any, given: dict[str, Any]) -> tuple[Any, bool]:
    """A fitted model, and whether it warned that its labels are not determined by the numbers."""
    from adrem.exceptions import PrecisionWarning

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = _fit(model, given)
    for item in said:
        warnings.warn_explicit(item.message, item.category, item.filename, item.lineno)
    return model, any(issubclass(item.category, PrecisionWarning) for item in said)


def _fit(model: Any, given: dict[str, Any]) -> Any:
    return model.fit(**{name: value for name, value in given.items() if name != "X_new"})


def _wrong_answer(model: Any, given: dict[str, Any]) -> str | None:
    classes, X_new = model.classes_, given["X_new"]
    labels, proba = model.predict(X_new), model.predict_proba(X_new)
    if not (np.isin(labels, classes).all() and np.isin(model.transduction_, classes).all()):
        return "gave labels that are no classes"
    if not np.all(np.isfinite(proba)) or not np.allclose(proba.sum(axis=1), 1.0):
        return "gave shares that are not finite or do not sum to one"
    if not np.all(np.isfinite(model.decision_function(X_new))):
        return "gave scores that are not finite"
    if given.get("X_target") is not None and not np.array_equal(model.predict(given["X_target"]), model.transduction_):
        return "predict differs from transduction_"
    return None


def run(*, full: bool) -> list[Row]:
    """Every case, or every tenth, a row a kind."""
    cases = all_cases()[:: 1 if full else 10]
    outcomes = run_cases("torture.inputs", "all", cases)
    kinds = {
        "table": "tables to fit", "target": "target tables", "new rows": "tables to predict", "labels": "labels",
        "weights": "weights", "domains": "domains", "parameter": "parameters",
    }  # fmt: skip
    return [
        Row.of("bad input", title, [pair for pair in outcomes if pair[0].split(SEPARATOR)[0] == kind])
        for kind, title in kinds.items()
    ]
