"""Tests of result tables: every format shows the same numbers and is well-formed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from adrem.benchmark.methods import find_methods
from adrem.benchmark.protocols import DEFAULT_METHODS, PROTOCOLS, Protocol, find_protocols
from adrem.benchmark.results import TableResult, read_results, summarize
from adrem.benchmark.store import Cell, Result
from adrem.benchmark.tables import TABLE_FORMATS, as_csv, as_html, as_latex, as_markdown, as_text, make_grid, render

OFFICE = find_protocols("office-31", "resnet50")[0]
SURF = find_protocols("office-caltech-full", "surf")[0]  # twelve pairs, all with published values
BY_NAME = {protocol.name: protocol for protocol in PROTOCOLS}


def make_result(protocol: Protocol, methods: tuple[str, ...] = DEFAULT_METHODS, repeats: int = 3) -> TableResult:
    """Results whose accuracies grow with the method, faster for later pairs, with a spread of 0.3."""
    results = {
        Cell(protocol.table, protocol.features, pair, r, name, "d", "i"): Result(
            {"accuracy": 50.0 + 10 * k + j * (1 + k / 10) + 0.3 * r}, 1.0, "2026-02-03T04:05:06+00:00"
        )
        for k, name in enumerate(methods)
        for j, pair in enumerate(protocol.pairs)
        for r in range(repeats)
    }
    return summarize(protocol, find_methods(methods), results)


def make_two() -> TableResult:
    """A source and an adapted method on two pairs of Office-31: one near and one far from the published values."""
    accuracies = {
        ("source-svm", "A-W"): (73.0, 74.6),
        ("source-svm", "D-A"): (60.0, 61.0),
        ("adrem-svm", "A-W"): (89.0, 90.0),
        ("adrem-svm", "D-A"): (60.6, 60.8),
    }
    results = {
        Cell(OFFICE.table, OFFICE.features, pair, r, name, "d", "i"): Result({"accuracy": value}, 1.0, "2026-02-03")
        for (name, pair), values in accuracies.items()
        for r, value in enumerate(values)
    }
    return summarize(OFFICE, find_methods(["source-svm", "adrem-svm"]), results)


def test_grid_has_four_rows_per_method() -> None:
    grid = make_grid(make_two())
    assert grid.header == ["A-W", "D-A"]
    assert [(row.label, [mark.text for mark in row.cells]) for row in grid.rows] == [
        ("source-svm", ["73.8", "60.5"]),
        ("±", ["1.1", "0.7"]),
        ("published", ["73.8", "60.3"]),
        ("difference", ["+0.0", "+0.2"]),
        ("adrem-svm", ["89.5", "60.7"]),
        ("±", ["0.7", "0.1"]),
        ("published", ["89.4", "72.6"]),
        ("difference", ["+0.1", "-11.9"]),
    ]
    assert [row.indented for row in grid.rows] == [False, True, True, True] * 2
    marked = {(i, j): m for i, row in enumerate(grid.rows) for j, m in enumerate(row.cells)}
    assert {place for place, mark in marked.items() if mark.best} == {(4, 0), (4, 1)}
    assert {place for place, mark in marked.items() if mark.far} == {(7, 1)}


def test_grid_shows_dash_for_missing_published_values() -> None:
    published: dict[str, list[str]] = {}
    differences: dict[str, list[str]] = {}
    method = ""
    for row in make_grid(make_result(OFFICE)).rows:
        method = method if row.indented else row.label
        for label, kept in (("published", published), ("difference", differences)):
            if row.label == label:
                kept[method] = [mark.text for mark in row.cells]
    assert published.keys() == differences.keys() == {"source-svm", "adrem-svm"}  # other methods have no such lines
    #                                 A-D  A-W     D-A     D-W  W-A  W-D  avg
    assert published["source-svm"] == ["-", "73.8", "60.3", "-", "-", "-", "-"]
    assert published["adrem-svm"] == ["-", "89.4", "72.6", "-", "-", "-", "87.0"]
    assert differences["source-svm"] == ["-", "-22.5", "-8.0", "-", "-", "-", "-"]


def test_grid_omits_spread_for_one_repetition() -> None:
    grid = make_grid(make_result(OFFICE, ("adrem-svm",), repeats=1))
    assert [row.label for row in grid.rows] == ["adrem-svm", "published", "difference"]
    assert not any(mark.far or mark.best for row in grid.rows for mark in row.cells)
    assert grid.subtitle.endswith("over 1 repetition(s)")


def test_notes_list_methods_with_and_without_published_values() -> None:
    notes = make_grid(make_result(OFFICE)).notes
    assert "No published value is known for source-lr, adrem-lr." in notes
    assert "Published values of source-svm, adrem-svm: van Laarhoven and Marchiori 2018, text." in notes
    assert "Last result: 2026-02-03." in notes
    assert not any(note.startswith("No average") for note in notes)


def test_notes_name_the_source_of_published_values() -> None:
    notes = make_grid(make_result(SURF, ("source-svm", "adrem-svm"))).notes
    assert "Published values of source-svm: Sun et al. 2016, table 3." in notes
    rerun = "independent rerun of the authors' code (C=1, joint-std, full source)"
    assert f"Published values of adrem-svm: {rerun}." in notes
    assert not any(note.startswith("No published value") for note in notes)


def test_notes_put_the_better_method_first() -> None:
    notes = make_grid(make_result(OFFICE, ("source-svm", "adrem-svm"))).notes
    assert "Comparison of methods over 6 pair(s), Wilcoxon's signed-rank test:" in notes
    assert "adrem-svm against source-svm: 6 better, 0 equal, 0 worse, p = 0.031" in notes
    notes = make_grid(make_two()).notes
    assert "adrem-svm against source-svm: 2 better, 0 equal, 0 worse, p = 0.5" in notes
    assert "No average: not all pairs are finished." in notes


@pytest.mark.parametrize(("accuracy", "difference"), [(89.37, "+0.0"), (89.43, "+0.0"), (89.3, "-0.1"), (89.5, "+0.1")])
def test_small_differences_round_to_positive_zero(accuracy: float, difference: str) -> None:
    cell = Cell(OFFICE.table, OFFICE.features, "A-W", 0, "adrem-svm", "d", "i")
    result = summarize(OFFICE, find_methods(), {cell: Result({"accuracy": accuracy}, 1.0, "")})
    assert [mark.text for mark in make_grid(result).rows[-1].cells] == [difference]


def assert_text_fits(text: str, width: int) -> None:
    assert [line for line in text.splitlines() if len(line) > width] == []


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=BY_NAME)
def test_text_fits_the_width(protocol: Protocol, width: int) -> None:
    assert_text_fits(as_text(make_result(protocol), width), width)


def test_text_without_results_fits_80_columns() -> None:
    assert_text_fits(as_text(make_result(BY_NAME["office-caltech-standard/resnet50"], ())), 80)


def text_values(text: str, columns: list[str], label: str) -> dict[str, str]:
    """The marked numbers of the lines with a label, by column."""
    values: dict[str, str] = {}
    header: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words and set(words) <= set(columns):
            header = words
        elif line.startswith(label) and header:
            read = dict(zip(header, line[len(label) :].split(), strict=True))
            assert not read.keys() & values.keys()
            values |= read
    return values


@pytest.mark.parametrize("width", [40, 80, 200])
def test_text_shows_every_number_once(width: int) -> None:
    result = make_result(SURF)
    text = as_text(result, width).partition("* best of its column")[0]
    for method in result.methods:
        star = "*" if method.name == "adrem-lr" else ""
        expected = {
            pair: f"{entry.accuracy:.1f}{star}" for (name, pair), entry in result.cells.items() if name == method.name
        }
        assert len(expected) == 13
        assert text_values(text, result.columns, f"{method.name} ") == expected


def test_text_marks_best_and_differing_values() -> None:
    lines = as_text(make_two()).splitlines()
    assert "adrem-svm     89.5*  60.7*" in lines
    assert "source-svm    73.8   60.5" in lines
    assert "  difference  +0.1  -11.9!" in lines
    assert "* best of its column" in " ".join(lines)


def test_text_lists_published_results_of_other_methods() -> None:
    text = as_text(make_result(SURF))
    below = text.partition("Published results of other methods")[2]
    for line in make_result(SURF).elsewhere:
        label = line.method if line.features == "surf" else f"{line.method} ({line.features})"
        read = text_values(below, [*SURF.pairs, "avg"], f"{label}  ")
        assert {pair: float(value) for pair, value in read.items()} == line.values
        assert len(read) == 13
    assert "Sun et al. 2016, table 3; Long et al. 2016 (RTN), table 2;" in " ".join(below.split())


def test_text_without_results_says_so() -> None:
    text = as_text(make_result(OFFICE, ()))
    assert text == "office-31/resnet50: Office-31, ResNet-50 features, all rows\n  No results yet.\n"


def markdown_tables(text: str) -> list[list[list[str]]]:
    tables: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")
            tables[-1].append([cell.strip() for cell in line[1:-1].split("|")])
        elif tables[-1]:
            tables.append([])
    return [table for table in tables if table]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=BY_NAME)
def test_markdown_rows_have_equal_cell_counts(protocol: Protocol) -> None:
    result = make_result(protocol)
    tables = markdown_tables(as_markdown(result))
    assert len(tables) == 1 + bool(result.elsewhere)
    for table in tables:
        assert {len(row) for row in table} == {len(protocol.pairs) + 2}
        assert table[0] == ["method", *protocol.pairs, "avg"]
        assert re.fullmatch("-{3}(,-{3}:)+", ",".join(table[1]))


def test_markdown_marks_best_and_differing_values() -> None:
    ours, _ = markdown_tables(as_markdown(make_two()))
    assert ["source-svm", "73.8", "60.5"] in ours
    assert ["adrem-svm", "**89.5**", "**60.7**"] in ours
    assert ["&nbsp;&nbsp;difference", "+0.1", "-11.9 !"] in ours


def test_markdown_without_results_says_so() -> None:
    text = as_markdown(make_result(OFFICE, ()))
    assert text.endswith("No results yet.\n")
    assert "|" not in text


def assert_latex_is_sound(text: str) -> None:
    """Check that braces, dollars and environments are closed and that every row has one cell per column."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    depth = 0
    for character in re.sub(r"\\[\\{}$&%_#]", "", code):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert code.count("$") % 2 == 0
    assert re.findall(r"\\(begin|end)\{(\w+)\}", code) == [
        ("begin", "table"),
        ("begin", "tabular"),
        ("end", "tabular"),
        ("end", "table"),
    ]
    spec = re.search(r"\\begin\{tabular\}\{(l+r*)\}", code)
    assert spec is not None
    body = code.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    rows = [line for line in body.splitlines() if line and line != r"\midrule"]
    assert len(rows) > 1
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == len(spec[1]) - 1
    assert not re.search(r"(?<!\\)[_#%]", code)
    assert code.isascii()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=BY_NAME)
