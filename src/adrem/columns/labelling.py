"""Labels for tables: fit on two of them, apply to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem._classifier import DomainClassifier
from adrem._persistence import Bundle
from adrem._types import Matrix
from adrem.columns.pair import Pair
from adrem.columns.reading import FileTable
from adrem.columns.recipe import Recipe, Report
from adrem.diagnostics._diagnosis import Examination, confidence_of, examine

if TYPE_CHECKING:
    from polars import DataFrame

SAID = 6  # columns of a row that has no text


@dataclass(frozen=True)
class Labels:
    """For every row: its label, how sure it is, and what the classifier of the source alone says."""

    label: NDArray[Any]
    confidence: NDArray[np.float64]
    source_label: NDArray[Any]

    @property
    def changed(self) -> NDArray[np.bool_]:
        changed: NDArray[np.bool_] = self.label != self.source_label
        return changed


def adapt_pair(pair: Pair, model: Any, about: dict[str, Any]) -> tuple[Bundle, Examination]:
    """Fit a model to a pair, and examine it beside the classifier of its source alone.

    Of several that it chose from, only the model that was taken is kept.
    """
    model.fit(pair.X_source, pair.y_source, X_target=pair.X_target)
    model = getattr(model, "best_estimator_", model)
    examined = examine(model, pair.X_source, pair.y_source, pair.X_target, pair.feature_names)
    plain = examined.plain
    return Bundle(model, plain.coef_[0], plain.intercept_[0], pair.recipe, pair.scales, about), examined


def label_rows(bundle: Bundle, rows: Matrix) -> Labels:
    """Labels of rows that are made and scaled as the model's were."""
    from adrem.machines import decide

    model: DomainClassifier = bundle.model
    label = model.predict(rows)
    scores = np.asarray(rows @ bundle.source_coef.T) + bundle.source_intercept
    return Labels(label, confidence_of(model, rows), model.classes_[decide(scores)])


def make_rows(bundle: Bundle, table: FileTable) -> tuple[Matrix, Report]:
    """Rows of a new file, made as the model's were."""
    if bundle.recipe is not None and table.frame is not None:
        return bundle.recipe.apply(table.frame)
    if bundle.recipe is not None or table.rows is None:
        wanted = "rows of numbers" if bundle.recipe is None else "columns"
        raise ValueError(f"The model was learnt from files with {wanted}, and {table.name} is not one.")
    n_features = table.rows.shape[1]
    if n_features != len(bundle.scales):
        raise ValueError(f"{table.name} has {n_features} features, the model was learnt from {len(bundle.scales)}.")
    return table.rows / bundle.scales, Report()


class RowTexts(Sequence[str]):
    """What each row of a table says, put together when it is asked for: its name, its texts, else its values."""

    def __init__(self, frame: DataFrame, recipe: Recipe, identifier: str | None) -> None:
        self._frame = frame
        self._named = [identifier] if identifier is not None and identifier in frame.columns else []
        self._said = list(recipe.terms) or [*recipe.categories, *recipe.numbers][:SAID]
        self._alone = bool(recipe.terms)

    def __len__(self) -> int:
        return self._frame.height

    def __getitem__(self, row: Any) -> Any:
        values = self._frame.row(row, named=True)
        said = [str(values[name]) if self._alone else f"{name} {_short(values[name])}" for name in self._said]
        return ", ".join([*(str(values[name]) for name in self._named), *said])


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
