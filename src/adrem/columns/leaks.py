"""Whether a column that alone gives the label away in the source can be trusted in the target.

Such a column may be the best one of the table, or a leak: for example a code that was written with the label, and means
nothing in the target. The other columns tell which. In the source they predict the same labels as the column. If they
do in the target too, the column has kept its meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.intp]
# Number of intervals into which numbers are divided.
N_INTERVALS = 10
# A column has kept its meaning if its agreement with the others in the target, as Cohen's kappa, is at least this part
# of that in the source.
LEAST_PART = 0.5


def confirmed(
    suspects: Iterable[str], values: Mapping[str, list[NDArray[np.generic]]], y: NDArray[np.generic]
) -> set[str]:
    """Return the suspects that the other columns confirm in the target; `values` are those of both files by column."""
    suspects = list(suspects)
    codes = {name: _codes(pair) for name, pair in values.items()} if suspects else {}
    return {name for name in suspects if len(codes) > 1 and _is_confirmed(name, codes, y)}


def _is_confirmed(name: str, codes: Mapping[str, tuple[Codes, Codes]], y: NDArray[np.generic]) -> bool:
    from sklearn.metrics import cohen_kappa_score

    own = _predict([codes[name]], y)
    others = _predict([pair for other, pair in codes.items() if other != name], y)
    at_home, in_target = (
        0.0 if len(np.unique(first)) == 1 else float(cohen_kappa_score(first, second))
        for first, second in zip(own, others, strict=True)
    )
    return in_target > 0.0 and in_target >= LEAST_PART * at_home


def _predict(columns: list[tuple[Codes, Codes]], y: NDArray[np.generic]) -> list[NDArray[np.generic]]:
    """Return the labels of both files by naive Bayes on some columns, learnt from the source."""
    from sklearn.naive_bayes import CategoricalNB

    source, target = (np.column_stack(own) for own in zip(*columns, strict=True))
    sizes = np.maximum(source.max(axis=0), target.max(axis=0)) + 1
    model = CategoricalNB(min_categories=sizes).fit(source, y)
    return [model.predict(own) for own in (source, target)]


def _codes(pair: list[NDArray[np.generic]]) -> tuple[Codes, Codes]:
    """Return codes of the values of a column in both files: intervals of numbers, and one for missing values."""
    both = np.concatenate(pair)
    if both.dtype == object:
        codes = np.unique(np.array(["" if value is None else str(value) for value in both]), return_inverse=True)[1]
    else:
        finite = np.isfinite(both)
        parts = np.linspace(0, 1, N_INTERVALS + 1)[1:-1] if finite.any() else np.zeros(0)
        edges: NDArray[np.float64] = np.quantile(both[finite], parts) if len(parts) else parts
        codes = np.where(finite, 1 + np.searchsorted(edges, both), 0)
    return codes[: len(pair[0])], codes[len(pair[0]) :]
