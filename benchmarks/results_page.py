"""Make the page of results from the files of the last full run.

    python benchmarks/results_page.py [--check]

It reads ``docs/results/*.csv`` and ``docs/results/run.md``, which has the date and the commands of the run, and writes
``docs/results.md``. With ``--check`` it writes nothing, and fails if the page differs from the files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from adrem.benchmark.protocols import TABLES
from adrem.benchmark.published import AVERAGE
from adrem.benchmark.results import TableResult, read_results
from adrem.benchmark.tables import as_markdown
from adrem.files.atomic import written_whole

DOCS = Path(__file__).parents[1] / "docs"
HEAD = "---\nhide: [toc]\n---\n\n# Results"  # its tables are wide
FIGURES = {
    "toy-rotated": "A target rotated against its source: the classifier rotates as more target rows are drawn.",
    "toy-balance": "A target whose classes are not equally common: without balanced draws the loss is lower, and so is "
    "the accuracy.",
    "ensemble-size": "Accuracy by the number of members: our curve, and the paper's points. One pool of 201 members "
    "for each pair; the band is the spread of 500 ensembles drawn from it, averaged over the pairs.",
    "iterations": "Accuracy of one member by the number of iterations: our curve, the mean of ten members, and the "
    "paper's points.",
}


def read_tables() -> list[TableResult]:
    paths = [DOCS / "results" / f"{table}.csv" for table in TABLES]
    return [result for path in paths if path.exists() for result in read_results(path.read_text("utf-8"))]


def make_overview(results: list[TableResult]) -> str:
    """Means over all pairs: a row for each method, a column for each table, the best of each table in bold."""
    names = dict.fromkeys(method.name for result in results for method in result.methods)
    lines = ["| method | " + " | ".join(r.protocol.name.replace("/", " ") for r in results) + " |"]
    lines.append("|---|" + "---:|" * len(results))
    for name in names:
        cells = [_average(result, name) for result in results]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _average(result: TableResult, method: str) -> str:
    entry = result.cells.get((method, AVERAGE))
    if entry is None:
        return "fail" if any(name == method for name, _ in result.failures) else "-"
    best = result.best(AVERAGE) == round(entry.accuracy, 1)
    return f"**{entry.accuracy:.1f}**" if best else f"{entry.accuracy:.1f}"


def make_comparison(results: list[TableResult]) -> str:
    """Our means and the published ones."""
    lines = ["| table | method | ours | published | difference | by |", "|---|---|---:|---:|---:|---|"]
    for result in results:
        for method in result.methods:
            entry = result.cells.get((method.name, AVERAGE))
            if entry is not None and entry.published is not None:
                spread = "" if entry.std is None else f" ± {entry.std:.1f}"
                difference = round(entry.difference or 0.0, 1) + 0.0  # no negative zero
                lines.append(
                    f"| {result.protocol.name} | {method.name} | {entry.accuracy:.1f}{spread} | "
                    f"{entry.published.accuracy:.1f} | {difference:+.1f} | {entry.published.source} |"
                )
    return "\n".join(lines)


def make_page() -> str:
    results = read_tables()
    parts = [HEAD, (DOCS / "results" / "run.md").read_text("utf-8").strip()]
    parts += ["## All methods", "Accuracy in percent, mean over all pairs of each table.", make_overview(results)]
    parts += ["## Published means", make_comparison(results)]
    parts += ["## Tables", *(as_markdown(result).strip() for result in results)]
    parts.append("## Figures")
    for name, caption in FIGURES.items():
        parts += [f"### {name}", caption, f"![{caption}](pictures/{name}.png)"]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    page = DOCS / "results.md"
    if "--check" not in sys.argv:
        with written_whole(page) as file:
            file.write(make_page().encode())
    elif page.read_text("utf-8") != make_page():
        raise SystemExit("docs/results.md differs from docs/results: run python benchmarks/results_page.py")


if __name__ == "__main__":
    main()
