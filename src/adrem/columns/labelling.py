"""Fit a model to two tables, and label another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.classifier import DomainClassifier
from adrem.base.reading import UNKNOWN
from adrem.columns.bundle import Bundle
from adrem.columns.pair import Pair, as_dense
from adrem.columns.reading import FileTable
from adrem.columns.recipe import ColumnFindings, Recipe
from adrem.diagnostics.diagnosis import Examination, examine
from adrem.exceptions import InvalidDataError
from adrem.machines.tables import stack
from adrem.types import Matrix

if TYPE_CHECKING:
    from polars import DataFrame

MAX_SHOWN = 6  # columns shown for a row without text


@dataclass(frozen=True)
class Labels:
    """The label of every row, its confidence, and the label by the classifier of the source alone.

    `adapted_label` is the adapted label where the others are those of the source, None otherwise.
    """

    label: NDArray[Any]
    confidence: NDArray[np.float64]
    source_label: NDArray[Any]
    adapted_label: NDArray[Any] | None = None

    @property
    def changed(self) -> NDArray[np.bool_]:
        changed: NDArray[np.bool_] = self.label != self.source_label
        return changed


def adapt_pair(pair: Pair, model: Any, about: dict[str, Any]) -> tuple[Bundle, Examination]:
    """Fit a model to a pair, and compare it with the classifier of the source, which is kept where it seems better."""
    _fit(model, pair)
    examined = examine(model, pair.X_source, pair.y_source, pair.X_target, pair.feature_names)
    handed_out = examined.baseline if examined.verdict.choice == "source" else model
    return Bundle(handed_out, examined.baseline, pair.recipe, pair.scales, about), examined


def _fit(model: Any, pair: Pair) -> None:
    if pair.sources is None:
        model.fit(pair.X_source, pair.y_source, X_target=pair.X_target, y_target=pair.known)
        return
    n_target = pair.X_target.shape[0]
    domain = np.concatenate([pair.sources, np.full(n_target, -1)])
    if pair.known is None:
        of_target = np.repeat(pair.y_source[:1], n_target)  # the labels of the target are not read
    else:
        of_target = pair.known
        model.set_params(target_labels="use")
    y = np.concatenate([pair.y_source, of_target])
    model.fit(stack([pair.X_source, pair.X_target]), y, sample_domain=domain)


def label_rows(bundle: Bundle, rows: Matrix) -> Labels:
    """Label rows that were made and scaled for the model."""
    model: DomainClassifier = bundle.model
    return Labels(model.predict(rows), model.confidence_rows(rows), bundle.baseline.predict(rows))


def label_pair(bundle: Bundle, pair: Pair, examined: Examination, given: Mapping[int, Any] | None = None) -> Labels:
    """Label the target of a pair, with the adapted labels beside those of the source if these are preferred.

    ``given`` are labels of rows beside those that the model has learnt.
    """
    labels = label_rows(bundle, pair.X_target)
    known, classes = examined.domains.known, examined.model.classes_.tolist()
    if given:
        known = np.full(len(labels.label), UNKNOWN) if known is None else known.copy()
        known[[*given]] = [classes.index(label) for label in given.values()]
    if known is not None:
        labels = _as_given(labels, known, examined.model.classes_)
    if bundle.model is not bundle.baseline:
        return labels
    return replace(labels, adapted_label=examined.model.classes_[examined.after])


def _as_given(labels: Labels, known: NDArray[np.intp], classes: NDArray[Any]) -> Labels:
    """Return the labels that were given in place of those of the classifiers."""
    is_known = known != UNKNOWN
    given = [np.where(is_known, classes[known], own) for own in (labels.label, labels.source_label)]
    return Labels(given[0], np.where(is_known, 1.0, labels.confidence), given[1])


def make_rows(bundle: Bundle, table: FileTable) -> tuple[Matrix, ColumnFindings]:
    """Return the rows of a new file, made by the recipe of the model."""
    if bundle.recipe is not None and table.frame is not None:
        return bundle.recipe.apply(table.frame)
    if bundle.recipe is not None or table.rows is None:
        wanted = "rows of numbers" if bundle.recipe is None else "columns"
        raise InvalidDataError(f"The model was trained on files with {wanted}, and {table.name} has none.")
    n_features = table.rows.shape[1]
    if n_features != len(bundle.scales):
        raise InvalidDataError(
            f"{table.name} has {n_features} features, the model was trained on {len(bundle.scales)}."
        )
    return as_dense(table.rows / bundle.scales), ColumnFindings()


class RowTexts(Sequence[str]):
    """The text of each row, built on access: its identifier, and its text columns, else its values."""

    def __init__(self, frame: DataFrame, recipe: Recipe, identifier: str | None) -> None:
        self._frame = frame
        self._identifiers = [identifier] if identifier is not None and identifier in frame.columns else []
        self._shown = [*recipe.encoders, *recipe.terms] or [*recipe.categories, *recipe.numbers][:MAX_SHOWN]
        self._has_text = bool(recipe.terms or recipe.encoders)

    def __len__(self) -> int:
        return self._frame.height

    def __getitem__(self, row: Any) -> Any:
        values = self._frame.row(row, named=True)
        shown = [str(values[name]) if self._has_text else f"{name} {_short(values[name])}" for name in self._shown]
        return ", ".join([*(str(values[name]) for name in self._identifiers), *shown])


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
