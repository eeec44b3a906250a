"""All commands. An error is printed as one line; the exit code is 1 for a failure, 2 for wrong use."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from adrem.cli import adapt, bench, datasets, demo, networks, predict
from adrem.cli.interrupt import stop
from adrem.cli.parameters import error_with_options, parameters_as_options


class Commands(TyperGroup):
    """Commands whose errors name options, and that exit the same way after Ctrl-C in all versions of typer."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with parameters_as_options():
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
app.add_typer(datasets.app, name="datasets")
app.add_typer(networks.app, name="models")
app.add_typer(bench.app, name="bench")


def _show_version(wanted: bool) -> None:
    if wanted:
        from adrem import __version__

        typer.echo(f"adrem {__version__}")
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
    try:
        app(arguments, prog_name="adrem")
    except Exception as error:  # no traceback without --debug
        if "--debug" in sys.argv:
            raise
        name = type(error).__name__
        if isinstance(error, (OSError, ValueError, ImportError, MemoryError)):
            _fail(error_with_options(error) or name, 1)
        _fail(f"unexpected {name}: {error}. --debug shows where.", 1)


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"adrem: {message}\n")
    raise SystemExit(code)
