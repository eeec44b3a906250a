"""Tests of README and documentation pages: blocks run as documented, and other commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
import typer
from pages import ROOT, Block, Reader, blocks_of, is_verbatim

from adrem.cli.app import app

mpl.use("Agg")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
KINDS = {"python", "sh", "text", "toml", "csv", "bibtex"}


def runs(page: Path) -> bool:
    return any((block.is_run and not block.remark) or block.title for block in blocks_of(page))


@pytest.mark.thorough
@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=lambda page: page.name)
def test_blocks_run_as_documented(page: Path, tmp_path: Path) -> None:
    reader = Reader(page, tmp_path)
    for block in blocks_of(page):
        if not block.remark:
            reader.follow(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_has_a_known_kind(page: Path) -> None:
    n_fences = len(re.findall(r"^ *```", page.read_text("utf-8"), flags=re.MULTILINE))
    blocks = list(blocks_of(page))
    assert n_fences == 2 * len(blocks)
    assert {block.kind for block in blocks} <= KINDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_excerpts_are_in_the_source(page: Path) -> None:
    moved = [
        f"{block.title}, line {block.line}" for block in blocks_of(page) if block.is_excerpt and not is_verbatim(block)
    ]
    assert moved == []


def commands_not_run() -> list[tuple[str, str]]:
    """The commands in the text and in blocks that are not run, with their pages."""
    found = []
    for page in PAGES:
        for block in blocks_of(page):
            if block.kind == "sh" and not block.is_run:
                found += [(page.name, line) for line in block.text.splitlines() if line.strip()]
        inline = re.findall(r"`((?:\w+=\w+ )*(?:adrem|python|make) [^`\n]+)`", page.read_text("utf-8"))
        found += [(page.name, command) for command in inline]
    return found


@pytest.mark.parametrize(("page", "command"), commands_not_run())
def test_documented_commands_exist(page: str, command: str) -> None:
    words = [word for word in shlex.split(command, comments=True) if not re.fullmatch(r"[A-Z_]+=.*", word)]
    if words[0] == "adrem":
        check_options(words[1:])
    elif words[0] == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        assert all(re.search(rf"^{word}:", makefile, flags=re.MULTILINE) for word in words[1:] if "=" not in word)
    elif words[0] == "python" and words[1] != "-m":
        script = (ROOT / words[1]).read_text("utf-8")
        assert all(f'"{word}"' in script for word in words[2:] if word.startswith("--"))
    else:
        assert words[0] in ("pip", "python", "git", "cd", "bash") or words[0].startswith(".venv"), f"{page}: {command}"


def check_options(words: list[str]) -> None:
    """Check that each word is an existing command or option of `adrem`."""
    command: Any = typer.main.get_command(app)
    for word in words:
        if hasattr(command, "commands") and not word.startswith("-"):
            assert word in command.commands, word
            command = command.commands[word]
        elif word.startswith("-") and word != "-":
            options = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
            assert word.split("=")[0] in options | {"--help", "--install-completion"}, f"{command.name} {word}"


def test_reader_detects_wrong_output(tmp_path: Path) -> None:
    reader = Reader(Path("page.md"), tmp_path)
    reader.follow(Block("python", "", "print(1 + 1)  # 2: as it should be\n", 0, ""))
    for lie in ("print(1 + 1)  # 3\n", "print(1 + 1)\n", "print(1 + 1)  # 22\n"):
        with pytest.raises(AssertionError):
            reader.follow(Block("python", "", lie, 0, ""))
    with pytest.raises(AssertionError):
        reader.follow(Block("sh", "", "false\n", 0, ""))
    reader.follow(Block("sh", "", "echo yes\n", 0, ""))
    with pytest.raises(AssertionError):
        reader.follow(Block("text", "", "no\n", 0, ""))
    with pytest.raises(AssertionError):
        reader.follow(Block("python", "src/adrem/algorithm/em.py", "something else\n", 0, ""))
