"""Convert tables with columns to rows of numbers: learn how from both domains, and apply it to any table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.columns.kinds import Columns, as_numbers, as_strings
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.preprocessing import JointStdScaler
from adrem.types import Matrix

if TYPE_CHECKING:
    from polars import DataFrame
    from sklearn.feature_extraction.text import CountVectorizer

WORD = r"(?u)\b\w+\b"
NGRAM_RANGE = (1, 2)  # words and pairs of words, as in the paper's reviews
MANY_TERMS = 2_000_000  # above this number, terms of a single row are dropped
ABSENT = "(missing)"
LARGEST_NUMBER = 1e100  # its square is computed
CONSTANT = "(constant)"


@dataclass
class ColumnFindings:
    """Counts of filled values, unknown categories and texts without known words; missing and new columns."""

    filled: dict[str, int] = field(default_factory=dict)
    unknown_values: dict[str, int] = field(default_factory=dict)
    without_words: dict[str, int] = field(default_factory=dict)
    missing_columns: list[str] = field(default_factory=list)
    new_columns: list[str] = field(default_factory=list)

    def count_empty(self, name: str, counts: sp.csr_array) -> None:
        """Count the texts of a column without a known word."""
        empty = int(np.count_nonzero(np.diff(counts.indptr) == 0))
        if empty:
            self.without_words[name] = empty


@dataclass
class Recipe:
    """How columns become features: numbers, indicators of missing ones and a constant; categories; terms of text.

    Missing numbers are replaced by the median in ``numbers``. Then ``centres`` are subtracted from numbers and
    indicators, and every feature is divided by its ``scales``. There is a constant if there are numbers, because these
    are centred over both domains and the classifier may have no intercept.

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
    """

    numbers: dict[str, float]
    indicated: list[str]
    categories: dict[str, list[str]]
    terms: dict[str, list[str]]
    scales: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    centres: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def columns(self) -> list[str]:
        """The used columns."""
        return [*self.numbers, *self.categories, *self.terms]

    @property
    def feature_names(self) -> list[str]:
        """A name for every feature."""
        names = [*self.numbers, *(f"{name} is missing" for name in self.indicated)]
        names += [CONSTANT] if self.numbers else []
        names += [f"{name} = {value}" for name, values in self.categories.items() for value in values]
        alone = len(self.terms) == 1 and not names
        names += [term if alone else f"{name}: {term}" for name, terms in self.terms.items() for term in terms]
        return names

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
        findings = ColumnFindings(
            missing_columns=[name for name in self.columns if name not in frame.columns],
            new_columns=[name for name in frame.columns if name not in self.columns],
        )
        if len(findings.missing_columns) == len(self.columns):
            raise InvalidDataError(f"None of the columns {self.columns} is in the table; it has {frame.columns}.")
        blocks: list[Matrix] = [self._numbers(frame, findings), self._categories(frame, findings)]
        for name, terms in self.terms.items():
            counts = _count_terms(_strings(frame, name), terms)
            if name in frame.columns:
                findings.count_empty(name, counts)
            blocks.append(counts)
        rows = sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"))
        return self._scaled(rows), findings

    def _scaled(self, rows: sp.csr_array) -> Matrix:
        """Centre and divide by the scales; the result is dense if every feature is a number."""
        if not self.scales.size:
            return rows
        if not self.categories and not self.terms:
            return np.asarray((rows.toarray() - self.centres) / self.scales)
        dense = np.asarray(rows[:, : len(self.centres)].toarray() - self.centres)
        return sp.csr_array(
            sp.hstack([sp.csr_array(dense), rows[:, len(self.centres) :]], format="csr") / self.scales[None, :]
        )

    def _numbers(self, frame: DataFrame, findings: ColumnFindings) -> NDArray[np.float64]:
        columns, indicators = [], []
        for name, centre in self.numbers.items():
            values = _floats(frame, name)
            holes = ~np.isfinite(values)
            if holes.any() and name in frame.columns:
                findings.filled[name] = int(holes.sum())
            columns.append(np.where(holes, centre, values))
            if name in self.indicated:
                indicators.append(holes.astype(np.float64))
        ones = [np.ones(frame.height)] if columns else []
        return np.stack([*columns, *indicators, *ones], axis=1) if columns else np.zeros((frame.height, 0))

    def _categories(self, frame: DataFrame, findings: ColumnFindings) -> sp.csr_array:
        blocks = [sp.csr_array((frame.height, 0))]
        for name, known in self.categories.items():
            place = {value: k for k, value in enumerate(known)}
            values = [ABSENT if value is None else value for value in _strings(frame, name)]
            positions = np.array([place.get(value, -1) for value in values], dtype=np.int64)
            unknown = int(np.count_nonzero(positions < 0))
            if unknown and name in frame.columns:
                findings.unknown_values[name] = unknown
            rows = np.flatnonzero(positions >= 0)
            shape = (frame.height, len(known))
            blocks.append(sp.csr_array((np.ones(len(rows)), (rows, positions[rows])), shape=shape))
        return sp.csr_array(sp.hstack(blocks, format="csr"))

    def is_for(self, n_features: int) -> bool:
        """Return whether the recipe is valid and makes rows with a given number of features."""
        n_dense = len(self.numbers) + len(self.indicated) + bool(self.numbers)
        lists = [self.indicated, *self.categories.values(), *self.terms.values()]
        return (
            len(self.feature_names) == n_features
            and len(self.centres) == n_dense
            and set(self.indicated) <= set(self.numbers)
            and all(len(set(values)) == len(values) for values in lists)
            and bool(np.isfinite([*self.numbers.values()]).all())
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all but the two arrays as plain values for JSON."""
        return {
            "numbers": self.numbers,
            "indicated": self.indicated,
            "categories": self.categories,
            "terms": self.terms,
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
        )


