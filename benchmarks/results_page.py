"""The page of results, from the files of the last full run.

    python benchmarks/results_page.py [--check]

reads ``docs/results/*.csv`` and ``docs/results/run.md``, which says by which commands and when they were made, and
writes ``docs/results.md``. With ``--check`` it only fails if the page is not what the files say.
"""

from __future__ import annotations

import sys
from pathlib import Path

from adrem._files import written_whole
from adrem.benchmark.protocols import TABLES
from adrem.benchmark.results import read_results
from adrem.benchmark.tables import as_markdown

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = {
    "toy-rotated": "A target rotated against its source: the classifier turns as more of the target joins in.",
    "toy-balance": "A target whose classes are not equally common: without balanced draws the loss falls further, and "
    "the accuracy stays behind.",
    "ensemble-size": "Accuracy by the number of members, ours over the paper's. One pool of 201 members a pair; the "
    "spread is that of 500 ensembles drawn from it, averaged over the pairs.",
    "iterations": "Accuracy of one member by the number of iterations, ours over the paper's; the mean of ten members.",
}


def make_page() -> str:
    parts = ["# Results", (DOCS / "results" / "run.md").read_text("utf-8").strip(), "## Tables"]
    for table in TABLES:
        path = DOCS / "results" / f"{table}.csv"
        if path.exists():
            parts += [as_markdown(result).strip() for result in read_results(path.read_text("utf-8"))]
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
        raise SystemExit("docs/results.md is not what docs/results says: run python benchmarks/results_page.py")


if __name__ == "__main__":
    main()
