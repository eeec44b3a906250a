from __future__ import annotations

import pytest

from adrem.benchmark.curves import ITERATIONS, PANELS, SIZES
from adrem.benchmark.methods import METHODS
from adrem.benchmark.protocols import PROTOCOLS, TABLES, find_protocols
from adrem.benchmark.published import AVERAGE, Line, Point, published_curve, published_elsewhere, published_values

PAPER = "van Laarhoven and Marchiori 2018, text"
# Averages that are not the means of the pairs printed beside them: what the source prints, and what the mean is. The
# row above this one, SA's, has the same average.
MISPRINTED = {("office-31", "decaf", "GFK-fc6", "Sun et al. 2016, table 2"): (49.1, 52.8)}


# A table beyond the paper may have no published lines.
PAPER_TABLES = {
    "amazon-standard", "amazon-full", "office-caltech-standard", "office-caltech-full", "office-31",
    "cross-dataset-testbed",
}  # fmt: skip


def lines_of(table: str) -> list[Line]:
    """All published lines of a table, for all methods and features."""
    return published_elsewhere(table, "", [], set())


@pytest.mark.parametrize("table", TABLES)
def test_published_lines_use_known_pairs_and_features(table: str) -> None:
    protocols = find_protocols(table)
    pairs = {pair for protocol in protocols for pair in protocol.pairs}
    known = {protocol.features for protocol in protocols}
    lines = lines_of(table)
    assert lines or table not in PAPER_TABLES
    assert len({(line.method, line.features, line.source) for line in lines}) == len(lines)
    for line in lines:
        assert line.features in known | {"alexnet-finetuned", "resnet50-finetuned"}
        assert line.values.keys() <= {*pairs, AVERAGE}
        least = 5.0 if line.features == "sim-subspace" else 10.0  # all labels are wrong if the wrong axis is kept
        assert all(least < value <= 100.0 for value in line.values.values())
        assert line.source


def test_published_tables_all_have_a_protocol() -> None:
    import csv
    from importlib.resources import files

    text = files("adrem.benchmark").joinpath("published_tables.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert PAPER_TABLES <= {row["table"] for row in rows} <= set(TABLES)
    assert len(rows) == sum(len(line.values) for table in TABLES for line in lines_of(table))


def test_published_averages_equal_means_except_known_misprint() -> None:
    checked, wrong = 0, {}
    for table in TABLES:
        pairs = find_protocols(table)[0].pairs
        for line in lines_of(table):
            if line.values.keys() == {*pairs, AVERAGE}:
                checked += 1
                mean = sum(line.values[pair] for pair in pairs) / len(pairs)
                if abs(mean - line.values[AVERAGE]) > 0.15:
                    wrong[table, line.features, line.method, line.source] = (line.values[AVERAGE], round(mean, 1))
    assert wrong == MISPRINTED
    assert checked > 60


@pytest.mark.parametrize(
    ("table", "features", "method", "pair", "accuracy"),
    [
        ("office-31", "resnet50", "adrem-svm", "avg", 87.0),
        ("office-31", "resnet50", "adrem-svm", "A-W", 89.4),
        ("office-31", "resnet50", "adrem-svm", "D-A", 72.6),
        ("office-31", "resnet50", "source-svm", "A-W", 73.8),
        ("office-31", "resnet50", "source-svm", "D-A", 60.3),
        ("office-caltech-full", "resnet50", "adrem-svm", "avg", 96.7),
        ("office-caltech-full", "resnet50", "adrem-svm", "C-W", 98.1),
        ("office-caltech-full", "resnet50", "source-svm", "C-W", 86.0),
    ],
)
def test_published_values_equal_the_papers_text(
    table: str, features: str, method: str, pair: str, accuracy: float
) -> None:
    assert published_values(table, features, METHODS[method])[pair] == (accuracy, PAPER)


def test_published_values_include_earlier_papers() -> None:
    surf = published_values("office-caltech-standard", "surf", METHODS["source-svm"])
    assert surf.keys() == {*find_protocols("office-caltech-standard", "surf")[0].pairs, AVERAGE}
    assert surf["avg"] == (37.8, "Sun et al. 2016, table 1")
    assert surf["W-D"].accuracy == 78.9
    assert published_values("amazon-full", "all", METHODS["adrem-svm"])["avg"].accuracy == 82.7


def test_unpublished_methods_have_no_published_values() -> None:
    for protocol in PROTOCOLS:
        for name in ("source-lr", "adrem-lr"):
            assert published_values(protocol.table, protocol.features, METHODS[name]) == {}
    assert published_values("amazon-standard", "all", METHODS["adrem-svm"]) == {}
    assert published_values("office-31", "resnet50-finetuned", METHODS["source-svm"]) == {}


def test_published_elsewhere_lists_methods_not_in_table() -> None:
    features = {"resnet50", "decaf"}
    ours = [METHODS["source-svm"], METHODS["adrem-svm"]]
    resnet = published_elsewhere("office-31", "resnet50", ours, features)
    assert {line.features for line in resnet} == {"alexnet-finetuned", "resnet50-finetuned"}
    (jan,) = [line for line in resnet if line.method == "JAN"]
    assert jan.values.keys() == {"A-W", "D-W", "W-D", "A-D", "D-A", "W-A", "avg"}
    decaf = {(line.method, line.features) for line in published_elsewhere("office-31", "decaf", ours, features)}
    assert ("CORAL", "decaf") in decaf
    assert ("NA", "decaf") not in decaf
    assert ("Ad-REM", "resnet50") not in decaf


def test_skada_bench_shows_published_methods_beside_ours() -> None:
    sets = {protocol.features for protocol in find_protocols("skada-bench")}
    assert len(sets) == 6
    for name in sets:
        lines = {line.method: line.values for line in published_elsewhere("skada-bench", name, [], sets)}
        assert {"CORAL", "DASVM", "EntOT", "KLIEP", "KMM", "LinOT", "SA", "source only"} <= lines.keys()
        assert all(values.keys() == {AVERAGE} for values in lines.values())
    assert published_values("skada-bench", "phishing", METHODS["kmm"])[AVERAGE].accuracy == 91.4


def test_published_elsewhere_includes_own_method_not_run() -> None:
    lines = published_elsewhere("office-31", "resnet50", [METHODS["source-svm"]], {"resnet50", "decaf"})
    (line,) = [line for line in lines if line.features == "resnet50"]
    assert line == Line("Ad-REM", "resnet50", PAPER, {"avg": 87.0, "A-W": 89.4, "D-A": 72.6})


@pytest.mark.parametrize("data", PANELS)
def test_published_curves_have_the_same_points_as_ours(data: str) -> None:
    assert [point.x for point in published_curve("ensemble-size", data)] == list(SIZES)
    assert [point.x for point in published_curve("iterations", data)] == list(ITERATIONS)


def test_published_ensemble_curve_has_known_values() -> None:
    by_size = {point.x: point for point in published_curve("ensemble-size", "amazon-reviews")}
    assert by_size[11] == Point(11, 82.7192, 0.3008)
    assert by_size[1].accuracy < by_size[11].accuracy < by_size[99].accuracy
    assert published_curve("ensemble-size", "amazon-400") == []