def make_recipe(
    columns: Columns, source: DataFrame, target: DataFrame
) -> tuple[Recipe, Matrix, Matrix, ColumnFindings]:
    """Learn a recipe from both tables, and apply it to them; findings are counted over both."""
    import polars as pl

    frames = (source, target)
    numbers, indicated = _learn_numbers(columns.of_kind("number"), frames)
    texts = {n: _learn_terms([*_strings(source, n), *_strings(target, n)]) for n in columns.of_kind("text")}
    recipe = Recipe(
        numbers,
        indicated,
        {name: _learn_categories(name, frames) for name in columns.of_kind("category")},
        {name: terms for name, (terms, _) in texts.items()},
    )
    both = pl.concat(
        [pl.DataFrame([as_numbers(f[n]) if n in numbers else as_strings(f[n]) for n in recipe.columns]) for f in frames]
    )
    findings = ColumnFindings()
    for name, (_, counts) in texts.items():
        findings.count_empty(name, counts)
    dense = recipe._numbers(both, findings)
    blocks = [sp.csr_array(dense), recipe._categories(both, findings), *(counts for _, counts in texts.values())]
    rows = sp.csr_array(sp.hstack(blocks, format="csr"))
    if not rows.shape[1]:
        raise InvalidDataError(f"Neither file has a word to learn from in {', '.join(map(repr, texts))}.")
    recipe.centres = dense.mean(axis=0)
    recipe.centres[-1:] = 0.0  # the constant is not centred
    recipe.scales = JointStdScaler().fit(rows).scale_
    rows = recipe._scaled(rows)
    return recipe, rows[: source.height], rows[source.height :], findings


def _learn_numbers(names: list[str], frames: tuple[DataFrame, DataFrame]) -> tuple[dict[str, float], list[str]]:
    """Return the median of each column, and the columns with missing values."""
    numbers, indicated = {}, []
    for name in names:
        given = np.concatenate([_floats(frame, name) for frame in frames])
        known = given[np.isfinite(given)]
        if np.abs(known).max(initial=0.0) > LARGEST_NUMBER:
            raise ParameterError(
                f"Column {name!r} has values beyond {LARGEST_NUMBER:g}: rescale it, or name it in left_out.", "left_out"
            )
        numbers[name] = float(np.median(known)) if len(known) else 0.0
        if len(known) < len(given):
            indicated.append(name)
    return numbers, indicated


def _learn_categories(name: str, frames: tuple[DataFrame, DataFrame]) -> list[str]:
    import polars as pl

    values = pl.concat([as_strings(frame[name]) for frame in frames])
    return sorted(values.fill_null(ABSENT).unique().to_list())


def _floats(frame: DataFrame, name: str) -> NDArray[np.float64]:
    if name not in frame.columns:
        return np.full(frame.height, np.nan)
    return as_numbers(frame[name]).fill_null(float("nan")).to_numpy()


def _strings(frame: DataFrame, name: str) -> list[str | None]:
    return as_strings(frame[name]).to_list() if name in frame.columns else [None] * frame.height


def _vectorizer(**params: Any) -> CountVectorizer:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(ngram_range=NGRAM_RANGE, token_pattern=WORD, dtype=np.float64, **params)


def _learn_terms(texts: list[str | None]) -> tuple[list[str], sp.csr_array]:
    vectorizer = _vectorizer()
    try:
        counts = sp.csr_array(vectorizer.fit_transform([text or "" for text in texts]))
    except ValueError:  # no word anywhere
        return [], sp.csr_array((len(texts), 0))
    names = vectorizer.get_feature_names_out()
    if len(names) > MANY_TERMS:
        kept = np.flatnonzero(np.bincount(counts.indices, minlength=len(names)) > 1)
        names, counts = names[kept], sp.csr_array(counts[:, kept])
    return names.tolist(), counts


def _count_terms(texts: list[str | None], terms: list[str]) -> sp.csr_array:
    if not terms:
        return sp.csr_array((len(texts), 0))
    return sp.csr_array(_vectorizer(vocabulary=terms).transform([text or "" for text in texts]))
