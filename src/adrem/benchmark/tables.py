"""Tables of results as plain text, Markdown, CSV, LaTeX and HTML."""

from __future__ import annotations

import csv
import html
import io
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from adrem.benchmark.published import AVERAGE, Line, published_values
from adrem.benchmark.results import Comparison, TableCell, TableResult

TABLE_FORMATS = ("table", "md", "csv", "latex", "html")
CSV_HEADER = (
    *("table", "features", "method", "pair", "repeats", "accuracy", "std"),
    *("published", "published_source", "failure"),
)
NO_VALUE = "-"
FAILED = "fail"
NO_RESULTS = "No results yet."
ELSEWHERE = "Published results of other methods (other features in parentheses)"


@dataclass(frozen=True)
class Mark:
    """The text of a cell, and whether it is the best of its column or far from the published value."""

    text: str
    best: bool = False
    far: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table; an indented one belongs to the row above."""

    label: str
    cells: list[Mark]
    indented: bool = False


@dataclass(frozen=True)
class Grid:
    """The content of a table, whatever the format."""

    title: str
    subtitle: str
    header: list[str]
    rows: list[Row]
    notes: list[str]
    elsewhere: list[Row]
    sources: str


def make_grid(result: TableResult) -> Grid:
    """Lay out a result: a row per method, with its deviation, the published value and the difference below."""
    columns = result.columns
    rows = [row for method in result.methods for row in _method_rows(result, method.name, columns)]
    elsewhere = [
        Row(_foreign_label(line, result.protocol.features), [_number(line.values.get(column)) for column in columns])
        for line in result.elsewhere
    ]
    sources = "; ".join(dict.fromkeys(line.source for line in result.elsewhere))
    repeats = sorted({cell.repeats for cell in result.cells.values()})
    runs = f"{repeats[0]}" if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}" if repeats else "no"
    subtitle = f"Accuracy on the target in percent, mean and standard deviation over {runs} repetition(s)"
    title = f"{result.protocol.name}: {result.protocol.title}"
    return Grid(title, subtitle, columns, rows, _notes(result), elsewhere, sources)


def _foreign_label(line: Line, features: str) -> str:
    return line.method if line.features == features else f"{line.method} ({line.features})"


def _method_rows(result: TableResult, name: str, columns: list[str]) -> list[Row]:
    cells = [result.cells.get((name, column)) for column in columns]
    accuracies = [
        _accuracy(cell, result.best(column), (name, column) in result.failures)
        for cell, column in zip(cells, columns, strict=True)
    ]
    more = [
        Row("±", [_number(cell.std if cell else None) for cell in cells], indented=True),
        Row("published", [_number(_published(cell)) for cell in cells], indented=True),
        Row("difference", [_difference(cell) for cell in cells], indented=True),
    ]
    return [Row(name, accuracies), *(row for row in more if any(mark.text != NO_VALUE for mark in row.cells))]


def _accuracy(cell: TableCell | None, best: float | None, failed: bool) -> Mark:
    if cell is None:
        return Mark(FAILED if failed else NO_VALUE)
    return Mark(f"{cell.accuracy:.1f}", best=best is not None and round(cell.accuracy, 1) == best)


def _published(cell: TableCell | None) -> float | None:
    return cell.published.accuracy if cell is not None and cell.published is not None else None


def _number(value: float | None) -> Mark:
    return Mark(NO_VALUE if value is None else f"{value:.1f}")


def _difference(cell: TableCell | None) -> Mark:
    if cell is None or cell.difference is None:
        return Mark(NO_VALUE)
    return Mark(f"{round(cell.difference, 1) + 0.0:+.1f}", far=cell.differs)  # + 0.0: no negative zero


def _notes(result: TableResult) -> list[str]:
    notes = [*_comparison_notes(result), *_failure_notes(result), *_source_notes(result)]
    if AVERAGE not in result.columns:
        notes.append("No average: not all pairs are finished.")
    if result.finished:
        notes.append(f"Last result: {result.finished[:10]}.")
    return notes


def _comparison_notes(result: TableResult) -> list[str]:
    if not result.comparisons:
        return []
    pairs = max(c.wins + c.ties + c.losses for c in result.comparisons)
    head = f"Comparison of methods over {pairs} pair(s), Wilcoxon's signed-rank test:"
    return [head, *map(_sentence, result.comparisons)]


def _source_notes(result: TableResult) -> list[str]:
    sources: dict[str, list[str]] = {}
    for (method, _), cell in result.cells.items():
        if cell.published is not None and method not in sources.setdefault(cell.published.source, []):
            sources[cell.published.source].append(method)
    notes = [f"Published values of {', '.join(methods)}: {source}." for source, methods in sources.items()]
    protocol = result.protocol
    unknown = [m.name for m in result.methods if not published_values(protocol.table, protocol.features, m)]
    return [*notes, f"No published value is known for {', '.join(unknown)}."] if unknown else notes


def _failure_notes(result: TableResult) -> list[str]:
    pairs: dict[tuple[str, str], list[str]] = {}
    for (method, pair), reason in result.failures.items():
        pairs.setdefault((method, reason), []).append(pair)
    return [f"{method} failed on {', '.join(where)}: {reason}." for (method, reason), where in pairs.items()]


def _sentence(c: Comparison) -> str:
    if c.losses > c.wins:
        return _sentence(Comparison(c.second, c.first, c.losses, c.ties, c.wins, c.p))
    return f"{c.first} against {c.second}: {c.wins} better, {c.ties} equal, {c.losses} worse, p = {c.p:.2g}"


LEGEND = (
    "* best of its column; ! more than two standard errors (and the rounding) from the published value; "
    "- no value, or none known."
)


def as_text(result: TableResult, width: int = 80) -> str:
    """Return plain text: blocks of as many columns as fit into the width."""
    grid = make_grid(result)
    if not grid.rows:
        return "\n".join(_wrapped([grid.title, f"  {NO_RESULTS}"], width)) + "\n"
    lines = [*_wrapped([grid.title, grid.subtitle], width), *_blocks(grid.rows, grid.header, width)]
    lines += ["", *_wrapped([LEGEND, *grid.notes], width)]
    if grid.elsewhere:
        lines += ["", *_wrapped([f"{ELSEWHERE}: {grid.sources}."], width)]
        lines += _blocks(grid.elsewhere, grid.header, width)
    return "\n".join(lines) + "\n"


def _blocks(rows: list[Row], header: list[str], width: int) -> list[str]:
    labels = [f"  {row.label}" if row.indented else row.label for row in rows]
    first = max(len(label) for label in labels)
    cell = 7
    fitting = max(1, (width - first) // cell)
    lines = []
    for begin in range(0, len(header), fitting):
        part = slice(begin, begin + fitting)
        lines += ["", " " * first + "".join(f"{name:>{cell - 1}} " for name in header[part]).rstrip()]
        for label, row in zip(labels, rows, strict=True):
            cells = "".join(f"{c.text:>{cell - 1}}{'*' if c.best else '!' if c.far else ' '}" for c in row.cells[part])
            lines.append(f"{label:<{first}}{cells}".rstrip())
    return lines


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    return [line for s in sentences for line in textwrap.wrap(s, width, subsequent_indent="  ")]


def as_markdown(result: TableResult) -> str:
    """Return Markdown: bold for the best, an exclamation mark for values far from the published one."""
    grid = make_grid(result)

    def cell(mark: Mark) -> str:
        return f"**{mark.text}**" if mark.best else f"{mark.text} !" if mark.far else mark.text

    def table(rows: list[Row]) -> list[str]:
        head = ["| method | " + " | ".join(grid.header) + " |", "|---|" + "---:|" * len(grid.header)]
        return head + [
            f"| {'&nbsp;&nbsp;' if r.indented else ''}{r.label} | " + " | ".join(map(cell, r.cells)) + " |"
            for r in rows
        ]

    if not grid.rows:
        return f"### {grid.title}\n\n{NO_RESULTS}\n"
    lines = [f"### {grid.title}", "", f"{grid.subtitle}.", "", *table(grid.rows), ""]
    lines += [f"- {note}" for note in ["Bold: best of its column. " + LEGEND.partition("; ")[2], *grid.notes]]
    if grid.elsewhere:
        lines += ["", f"{ELSEWHERE}: {grid.sources}.", "", *table(grid.elsewhere)]
    return "\n".join(lines) + "\n"


def as_latex(result: TableResult) -> str:
    """Return a LaTeX table environment; it needs the package booktabs."""
    grid = make_grid(result)

    def cell(mark: Mark) -> str:
        text = mark.text.replace("-", "$-$") if mark.text.startswith("-") and mark.text != NO_VALUE else mark.text
        return rf"\textbf{{{text}}}" if mark.best else rf"{text}$^\ast$" if mark.far else text

    def lines(rows: list[Row]) -> list[str]:
        return [
            (r"\quad " if r.indented else "") + _tex(row_label(r)) + " & " + " & ".join(map(cell, r.cells)) + r" \\"
            for r in rows
        ]

    def row_label(row: Row) -> str:
        return "std." if row.label == "±" else row.label

    if not grid.rows:
        return f"% {grid.title}: {NO_RESULTS}\n"
    arrows = [name.replace("-", r"$\to$") for name in grid.header]
    body = [r"\toprule", " & ".join(["method", *arrows]) + r" \\", r"\midrule", *lines(grid.rows)]
    if grid.elsewhere:
        body += [r"\midrule", *lines(grid.elsewhere)]
    caption = (
        _tex(f"{grid.title}. {grid.subtitle}.") + r" $^\ast$: more than two standard errors from the published value."
    )
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{l{'r' * len(grid.header)}}}",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {note}" for note in grid.notes),
            r"\end{table}",
            "",
        ]
    )


def _tex(text: str) -> str:
    for character in "&%_#":
        text = text.replace(character, f"\\{character}")
    return text


STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; }
th[scope=row], thead th:first-child { text-align: left; font-weight: 600; }
thead th { border-bottom: 2px solid currentColor; }
tr.method th, tr.method td { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
tr.more th { font-weight: 400; padding-left: 1.6rem; }
tr.more { opacity: .8; }
td.best { font-weight: 700; text-decoration: underline; text-underline-offset: .2em; }
td.far { position: relative; }
td.far::after { content: "!"; position: absolute; margin-left: .15rem; }
"""


