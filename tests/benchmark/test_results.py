"""Tests of result summaries: means, spreads and comparisons equal direct computation."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from statistics import mean, stdev

import pytest
from scipy.stats import wilcoxon

from adrem.benchmark.methods import find_methods
from adrem.benchmark.protocols import Protocol, find_protocols
from adrem.benchmark.published import AVERAGE, Value
from adrem.benchmark.results import Comparison, TableCell, TableResult, read_results, summarize
from adrem.benchmark.store import Cell, Result
from adrem.benchmark.tables import as_csv

OFFICE = find_protocols("office-31", "resnet50")[0]
TWO = replace(OFFICE, pairs=("A-W", "D-A"))
Accuracies = dict[str, dict[str, list[float]]]


def make_results(protocol: Protocol, accuracies: Accuracies) -> dict[Cell, Result]:
    """Results by method, pair and repetition, with increasing finish times."""
    return {
        Cell(protocol.table, protocol.features, pair, repetition, method, "d", "i"): Result(
            {"accuracy": value}, 1.0, f"2026-01-{1 + repetition:02d}T00:00:00+00:00"
        )
        for method, by_pair in accuracies.items()
        for pair, values in by_pair.items()
        for repetition, value in enumerate(values)
    }


def summary(protocol: Protocol, accuracies: Accuracies) -> TableResult:
    return summarize(protocol, find_methods(), make_results(protocol, accuracies))


def test_summary_has_mean_and_standard_deviation() -> None:
    values = [88.0, 90.0, 89.5]
    entry = summary(OFFICE, {"adrem-svm": {"A-W": values}}).cells["adrem-svm", "A-W"]
    assert entry.repeats == 3
    assert entry.accuracy == pytest.approx(mean(values))
    assert entry.std == pytest.approx(stdev(values))
    assert entry.published == Value(89.4, "van Laarhoven and Marchiori 2018, text")
    assert entry.difference == pytest.approx(mean(values) - 89.4)


def test_one_repetition_has_no_standard_deviation() -> None:
    entry = summary(OFFICE, {"adrem-svm": {"A-W": [10.0]}}).cells["adrem-svm", "A-W"]
    assert (entry.repeats, entry.accuracy, entry.std) == (1, 10.0, None)
    assert not entry.differs


def test_unpublished_value_gives_no_difference() -> None:
    entry = summary(OFFICE, {"adrem-lr": {"A-W": [10.0, 11.0]}}).cells["adrem-lr", "A-W"]
    assert entry.published is None
    assert entry.difference is None
    assert not entry.differs


def test_average_is_taken_over_pairs_per_repetition() -> None:
    result = summary(TWO, {"adrem-svm": {"D-A": [70.0, 74.0, 75.0], "A-W": [90.0, 80.0, 88.0]}})
    average = result.cells["adrem-svm", AVERAGE]
    means = [80.0, 77.0, 81.5]
    assert average.repeats == 3
    assert average.accuracy == pytest.approx(mean(means))
    assert average.std == pytest.approx(stdev(means))
    assert average.published is not None
    assert average.published.accuracy == 87.0
    assert result.columns == ["A-W", "D-A", AVERAGE]


def test_average_uses_repetitions_complete_for_all_pairs() -> None:
    result = summary(TWO, {"adrem-svm": {"A-W": [90.0, 80.0, 1.0], "D-A": [70.0, 74.0]}})
    average = result.cells["adrem-svm", AVERAGE]
    assert (average.repeats, average.accuracy) == (2, 78.5)
    assert result.cells["adrem-svm", "A-W"].repeats == 3


def test_average_matches_repetitions_by_number() -> None:
    results = make_results(TWO, {"adrem-svm": {"A-W": [90.0, 80.0], "D-A": [70.0, 74.0, 60.0]}})
    gone = Cell(TWO.table, TWO.features, "D-A", 0, "adrem-svm", "d", "i")
    del results[gone]
    average = summarize(TWO, find_methods(), results).cells["adrem-svm", AVERAGE]
    assert (average.repeats, average.accuracy, average.std) == (1, (80.0 + 74.0) / 2, None)


def test_average_needs_all_pairs() -> None:
    result = summary(TWO, {"adrem-svm": {"A-W": [90.0, 80.0]}, "source-svm": {"A-W": [1.0], "D-A": [2.0]}})
    assert ("adrem-svm", AVERAGE) not in result.cells
    assert result.cells["source-svm", AVERAGE].accuracy == 1.5
    assert result.columns == ["A-W", "D-A", AVERAGE]
    assert summary(TWO, {"adrem-svm": {"D-A": [90.0]}}).columns == ["D-A"]


def test_average_needs_a_common_repetition() -> None:
    results = make_results(TWO, {"adrem-svm": {"A-W": [90.0], "D-A": [70.0, 74.0]}})
    del results[Cell(TWO.table, TWO.features, "D-A", 0, "adrem-svm", "d", "i")]
    result = summarize(TWO, find_methods(), results)
    assert set(result.cells) == {("adrem-svm", "A-W"), ("adrem-svm", "D-A")}


def test_cells_of_other_protocols_are_ignored() -> None:
    results = make_results(TWO, {"adrem-svm": {"A-W": [90.0]}})
    for protocol in (replace(TWO, features="decaf"), replace(TWO, table="office-caltech-full")):
        results |= make_results(protocol, {"adrem-svm": {"A-W": [1.0, 2.0]}, "source-lr": {"A-W": [1.0]}})
    result = summarize(TWO, find_methods(), results)
    assert {key: entry.accuracy for key, entry in result.cells.items()} == {("adrem-svm", "A-W"): 90.0}
    assert result.finished.startswith("2026-01-01")
    assert [method.name for method in result.methods] == ["adrem-svm"]


def test_finished_is_the_date_of_newest_result() -> None:
    assert summary(TWO, {"adrem-svm": {"A-W": [1.0, 2.0, 3.0], "D-A": [1.0]}}).finished.startswith("2026-01-03")
    assert summary(TWO, {}).finished == ""


@pytest.mark.parametrize(
    ("accuracy", "std", "repeats", "differs"),
    [
        # Two standard errors are 1.0, and rounding hides up to 0.05.
        (81.04, 1.0, 4, False),
        (81.06, 1.0, 4, True),
        (78.96, 1.0, 4, False),
        (78.94, 1.0, 4, True),
        (80.51, 1.0, 16, False),
        (80.56, 1.0, 16, True),
        (80.04, 0.0, 5, False),
        (80.06, 0.0, 5, True),
        (99.0, None, 1, False),
    ],
)
def test_differs_beyond_two_standard_errors_and_rounding(
    accuracy: float, std: float | None, repeats: int, differs: bool
) -> None:
    assert TableCell(repeats, accuracy, std, Value(80.0, "somebody")).differs is differs
    assert not TableCell(repeats, accuracy, std, None).differs


def test_differs_depends_on_number_of_repetitions() -> None:
    values = [89.0, 91.0, 93.0, 91.0]  # 91.0, and 1.6 from the published 89.4
    limit = 2 * stdev(values) / sqrt(4) + 0.05
    assert limit > 1.6
    assert not summary(OFFICE, {"adrem-svm": {"A-W": values}}).cells["adrem-svm", "A-W"].differs
    assert summary(OFFICE, {"adrem-svm": {"A-W": values * 4}}).cells["adrem-svm", "A-W"].differs


def test_comparison_counts_pairs_and_equals_wilcoxon() -> None:
    first = dict(zip(OFFICE.pairs, ([60.0], [61.0], [62.0], [63.0], [64.0], [65.0]), strict=True))
    second = dict(zip(OFFICE.pairs, ([61.0], [63.0], [65.0], [67.0], [63.5], [71.0]), strict=True))
    result = summary(OFFICE, {"source-svm": first, "adrem-svm": second})
    differences = [a - b for ([a], [b]) in zip(first.values(), second.values(), strict=True)]
    (comparison,) = result.comparisons
    assert comparison == Comparison("source-svm", "adrem-svm", 1, 0, 5, float(wilcoxon(differences).pvalue))
    # The smallest of six ranks is the only positive one: two of the 64 signs are as extreme on either side.
    assert comparison.p == pytest.approx(2 * 2 / 2**6)


def test_methods_are_compared_over_shared_pairs() -> None:
    accuracies: Accuracies = {
        "source-svm": {pair: [50.0] for pair in OFFICE.pairs},
        "adrem-svm": {pair: [60.0 + k] for k, pair in enumerate(OFFICE.pairs)},
        "adrem-lr": {"A-D": [40.0], "A-W": [70.0]},
    }
    by_names = {(c.first, c.second): c for c in summary(OFFICE, accuracies).comparisons}
    assert by_names.keys() == {("source-svm", "adrem-svm"), ("source-svm", "adrem-lr"), ("adrem-svm", "adrem-lr")}
    assert by_names["source-svm", "adrem-svm"] == Comparison("source-svm", "adrem-svm", 0, 0, 6, 2 / 2**6)
    other = by_names["source-svm", "adrem-lr"]
    assert (other.wins, other.ties, other.losses) == (1, 0, 1)


def test_ties_ignore_rounding_error() -> None:
    values = [0.1, 0.2, 0.3]
    accuracies: Accuracies = {
        "source-svm": {"A-W": values, "D-A": [50.0]},
        "adrem-svm": {"A-W": values[::-1], "D-A": [60.0]},
    }
    accuracies["adrem-svm"]["A-W"][0] += 1e-12
    (comparison,) = summary(TWO, accuracies).comparisons
    assert (comparison.wins, comparison.ties, comparison.losses) == (0, 1, 1)
    assert comparison.p == 1.0  # from the one pair that differs


def test_equal_methods_have_p_value_one() -> None:
    same: dict[str, list[float]] = {"A-W": [50.0, 60.0], "D-A": [70.0]}
    (comparison,) = summary(TWO, {"source-svm": same, "adrem-svm": same}).comparisons
    assert comparison == Comparison("source-svm", "adrem-svm", 0, 2, 0, 1.0)


def test_methods_without_shared_pairs_are_not_compared() -> None:
    assert summary(TWO, {"source-svm": {"A-W": [1.0]}, "adrem-svm": {"D-A": [1.0]}}).comparisons == []
    assert summary(TWO, {"source-svm": {"A-W": [1.0], "D-A": [1.0]}}).comparisons == []


def test_best_of_column_uses_printed_precision() -> None:
    accuracies: Accuracies = {
        "source-svm": {"A-W": [80.04], "D-A": [70.0]},
        "adrem-svm": {"A-W": [79.96]},
        "adrem-lr": {"A-W": [79.94]},
    }
    result = summary(TWO, accuracies)
    assert result.best("A-W") == 80.0
    assert result.best("D-A") is None  # a single value is not marked as the best
    assert result.best(AVERAGE) is None


def test_elsewhere_omits_methods_that_were_run() -> None:
    run = summary(OFFICE, {"adrem-svm": {"A-W": [80.0]}})
    assert "Ad-REM" not in {line.method for line in run.elsewhere}
    assert {line.method for line in run.elsewhere} >= {"JAN", "Source"}
    assert {line.features for line in run.elsewhere} == {"alexnet-finetuned", "resnet50-finetuned", "resnet50"}


def test_read_results_inverts_as_csv() -> None:
    (decaf,) = find_protocols("office-31", "decaf")
    tables = [
        summary(OFFICE, {"adrem-svm": {pair: [70.0 + k, 71.0] for k, pair in enumerate(OFFICE.pairs)}}),
        summary(decaf, {"source-svm": {"A-W": [50.0]}, "adrem-lr": {"A-W": [60.125], "D-A": [70.0]}}),
    ]
    text = as_csv(tables)
    read = read_results(text)
    assert as_csv(read) == text
    for before, after in zip(tables, read, strict=True):
        assert after.protocol.name == before.protocol.name
        assert after.methods == before.methods
        assert after.columns == before.columns
        assert after.comparisons == before.comparisons
        assert after.elsewhere == before.elsewhere
        assert after.finished == ""
        for key, entry in before.cells.items():
            again = after.cells[key]
            assert (again.repeats, again.published) == (entry.repeats, entry.published)
            assert again.accuracy == pytest.approx(entry.accuracy, abs=6e-4)
            assert again.std == (None if entry.std is None else pytest.approx(entry.std, abs=6e-4))
