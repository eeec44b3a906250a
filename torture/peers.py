"""The same inputs to other libraries: skada's CORAL and scikit-learn's self-training, in the table form all accept."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from torture.judging import judge
from torture.outcomes import PEERS, Row
from torture.tables import (
    CONTENTS,
    FAITHFUL,
    FORMS,
    LABELS,
    N_CLASSES,
    N_NEW,
    N_SOURCE,
    N_TARGET,
    TIED,
    UnfitError,
    rows,
)
from torture.worker import run_cases

SEPARATOR = " | "
DOMAIN = np.repeat([1, -2], [N_SOURCE, N_TARGET])
GOOD_LABELS = ("whole numbers", "a list", "strings as objects", "whole floats", "a Series", "truth values", "negative")


class Contestant:
    """A classifier by its name, fitted to one table with the domains of its rows."""

    def __init__(self, who: str) -> None:
        self.who = who
        self.model = {"adrem": _adrem, "skada": _skada, "self-training": _self_training}[who]()

    def fit(self, X: Any, y: Any) -> Contestant:
        with_domain = {} if self.who == "self-training" else {"sample_domain": DOMAIN}
        self.model.fit(X, y, **with_domain)
        return self

    def predict(self, X: Any) -> Any:
        if self.who == "skada":
            return self.model.predict(X, sample_domain=np.full(N_NEW, -2))
        return self.model.predict(X)


def _adrem() -> Any:
    from adrem import AdREM

    return AdREM(C=1.0, n_iter=3, n_estimators=3, random_state=0)


def _skada() -> Any:
    import skada

    return skada.CORAL()


def _self_training() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(LogisticRegression())


def _stacked(change: Callable[[Any], Any]) -> Any:
    return change(np.vstack([rows(N_SOURCE, 1), rows(N_TARGET, 2)]))


def _labels(make: Callable[[Any], Any]) -> Any:
    """Labels of the source, and the mark -1 for the target, as scikit-learn and skada want it."""
    own = make(np.arange(N_SOURCE) % N_CLASSES)
    try:
        of_source = np.asarray(own)
    except Exception as error:  # not even numpy takes them
        raise UnfitError from error
    if of_source.shape != (N_SOURCE,):
        raise UnfitError
    plain = of_source.dtype.kind in "iuf"
    mark = np.full(N_TARGET, -1, dtype=of_source.dtype if plain and of_source.dtype.kind != "u" else object)
    y = np.concatenate([of_source if plain else of_source.astype(object), mark])
    return y.tolist() if isinstance(own, list) else y


def ingredients(kind: str, what: str, content: str = "as it is") -> tuple[Any, Any, Any]:
    with np.errstate(all="ignore"):
        if kind == "labels":
            return _stacked(np.copy), _labels(LABELS[what]), rows(N_NEW, 3)
        X = FORMS[what](_stacked(CONTENTS[content]))
        return X, _labels(np.copy), FORMS[what](rows(N_NEW, 3))


def all_cases() -> dict[str, list[str]]:
    """Cases whose input is good, though in an unusual form, and those whose input is bad."""
    good = [("table", form, "as it is") for form in ("float64", "float32", *FAITHFUL)]
    bad = [("table", form, "as it is") for form in FORMS if form not in (*FAITHFUL, "float64", "float32")]
    bad += [("table", form, content) for form in ("float64", "CSR") for content in CONTENTS if content != "as it is"]
    labels = [("labels", name) for name in LABELS if _fits(("labels", name))]
    return {
        "good rows in other forms": [SEPARATOR.join(case) for case in good if _fits(case)],
        "good labels of other kinds": [SEPARATOR.join(case) for case in labels if case[1] in GOOD_LABELS],
        "bad rows": [SEPARATOR.join(case) for case in bad if _fits(case)],
        "bad labels": [SEPARATOR.join(case) for case in labels if case[1] not in GOOD_LABELS],
    }


def _fits(case: tuple[str, ...]) -> bool:
    try:
        ingredients(*case)
    except Exception:  # there is no such table
        return False
    return True


def serving(who: str) -> Callable[[str], str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Contestant(who).fit(*ingredients("table", "float64")[:2])
    return lambda case: outcome_of(who, case)


def outcome_of(who: str, case: str) -> str:
    kind, *what = case.split(SEPARATOR)
    X, y, X_new = ingredients(kind, *what)

    def call() -> str | None:
        found = Contestant(who).fit(X, y).predict(X_new)
        known = {str(label) for label in np.asarray(y[:N_SOURCE]).tolist()}
        if not {str(label) for label in np.asarray(found).tolist()} <= known | {"-1"}:
            return "gave labels that are no classes"
        if kind == "table" and what[0] in FAITHFUL and what[1] not in TIED:
            plain = ingredients("table", "float64", what[1])
            expected = Contestant(who).fit(*plain[:2]).predict(plain[2])
            return None if np.mean(np.asarray(found) == np.asarray(expected)) >= 0.8 else "gave other labels"
        return None

    return judge(call, (X, y, X_new), ours=False)


def run(*, full: bool) -> list[Row]:  # noqa: ARG001
    names = {
        "adrem": f"adrem {version('adrem')}",
        "skada": f"skada {version('skada')}, CORAL",
        "self-training": f"scikit-learn {version('scikit-learn')}, SelfTrainingClassifier",
    }
    return [
        Row.of(PEERS, f"{what}, {names[who]}", run_cases("torture.peers", who, cases))
        for what, cases in all_cases().items()
        for who in names
    ]
