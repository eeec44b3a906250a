"""The paper's tables as data: which rows of which data set, scaled how, drawn how often."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.datasets import DataSet, DomainPair
from adrem.datasets._load import make_preprocessing
from adrem.preprocessing import transform_pair

if TYPE_CHECKING:
    from adrem.benchmark.methods import Method

# The methods that a table is run with unless others are named: the paper's, and what they start from.
METHODS = ("source-svm", "source-lr", "adrem-svm", "adrem-lr")


@dataclass(frozen=True)
class Draw:
    """Which rows a repetition takes: all by default.

    Parameters
    ----------
    per_class : int, default=None
        How many rows of every class to take from the source.
    fewer : dict of str to int, default={}
        How many to take in their place from the domains that it names.
    n_source : int, default=None
        How many rows to take from the source, whatever their class, unless `per_class` says.
    n_target : int, default=None
        How many rows to take from the target.

    Examples
    --------
    >>> from adrem.benchmark import find_protocols
    >>> find_protocols("amazon-standard", "400")[0].draw
    Draw(per_class=None, fewer={}, n_source=1600, n_target=400)
    """

    per_class: int | None = None
    fewer: dict[str, int] = field(default_factory=dict)
    n_source: int | None = None
    n_target: int | None = None

    def source_rows(self, domain: str, labels: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw rows of the source.

        Parameters
        ----------
        domain : str
            Short name of the source, such as ``A``.
        labels : ndarray of shape (n_rows,)
            Labels of all its rows.
        rng : numpy.random.Generator
            What draws.

        Returns
        -------
        ndarray of shape (n_drawn,)
            Positions of the rows, in their order.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.benchmark import Draw
        >>> labels = np.array([0, 0, 0, 1, 1, 1])
        >>> rows = Draw(per_class=2, fewer={"D": 1}).source_rows("D", labels, np.random.default_rng(0))
        >>> labels[rows].tolist()
        [0, 1]
        """
        if self.per_class is None:
            return _some(len(labels), self.n_source, rng)
        size = self.fewer.get(domain, self.per_class)
        drawn = [rng.choice(np.flatnonzero(labels == label), size, replace=False) for label in np.unique(labels)]
        return np.sort(np.concatenate(drawn))

    def target_rows(self, labels: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw rows of the target.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            Labels of all its rows, of which nothing but the number is used.
        rng : numpy.random.Generator
            What draws.

        Returns
        -------
        ndarray of shape (n_drawn,)
            Positions of the rows, in their order.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.benchmark import Draw
        >>> len(Draw(n_target=4).target_rows(np.zeros(10), np.random.default_rng(0)))
        4
        """
        return _some(len(labels), self.n_target, rng)


def _some(n_rows: int, size: int | None, rng: np.random.Generator) -> NDArray[np.intp]:
    return np.arange(n_rows) if size is None else np.sort(rng.choice(n_rows, size, replace=False))


@dataclass(frozen=True)
class Protocol:
    """One table of the paper with one kind of features.

    Parameters
    ----------
    table, features : str
        The names by which it is found.
    title : str
        A name for people.
    data : str
        The data set, by the name that `adrem.datasets.load` knows.
    scaling : tuple of str
        What is done to the rows that were drawn, step by step: ``rectify``, ``row-sum``, ``joint-std`` or
        ``domain-standard``.
    pairs : tuple of str
        The pairs of a source and a target, such as ``A-W``.
    repeats : int
        How often each pair is drawn.
    draw : Draw, default=Draw()
        Which rows a repetition takes.
    methods : tuple of str, default=("source-svm", "source-lr", "adrem-svm", "adrem-lr")
        Names of the methods that are run unless others are asked for.

    See Also
    --------
    find_protocols : Those of the paper.

    Examples
    --------
    >>> from adrem.benchmark import find_protocols
    >>> protocol = find_protocols("office-31", "decaf")[0]
    >>> protocol.data, protocol.repeats
    ('office-31-decaf', 3)
    >>> protocol.pairs
    ('A-D', 'A-W', 'D-A', 'D-W', 'W-A', 'W-D')
    """

    table: str
    features: str
    title: str
    data: str
    scaling: tuple[str, ...]
    pairs: tuple[str, ...]
    repeats: int
    draw: Draw = Draw()
    methods: tuple[str, ...] = METHODS

    @property
    def name(self) -> str:
        """The table and the features, which no two protocols share.

        Examples
        --------
        >>> from adrem.benchmark import find_protocols
        >>> [protocol.name for protocol in find_protocols("office-31")]
        ['office-31/resnet50', 'office-31/decaf']
        """
        return f"{self.table}/{self.features}"

    def repeats_of(self, method: Method) -> int:
        """Tell how often to run a method on each pair: once where only folds would differ.

        Parameters
        ----------
        method : Method
            The method.

        Returns
        -------
        int
            The number of repetitions.

        Examples
        --------
        >>> from adrem.benchmark import find_methods, find_protocols
        >>> protocol = find_protocols("office-31", "decaf")[0]
        >>> [protocol.repeats_of(method) for method in find_methods(["adrem-svm", "coral"])]
        [3, 1]
        """
        return 1 if method.once and self.draw == Draw() else self.repeats

    def make_pair(self, data: DataSet, pair: str, repetition: int) -> DomainPair:
        """Make the rows of a repetition, drawn first and then scaled: what is not drawn is not seen.

        The seed is made of the repetition and the pair, so that every method sees the same rows.

        Parameters
        ----------
        data : DataSet
            The data set that `data` names, as `adrem.datasets.load` gives it.
        pair : str
            The pair, such as ``A-W``.
        repetition : int
            The number of the repetition, from 0.

        Returns
        -------
        DomainPair
            ``X_source, y_source, X_target, y_target``.

        Raises
        ------
        ValueError
            If the protocol has no such pair, and the message says which there are; or if the repetition is below 0.

        Examples
        --------
        A protocol of your own, on data that come with the package:

        >>> from adrem.benchmark import Draw, Protocol
        >>> from adrem.datasets import load
        >>> draw = Draw(per_class=20)
        >>> protocol = Protocol("arcs", "all", "40 rows of arcs", "rotated-arcs", ("joint-std",), ("S-T",), 5, draw)
        >>> protocol.make_pair(load(protocol.data), "S-T", repetition=0)
        <DomainPair of a source and a target: 40 x 2 and 100 x 2>
        """
        if pair not in self.pairs:
            raise ValueError(f"{self.name} has no pair {pair!r}; known are {', '.join(self.pairs)}.")
        if repetition < 0:
            raise ValueError(f"repetition is counted from 0, and can't be {repetition}.")
        source, target = pair.split("-")
        rng = np.random.default_rng([repetition, *pair.encode()])
        X_source, y_source, X_target, y_target = data.pair(source, target, preprocess=False)
        rows = self.draw.source_rows(source, y_source, rng)
        columns = self.draw.target_rows(y_target, rng)
        X_source, y_source, X_target, y_target = X_source[rows], y_source[rows], X_target[columns], y_target[columns]
        if self.scaling:
            X_source, X_target = transform_pair(make_preprocessing(self.scaling), X_source, X_target)
        return DomainPair(X_source, y_source, X_target, y_target)

    def identity(self) -> dict[str, Any]:
        """Tell all that a result of this protocol depends on, beside the data, the method and the repetition.

        Returns
        -------
        dict
            The scaling and the draw, which become part of the key of stored results.

        Examples
        --------
        >>> from adrem.benchmark import find_protocols
        >>> find_protocols("office-caltech-standard", "surf")[0].identity()["scaling"]
        ('row-sum', 'domain-standard')
        """
        return {"scaling": self.scaling, "draw": asdict(self.draw)}


def _all_pairs(letters: str) -> tuple[str, ...]:
    return tuple(f"{a}-{b}" for a in letters for b in letters if a != b)


# The paper names 10 repetitions for Amazon and 20 for the standard protocols, and none for the others; theirs are
# chosen so that all tables together run in half an hour on two cores.
FEW_PER_CLASS = Draw(per_class=20, fewer={"D": 8})
AMAZON_SPLIT = Draw(n_source=1600, n_target=400)
AMAZON_PAIRS = ("K-D", "D-B", "B-E", "E-K")
DEEP = ("rectify", "joint-std")
SURF = ("row-sum", "domain-standard")

PROTOCOLS = (
    Protocol(
        "amazon-standard",
        "400",
        "Amazon reviews, 400 features, 1600 source and 400 target rows",
        "amazon-400",
        ("domain-standard",),
        AMAZON_PAIRS,
        20,
        AMAZON_SPLIT,
    ),
    Protocol(
        "amazon-standard",
        "all",
        "Amazon reviews, all features, 1600 source and 400 target rows",
        "amazon-reviews",
        ("joint-std",),
        AMAZON_PAIRS,
        20,
        AMAZON_SPLIT,
    ),
    Protocol(
        "amazon-full",
        "all",
        "Amazon reviews, all features, all rows",
        "amazon-reviews",
        ("joint-std",),
        _all_pairs("BDEK"),
        10,
    ),
    Protocol(
        "office-caltech-standard",
        "surf",
        "Office-Caltech 10, SURF features, 20 source rows a class (dslr: 8)",
        "office-caltech-surf",
        SURF,
        _all_pairs("ACDW"),
        20,
        FEW_PER_CLASS,
    ),
    Protocol(
        "office-caltech-standard",
        "resnet50",
        "Office-Caltech 10, ResNet-50 features, 20 source rows a class (dslr: 8)",
        "office-caltech-resnet50",
        DEEP,
        _all_pairs("ACDW"),
        20,
        FEW_PER_CLASS,
    ),
    Protocol(
        "office-caltech-full",
        "surf",
        "Office-Caltech 10, SURF features, all rows",
        "office-caltech-surf",
        SURF,
        _all_pairs("ACDW"),
        5,
    ),
    Protocol(
        "office-caltech-full",
        "resnet50",
        "Office-Caltech 10, ResNet-50 features, all rows",
        "office-caltech-resnet50",
        DEEP,
        _all_pairs("ACDW"),
        5,
    ),
    Protocol(
        "office-31",
        "resnet50",
        "Office-31, ResNet-50 features, all rows",
        "office-31-resnet50",
        DEEP,
        _all_pairs("ADW"),
        3,
    ),
    Protocol(
        "office-31",
        "decaf",
        "Office-31, DeCAF fc7 features, all rows",
        "office-31-decaf",
        ("domain-standard",),
        _all_pairs("ADW"),
        3,
    ),
    Protocol(
        "cross-dataset-testbed",
        "decaf",
        "Cross-Dataset Testbed, DeCAF fc7 features as given",
        "cross-dataset-testbed",
        ("domain-standard",),
        _all_pairs("CIS"),
        3,
    ),
    Protocol(
        "cross-dataset-testbed",
        "decaf-rectified",
        "Cross-Dataset Testbed, DeCAF fc7 features, rectified",
        "cross-dataset-testbed",
        DEEP,
        _all_pairs("CIS"),
        3,
    ),
)

# The sensitivity figures: their data by the protocol it is run under; ensembles of each size drawn out of a pool of
# members, and single members after each number of iterations.
PANELS = {
    "amazon-reviews": ("amazon-full", "all"),
    "office-caltech-resnet50": ("office-caltech-full", "resnet50"),
}
CURVE_METHOD = "adrem-svm"
POOL = 201
SIZES = tuple(range(1, 100, 2))
RESAMPLES = 500
ITERATIONS = (1, *range(5, 101, 5))
MEMBERS = 10

# The toy figures: rows of each domain, the iterations whose classifier is shown, and C.
TOY_ROWS = 200
TOY_SHOWN = (0, 1, 5, 20)
TOY_C: dict[str, Any] = {"toy-rotated": "cv", "toy-balance": 0.003}

TABLES = tuple(dict.fromkeys(protocol.table for protocol in PROTOCOLS))


def find_protocols(table: str, features: str | None = None) -> list[Protocol]:
    """Find the protocols of a table, for all of its features or one.

    Parameters
    ----------
    table : str
        Name of the table; ``"all"`` stands for every one.
    features : str, default=None
        Name of the features. By default all that the table has.

    Returns
    -------
    list of Protocol
        The protocols, in the order of the paper.

    Raises
    ------
    ValueError
        If there is no such table, or it has no such features. The message says which there are.

    Examples
    --------
    >>> from adrem.benchmark import find_protocols
    >>> for protocol in find_protocols("office-caltech-standard"):
    ...     print(protocol.title)
    Office-Caltech 10, SURF features, 20 source rows a class (dslr: 8)
    Office-Caltech 10, ResNet-50 features, 20 source rows a class (dslr: 8)
    """
    if table not in (*TABLES, "all"):
        raise ValueError(f"There is no table {table!r}; known are {', '.join(TABLES)}, and all of them by 'all'.")
    of_table = [protocol for protocol in PROTOCOLS if table in (protocol.table, "all")]
    chosen = [protocol for protocol in of_table if features in (protocol.features, None)]
    if not chosen:
        known = ", ".join(repr(name) for name in dict.fromkeys(protocol.features for protocol in of_table))
        raise ValueError(f"{table} has no features {features!r}; known are {known}.")
    return chosen


def find_pairs(protocols: Iterable[Protocol], wanted: Iterable[str]) -> set[str]:
    """Names of pairs as the protocols spell them; `A>W` and `A->W` are understood too."""
    known = dict.fromkeys(pair for protocol in protocols for pair in protocol.pairs)
    chosen = {pair.strip().replace("->", "-").replace(">", "-").upper() for pair in wanted}
    unknown = sorted(chosen - known.keys())
    if unknown:
        raise ValueError(f"There is no pair {', '.join(unknown)}; known are {', '.join(known)}.")
    return chosen
