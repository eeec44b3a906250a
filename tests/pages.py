"""Parse and run the fenced blocks of documentation pages.

python        run in order, in one namespace per page; the output of `print(...)  # text` has to equal the comment
python, sh    with title="src/...": has to be a verbatim part of that file
sh            run by bash in a separate folder per page
text          the expected output of the commands of the block before
others        with title="name": written to a file of that name in the folder

A comment before a block says why it is not run, `<!-- not run: because -->`, or that it needs real data,
`<!-- needs ADREM_DATA -->`, `<!-- needs Spark -->` or `<!-- needs PyTorch -->`: these are run in tests/real,
tests/spark and tests/deep.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
FENCE = re.compile(
    r"(?:<!-- (?P<remark>not run: .+?|needs ADREM_DATA|needs Spark|needs PyTorch) -->\n)?"
    r"^(?P<indent> *)```(?P<kind>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^(?P=indent)```$",
    flags=re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """One fenced block of a page."""

    kind: str
    title: str
    text: str
    line: int
    remark: str

    @property
    def is_excerpt(self) -> bool:
        return self.title.startswith("src/")

    @property
    def is_run(self) -> bool:
        return self.kind in ("python", "sh") and not self.title and not self.remark.startswith("not run")


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page in order."""
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start("text"))
        yield Block(found["kind"], found["title"] or "", dedent(found["text"]), line, found["remark"] or "")


class Reader:
    """Runs the blocks of a page in a separate folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed: str | None = None

    def follow(self, block: Block) -> None:
        """Run a block."""
        if block.kind == "text" and self.printed is not None:
            assert block.text == self.printed, f"{self.page.name}:{block.line}: the commands print\n{self.printed}"
        self.printed = None
        if block.is_excerpt:
            assert is_verbatim(block), f"{self.page.name}:{block.line} is not in {block.title}"
        elif block.title:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.is_run and block.kind == "python":
            self.run_python(block)
        elif block.is_run:
            self.run_commands(block)

    def run_python(self, block: Block) -> None:
        """Run the lines in the namespace of the page, and compare their output with their comments."""
        said = comments_of(block.text)
        printed: list[tuple[int, str]] = []

        def show(*values: Any, sep: str = " ") -> None:
            printed.append((sys._getframe(1).f_lineno - block.line, sep.join(map(str, values))))

        self.names["print"] = show
        code = compile("\n" * block.line + block.text, str(self.page), "exec")
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            exec(code, self.names)  # noqa: S102 - own documentation
        finally:
            os.chdir(before)
        for line, text in printed:
            assert line in said, f"{self.page.name}:{block.line + line} prints {text} and does not say so"
            assert re.match(rf"{re.escape(text)}(?:$|[:;,.]? )", said[line]), (
                f"{self.page.name}:{block.line + line} says {said[line]!r} and prints {text!r}"
            )

    def run_commands(self, block: Block) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "80", "PYTHONWARNINGS": "default"}
        done = subprocess.run(
            ["/bin/bash", "-euo", "pipefail", "-c", block.text],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{self.page.name}:{block.line}\n{done.stdout}"
        self.printed = done.stdout


def comments_of(text: str) -> dict[int, str]:
    """The comments of Python code, by line number."""
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    return {token.start[0]: token.string[1:].strip() for token in tokens if token.type == tokenize.COMMENT}


def is_verbatim(excerpt: Block) -> bool:
    """Whether an excerpt is a part of the file in its title, whatever its indentation."""
    return flush_left(excerpt.text) in flush_left((ROOT / excerpt.title).read_text("utf-8"))


def flush_left(text: str) -> str:
    """The text with each line stripped of surrounding whitespace."""
    return "\n".join(line.strip() for line in text.splitlines())
