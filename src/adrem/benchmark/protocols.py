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

    `per_class` takes so many rows of every class from the source, `fewer` in their place from the domains it names.
    `n_source` and `n_target` take so many rows at random.
    """

    per_class: int | None = None
    fewer: dict[str, int] = field(default_factory=dict)
    n_source: int | None = None
    n_target: int | None = None

    def source_rows(self, domain: str, labels: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        """Positions of the rows of the source, in their order."""
        if self.per_class is None:
            return _some(len(labels), self.n_source, rng)
        size = self.fewer.get(domain, self.per_class)
        drawn = [rng.choice(np.flatnonzero(labels == label), size, replace=False) for label in np.unique(labels)]
        return np.sort(np.concatenate(drawn))

    def target_rows(self, labels: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        """Positions of the rows of the target, in their order."""
        return _some(len(labels), self.n_target, rng)


def _some(n_rows: int, size: int | None, rng: np.random.Generator) -> NDArray[np.intp]:
    return np.arange(n_rows) if size is None else np.sort(rng.choice(n_rows, size, replace=False))


@dataclass(frozen=True)
class Protocol:
    """One table of the paper with one kind of features."""

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
        return f"{self.table}/{self.features}"

    def repeats_of(self, method: Method) -> int:
        """Repetitions of a method: one where only folds would differ."""
        return 1 if method.once and self.draw == Draw() else self.repeats

    def make_pair(self, data: DataSet, pair: str, repetition: int) -> DomainPair:
        """The rows of a repetition, drawn first and then scaled: what is not drawn is not seen."""
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
        """All that a result of this protocol depends on, beside the data, the method and the repetition."""
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
    """The protocols of a table, all of its features or one; ``all`` stands for every table."""
    if table not in (*TABLES, "all"):
        raise ValueError(f"There is no table {table!r}; known are {', '.join(TABLES)}, and all of them by 'all'.")
    of_table = [protocol for protocol in PROTOCOLS if table in (protocol.table, "all")]
    chosen = [protocol for protocol in of_table if features in (protocol.features, None)]
    if not chosen:
        known = ", ".join(dict.fromkeys(protocol.features for protocol in of_table))
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
