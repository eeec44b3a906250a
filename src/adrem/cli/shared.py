"""Helpers for all commands."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from adrem.runtime.text import one_line, printable

DataHome = Annotated[
    Path | None,
    typer.Option("--data-home", help="Folder of the data sets (default: ADREM_DATA, else the cache folder)."),
]

STANDARD = "-"  # standard input or output
GLUE = "\N{NO-BREAK SPACE}"

T = TypeVar("T")


def checked(argument: str, look_up: Callable[[], T]) -> T:
    """Look up the value of an argument; a ValueError becomes an error about that argument."""
    try:
        return look_up()
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=argument) from error


def names_in(text: str | None, option: str) -> list[str]:
    """Split names at line ends if there are any, else at commas; return an empty list for None."""
    if text is None:
        return []
    parts = text.split("\n" if "\n" in text else ",")
    names = [name.strip() for name in parts if name.strip()]
    if not names:
        raise typer.BadParameter("It has no names.", param_hint=option)
    return names


def check_home(home: Path | None) -> None:
    """Print where the data are expected, if that folder does not exist."""
    from adrem.datasets.home import data_home

    folder = data_home(home)
    if not folder.is_dir():
        say(f"There is no folder {folder}, where the data are expected.")


def tell(message: str, *, nl: bool = True) -> None:
    """Print to standard output; all that a terminal would obey is escaped."""
    typer.echo(printable(message), nl=nl)


def say(message: str) -> None:
    """Print to standard error; all that a terminal would obey is escaped."""
    typer.echo(printable(message), err=True)


def say_wrapped(message: str) -> None:
    """Print to standard error in lines that fit the terminal, all but the first indented."""
    glued = message.replace(" %", f"{GLUE}%")
    lines = textwrap.fill(glued, terminal_width(), subsequent_indent="  ", break_long_words=False)
    say(lines.replace(GLUE, " "))


@contextmanager
def stage(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on a terminal what is being done, and for how long; not if the work shows it, and so is `quiet` here."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(one_line(what))
        yield


def terminal_width() -> int:
    """Return the width of the terminal, or 80 without one."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() or sys.stderr.isatty() else 80
