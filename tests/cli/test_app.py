from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commands import Command
from terminals import Terminal

from adrem import __version__, cli

COMMANDS = [
    (),
    ("demo",),
    ("adapt",),
    ("predict",),
    ("explain",),
    ("datasets",),
    ("datasets", "list"),
    ("datasets", "info"),
    ("datasets", "fetch"),
    ("datasets", "verify"),
    ("bench",),
    ("bench", "list"),
    ("bench", "run"),
    ("bench", "show"),
    ("bench", "figure"),
]


@pytest.mark.parametrize("words", COMMANDS)
def test_help_fits_in_80_columns(words: tuple[str, ...], adrem: Command) -> None:
    code, out, _ = adrem(*words, "--help")
    assert code == 0
    assert "Usage: adrem" in out
    assert max(map(len, out.splitlines())) <= 80


def test_version_option_prints_the_version(adrem: Command) -> None:
    assert adrem("--version") == (0, f"adrem {__version__}\n", "")


@pytest.mark.parametrize("words", [("nonsense",), ("bench", "run"), ("bench", "run", "office-31", "--nonsense")])
def test_usage_errors_exit_with_code_2(words: tuple[str, ...], adrem: Command) -> None:
    code, out, err = adrem(*words)
    assert (code, out) == (2, "")
    assert "Usage" in err


def test_error_is_one_line_without_debug_option(
    adrem: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: Any) -> bool:
        raise OSError("the disk is on fire")

    monkeypatch.setattr("adrem.cli.datasets._is_there", fail)
    code, _, err = adrem("datasets", "list", "--data-home", tmp_path)
    assert (code, err) == (1, "adrem: the disk is on fire\n")
    monkeypatch.setattr(sys, "argv", ["adrem", "--debug", "datasets", "list", "--data-home", str(tmp_path)])
    with pytest.raises(OSError, match="on fire"):
        importlib.import_module("adrem.cli").main()


def test_ctrl_c_exits_with_code_130(adrem: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(*_: Any) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("adrem.cli.datasets._is_there", stop)
    code, _, err = adrem("datasets", "list", "--data-home", tmp_path)
    assert (code, err) == (130, "adrem: Stopped.\n")


def test_ctrl_c_during_import_exits_with_code_130(adrem: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopping:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "adrem.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "adrem.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Stopping(), *sys.meta_path])
    assert adrem("datasets", "list") == (130, "", "adrem: Stopped.\n")


def test_missing_typer_prints_install_hint(adrem: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("adrem.cli.find_spec", lambda name: None if name == "typer" else find(name))
    code, _, err = adrem("--help")
    assert (code, err) == (1, "adrem: the command line needs typer: pip install 'adrem[cli]'\n")


SHOW_HELP = """
import sys
sys.argv = ["adrem", "--help"]
from adrem.cli import main
try:
    main()
except SystemExit:
    pass
heavy = {"sklearn", "scipy", "numba", "pandas", "polars", "matplotlib", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""


def test_help_imports_no_heavy_modules() -> None:
    subprocess.run([sys.executable, "-c", SHOW_HELP], check=True, capture_output=True)


def test_closed_output_pipe_prints_no_error() -> None:
    listing = subprocess.Popen(
        [sys.executable, "-m", "adrem", "bench", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert listing.stdout is not None
    listing.stdout.close()
    _, complaints = listing.communicate()
    assert complaints == b""


def test_names_from_files_do_not_reach_the_terminal_as_controls(
    adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Escape codes in labels, columns and names of files are shown, and not obeyed, in all that is printed."""
    evil = "\x1b]0;owned\x07\u202e\x9b2J"
    rows = [(f"{'good fine' if k % 2 else 'bad poor'} thing {evil}", f"{k % 2}{evil}", k % 7) for k in range(30)]
    frame = pl.DataFrame(rows, schema=["text", f"kind{evil}", f"n{evil}"], orient="row")
    frame.write_csv(tmp_path / f"a{evil}.csv")
    monkeypatch.chdir(tmp_path)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    name, label = f"a{evil}.csv", f"kind{evil}"
    words = ("adapt", name, name, "--label", label, "--text", "text", "--method", "source", "--C", "1")
    said = ""
    for own in (
        (*words, "-o", "out.csv", "--save", "m.adrem", "--target-label", label, "--keep", label),
        (*words, "-o", "out.csv"),
        (*words[:4], f"x{evil}", "-o", "new.csv"),
        ("predict", "m.adrem", name, "-o", "more.csv"),
        ("explain", "m.adrem"),
        ("explain", f"nothing{evil}"),
    ):
        said += "".join(map(str, adrem(*own)[1:]))
    said += terminal.getvalue()
    assert "\\x1b]0;owned\\x07\\u202e\\x9b2J" in said
    unsafe = {own for own in said if not own.isprintable()} - {"\n", "\r", "\x1b"}
    assert not unsafe
    assert not re.search("\x1b(?!\\[[0-9;?]*[A-Za-z])", said)  # what the progress bar moves by
    assert "\x1b]" not in said


def test_everything_is_printed_by_the_functions_that_escape() -> None:
    printed = {
        path.name
        for path in Path(cli.__file__).parent.glob("*.py")
        if re.search(r"typer\.(echo|secho)|\bprint\(", path.read_text("utf-8"))
    }
    assert printed == {"shared.py"}


@pytest.mark.parametrize(
    "words",
    [
        ("adapt", "a.csv", "b.csv", "--label", "x", "-o", "o.csv"),
        ("bench", "run", "office-31"),
        ("bench", "figure", "x"),
    ],
)
def test_more_jobs_than_a_machine_bears_are_refused(adrem: Command, words: tuple[str, ...]) -> None:
    code, _, err = adrem(*words, "--jobs", "100000")
    assert code == 2
    assert "At most" in err
    assert "-1 uses all cores" in err
