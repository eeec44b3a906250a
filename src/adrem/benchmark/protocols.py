"""Protocols: the data set, the scaling, the drawn rows and the repetitions of each table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from adrem.benchmark.draws import Draw, Trial, hold_out
from adrem.benchmark.method import Method
from adrem.datasets import DataSet, DomainPair
from adrem.datasets.loading import make_preprocessing
from adrem.exceptions import ParameterError
from adrem.preprocessing import transform_pair

# The paper's methods and the source classifiers that they start from.
DEFAULT_METHODS = ("source-svm", "source-lr", "adrem-svm", "adrem-lr")
ALL_ROWS = Draw()


@dataclass(frozen=True)
class Protocol:
    """One table with one kind of features.

    Parameters
    ----------
    table, features : str
        Names to find it by.
    title : str
        Name to show.
    data : str
        Name of the data set, as in `adrem.datasets.load`.
    scaling : tuple of str
        Steps applied to the drawn rows: ``rectify``, ``row-sum``, ``joint-std``, ``domain-standard`` or
        ``joint-standard``.
    pairs : tuple of str
        Pairs of a source and a target, such as ``A-W``.
    repeats : int
        Number of repetitions of each pair.
    draw : Draw, default=Draw()
        Which rows a repetition takes.
    methods : tuple of str, default=("source-svm", "source-lr", "adrem-svm", "adrem-lr")
        Names of the methods that are run by default.
    held_out : float, default=0
        Share of the rows of each class of each domain that methods are not fitted to. They are scored on those of the
        target; at 0, on the target that they are fitted to. The scaling is fitted to all drawn rows, held out or not.

    See Also
    --------
    find_protocols : Find the protocols of the paper.
    """

    table: str
    features: str
    title: str
    data: str
    scaling: tuple[str, ...]
    pairs: tuple[str, ...]
    repeats: int
    draw: Draw = ALL_ROWS
    methods: tuple[str, ...] = DEFAULT_METHODS
    held_out: float = 0.0

    @property
    def name(self) -> str:
        """The table and the features, unique to each protocol."""
        return f"{self.table}/{self.features}"

    def repeats_of(self, method: Method) -> int:
        """Return how often to run a method on each pair: once if only the folds would differ."""
        return 1 if method.once and self.draw == ALL_ROWS and not self.held_out else self.repeats

    def make_pair(self, data: DataSet, pair: str, repetition: int) -> DomainPair:
        """Draw and scale the rows of a repetition.

        Scaling sees only the drawn rows. The seed depends on the repetition and the pair alone, so that all methods get
        the same rows.

        Parameters
        ----------
        data : DataSet
            The data set named by `data`, as returned by `adrem.datasets.load`.
        pair : str
            The pair, such as ``A-W``.
        repetition : int
            The repetition, from 0.

        Returns
        -------
        DomainPair
            ``X_source, y_source, X_target, y_target``, without rows that are held out.

        Raises
        ------
        ParameterError
            If the protocol has no such pair, or the repetition is negative.
        """
        return self.make_trial(data, pair, repetition).pair

    def make_trial(self, data: DataSet, pair: str, repetition: int) -> Trial:
        """Draw and scale the rows of a repetition, as `make_pair`, and tell which rows are scored.

        Parameters
        ----------
        data : DataSet
            As for `make_pair`.
        pair : str
            As for `make_pair`.
        repetition : int
            As for `make_pair`.

        Returns
        -------
        Trial
            ``pair``, ``X_held``, ``y_held``.
        """
        self._check(pair, repetition)
        source, target = pair.split("-")
        rng = np.random.default_rng([repetition, *pair.encode()])
        X_source, y_source, X_target, y_target = data.pair(source, target, preprocess=False)
        drawn = self.draw.source_rows(source, y_source, rng)
        X_source, y_source = X_source[drawn], y_source[drawn]
        drawn = self.draw.target_rows(y_target, rng)
        X_target, y_target = X_target[drawn], y_target[drawn]
        if self.scaling:
            X_source, X_target = transform_pair(make_preprocessing(self.scaling), X_source, X_target)
        drawn_pair = DomainPair(X_source, y_source, X_target, y_target)
        return hold_out(drawn_pair, self.held_out, repetition) if self.held_out else Trial(drawn_pair)

    def _check(self, pair: str, repetition: int) -> None:
        if pair not in self.pairs:
            raise ParameterError(f"{self.name} has no pair {pair!r}; known are {', '.join(self.pairs)}.", "pair")
        if repetition < 0:
            raise ParameterError(f"repetition must be at least 0, got {repetition}.", "repetition")

    def identity(self) -> dict[str, Any]:
        """Return what a result depends on besides the data, the method and the repetition."""
        held_out = {"held_out": self.held_out} if self.held_out else {}  # results of earlier versions stay valid
        return {"scaling": self.scaling, "draw": asdict(self.draw), **held_out}


def _all_pairs(letters: str) -> tuple[str, ...]:
    return tuple(f"{a}-{b}" for a in letters for b in letters if a != b)


# The paper gives 10 repetitions for Amazon and 20 for the standard protocols. The others are chosen so that all tables
# run in half an hour on two cores.
FEW_PER_CLASS = Draw(per_class=20, fewer={"D": 8})
AMAZON_SPLIT = Draw(n_source=1600, n_target=400)
AMAZON_PAIRS = ("K-D", "D-B", "B-E", "E-K")
DEEP = ("rectify", "joint-std")
SURF = ("row-sum", "domain-standard")


def _skada_bench(features: str, title: str, data: str, pairs: tuple[str, ...]) -> Protocol:
    title = f"{title}; 80 % of the rows to fit to, 20 % of the target to score"
    return Protocol("skada-bench", features, title, data, (), pairs, 5, methods=SKADA_BENCH_METHODS, held_out=0.2)


DRAWS = tuple(f"S{seed}-T{seed}" for seed in range(5))
SKADA_BENCH_METHODS = (*DEFAULT_METHODS, "committee")

# fmt: off
PROTOCOLS = (
    Protocol(
        "amazon-standard", "400", "Amazon reviews, 400 features, 1600 source and 400 target rows",
        "amazon-400", ("domain-standard",), AMAZON_PAIRS, 20, AMAZON_SPLIT,
    ),
    Protocol(
        "amazon-standard", "all", "Amazon reviews, all features, 1600 source and 400 target rows",
        "amazon-reviews", ("joint-std",), AMAZON_PAIRS, 20, AMAZON_SPLIT,
    ),
    Protocol(
        "amazon-full", "all", "Amazon reviews, all features, all rows",
        "amazon-reviews", ("joint-std",), _all_pairs("BDEK"), 10,
    ),
    Protocol(
        "office-caltech-standard", "surf", "Office-Caltech 10, SURF features, 20 source rows a class (dslr: 8)",
        "office-caltech-surf", SURF, _all_pairs("ACDW"), 20, FEW_PER_CLASS,
    ),
    Protocol(
        "office-caltech-standard", "resnet50",
        "Office-Caltech 10, ResNet-50 features, 20 source rows a class (dslr: 8)",
        "office-caltech-resnet50", DEEP, _all_pairs("ACDW"), 20, FEW_PER_CLASS,
    ),
    Protocol(
        "office-caltech-full", "surf", "Office-Caltech 10, SURF features, all rows",
        "office-caltech-surf", SURF, _all_pairs("ACDW"), 5,
    ),
    Protocol(
        "office-caltech-full", "resnet50", "Office-Caltech 10, ResNet-50 features, all rows",
        "office-caltech-resnet50", DEEP, _all_pairs("ACDW"), 5,
    ),
    Protocol(
        "office-31", "resnet50", "Office-31, ResNet-50 features, all rows",
        "office-31-resnet50", DEEP, _all_pairs("ADW"), 3,
    ),
    Protocol(
        "office-31", "decaf", "Office-31, DeCAF fc7 features, all rows",
        "office-31-decaf", ("domain-standard",), _all_pairs("ADW"), 3,
    ),
    Protocol(
        "cross-dataset-testbed", "decaf", "Cross-Dataset Testbed, DeCAF fc7 features as given",
        "cross-dataset-testbed", ("domain-standard",), _all_pairs("CIS"), 3,
    ),
    Protocol(
        "cross-dataset-testbed", "decaf-rectified", "Cross-Dataset Testbed, DeCAF fc7 features, rectified",
        "cross-dataset-testbed", DEEP, _all_pairs("CIS"), 3,
    ),
    _skada_bench("sim-covariate", "Simulated covariate shift", "simulated-covariate", DRAWS),
    _skada_bench("sim-target", "Simulated target shift", "simulated-target", DRAWS),
    _skada_bench("sim-concept", "Simulated concept shift", "simulated-concept", DRAWS),
    _skada_bench("sim-subspace", "Simulated subspace shift", "simulated-subspace", DRAWS),
    _skada_bench("mushrooms", "Mushrooms", "mushrooms", _all_pairs("ET")),
    _skada_bench("phishing", "Phishing websites", "phishing", _all_pairs("IN")),
)
# fmt: on

TABLES = tuple(dict.fromkeys(protocol.table for protocol in PROTOCOLS))


def find_protocols(table: str, features: str | None = None) -> list[Protocol]:
    """Find the protocols of a table.

    Parameters
    ----------
    table : str
        Name of the table, or ``"all"``.
    features : str, default=None
        Name of the features. By default all features of the table.

    Returns
    -------
    list of Protocol
        The protocols, in the order of the paper.

    Raises
    ------
    ParameterError
        If there is no such table, or it has no such features. The message lists the names.

    Examples
    --------
    >>> from adrem.benchmark import find_protocols
    >>> for protocol in find_protocols("office-caltech-standard"):
    ...     print(protocol.title)
    Office-Caltech 10, SURF features, 20 source rows a class (dslr: 8)
    Office-Caltech 10, ResNet-50 features, 20 source rows a class (dslr: 8)
    """
    of_table = [protocol for protocol in PROTOCOLS if table in (protocol.table, "all")]
    if not of_table:
        known = ", ".join(dict.fromkeys(protocol.table for protocol in PROTOCOLS))
        raise ParameterError(f"There is no table {table!r}; known are {known}, and 'all'.", "table")
    chosen = [protocol for protocol in of_table if features in (protocol.features, None)]
    if not chosen:
        known = ", ".join(repr(name) for name in dict.fromkeys(protocol.features for protocol in of_table))
        raise ParameterError(f"{table} has no features {features!r}; known are {known}.", "features")
    return chosen


def find_pairs(protocols: Iterable[Protocol], wanted: Iterable[str]) -> set[str]:
    """Return pairs as the protocols spell them; `A>W` and `A->W` are accepted too."""
    known = dict.fromkeys(pair for protocol in protocols for pair in protocol.pairs)
    chosen = {pair.strip().replace("->", "-").replace(">", "-").upper() for pair in wanted}
    unknown = sorted(chosen - known.keys())
    if unknown:
        raise ParameterError(f"There is no pair {', '.join(unknown)}; known are {', '.join(known)}.", "wanted")
    return chosen