def test_latex_is_well_formed(protocol: Protocol) -> None:
    assert_latex_is_sound(as_latex(make_result(protocol)))


def test_latex_escapes_special_characters() -> None:
    protocol = replace(OFFICE, title="100% of R&D_1, #1")
    text = as_latex(make_result(protocol))
    assert r"100\% of R\&D\_1, \#1" in text
    assert_latex_is_sound(text)


def test_latex_marks_best_and_differing_values() -> None:
    lines = as_latex(make_two()).splitlines()
    assert r"method & A$\to$W & D$\to$A \\" in lines
    assert r"adrem-svm & \textbf{89.5} & \textbf{60.7} \\" in lines
    assert r"\quad difference & +0.1 & $-$11.9$^\ast$ \\" in lines
    assert r"\quad std. & 0.7 & 0.1 \\" in lines
    assert "% No average: not all pairs are finished." in lines


def test_latex_without_results_is_a_comment() -> None:
    (line,) = as_latex(make_result(OFFICE, ())).splitlines()
    assert line.startswith("% office-31/resnet50")
    assert line.endswith("No results yet.")


class Page(HTMLParser):
    """A parser that checks that tags are closed and collects the cells of tables by row."""

    VOID = frozenset({"meta", "br", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.rows: list[list[tuple[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append(("", dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            text, classes = self.rows[-1][-1]
            self.rows[-1][-1] = (text + data, classes)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=BY_NAME)
def test_html_is_well_formed_and_self_contained(protocol: Protocol) -> None:
    text = as_html([make_result(protocol), make_two()])
    page = Page(text)
    assert not {name for name, _ in page.attributes} & {"src", "href", "srcset", "data", "action"}
    assert not re.search(r"https?:|//|@import|url\(|<script|<link", text)
    widths = [len(row) for row in page.rows]
    assert set(widths) == {len(protocol.pairs) + 2, 3}
    assert protocol.name in page.words
    assert text.startswith("<!doctype html>")


def test_html_marks_best_and_differing_values() -> None:
    page = Page(as_html([make_two()]))
    assert [("adrem-svm", ""), ("89.5", "best"), ("60.7", "best")] in page.rows
    assert [("difference", ""), ("+0.1", ""), ("-11.9", "far")] in page.rows
    assert [("published", ""), ("73.8", ""), ("60.3", "")] in page.rows
    classes = [name for row in page.rows for _, name in row]
    assert (classes.count("best"), classes.count("far")) == (2, 1)
    assert any("No average" in word for word in page.words)


def test_html_escapes_special_characters() -> None:
    result = make_result(replace(OFFICE, title="a < b & <script>alert(1)</script>"))
    text = as_html([result])
    assert "<script" not in text
    assert "a < b & <script>alert(1)</script>." in "".join(Page(text).words)


def test_csv_numbers_round_trip() -> None:
    results = [make_result(OFFICE), make_result(SURF, repeats=1)]
    text = as_csv(results)
    header = "table,features,method,pair,repeats,accuracy,std,published,published_source,failure"
    assert text.partition("\n")[0] == header
    rows = list(csv.DictReader(io.StringIO(text)))
    expected = [(r, method, pair, entry) for r in results for (method, pair), entry in r.cells.items()]
    assert len(rows) == len(expected) == 4 * 7 + 4 * 13
    for row, (result, method, pair, entry) in zip(rows, expected, strict=True):
        assert None not in row
        assert (row["table"], row["features"]) == (result.protocol.table, result.protocol.features)
        assert (row["method"], row["pair"], int(row["repeats"])) == (method, pair, entry.repeats)
        assert float(row["accuracy"]) == pytest.approx(entry.accuracy, abs=6e-4)
        assert (row["std"] == "") == (entry.std is None)
        if entry.std is not None:
            assert float(row["std"]) == pytest.approx(entry.std, abs=6e-4)
        if entry.published is None:
            assert row["published"] == row["published_source"] == ""
        else:
            assert (float(row["published"]), row["published_source"]) == entry.published


def test_every_format_shows_failures_with_reason() -> None:
    names = ["adrem-svm", "skada:CORAL"]
    results = {
        Cell(OFFICE.table, OFFICE.features, pair, 0, name, "d", "i"): Result(
            {"accuracy": 80.0} if name == "adrem-svm" else {"accuracy": None, "failure": "timed out"}, 1.0, "2026-02-03"
        )
        for name in names
        for pair in ("A-W", "D-A")
    }
    result = summarize(OFFICE, find_methods(names), results)
    assert result.failures == {("skada:CORAL", pair): "timed out" for pair in ("A-W", "D-A")}
    for form in TABLE_FORMATS[:2] + TABLE_FORMATS[3:]:
        text = render([result], form)
        assert "skada:CORAL failed on A-W, D-A: timed out." in " ".join(text.split())
    [again] = read_results(as_csv([result]))
    assert (again.failures, again.cells) == (result.failures, result.cells)
    assert [method.name for method in again.methods] == names


def test_methods_are_compared_with_adrem_svm() -> None:
    names = ("source-svm", "source-lr", "adrem-svm", "coral", "tca")
    comparisons = make_result(OFFICE, names).comparisons
    assert [(c.first, c.second) for c in comparisons] == [
        ("source-svm", "adrem-svm"),
        ("source-lr", "adrem-svm"),
        ("adrem-svm", "coral"),
        ("adrem-svm", "tca"),
    ]


def test_comparison_needs_complete_repetitions() -> None:
    complete = {"adrem-svm": OFFICE.repeats, "coral": 1}
    for more, comparable in ((0, True), (1, False)):
        results = {
            Cell(OFFICE.table, OFFICE.features, pair, r, name, "d", "i"): Result({"accuracy": 80.0 + k}, 1.0, "")
            for k, (name, repeats) in enumerate(complete.items())
            for pair in OFFICE.pairs
            for r in range(repeats + more * (name == "coral"))
        }
        result = summarize(OFFICE, find_methods(complete), results)
        assert bool(result.comparisons) == comparable
        assert (result.best("A-W") == 81.0) == comparable


@pytest.mark.parametrize(
    ("form", "one"), [("table", lambda r: as_text(r, 60)), ("md", as_markdown), ("latex", as_latex)]
)
def test_render_concatenates_text_tables(form: str, one: Callable[[TableResult], str]) -> None:
    results = [make_two(), make_result(SURF)]
    assert render(results, form, 60) == one(results[0]) + "\n" + one(results[1])


def test_render_combines_csv_and_html_tables() -> None:
    results = [make_two(), make_result(SURF)]
    assert render(results, "csv") == as_csv(results)
    assert render(results, "html") == as_html(results)


def test_render_supports_every_format() -> None:
    for form in TABLE_FORMATS:
        assert "adrem-svm" in render([make_two()], form)
