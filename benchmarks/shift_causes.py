"""Whether the committee finds out what explains a shift: class shares, means and scales of the columns, or neither.

Tables are cut into two random halves, and the second is changed: not at all, by leaving rows of some classes out, by
other means and scales of its columns, or by both. The rules were chosen on the simulated shifts of SKADA-Bench, and on
none of these tables but one of the hospitals (C), which showed that small tables can't tell.

ADREM_DATA=... python benchmarks/shift_causes.py [--seeds 5]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adrem.base.validation import Domains
from adrem.committee.shares import estimate_shares
from adrem.committee.shift import compare_domains
from adrem.datasets import load

MAX_ROWS = 4000
CHANGES = ("none", "shares", "scales", "both")
# Data sets, a domain that is cut, and one that `pair` needs beside it.
TABLES = (
    ("heart-disease", "C", "H"),
    ("heart-disease", "H", "C"),
    ("phishing", "N", "I"),
    ("mushrooms", "E", "T"),
    ("gas-sensor-drift", "2", "3"),
    ("gas-sensor-drift", "6", "8"),
)


def tables() -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Tables of scikit-learn, and single domains of data sets."""
    found = {
        own.__name__.removeprefix("load_"): own(return_X_y=True)
        for own in (load_breast_cancer, load_wine, load_iris, load_digits)
    }
    for name, domain, other in TABLES:
        pair = load(name).pair(domain, other)
        found[f"{name}, {domain}"] = (np.asarray(pair.X_source, float), pair.y_source)
    return found


def cut(X: NDArray[Any], y: NDArray[Any], change: str, rng: np.random.Generator) -> Domains:
    """Return two halves of a table, the second changed."""
    classes, labels = np.unique(y, return_inverse=True)
    order = rng.permutation(len(labels))[:MAX_ROWS]
    source, target = np.array_split(order, 2)
    X_target = X[target]
    if change in ("shares", "both"):
        kept_part = 0.5 * rng.random(len(classes))
        kept_part[rng.permutation(len(classes))[: max(1, len(classes) // 2)]] = 1.0
        X_target = X_target[rng.random(len(target)) < kept_part[labels[target]]]
    if change in ("scales", "both"):
        n_columns = X.shape[1]
        X_target = X_target * rng.uniform(0.6, 1.6, n_columns) + X.std(axis=0) * rng.normal(0.0, 0.7, n_columns)
    return Domains(X[source], labels[source], np.ones(len(source)), X_target, classes)


def answer(domains: Domains, seed: int) -> str:
    """Return what the committee takes for the cause."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    held_out = cross_val_predict(model, domains.X_source, domains.labels, cv=3, method="predict_proba")
    of_target = model.fit(domains.X_source, domains.labels).predict_proba(domains.X_target)
    shares = estimate_shares(held_out, of_target, domains)
    difference = compare_domains(domains, shares, np.random.SeedSequence(seed))
    return "shares" if difference.is_of_shares else "scales" if difference.is_of_scales else "neither"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    n_seeds = parser.parse_args().seeds
    print(f"{'table':32}" + "".join(f"{change:>28}" for change in CHANGES))
    for name, (X, y) in tables().items():
        cells = []
        for change in CHANGES:
            answers = [answer(cut(X, y, change, np.random.default_rng(seed)), seed) for seed in range(n_seeds)]
            counts = {own: answers.count(own) for own in ("shares", "scales", "neither")}
            cells.append(", ".join(f"{own} {count}" for own, count in counts.items() if count))
        print(f"{name:32}" + "".join(f"{cell:>28}" for cell in cells), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
