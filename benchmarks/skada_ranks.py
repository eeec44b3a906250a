"""Rank our methods among those that SKADA-Bench published on all of the table's six sets.

    adrem bench run skada-bench --methods adrem-svm,committee --format csv > skada.csv
    python benchmarks/skada_ranks.py skada.csv

Each of our methods is ranked alone among the published ones, by the mean accuracy on each set. To reproduce the
published "source only", run ``--methods skada_ranks:SourceSVC,skada_ranks:SourceLogistic`` with this folder in
``PYTHONPATH``: SKADA-Bench takes the first on the simulated sets, the second on the mushrooms, and XGBoost on phishing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from adrem.benchmark.protocols import find_protocols
from adrem.benchmark.published import AVERAGE, published_elsewhere
from adrem.benchmark.results import read_results

TABLE = "skada-bench"
ORACLE = "target (oracle)"
Accuracies = dict[str, list[float]]  # by method, one for each set


class SourceSVC(SVC):
    """SVC of scikit-learn, fitted to the source."""

    def fit(self, X: Any, y: Any, X_target: Any = None) -> Self:  # noqa: ARG002 - the target is not used
        super().fit(X, y)
        return self


class SourceLogistic(LogisticRegression):
    """LogisticRegression of scikit-learn, fitted to the source."""

    def fit(self, X: Any, y: Any, X_target: Any = None) -> Self:  # noqa: ARG002 - the target is not used
        super().fit(X, y)
        return self


def published() -> Accuracies:
    """The methods that were published on all sets, in the order of `find_protocols`."""
    sets = [protocol.features for protocol in find_protocols(TABLE)]
    found: dict[str, dict[str, float]] = {}
    for name in sets:
        for line in published_elsewhere(TABLE, name, [], set(sets)):
            found.setdefault(line.method, {})[name] = line.values[AVERAGE]
    return {
        method: [values[name] for name in sets]
        for method, values in found.items()
        if len(values) == len(sets) and method != ORACLE
    }


def ours(text: str) -> Accuracies:
    """The methods of a table of results that were run on all sets."""
    results = {result.protocol.features: result for result in read_results(text) if result.protocol.table == TABLE}
    sets = [protocol.features for protocol in find_protocols(TABLE)]
    methods = dict.fromkeys(method.name for result in results.values() for method in result.methods)
    found = {}
    for method in methods:
        cells = [results[name].cells.get((method, AVERAGE)) if name in results else None for name in sets]
        accuracies = [cell.accuracy for cell in cells if cell is not None]
        if len(accuracies) == len(sets):
            found[method] = accuracies
        else:
            print(f"{method} was run on {len(accuracies)} of {len(sets)} sets: not ranked", file=sys.stderr)
    return found


def mean_ranks(accuracies: Accuracies) -> dict[str, float]:
    """The mean over the sets of the rank of each method; 1 is the best, and ties share their ranks."""
    table = np.round(np.array(list(accuracies.values())), 1)  # published values have one decimal
    ranks = np.mean([rankdata(-column) for column in table.T], axis=0)
    return dict(zip(accuracies, ranks.tolist(), strict=True))


def main() -> None:
    sets = [protocol.features for protocol in find_protocols(TABLE)]
    known = published()
    print(f"{'method':<30}" + "".join(f"{name:>15}" for name in sets) + f"{'mean rank':>12}")
    for method, rank in sorted(mean_ranks(known).items(), key=lambda item: item[1]):
        print(f"{method:<30}" + "".join(f"{value:15.1f}" for value in known[method]) + f"{rank:12.2f}")
    found = ours(Path(sys.argv[1]).read_text("utf-8")) if len(sys.argv) > 1 else {}
    for method, accuracies in found.items():
        ranks = mean_ranks({**known, method: accuracies})
        best = min(known, key=lambda name: ranks[name])
        print(f"{method:<30}" + "".join(f"{value:15.1f}" for value in accuracies) + f"{ranks[method]:12.2f}", end="")
        print(f" of {len(ranks)}; the best of the others: {best}, {ranks[best]:.2f}")


if __name__ == "__main__":
    main()
