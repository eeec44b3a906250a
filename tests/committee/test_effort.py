"""Tests of the effort: forecasts by shapes, and which kinds a budget leaves out."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import fitted, make_blobs_shift

from adrem import Committee
from adrem.base.validation import Domains
from adrem.committee import effort
from adrem.committee.effort import Size, affordable, seconds_of, seconds_of_adrem, seconds_of_rest
from adrem.committee.kinds import ACTIVATIONS, FEW, KINDS, MANY, SPARSE
from adrem.datasets import DomainPair
from adrem.machines.tables import Outline


def size_of(
    n_source: int, n_target: int, n_features: int, n_classes: int, *, entries: float | None = None, dtype: Any = float
) -> Size:
    """The size of a fit with the usual members; `entries` a row if the table is sparse."""
    n_rows = n_source + n_target
    n_entries = int(n_rows * (n_features if entries is None else entries))
    table = Outline(n_rows, n_features, n_entries, np.dtype(dtype), entries is not None, 8 * n_entries)
    return Size(table, n_source, 1 if n_classes == 2 else n_classes, 5, 20)


# The largest pair of each data set, and the kinds that its rows suit.
OFFICE = size_of(2817, 795, 2048, 31, dtype=np.float32)
PAPER = {
    "Office-31": (OFFICE, ACTIVATIONS),
    "Office-Caltech ResNet-50": (size_of(1123, 958, 2048, 10, dtype=np.float32), ACTIVATIONS),
    "SURF": (size_of(1123, 958, 800, 10), MANY),
    "Amazon, 400 features": (size_of(2000, 2000, 400, 2), MANY),
    "Amazon, all features": (size_of(2000, 2000, 473856, 2, entries=237), SPARSE),
    "digits": (size_of(898, 899, 64, 10), FEW),
    "gas sensors": (size_of(1586, 1244, 128, 6), FEW),
}


@pytest.mark.parametrize("name", PAPER)
def test_usual_kinds_are_affordable_on_the_data_of_the_paper(name: str) -> None:
    size, names = PAPER[name]
    assert affordable(list(names), size, "auto") == (list(names), {})


@pytest.mark.parametrize("name", PAPER)
def test_budget_is_kept_and_the_slowest_go_first(name: str) -> None:
    size, names = PAPER[name]
    kept, left_out = affordable(list(names), size, "low")
    seconds = {name: seconds_of(KINDS[name], size) for name in names}
    budget = max(6 * seconds_of_adrem(size), 10.0) / 3
    assert sum(seconds[name] for name in kept) + seconds_of_rest(size) <= budget
    assert [name for name in names if name not in left_out] == kept
    assert left_out
    assert min(seconds[name] for name in left_out) >= max(seconds[name] for name in kept)
    cheapest = min(left_out, key=seconds.__getitem__)
    assert sum(seconds[name] for name in (*kept, cheapest)) + seconds_of_rest(size) > budget
    assert affordable(list(names), size, "high") == (list(names), {})


def test_search_for_missing_classes_takes_its_part_of_the_budget() -> None:
    assert seconds_of_rest(OFFICE, searches=True) > seconds_of_rest(OFFICE) == 0.0
    assert seconds_of_rest(OFFICE, searches=True) < 2 * seconds_of_adrem(OFFICE)
    names = list(ACTIVATIONS)
    assert affordable(names, OFFICE, "auto", searches=True) == (names, {})
    without, with_search = (affordable(names, OFFICE, "low", searches=own)[0] for own in (False, True))
    assert set(with_search) < set(without)
    text = size_of(2000, 2000, 473856, 2, entries=237)  # where there is an estimate, whatever the labels
    assert seconds_of_rest(text, searches=True) == seconds_of_rest(text) > 0.0


def test_one_kind_is_kept_whatever_it_takes() -> None:
    huge = size_of(10**6, 10**6, 100, 5)._replace(n_members=1000)
    kept, left_out = affordable(["log loss", "rbf", "discriminant"], huge, "low")
    assert len(kept) == 1
    assert len(left_out) == 2


def test_reason_names_the_effort() -> None:
    _, left_out = affordable(list(ACTIVATIONS), OFFICE, "low")
    assert list(left_out) == ["rbf, by domain", "rbf, unit rows", "rbf"]  # of equal ones the last goes first
    share = r"it would take \d\d % of the allowed time, and all kinds \d{3} %"
    assert all(re.fullmatch(share + r'; the effort "high" tries it', reason) for reason in left_out.values())


@pytest.mark.parametrize("name", KINDS)
def test_forecast_grows_with_every_length(name: str) -> None:
    sparse = "rare words" in name or "chosen C" in name
    kind, entries = KINDS[name], 50.0 if sparse else None
    base = seconds_of(kind, size_of(1000, 800, 300, 5, entries=entries))
    assert base > 0
    more = [
        size_of(4000, 800, 300, 5, entries=entries),
        size_of(1000, 800, 300, 20, entries=entries),
        size_of(1000, 800, 300, 5, entries=200.0) if sparse else size_of(1000, 800, 1200, 5),
    ]
    if kind.adapts:
        more += [
            size_of(1000, 4000, 300, 5, entries=entries),
            size_of(1000, 800, 300, 5, entries=entries)._replace(n_members=20),
        ]
    if kind.classifier != "discriminant":  # a few directions for each class cost nothing
        assert all(seconds_of(kind, size) > base for size in more)
    else:
        assert all(seconds_of(kind, size) >= base for size in more)
        assert seconds_of(kind, more[0]) > base


def test_iterations_of_a_discriminant_are_few() -> None:
    kind, size = KINDS["discriminant"], OFFICE
    assert seconds_of(kind, size._replace(n_iter=100)) == seconds_of(kind, size._replace(n_iter=10))
    assert seconds_of(kind, size._replace(n_iter=5)) < seconds_of(kind, size)


def test_size_is_that_of_the_rows() -> None:
    data = make_blobs_shift()
    labels, classes = data.y_source, np.arange(3)
    dense = Domains(data.X_source, labels, np.ones(60), data.X_target, classes)
    size = Size.of(dense, 5, 20)
    assert (size.table.n_rows, size.n_source, size.n_problems, size.n_members, size.n_iter) == (105, 60, 3, 5, 20)
    assert size.has_few_columns
    assert size.of_source().table.n_rows == 60
    assert size.of_source().table.n_entries == 300
    alone = Size.of(dense._replace(X_target=data.X_target[:0]), 5, 20)
    assert (alone.n_members, alone.n_iter) == (1, 0)
    assert seconds_of_rest(alone) == 0.0
    sparse = dense._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    assert not Size.of(sparse, 5, 20).has_few_columns
    wide = dense._replace(X_source=np.ones((60, 300)), X_target=np.ones((45, 300)))
    assert not Size.of(wide, 5, 20).has_few_columns
    assert seconds_of_rest(Size.of(wide, 5, 20)) == 0.0


def test_effort_decides_which_kinds_are_tried(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "SECONDS", 1e-3)  # as if these rows were many

    def fit(level: Any, **params: Any) -> Any:
        model = Committee(effort=level, n_estimators=2, n_iter=2, class_prior="uniform", random_state=0, **params)
        return fitted(model, blobs)

    found = {level: fit(level) for level in ("low", "auto", "high")}
    too_slow = {level: {n for n, why in own.left_out_.items() if "allowed time" in why} for level, own in found.items()}
    assert too_slow["low"] >= too_slow["auto"]
    assert len(too_slow["low"]) > 0
    assert too_slow["high"] == set()
    tried = {level: set(own.kinds_) | set(own.left_out_) for level, own in found.items()}
    assert tried["low"] == tried["high"] == set(FEW)
    assert any("tries it" in line for line in found["low"].findings())
    named = fit("low", kinds=list(FEW))  # kinds that are named are tried whatever they take
    assert named.kinds_ == found["high"].kinds_
    np.testing.assert_array_equal(named.vote_share_, found["high"].vote_share_)


def test_wrong_effort_is_refused(blobs: DomainPair) -> None:
    wrong: Any = "medium"
    with pytest.raises(ValueError, match="effort 'medium' is not one of"):
        fitted(Committee(effort=wrong), blobs)
