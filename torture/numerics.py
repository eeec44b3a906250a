"""Numerics: the same problem in other units, rows of very different lengths, single precision on many rows.

The objective in double precision is compared with liblinear's, and so are the labels. A deviation needs a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from scipy.special import softplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from torture.outcomes import ANSWERED, REFUSED, Row
from torture.tables import CONTENTS, N_CLASSES, N_SOURCE, N_TARGET, rows
from torture.worker import run_cases

SEPARATOR = " | "
LOSSES, PATHS, KINDS = ("hinge", "log_loss"), ("gram", "rows"), ("float64", "float32", "CSR", "CSR float32")
UNITS = (1e-12, 1e-6, 1e6, 1e12)
OFF = 0.01  # of the objective
TOL = 1e-3  # of the margins; beside the objective, each row may cost so much more
MANY = 200_000
UNEVEN = ("lengths of 1e-3 to 1e3", "lengths of 1e-6 to 1e6")


def put(X: Any, kind: str) -> Any:
    X = X.astype(np.float32 if "32" in kind else np.float64)
    return sp.csr_array(X) if kind.startswith("CSR") else X


def objective(coef: Any, X: Any, y: Any, C: float, loss: str) -> float:
    """What is minimized, in double precision, summed over the one-vs-rest problems."""
    X, coef = (np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64), np.asarray(coef, dtype=np.float64))
    positives = np.arange(len(coef)) if len(coef) > 1 else np.array([1])
    margins = np.where(y[:, None] == positives, 1.0, -1.0) * (X @ coef.T)
    losses = np.maximum(0.0, 1.0 - margins) if loss == "hinge" else softplus(-margins)
    return float(0.5 * (coef**2).sum() + C * losses.sum())


def liblinear(X: Any, y: Any, C: float, loss: str) -> Any:
    """Coefficients by liblinear, to a tight tolerance in double precision; zeros where it refuses the numbers."""
    params: dict[str, Any] = {"C": C, "fit_intercept": False, "tol": 1e-6, "max_iter": 20_000, "random_state": 0}
    model = LinearSVC(loss="hinge", **params) if loss == "hinge" else LogisticRegression(solver="liblinear", **params)
    positives = np.unique(y) if len(np.unique(y)) > 2 else np.array([1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.vstack([model.fit(X, y == positive).coef_.copy() for positive in positives])
        except ValueError:
            return np.zeros((len(positives), X.shape[1]))


def _against_liblinear(X: Any, y: Any, C: float, loss: str, path: str) -> str:
    from adrem import AdREM
    from adrem.exceptions import PrecisionWarning

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            params: dict[str, Any] = {"loss": loss, "C": C, "machine": path}
            model = AdREM(**params, tol=TOL, random_state=0).fit(X, y)
        except ValueError:
            return REFUSED
    warned = any(issubclass(item.category, (PrecisionWarning, ConvergenceWarning)) for item in said)
    exact = X.astype(np.float64)
    ours = objective(model.coef_[0], exact, y, C, loss)
    best = objective(liblinear(exact, y, C, loss), exact, y, C, loss)
    if ours <= (1 + OFF) * best + TOL * C * X.shape[0] * len(model.coef_[0]) or warned:
        return ANSWERED
    return f"silent: the objective is {ours:.6g}, liblinear's {best:.6g}"


def in_other_units(loss: str, path: str, kind: str, unit: str) -> str:
    """The same problem with the features multiplied, and C divided by the square: the same labels, smaller weights."""
    from adrem import AdREM

    X, y, X_target = rows(N_SOURCE, 1), np.arange(N_SOURCE) % N_CLASSES, rows(N_TARGET, 2)
    factor = float(unit)
    params: dict[str, Any] = {
        "loss": loss,
        "machine": path,
        "tol": TOL,
        "n_iter": 5,
        "n_estimators": 3,
        "random_state": 0,
    }
    plain = AdREM(C=0.1, **params).fit(put(X, kind), y, X_target=put(X_target, kind))
    other = AdREM(C=0.1 / factor**2, **params).fit(put(factor * X, kind), y, X_target=put(factor * X_target, kind))
    if not np.array_equal(plain.transduction_, other.transduction_):
        return f"{np.mean(plain.transduction_ != other.transduction_):.0%} of the labels differ"
    if not np.allclose(other.coef_ * factor, plain.coef_, rtol=OFF, atol=OFF * np.abs(plain.coef_).max()):
        return "other weights"
    return ANSWERED


def of_all_lengths(loss: str, path: str, kind: str, what: str) -> str:
    """Rows of very different lengths, and other bad contents, of the source alone."""
    X, y = rows(N_SOURCE, 1), np.arange(N_SOURCE) % N_CLASSES
    if what in UNEVEN:
        reach = 3 if what == UNEVEN[0] else 6
        X *= np.logspace(-reach, reach, N_SOURCE)[RandomState(0).permutation(N_SOURCE), None]
    else:
        with np.errstate(all="ignore"):
            X = CONTENTS[what](X)
    with np.errstate(all="ignore"):
        table = put(X, kind)
    return _against_liblinear(table, y, 1.0, loss, path)


def many_rows(loss: str, path: str, kind: str, _: str) -> str:
    """Two hundred thousand rows, in single precision as in double."""
    rng = RandomState(0)
    y = rng.randint(2, size=MANY)
    X = (rng.standard_normal((MANY, 20)) + 0.3 * y[:, None]).astype(np.float32)
    return _against_liblinear(put(X, kind), y, 0.01, loss, path)


CHECKS: dict[str, Callable[[str, str, str, str], str]] = {
    "units": in_other_units,
    "lengths": of_all_lengths,
    "many": many_rows,
}


def all_cases(*, full: bool) -> dict[str, list[str]]:
    every = list(product(LOSSES, PATHS, KINDS))
    finite = [name for name in CONTENTS if "NaN" not in name and "infinity" not in name]
    kinds = ("float32", "float64", "CSR float32", "CSR") if full else ("float32", "CSR float32")
    return {
        "features scaled by 1e-12 to 1e12, C adjusted": [
            SEPARATOR.join(("units", *one, str(unit))) for one in every for unit in UNITS
        ],
        "rows and columns of very different scales, outliers": [
            SEPARATOR.join(("lengths", *one, what)) for one in every for what in (*UNEVEN, *finite)
        ],
        f"{MANY} rows compared with liblinear in double precision": [
            SEPARATOR.join(("many", loss, "rows", kind, "")) for loss in LOSSES for kind in kinds
        ],
    }


def serving(_: str) -> Callable[[str], str]:
    def outcome_of(case: str) -> str:
        kind, *what = case.split(SEPARATOR)
        return CHECKS[kind](*what)

    return outcome_of


def run(*, full: bool) -> list[Row]:
    return [
        Row.of("numerics", what, run_cases("torture.numerics", "all", cases))
        for what, cases in all_cases(full=full).items()
    ]