def as_html(results: Iterable[TableResult]) -> str:
    """Return one self-contained HTML page, for any screen width, light and dark."""
    grids = [make_grid(result) for result in results]
    title = ", ".join(grid.title.partition(":")[0] for grid in grids)
    body = "\n".join(_section(grid) for grid in grids)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Benchmark</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(grid: Grid) -> str:
    name, _, description = grid.title.partition(": ")
    parts = [f"<h2>{html.escape(name)}</h2>", f"<p>{html.escape(description)}.</p>"]
    if not grid.rows:
        return "<section>\n" + "\n".join([*parts, f"<p>{NO_RESULTS}</p>"]) + "\n</section>"
    parts.append(_html_table(grid, grid.rows, grid.subtitle))
    legend = "Underlined: best of its column. " + LEGEND.partition("; ")[2]
    parts.append("<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in [legend, *grid.notes]) + "</ul>")
    if grid.elsewhere:
        parts.append(_html_table(grid, grid.elsewhere, f"{ELSEWHERE}: {grid.sources}"))
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _html_table(grid: Grid, rows: list[Row], caption: str) -> str:
    def cell(mark: Mark) -> str:
        classes = " ".join(name for name, holds in (("best", mark.best), ("far", mark.far)) if holds)
        attribute = f' class="{classes}"' if classes else ""
        return f"<td{attribute}>{html.escape(mark.text)}</td>"

    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in grid.header)
    body = "\n".join(
        f'<tr class="{"more" if row.indented else "method"}"><th scope="row">{html.escape(row.label)}</th>'
        + "".join(map(cell, row.cells))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(caption)}">\n<table>\n'
        f'<caption>{html.escape(caption)}</caption>\n<thead><tr><th scope="col">method</th>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def as_csv(results: Iterable[TableResult]) -> str:
    """Return CSV: a row per method and pair, with three decimals."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for result in results:
        for (method, pair), cell in result.cells.items():
            published = (
                ("", "") if cell.published is None else (f"{cell.published.accuracy:.1f}", cell.published.source)
            )
            std = "" if cell.std is None else f"{cell.std:.3f}"
            row = (*_place(result), method, pair, cell.repeats, f"{cell.accuracy:.3f}", std)
            writer.writerow((*row, *published, result.failures.get((method, pair), "")))
        for (method, pair), reason in result.failures.items():
            if (method, pair) not in result.cells:
                writer.writerow((*_place(result), method, pair, 0, "", "", "", "", reason))
    return file.getvalue()


def _place(result: TableResult) -> tuple[str, str]:
    return result.protocol.table, result.protocol.features


def render(results: list[TableResult], form: str, width: int = 80) -> str:
    """Return results in one of the `TABLE_FORMATS`."""
    if form == "csv":
        return as_csv(results)
    if form == "html":
        return as_html(results)
    one: dict[str, Callable[[TableResult], str]] = {
        "table": lambda result: as_text(result, width),
        "md": as_markdown,
        "latex": as_latex,
    }
    return "\n".join(one[form](result) for result in results)
