"""Convert tables with columns to rows of numbers: learn how from both domains, and apply it to any table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.columns.intervals import find_intervals, interval_names
from adrem.columns.names import describe_columns
from adrem.columns.terms import count_terms
from adrem.columns.values import as_days, as_numbers, as_strings, with_numbers, without_codes
from adrem.exceptions import InvalidDataError
from adrem.features.saved import encoder_from_dict, encoder_to_dict
from adrem.runtime.text import some_names
from adrem.types import Matrix

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.features.encoder import Encoder

ABSENT = "(missing)"
OTHER = "(other)"
# Rows without text are dense if they have at most this many features.
MAX_DENSE = 1000
CONSTANT = "(constant)"
# Beside text, a feature of another column counts as so many words: with less weight it has no effect among many words.
WEIGHT_BESIDE_TEXT = 3.0


@dataclass
class ColumnFindings:
    """Counts of filled values, unknown categories, texts without known words and cut ones; missing and new columns.

    `unmarked` has the columns whose missing values get no feature of their own, with their shares in the two domains.
    """

    filled: dict[str, int] = field(default_factory=dict)
    unknown_values: dict[str, int] = field(default_factory=dict)
    without_words: dict[str, int] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    missing_columns: list[str] = field(default_factory=list)
    new_columns: list[str] = field(default_factory=list)
    unmarked: dict[str, tuple[float, float]] = field(default_factory=dict)

    def count_empty(self, name: str, counts: sp.csr_array) -> None:
        """Count the texts of a column without a known word."""
        empty = int(np.count_nonzero(np.diff(counts.indptr) == 0))
        if empty:
            self.without_words[name] = empty

    def count_cut(self, name: str, cut: NDArray[np.bool_]) -> None:
        """Count the texts of a column of which the encoder has not read all."""
        if cut.any():
            self.cut[name] = int(cut.sum())


@dataclass
class Recipe:
    """How columns become features: numbers, indicators of missing ones and a constant; categories; texts and images.

    Cells with a code in ``missing`` are empty. Missing numbers are replaced by the median in ``numbers``. Then
    ``centres`` are subtracted from numbers, indicators and what encoders make, and every feature is divided by its
    ``scales``. There is a constant if there are any of these, because they are centred over both domains and the
    classifier may have no intercept.
    Beside text, a number becomes the interval that it is in, and features of other columns count as several words.

    Parameters
    ----------
    numbers : dict of str to float
        The columns of numbers, each with its median.
    indicated : list of str
        Columns of numbers with missing values, which get an indicator.
    categories : dict of str to list of str
        The columns of categories, each with its known values.
    terms : dict of str to list of str
        The columns of text, each with its known words and pairs of words.
    scales : ndarray of shape (n_features,), default=[]
        The divisor of every feature.
    centres : ndarray of shape (n_centred,), default=[]
        The means of the first features, those before categories and text.
    missing : dict of str to list of str, default={}
        The codes that mark a missing value, by column.
    dates : dict of str to str, default={}
        The columns of numbers that are dates, with their format. Their numbers are days.
    intervals : dict of str to list of float, default={}
        The columns of numbers beside text, each with the bounds of its intervals.
    encoders : dict of str to encoder, default={}
        The columns of text or images that an encoder turns into features, each with its fitted encoder.
    """

    numbers: dict[str, float]
    indicated: list[str]
    categories: dict[str, list[str]]
    terms: dict[str, list[str]]
    scales: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    centres: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    missing: dict[str, list[str]] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    intervals: dict[str, list[float]] = field(default_factory=dict)
    encoders: dict[str, Encoder] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The used columns."""
        return [*self.numbers, *self.intervals, *self.categories, *self.encoders, *self.terms]

    @property
    def n_centred(self) -> int:
        """The number of features that are centred, which come first, with the constant after them."""
        n_features = len(self.numbers) + len(set(self.indicated) & set(self.numbers))
        n_features += sum(encoder.n_features_out_ for encoder in self.encoders.values())
        return n_features + 1 if n_features else 0

    @property
    def is_dense(self) -> bool:
        """Whether rows are dense: there are few features without text, or those of an encoder."""
        return not self.terms and (bool(self.encoders) or len(self.feature_names) <= MAX_DENSE)

    @property
    def feature_names(self) -> list[str]:
        """A name for every feature."""
        names = [*self.numbers, *(f"{name} is missing" for name in self.indicated if name in self.numbers)]
        names += self.encoded_names
        names += [CONSTANT] if names else []
        for name, edges in self.intervals.items():
            names += [*interval_names(name, edges), *([f"{name} is missing"] if name in self.indicated else [])]
        names += [f"{name} = {value}" for name, values in self.categories.items() for value in values]
        alone = len(self.terms) == 1 and not names
        names += [term if alone else f"{name}: {term}" for name, terms in self.terms.items() for term in terms]
        return names

    @property
    def encoded_names(self) -> list[str]:
        """A name for every feature of the encoders."""
        return [f"{column}: {own}" for column, e in self.encoders.items() for own in e.get_feature_names_out()]

    @property
    def encoder_of_images(self) -> Encoder | None:
        """The encoder of images, if any column has some."""
        return next((own for own in self.encoders.values() if own.kind == "image"), None)

    @property
    def n_beside_text(self) -> int:
        """The number of features beside text, which come before its terms; none if there is no text."""
        return len(self.feature_names) - sum(map(len, self.terms.values())) if self.terms else 0

    def apply(self, frame: DataFrame) -> tuple[Matrix, ColumnFindings]:
        """Convert a table to rows of numbers. Columns are matched by name; absent ones count as missing values.

        Parameters
        ----------
        frame : polars.DataFrame
            Any table with at least one of the columns.

        Returns
        -------
        rows : {ndarray, CSR array} of shape (n_rows, n_features)
            The rows; dense if every feature is a number.
        findings : ColumnFindings
            By column, how many values were ``filled``, are ``unknown_values`` or texts ``without_words``; and the
            ``missing_columns`` and ``new_columns``.

        Raises
        ------
        InvalidDataError
            If the table has none of the columns.
        """
        given, known = {*frame.columns}, {*self.columns}
        findings = ColumnFindings(
            missing_columns=[name for name in self.columns if name not in given],
            new_columns=[name for name in frame.columns if name not in known],
        )
        if len(findings.missing_columns) == len(self.columns):
            raise InvalidDataError(
                f"The table has none of the columns of the model, {some_names(self.columns)}. "
                f"{describe_columns(frame.columns, self.columns[0])}"
            )
        frame = without_codes(with_numbers(frame, [*self.numbers, *self.intervals]), self.missing)
        encoded = self.encoded(frame, findings)
        texts = [count_terms(strings_of(frame, name), terms) for name, terms in self.terms.items()]
        for name, counts in zip(self.terms, texts, strict=True):
            if name in frame.columns:
                findings.count_empty(name, counts)
        return self.scaled(self.joined(frame, texts, encoded, findings)), findings

    def encoded(self, frame: DataFrame, findings: ColumnFindings) -> list[NDArray[np.float64]]:
        """Return what the encoders make of their columns."""
        blocks = []
        for name, encoder in self.encoders.items():
            made = encoder.encode(strings_of(frame, name))
            encoder.check_readable(made)
            findings.count_cut(name, made.cut)
            blocks.append(made.features.astype(np.float64))
        return blocks

    def joined(
        self,
        frame: DataFrame,
        texts: list[sp.csr_array],
        encoded: list[NDArray[np.float64]],
        findings: ColumnFindings,
    ) -> Matrix:
        """Return all features side by side, before they are scaled; `texts` are the counts of each column of text."""
        dense = np.hstack([*self._numbers(frame, findings), *encoded])
        dense = np.hstack([dense, np.ones((len(dense), 1 if dense.shape[1] else 0))])
        sparse = [self._intervals(frame), self._categories(frame, findings), *texts]
        if self.is_dense:
            return np.hstack([dense, *(block.toarray() for block in sparse)])
        return _side_by_side([as_sparse(dense), *sparse])

    def scaled(self, rows: Matrix) -> Matrix:
        """Centre and divide by the scales."""
        if not self.scales.size:
            return rows
        if self.is_dense:
            centres = np.zeros(rows.shape[1])
            centres[: len(self.centres)] = self.centres
            return np.asarray((rows - centres) / self.scales)
        dense = np.asarray(rows[:, : len(self.centres)].toarray() - self.centres)
        centred = _side_by_side([as_sparse(dense), rows[:, len(self.centres) :]])
        data = centred.data * (1.0 / self.scales)[centred.indices]
        scaled = sp.csr_array((data, centred.indices, centred.indptr), shape=centred.shape)
        scaled.sort_indices()
        return scaled

    def _numbers(self, frame: DataFrame, findings: ColumnFindings) -> list[NDArray[np.float64]]:
        """Return the columns of numbers and their indicators, each as a block."""
        values = all_floats_of(frame, [*self.numbers], self.dates)
        holes = np.isnan(values)
        given, indicated = {*frame.columns}, {*self.indicated}
        for name, count in zip(self.numbers, holes.sum(axis=0).tolist(), strict=True):
            if count and name in given:
                findings.filled[name] = count
        marked = [k for k, name in enumerate(self.numbers) if name in indicated]
        return [np.where(holes, [*self.numbers.values()], values), holes[:, marked].astype(np.float64)]

    def _intervals(self, frame: DataFrame) -> sp.csr_array:
        blocks = [sp.csr_array((frame.height, 0))]
        for name, edges in self.intervals.items():
            places = find_intervals(floats_of(frame, name, self.dates), edges)
            n_places = len(edges) + 1
            if name in self.indicated:
                places[places < 0] = n_places
                n_places += 1
            blocks.append(_one_hot(places, n_places))
        return sp.csr_array(sp.hstack(blocks, format="csr"))

    def _categories(self, frame: DataFrame, findings: ColumnFindings) -> sp.csr_array:
        blocks = [sp.csr_array((frame.height, 0))]
        for name, known in self.categories.items():
            place = {value: k for k, value in enumerate(known)}
            values = [ABSENT if value is None else value for value in strings_of(frame, name)]
            rest = place.get(OTHER, -1)
            positions = np.array(
                [place.get(value, -1 if value == ABSENT else rest) for value in values], dtype=np.int64
            )
            unknown = sum(1 for value in values if value != ABSENT and value not in place)
            if unknown and name in frame.columns:
                findings.unknown_values[name] = unknown
            blocks.append(_one_hot(positions, len(known)))
        return sp.csr_array(sp.hstack(blocks, format="csr"))

    def is_for(self, n_features: int) -> bool:
        """Return whether the recipe is valid and makes rows with a given number of features."""
        lists: list[list[Any]] = [self.indicated, *self.intervals.values(), *self.categories.values()]
        lists += self.terms.values()
        return (
            len(self.feature_names) == n_features
            and len(self.centres) == self.n_centred
            and {*self.indicated, *self.dates} <= {*self.numbers, *self.intervals}
            and all(len(set(values)) == len(values) for values in lists)
            and bool(np.isfinite([*self.numbers.values()]).all())
            and all(np.isfinite(edges).all() and edges == sorted(edges) for edges in self.intervals.values())
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all but the two arrays as plain values for JSON."""
        return {
            "numbers": self.numbers,
            "indicated": self.indicated,
            "categories": self.categories,
            "terms": self.terms,
            "missing": self.missing,
            "dates": self.dates,
            "intervals": self.intervals,
            "encoders": {name: encoder_to_dict(encoder) for name, encoder in self.encoders.items()},
        }

    @classmethod
    def from_dict(cls, parts: dict[str, Any], scales: NDArray[np.float64], centres: NDArray[np.float64]) -> Recipe:
        """Make a recipe from the result of `to_dict` and the arrays."""
        return cls(
            {str(name): float(value) for name, value in parts["numbers"].items()},
            [str(name) for name in parts["indicated"]],
            {str(name): [str(value) for value in values] for name, values in parts["categories"].items()},
            {str(name): [str(term) for term in terms] for name, terms in parts["terms"].items()},
            scales,
            centres,
            {str(name): [str(code) for code in codes] for name, codes in parts.get("missing", {}).items()},
            {str(name): str(form) for name, form in parts.get("dates", {}).items()},
            {str(name): [float(edge) for edge in edges] for name, edges in parts.get("intervals", {}).items()},
            _encoders_from(parts.get("encoders", {})),
        )


def _encoders_from(parts: dict[str, dict[str, Any]]) -> dict[str, Encoder]:
    return {str(name): encoder_from_dict(own) for name, own in parts.items()}


def as_sparse(dense: NDArray[np.float64]) -> sp.csr_array:
    """Return a table as CSR rows; scipy's own way takes the table apart into three lists first."""
    is_given, kind = dense != 0, np.int32 if dense.size < np.iinfo(np.int32).max else np.int64
    starts = np.concatenate([[0], np.cumsum(is_given.sum(axis=1))]).astype(kind)
    places = np.broadcast_to(np.arange(dense.shape[1], dtype=kind), dense.shape)[is_given]
    return sp.csr_array((dense[is_given], places, starts), shape=dense.shape)


def _side_by_side(blocks: list[sp.csr_array]) -> sp.csr_array:
    """Return CSR rows side by side."""
    wide = [block for block in blocks if block.shape[1]]
    return wide[0] if len(wide) == 1 else sp.csr_array(sp.hstack(wide or blocks[:1], format="csr"))


def _one_hot(places: NDArray[np.int64], n_places: int) -> sp.csr_array:
    """Return a one at each place, and only zeros for negative places."""
    rows = np.flatnonzero(places >= 0)
    return sp.csr_array((np.ones(len(rows)), (rows, places[rows])), shape=(len(places), n_places))


def all_floats_of(frame: DataFrame, names: Sequence[str], dates: Mapping[str, str]) -> NDArray[np.float64]:
    """Return columns as numbers side by side, as `floats_of` does."""
    values = np.empty((frame.height, len(names)), order="F")
    for k, name in enumerate(names):
        values[:, k] = floats_of(frame, name, dates)
    return values


def floats_of(frame: DataFrame, name: str, dates: Mapping[str, str]) -> NDArray[np.float64]:
    """Return a column as numbers, NaN for missing ones; dates as days."""
    series = frame.get_column(name, default=None)
    if series is None:
        return np.full(frame.height, np.nan)
    if str(series.dtype) == "Float64" and name not in dates:
        values: NDArray[np.float64] = series.to_numpy().copy()
        values[~np.isfinite(values)] = np.nan
        return values
    numbers = as_days(series, dates[name]) if name in dates and not series.dtype.is_numeric() else as_numbers(series)
    return numbers.fill_null(float("nan")).to_numpy()


def strings_of(frame: DataFrame, name: str) -> list[str | None]:
    """Return a column as strings, None for missing ones."""
    series = frame.get_column(name, default=None)
    return [None] * frame.height if series is None else as_strings(series).to_list()
