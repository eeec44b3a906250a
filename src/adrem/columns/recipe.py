"""How a table of columns becomes rows of numbers: learnt from both domains together, applied to any table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import Matrix
from adrem.columns.roles import Roles, as_numbers, as_strings
from adrem.preprocessing import JointStdScaler

if TYPE_CHECKING:
    from polars import DataFrame
    from sklearn.feature_extraction.text import CountVectorizer

WORD = r"(?u)\b\w+\b"
TERMS = (1, 2)  # single words, and pairs of neighbours, as in the paper's reviews
# Beyond so many terms, those of one row alone are left out.
MANY_TERMS = 2_000_000
ABSENT = "(missing)"
LARGEST = 1e100  # of a number, whose square is taken
CONSTANT = "(constant)"


@dataclass
class Report:
    """What was noticed while a table was turned into rows: values filled; categories, words, columns not known."""

    filled: dict[str, int] = field(default_factory=dict)
    unknown_values: dict[str, int] = field(default_factory=dict)
    without_words: dict[str, int] = field(default_factory=dict)
    missing_columns: list[str] = field(default_factory=list)
    new_columns: list[str] = field(default_factory=list)

    def note_empty(self, name: str, counts: sp.csr_array) -> None:
        """Count the texts of a column that have no word."""
        empty = int(np.count_nonzero(np.diff(counts.indptr) == 0))
        if empty:
            self.without_words[name] = empty


@dataclass
class Recipe:
    """The parts of a row, in their order: numbers, marks of missing ones and a constant; categories; terms of text.

    Missing numbers are filled by the value in ``numbers``, their median. Then numbers and indicators have their
    ``centres`` taken off, and every feature is divided by its ``scales``. The constant is there where numbers are: they
    are centred over both domains together, and the classifier passes through the origin.

    Parameters
    ----------
    numbers : dict of str to float
        The columns of numbers, and what fills their gaps.
    indicated : list of str
        Those of them that have gaps, which are marked.
    categories : dict of str to list of str
        The columns of categories, and the values that are known.
    terms : dict of str to list of str
        The columns of text, and the words and pairs of words that are known.
    scales : ndarray of shape (n_features,), default=[]
        What every feature is divided by.
    centres : ndarray of shape (n_centred,), default=[]
        What is taken off the first features, those that are not of categories or text.

    Examples
    --------
    `make_pair` learns one of two files. It makes rows of a third:

    >>> import polars as pl
    >>> from adrem.columns import Recipe
    >>> recipe = Recipe({}, [], {"cover": ["hard", "soft"]}, {})
    >>> rows, report = recipe.apply(pl.DataFrame({"cover": ["soft", "hard", "none"]}))
    >>> rows.toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """

    numbers: dict[str, float]
    indicated: list[str]
    categories: dict[str, list[str]]
    terms: dict[str, list[str]]
    scales: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    centres: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def columns(self) -> list[str]:
        """The columns that it looks at.

        Examples
        --------
        >>> from adrem.columns import Recipe
        >>> Recipe({"price": 20.0}, [], {"cover": ["hard", "soft"]}, {}).columns
        ['price', 'cover']
        """
        return [*self.numbers, *self.categories, *self.terms]

    @property
    def feature_names(self) -> list[str]:
        """A name for every feature: its column, and what of it.

        Examples
        --------
        >>> from adrem.columns import Recipe
        >>> Recipe({"price": 20.0}, [], {"cover": ["hard", "soft"]}, {}).feature_names
        ['price', '(constant)', 'cover = hard', 'cover = soft']
        """
        names = [*self.numbers, *(f"{name} is missing" for name in self.indicated)]
        names += [CONSTANT] if self.numbers else []
        names += [f"{name} = {value}" for name, values in self.categories.items() for value in values]
        alone = len(self.terms) == 1 and not names
        names += [term if alone else f"{name}: {term}" for name, terms in self.terms.items() for term in terms]
        return names

    def apply(self, frame: DataFrame) -> tuple[Matrix, Report]:
        """Make rows of numbers. Columns are matched by name; those that are not there are missing.

        Parameters
        ----------
        frame : polars.DataFrame
            Any table with at least one of the columns.

        Returns
        -------
        rows : {ndarray, CSR array} of shape (n_rows, n_features)
            The rows; dense where every feature is a number.
        report : Report
            What was noticed, by column: how many values were ``filled``, and how many are ``unknown_values`` or texts
            ``without_words``; ``missing_columns`` and ``new_columns``.

        Raises
        ------
        ValueError
            If none of the columns is there.

        Examples
        --------
        >>> import polars as pl
        >>> from adrem.columns import Recipe
        >>> recipe = Recipe({}, [], {"cover": ["hard", "soft"]}, {})
        >>> rows, report = recipe.apply(pl.DataFrame({"cover": ["soft", "none"], "pages": [300, 20]}))
        >>> report.unknown_values, report.new_columns
        ({'cover': 1}, ['pages'])
        """
        report = Report(
            missing_columns=[name for name in self.columns if name not in frame.columns],
            new_columns=[name for name in frame.columns if name not in self.columns],
        )
        if len(report.missing_columns) == len(self.columns):
            raise ValueError(f"None of the columns {self.columns} is in the table; it has {frame.columns}.")
        blocks: list[Matrix] = [self._numbers(frame, report), self._categories(frame, report)]
        for name, terms in self.terms.items():
            counts = _count_terms(_strings(frame, name), terms)
            if name in frame.columns:
                report.note_empty(name, counts)
            blocks.append(counts)
        rows = sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"))
        return self._scaled(rows), report

    def _scaled(self, rows: sp.csr_array) -> Matrix:
        """Divided by the scales; dense where every feature is a number."""
        if not self.scales.size:
            return rows
        if not self.categories and not self.terms:
            return np.asarray((rows.toarray() - self.centres) / self.scales)
        dense = np.asarray(rows[:, : len(self.centres)].toarray() - self.centres)
        return sp.csr_array(
            sp.hstack([sp.csr_array(dense), rows[:, len(self.centres) :]], format="csr") / self.scales[None, :]
        )

    def _numbers(self, frame: DataFrame, report: Report) -> NDArray[np.float64]:
        columns, indicators = [], []
        for name, centre in self.numbers.items():
            values = _floats(frame, name)
            holes = ~np.isfinite(values)
            if holes.any() and name in frame.columns:
                report.filled[name] = int(holes.sum())
            columns.append(np.where(holes, centre, values))
            if name in self.indicated:
                indicators.append(holes.astype(np.float64))
        ones = [np.ones(frame.height)] if columns else []
        return np.stack([*columns, *indicators, *ones], axis=1) if columns else np.zeros((frame.height, 0))

    def _categories(self, frame: DataFrame, report: Report) -> sp.csr_array:
        blocks = [sp.csr_array((frame.height, 0))]
        for name, known in self.categories.items():
            place = {value: k for k, value in enumerate(known)}
            values = [ABSENT if value is None else value for value in _strings(frame, name)]
            positions = np.array([place.get(value, -1) for value in values], dtype=np.int64)
            unknown = int(np.count_nonzero(positions < 0))
            if unknown and name in frame.columns:
                report.unknown_values[name] = unknown
            rows = np.flatnonzero(positions >= 0)
            shape = (frame.height, len(known))
            blocks.append(sp.csr_array((np.ones(len(rows)), (rows, positions[rows])), shape=shape))
        return sp.csr_array(sp.hstack(blocks, format="csr"))

    def is_for(self, n_features: int) -> bool:
        """Tell whether it makes the rows of a model.

        That is so if it makes as many features, none of them twice, by finite numbers and as many centres as there are.

        Parameters
        ----------
        n_features : int
            The number of features of a model.

        Returns
        -------
        bool
            Whether it does.

        Examples
        --------
        >>> from adrem.columns import Recipe
        >>> recipe = Recipe({}, [], {"cover": ["hard", "soft"]}, {})
        >>> recipe.is_for(2), recipe.is_for(3)
        (True, False)
        """
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
        """Put all but the two arrays in a form for JSON.

        Returns
        -------
        dict
            The parts by name.

        Examples
        --------
        >>> from adrem.columns import Recipe
        >>> Recipe({"price": 20.0}, [], {}, {}).to_dict()
        {'numbers': {'price': 20.0}, 'indicated': [], 'categories': {}, 'terms': {}}
        """
        return {
            "numbers": self.numbers,
            "indicated": self.indicated,
            "categories": self.categories,
            "terms": self.terms,
        }

    @classmethod
    def from_dict(cls, parts: dict[str, Any], scales: NDArray[np.float64], centres: NDArray[np.float64]) -> Recipe:
        """Make a recipe of what `to_dict` gave, and the arrays.

        Parameters
        ----------
        parts : dict
            What `to_dict` gave.
        scales : ndarray of shape (n_features,)
            What every feature is divided by.
        centres : ndarray of shape (n_centred,)
            What is taken off the first features.

        Returns
        -------
        Recipe
            The recipe that it was.

        Examples
        --------
        >>> from adrem.columns import Recipe
        >>> recipe = Recipe({"price": 20.0}, [], {}, {})
        >>> Recipe.from_dict(recipe.to_dict(), recipe.scales, recipe.centres).numbers
        {'price': 20.0}
        """
        return cls(
            {str(name): float(value) for name, value in parts["numbers"].items()},
            [str(name) for name in parts["indicated"]],
            {str(name): [str(value) for value in values] for name, values in parts["categories"].items()},
            {str(name): [str(term) for term in terms] for name, terms in parts["terms"].items()},
            scales,
            centres,
        )


def make_recipe(roles: Roles, source: DataFrame, target: DataFrame) -> tuple[Recipe, Matrix, Matrix, Report]:
    """Learn a recipe from both tables, and apply it to them; what was filled is counted over both."""
    import polars as pl

    numbers, indicated = {}, []
    for name in roles.of_kind("number"):
        given = np.concatenate([_floats(frame, name) for frame in (source, target)])
        known = given[np.isfinite(given)]
        if np.abs(known).max(initial=0.0) > LARGEST:
            raise ValueError(f"Column {name!r} has values beyond {LARGEST:g}: rescale it, or leave it out by --drop.")
        numbers[name] = float(np.median(known)) if len(known) else 0.0
        if len(known) < len(given):
            indicated.append(name)
    categories = {}
    for name in roles.of_kind("category"):
        values = pl.concat([as_strings(frame[name]) for frame in (source, target)])
        categories[name] = sorted(values.fill_null(ABSENT).unique().to_list())
    counted, terms = [], {}
    for name in roles.of_kind("text"):
        terms[name], counts = _learn_terms([*_strings(source, name), *_strings(target, name)])
        counted.append(counts)
    recipe = Recipe(numbers, indicated, categories, terms)
    both = pl.concat(
        [
            pl.DataFrame([as_numbers(f[n]) if n in numbers else as_strings(f[n]) for n in recipe.columns])
            for f in (source, target)
        ]
    )
    report = Report()
    for name, counts in zip(terms, counted, strict=True):
        report.note_empty(name, counts)
    dense = recipe._numbers(both, report)
    blocks = [sp.csr_array(dense), recipe._categories(both, report), *counted]
    rows = sp.csr_array(sp.hstack(blocks, format="csr"))
    if not rows.shape[1]:
        raise ValueError(f"There is no word in {', '.join(map(repr, terms))} of either file to learn from.")
    recipe.centres = dense.mean(axis=0)
    recipe.centres[-1:] = 0.0  # that of the constant
    recipe.scales = JointStdScaler().fit(rows).scale_
    rows = recipe._scaled(rows)
    return recipe, rows[: source.height], rows[source.height :], report


def _floats(frame: DataFrame, name: str) -> NDArray[np.float64]:
    if name not in frame.columns:
        return np.full(frame.height, np.nan)
    return as_numbers(frame[name]).fill_null(float("nan")).to_numpy()


def _strings(frame: DataFrame, name: str) -> list[str | None]:
    return as_strings(frame[name]).to_list() if name in frame.columns else [None] * frame.height


def _vectorizer(**params: Any) -> CountVectorizer:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(ngram_range=TERMS, token_pattern=WORD, dtype=np.float64, **params)


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
