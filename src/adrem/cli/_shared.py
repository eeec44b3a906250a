"""What the commands share."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

DataHome = Annotated[
    Path | None,
    typer.Option("--data-home", help="Folder of the data sets (default: ADREM_DATA, else the cache folder)."),
]

STANDARD = "-"  # standard input or output
GLUE = "\N{NO-BREAK SPACE}"

T = TypeVar("T")


def checked(argument: str, look_up: Callable[[], T]) -> T:
    """The value of an argument; a ValueError about it is wrong use."""
    try:
        return look_up()
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=argument) from error


def names_in(text: str | None, option: str) -> list[str] | None:
    """A list given with commas, or a name on each line where names have commas; where the option is given."""
    parts = [] if text is None else text.split("\n" if "\n" in text else ",")
    names = None if text is None else [name.strip() for name in parts if name.strip()]
    if names == []:
        raise typer.BadParameter("names nothing.", param_hint=option)
    return names


def check_home(home: Path | None) -> None:
    """Tell where the data are looked for, if that is no folder."""
    from adrem.datasets._home import data_home

    folder = data_home(home)
    if not folder.is_dir():
        say(f"There is no folder {folder}, where the data are looked for.")


def say(message: str) -> None:
    """Tell the person, without touching what goes to standard output."""
    typer.echo(message, err=True)


def say_wrapped(message: str) -> None:
    """Tell the person in lines that fit the terminal, all but the first indented."""
    glued = message.replace(" %", f"{GLUE}%")
    lines = textwrap.fill(glued, terminal_width(), subsequent_indent="  ", break_long_words=False)
    say(lines.replace(GLUE, " "))


def shorten(text: str, width: int) -> str:
    """A text in so many columns: where it is longer, its middle is left out, so that its end still tells it apart."""
    if len(text) <= width:
        return text
    left = (width - 1) // 2
    return f"{text[:left]}…{text[len(text) - (width - 1 - left) :]}"


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Show on a terminal what is being done, and for how long; elsewhere be quiet."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(what)
        yield


def terminal_width() -> int:
    """Columns to fill: those of the terminal, 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() or sys.stderr.isatty() else 80
