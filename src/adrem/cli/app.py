"""All commands. An error is printed as one line; the exit code is 1 for a failure, 2 for wrong use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from adrem.cli import adapt, ask, bench, datasets, demo, label, networks, predict
from adrem.cli.interrupt import stop, was_pressed
from adrem.cli.parameters import error_with_options, parameters_as_options
from adrem.cli.shared import tell
from adrem.exceptions import AdremError
from adrem.runtime.text import printable


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Escape what a terminal would obey in errors about arguments, which may have names from files."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = printable(error.message)
        raise


class Commands(TyperGroup):
    """Commands whose errors name options, and that exit the same way after Ctrl-C in all versions of typer."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with _printable_errors(), parameters_as_options():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            stop()


app = typer.Typer(
    cls=Commands,
    name="adrem",
    help="Labels for a new domain, from a classifier learnt in another.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
app.command()(demo.demo)
app.command()(adapt.adapt)
app.command()(predict.predict)
app.command()(predict.explain)
app.command()(ask.ask)
app.command()(label.label)
app.add_typer(datasets.app, name="datasets")
app.add_typer(networks.app, name="models")
app.add_typer(bench.app, name="bench")


def _show_version(wanted: bool) -> None:
    if wanted:
        from adrem import __version__

        tell(f"adrem {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Labels for a new domain, from a classifier learnt in another."""


def run() -> None:
    """Run the app; print an error as one line, or with --debug as a traceback."""
    arguments = [word for word in sys.argv[1:] if word != "--debug"]  # allowed anywhere
    _check_words(arguments)
    try:
        app(arguments, prog_name="adrem")
    except Exception as error:  # no traceback without --debug
        if was_pressed():
            stop()
        if "--debug" in sys.argv:
            raise
        _fail(_line_of(error), 1)


def _line_of(error: Exception) -> str:
    """Return what to say of an error in one line."""
    from adrem.runtime.memory import available_memory, is_lack_of_memory, size_of

    name = type(error).__name__
    if is_lack_of_memory(error) and not isinstance(error, AdremError):
        return f"out of memory: {size_of(available_memory())} are free ({name}: {error})."
    if isinstance(error, (OSError, ValueError, ImportError, MemoryError)):
        return error_with_options(error) or name
    return f"unexpected {name}: {error}. --debug shows where."


def _check_words(words: list[str]) -> None:
    """End with an error before any work for names that can't be written into a page or a summary."""
    for word in words:
        if any("\ud800" <= own <= "\udfff" for own in word):
            _fail(f"{word} is not UTF-8: give the file another name.", 2)


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"adrem: {printable(message)}\n")
    raise SystemExit(code)
