"""Tests of the protocols: they match the registry, and draw the expected rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from adrem.benchmark.methods import METHODS
from adrem.benchmark.protocols import PROTOCOLS, TABLES, Protocol, find_pairs, find_protocols
from adrem.datasets import DataSet, Domain, DomainPair, Provenance, load
from adrem.datasets.registry import REGISTRY

BY_NAME = {protocol.name: protocol for protocol in PROTOCOLS}
DRAWN = [protocol for protocol in PROTOCOLS if protocol.draw.per_class or protocol.draw.n_source]
HELD = [protocol for protocol in PROTOCOLS if protocol.held_out]
WHOLE = [protocol for protocol in PROTOCOLS if protocol not in DRAWN + HELD]
PAPER_TABLES = (
    "amazon-standard",
    "amazon-full",
    "office-caltech-standard",
    "office-caltech-full",
    "office-31",
    "cross-dataset-testbed",
)


def names(protocols: list[Protocol]) -> list[str]:
    return [protocol.name for protocol in protocols]


def make_data(protocol: Protocol, n_rows: int = 0) -> DataSet:
    """Domains with enough rows to draw from; the first feature is the row number, from 1."""
    letters = dict.fromkeys(letter for pair in protocol.pairs for letter in pair.split("-"))
    amazon = protocol.data.startswith("amazon")
    n_classes = 2 if amazon else 4
    rng = np.random.default_rng(0)
    domains = {}
    for letter in letters:
        n = n_rows or (1700 if amazon else 40 if letter == "D" else 100)
        X = np.column_stack([np.arange(1.0, n + 1), rng.normal(1.0, 2.0, (n, 2))])
        domains[letter] = Domain(letter, X, rng.permutation(np.arange(n) % n_classes))
    return DataSet("made", "made", domains, None, Provenance("nobody"))


def unscaled(protocol: Protocol) -> Protocol:
    return replace(protocol, scaling=())


def numbers(rows: Any) -> NDArray[np.intp]:
    """Positions of the drawn rows, read from their first feature."""
    first: NDArray[np.float64] = rows[:, 0]
    return first.astype(np.intp) - 1


def change(data: DataSet, letter: str, rows: NDArray[Any]) -> DataSet:
    """The same data with changed values in some rows of a domain."""
    name, X, y = data[letter]
    changed = X.copy()
    changed[rows] = 1e6 * (1.0 + changed[rows])
    return replace(data, domains={**data.domains, letter: Domain(name, changed, y)})


def assert_same(a: DomainPair, b: DomainPair) -> None:
    for x, y in zip(a, b, strict=True):
        assert_array_equal(x, y)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=BY_NAME)
def test_protocol_matches_registry_entry(protocol: Protocol) -> None:
    entry = REGISTRY[protocol.data]
    assert len(set(protocol.pairs)) == len(protocol.pairs)
    for pair in protocol.pairs:
        source, target = pair.split("-")
        assert source != target
        assert {source, target} <= entry.domains.keys()
    # The scaling of `load`, except in the protocol that tests the effect of a rectifier.
    rectified = protocol.name == "cross-dataset-testbed/decaf-rectified"
    assert protocol.scaling == (("rectify", "joint-std") if rectified else entry.scaling)


def test_protocols_have_the_papers_pairs_and_repeats() -> None:
    of_paper = {name: p for name, p in BY_NAME.items() if p.table in PAPER_TABLES}
    assert {name: (len(p.pairs), p.repeats) for name, p in of_paper.items()} == {
        "amazon-standard/400": (4, 20),
        "amazon-standard/all": (4, 20),
        "amazon-full/all": (12, 10),
        "office-caltech-standard/surf": (12, 20),
        "office-caltech-standard/resnet50": (12, 20),
        "office-caltech-full/surf": (12, 5),
        "office-caltech-full/resnet50": (12, 5),
        "office-31/resnet50": (6, 3),
        "office-31/decaf": (6, 3),
        "cross-dataset-testbed/decaf": (6, 3),
        "cross-dataset-testbed/decaf-rectified": (6, 3),
    }
    assert len(BY_NAME) == len(PROTOCOLS)


@pytest.mark.parametrize("features", ["surf", "resnet50"])
@pytest.mark.parametrize(("pair", "expected"), [("A-D", 20), ("C-W", 20), ("D-A", 8), ("W-C", 20)])
def test_office_caltech_draws_20_or_8_rows(features: str, pair: str, expected: int) -> None:
    protocol = unscaled(BY_NAME[f"office-caltech-standard/{features}"])
    data = make_data(protocol)
    drawn = protocol.make_pair(data, pair, 0)
    source, target = (data[letter] for letter in pair.split("-"))
    assert source.y is not None
    rows = numbers(drawn.X_source)
    assert_array_equal(np.bincount(drawn.y_source), [expected] * 4)
    assert len(set(rows)) == len(rows)
    assert_array_equal(drawn.X_source, source.X[rows])
    assert_array_equal(drawn.y_source, source.y[rows])
    assert_array_equal(drawn.X_target, target.X)
    assert_array_equal(drawn.y_target, target.y)


@pytest.mark.parametrize("features", ["400", "all"])
def test_amazon_draws_1600_source_and_400_target_rows(features: str) -> None:
    protocol = unscaled(BY_NAME[f"amazon-standard/{features}"])
    data = make_data(protocol)
    drawn = protocol.make_pair(data, "K-D", 3)
    for letter, X, y, size in (
        ("K", drawn.X_source, drawn.y_source, 1600),
        ("D", drawn.X_target, drawn.y_target, 400),
    ):
        rows = numbers(X)
        labels = data[letter].y
        assert labels is not None
        assert len(set(rows)) == len(rows) == size
        assert_array_equal(X, data[letter].X[rows])
        assert_array_equal(y, labels[rows])


@pytest.mark.parametrize("protocol", WHOLE, ids=names(WHOLE))
def test_full_protocols_use_all_rows(protocol: Protocol) -> None:
    data = make_data(protocol, 12)
    pair = protocol.pairs[-1]
    for repetition in (0, 1):
        assert_same(unscaled(protocol).make_pair(data, pair, repetition), data.pair(pair))


@pytest.mark.parametrize("protocol", DRAWN, ids=names(DRAWN))
def test_draws_are_reproducible_and_differ_between_repetitions(protocol: Protocol) -> None:
    data = make_data(protocol)
    pair = protocol.pairs[1]
    first, again, other = (protocol.make_pair(data, pair, repetition) for repetition in (0, 0, 1))
    assert_same(first, again)
    plain = unscaled(protocol)
    drawn = [set(numbers(plain.make_pair(data, pair, repetition).X_source)) for repetition in range(4)]
    assert all(drawn[i] != drawn[j] for i in range(4) for j in range(i))
    assert first.X_source.shape == other.X_source.shape


def test_held_out_rows_are_those_of_skada() -> None:
    with sklearn.config_context():  # importing skada turns on metadata routing for the whole process
        splitters = pytest.importorskip("skada.model_selection")
    protocol = find_protocols("skada-bench", "mushrooms")[0]
    data = make_data(protocol, 60)
    X_source, y_source, X_target, y_target = data.pair("T-E")
    X, y = np.concatenate([X_source, X_target]), np.concatenate([y_source, y_target])
    domain = np.repeat([1, -2], [len(y_source), len(y_target)])
    splitter = splitters.StratifiedDomainShuffleSplit(n_splits=5, test_size=0.2, random_state=0)
    for repetition, parts in enumerate(splitter.split(X, y, domain)):
        trial = protocol.make_trial(data, "T-E", repetition)
        fitted, held = (np.sort(part) for part in parts)
        source, target, scored = fitted[domain[fitted] > 0], fitted[domain[fitted] < 0], held[domain[held] < 0]
        assert_same(trial.pair, DomainPair(X[source], y[source], X[target], y[target]))
        assert trial.X_held is not None
        assert_array_equal(trial.X_held, X[scored])
        assert_array_equal(trial.truth, y[scored])
        assert_same(protocol.make_pair(data, "T-E", repetition), trial.pair)


@pytest.mark.parametrize("protocol", HELD, ids=names(HELD))
def test_held_out_rows_are_not_fitted_to(protocol: Protocol) -> None:
    data = make_data(protocol, 100)
    trial = protocol.make_trial(data, protocol.pairs[0], 1)
    fitted, held = set(numbers(trial.pair.X_target)), set(numbers(trial.X_held))
    assert not fitted & held
    assert len(fitted | held) == 100
    assert [len(trial.pair.X_source), len(fitted), len(held)] == [80, 80, 20]
    assert_array_equal(np.bincount(trial.truth), [5] * 4)
    assert protocol.repeats_of(METHODS["coral"]) == protocol.repeats == 5


@pytest.mark.parametrize("protocol", [*WHOLE, *DRAWN], ids=names([*WHOLE, *DRAWN]))
def test_other_protocols_score_the_target_that_is_fitted_to(protocol: Protocol) -> None:
    trial = protocol.make_trial(make_data(protocol), protocol.pairs[0], 0)
    assert trial.X_held is None
    assert trial.truth is trial.pair.y_target


def test_pairs_with_equal_source_draw_different_rows() -> None:
    protocol = unscaled(BY_NAME["office-caltech-standard/surf"])
    data = make_data(protocol)
    drawn = [set(numbers(protocol.make_pair(data, pair, 0).X_source)) for pair in ("A-C", "A-D", "A-W")]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


@pytest.mark.parametrize("protocol", DRAWN, ids=names(DRAWN))
def test_undrawn_rows_do_not_affect_scaling(protocol: Protocol) -> None:
    """Scaling follows the draw: it uses the drawn rows only."""
    data = make_data(protocol)
    pair = protocol.pairs[0]
    before = protocol.make_pair(data, pair, 2)
    drawn = unscaled(protocol).make_pair(data, pair, 2)
    for letter, X in zip(pair.split("-"), (drawn.X_source, drawn.X_target), strict=True):
        rows = numbers(X)
        others = np.setdiff1d(np.arange(len(data[letter].X)), rows)
        assert_same(protocol.make_pair(change(data, letter, others), pair, 2), before)
        after = protocol.make_pair(change(data, letter, rows[:1]), pair, 2)
        assert any(np.any(a != b) for a, b in zip(after, before, strict=True))


def scaled_by_hand(scaling: tuple[str, ...], X_source: Any, X_target: Any) -> tuple[Any, Any]:
    for step in scaling:
        if step == "rectify":
            X_source, X_target = X_source.clip(0), X_target.clip(0)
        elif step == "row-sum":
            X_source, X_target = (X / X.sum(axis=1, keepdims=True) for X in (X_source, X_target))
        elif step == "joint-std":
            scale = np.concatenate([X_source, X_target]).std(axis=0)
            X_source, X_target = X_source / scale, X_target / scale
        else:
            X_source, X_target = ((X - X.mean(axis=0)) / X.std(axis=0) for X in (X_source, X_target))
    return X_source, X_target


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=BY_NAME)
def test_scaling_equals_direct_computation(protocol: Protocol) -> None:
    data = make_data(protocol)
    drawn = unscaled(protocol).make_pair(data, protocol.pairs[0], 1)
    scaled = protocol.make_pair(data, protocol.pairs[0], 1)
    X_source, X_target = scaled_by_hand(protocol.scaling, drawn.X_source, drawn.X_target)
    assert_allclose(scaled.X_source, X_source, atol=1e-12)
    assert_allclose(scaled.X_target, X_target, atol=1e-12)
    assert_array_equal(scaled.y_source, drawn.y_source)
    assert_array_equal(scaled.y_target, drawn.y_target)


def test_sparse_pairs_equal_dense_pairs() -> None:
    protocol = BY_NAME["amazon-standard/all"]
    data = make_data(protocol)
    sparse = replace(data, domains={k: d._replace(X=sp.csr_array(d.X)) for k, d in data.domains.items()})
    expected, drawn = protocol.make_pair(data, "B-E", 0), protocol.make_pair(sparse, "B-E", 0)
    assert sp.issparse(drawn.X_source)
    assert_allclose(drawn.X_source.toarray(), expected.X_source)
    assert_allclose(drawn.X_target.toarray(), expected.X_target)
    assert_array_equal(drawn.y_source, expected.y_source)


def test_identity_depends_on_draw_and_scaling() -> None:
    protocol = BY_NAME["office-caltech-standard/surf"]
    assert protocol.identity() == BY_NAME["office-caltech-standard/surf"].identity()
    others = (
        replace(protocol, scaling=("joint-std",)),
        replace(protocol, draw=replace(protocol.draw, per_class=19)),
        replace(protocol, draw=replace(protocol.draw, fewer={})),
        BY_NAME["office-caltech-full/surf"],
        replace(protocol, held_out=0.2),
    )
    for other in others:
        assert other.identity() != protocol.identity()


def test_protocols_are_found_by_table_and_features() -> None:
    assert names(find_protocols("office-31")) == ["office-31/resnet50", "office-31/decaf"]
    assert names(find_protocols("office-31", "decaf")) == ["office-31/decaf"]
    assert find_protocols("all") == list(PROTOCOLS)
    of_paper = [protocol for protocol in find_protocols("all", "surf") if protocol.table in PAPER_TABLES]
    assert names(of_paper) == ["office-caltech-standard/surf", "office-caltech-full/surf"]
    assert TABLES[: len(PAPER_TABLES)] == PAPER_TABLES  # tables beyond the paper follow


def test_unknown_names_list_the_known_names() -> None:
    with pytest.raises(ValueError, match="no table 'office'") as caught:
        find_protocols("office")
    assert all(table in str(caught.value) for table in (*TABLES, "'all'"))
    with pytest.raises(ValueError, match=r"office-31 has no features 'surf'; known are 'resnet50', 'decaf'\."):
        find_protocols("office-31", "surf")
    with pytest.raises(ValueError, match=r"no pair A-C, A-X; known are A-D, A-W, D-A, D-W, W-A, W-D\."):
        find_pairs(find_protocols("office-31"), ["A-X", "A-W", "A-C"])


@pytest.mark.parametrize("written", ["A-W", "A>W", "A->W", "a-w", " a>w "])
def test_find_pairs_accepts_several_spellings(written: str) -> None:
    assert find_pairs(find_protocols("office-31"), [written, "D-A"]) == {"A-W", "D-A"}


def test_find_pairs_accepts_pairs_of_any_protocol() -> None:
    assert find_pairs(find_protocols("all"), ["K-D", "C-I"]) == {"K-D", "C-I"}
    with pytest.raises(ValueError, match="no pair K-D"):
        find_pairs(find_protocols("office-31"), ["K-D"])


def test_make_pair_rejects_unknown_pair_and_negative_repetition() -> None:
    protocol = find_protocols("office-31", "resnet50")[0]
    for pair in ("A-A", "A", "A-W-D", "A->W"):
        with pytest.raises(ValueError, match=r"office-31/resnet50 has no pair '.*'; known are A-D, A-W, D-A"):
            protocol.make_pair(load("rotated-arcs"), pair, 0)
    with pytest.raises(ValueError, match="repetition must be at least 0, got -1"):
        protocol.make_pair(load("rotated-arcs"), "A-W", -1)
