"""adrem datasets: list, describe, download and check the data sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from adrem.cli.shared import DataHome, check_home, checked, say, tell

app = typer.Typer(help="The data sets: list, describe, download and check them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A data set, as `adrem datasets list` names it.")]
STATUS_TEXTS = {"ok": "ok", "unknown": "readable, no checksum known", "missing": "missing", "damaged": "DAMAGED"}


@app.command("list")
def list_all(data_home: DataHome = None) -> None:
    """List the data sets, and whether their files are there."""
    from adrem.datasets.home import data_home as home_folder
    from adrem.datasets.registry import REGISTRY

    home = home_folder(data_home)
    check_home(data_home)
    tell(f"{'name':<25}{'rows x features, classes':<36}there")
    for entry in REGISTRY.values():
        there = _origin_of(entry) if entry.make is not None else "yes" if _is_there(entry, home) else "no"
        tell(f"{entry.name:<25}{entry.shape:<36}{there}")
    say(f"Folder: {home}")


@app.command()
def info(name: Name, data_home: DataHome = None) -> None:
    """Describe a data set: its domains, its files, and where to get them."""
    from adrem.datasets.home import data_home as home_folder
    from adrem.datasets.registry import find_spec

    entry = checked("NAME", partial(find_spec, name))
    folder = home_folder(data_home) / entry.name
    lines: dict[str, list[str]] = {
        "title": [entry.title],
        "shape": [entry.shape],
        "domains": [", ".join(f"{key} ({domain})" for key, domain in entry.domains.items())],
        "scaling": [", then ".join(entry.scaling) or "none"],
        "cite": [entry.citation],
        "homepage": [entry.homepage],
        "terms": [entry.terms],
        "note": [entry.note],
        "files": [_place_of(folder / file.name) for file in entry.files],
        "or": [_place_of(folder / file.name) for file in entry.archives],
        "download": _addresses_of(entry),
    }
    for label, values in lines.items():
        for position, value in enumerate(value for value in values if value):
            tell(f"{label if position == 0 else '':<10}{value}")


def _place_of(path: Path) -> str:
    return f"{path}{'' if path.is_file() else '  (missing)'}"


def _addresses_of(entry: Any) -> list[str]:
    known = [address for file in (*entry.files, *entry.archives) for address in file.addresses]
    if known:
        return [f"{address.url}  ({'tried' if address.tried else 'not tried'})" for address in known]
    return ["no address is known"] if entry.files else [_origin_of(entry)]


def _origin_of(entry: Any) -> str:
    """Where a data set without files comes from."""
    return f"drawn by {entry.needs}" if entry.needs else "comes with adrem"


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets to download.")], data_home: DataHome = None
) -> None:
    """Download data sets; an interrupted download continues."""
    from adrem.datasets import fetch as download
    from adrem.datasets.registry import find_spec

    for name in names:
        checked("NAME", partial(find_spec, name))
    for name in names:
        with _download_bar() as report:
            folder = download(name, data_home, report=report)
        entry = find_spec(name)
        say(f"{name}: in {folder}" if entry.make is None else f"{name}: {_origin_of(entry)}")


@app.command()
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets to check (default: all).")] = None,
    data_home: DataHome = None,
) -> None:
    """Check files and content; exit code 1 if any is damaged or a named one missing."""
    from adrem.datasets import verify as check
    from adrem.datasets.registry import REGISTRY, find_spec

    wanted = [checked("NAME", partial(find_spec, name)).name for name in names] if names else list(REGISTRY)
    failed = False
    for name in wanted:
        verdict = check(name, data_home)
        tell(f"{name:<25}{STATUS_TEXTS[verdict.status]}")
        failed |= verdict.status == "damaged" or (bool(names) and verdict.status == "missing")
        if names or verdict.status == "damaged":
            for finding in verdict.findings:
                tell(f"  {finding}")
    if failed:
        raise typer.Exit(1)


def _is_there(entry: Any, home: Any) -> bool:
    from adrem.datasets.loading import find_files
    from adrem.exceptions import DamagedDataError, DataNotFoundError

    try:
        find_files(entry, home)
    except DataNotFoundError:
        return False
    except DamagedDataError:
        return True
    return True


@contextmanager
def _download_bar() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Show the progress of a download on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def report(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name)
            bar.update(tasks[name], completed=done, total=total)

        yield report
