"""Run the programs of the gallery, and make a page of each and of all: `gallery.py PROGRAMS PAGES`.

A program is a heading and a paragraph as its docstring, then cells that begin with `# %%`, each with a text in comments
and lines of Python. On its page every cell is followed by what it printed and drew.
"""

from __future__ import annotations

import ast
import sys
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

CELL = "# %%\n"


def split(program: str) -> tuple[str, list[tuple[str, str]]]:
    """The docstring of a program, and the text and the code of its cells."""
    tree = ast.parse(program)
    title = ast.get_docstring(tree) or ""
    first, *others = "\n".join(program.splitlines()[tree.body[0].end_lineno :]).split(CELL)
    return title, [("", first), *map(split_cell, others)]


def split_cell(cell: str) -> tuple[str, str]:
    """The comments at the beginning of a cell, and what follows."""
    lines = cell.splitlines()
    n_comments = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "\n".join(line[1:].strip() for line in lines[:n_comments]), "\n".join(lines[n_comments:])


def run(code: str, names: dict[str, Any], picture: Path) -> list[str]:
    """Run a cell; the lines of Markdown that show what came of it."""
    out = StringIO()
    with redirect_stdout(out):
        exec(code, names)  # noqa: S102 - our own program
    shown = ["```python", code.strip(), "```", ""] if code.strip() else []
    if out.getvalue():
        shown += ["```text", out.getvalue().rstrip(), "```", ""]
    if plt.get_fignums():
        plt.gcf().savefig(picture, dpi=110)
        plt.close("all")
        shown += [f"![What it draws]({picture.name})", ""]
    return shown


def make_page(program: Path, pages: Path) -> tuple[str, str]:
    """Write the page of a program; its heading, and its first picture."""
    name = program.stem.removeprefix("plot_")
    title, cells = split(program.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    lines = [title, ""]
    for k, (text, code) in enumerate(cells):
        lines += [text, "", *run(code, names, pages / f"{name}-{k}.png")]
    lines += [f"The program is `examples/gallery/{program.name}`."]
    (pages / f"{name}.md").write_text("\n".join(lines), "utf-8")
    return title.splitlines()[0].removeprefix("# "), min(path.name for path in pages.glob(f"{name}-*.png"))


def main() -> None:
    """Make all pages."""
    warnings.simplefilter("error")
    programs, pages = map(Path, sys.argv[1:])
    pages.mkdir(parents=True, exist_ok=True)
    lines = ["# Gallery", "", "Every picture is drawn by the program beside it, anew for every build of the pages.", ""]
    lines += ['<div class="cards" markdown>', ""]
    for program in sorted(programs.glob("*.py")):
        heading, picture = make_page(program, pages)
        lines += [f"- [![]({picture})<br>**{heading}**]({program.stem.removeprefix('plot_')}.md)"]
    (pages / "index.md").write_text("\n".join([*lines, "", "</div>", ""]), "utf-8")


if __name__ == "__main__":
    main()
