"""adrem bench: run the paper's benchmark."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli.shared import DataHome, check_home, checked, names_in, say, stage, tell, terminal_width

if TYPE_CHECKING:
    from adrem.benchmark.cells import Work
    from adrem.benchmark.methods import Method
    from adrem.benchmark.runner import Observer, RunPlan
    from adrem.benchmark.store import Cell, Store

app = typer.Typer(help="The paper's benchmark: run its tables, show them, draw its figures.", no_args_is_help=True)

Table = Annotated[str, typer.Argument(help="A table, as `adrem bench list` names it, or `all`.")]
Features = Annotated[str | None, typer.Option(help="One kind of features, such as surf or resnet50 (default: all).")]
Pairs = Annotated[str | None, typer.Option(help="Pairs of domains, such as A-W,D-A (default: all).")]
Methods = Annotated[
    str | None,
    typer.Option(
        help="Methods, separated by commas: names of `bench list`, `all`, package.module:Class for your own, "
        "skada:NAME for one of skada (default: the table's)."
    ),
]
Repeats = Annotated[int | None, typer.Option(min=1, help="Repetitions (default: those of `bench list`).")]
Cache = Annotated[Path | None, typer.Option("--cache", help="Folder of stored results (default: in the cache folder).")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Cells run at a time, each in its own process (default: one per core).")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run the cells on the workers of the Dask cluster at this address, such as tcp://host:8786. Workers read "
        "the data from their own ADREM_DATA, or from --data-home.",
    ),
]
Form = Annotated[str, typer.Option("--format", help="table, md, csv, latex or html.")]


@app.command("list")
def list_all() -> None:
    """List the tables, figures and methods."""
    from adrem.benchmark.figures import FIGURES
    from adrem.benchmark.methods import METHODS
    from adrem.benchmark.protocols import PROTOCOLS

    tell(f"{'table':<25}{'features':<17}{'pairs':>5}{'repeats':>9}  data set")
    for p in PROTOCOLS:
        tell(f"{p.table:<25}{p.features:<17}{len(p.pairs):>5}{p.repeats:>9}  {p.data}")
    tell("\nfigure")
    for name, figure in FIGURES.items():
        tell(f"{name:<25}{figure.title}")
    tell("\nmethod")
    for method in METHODS.values():
        tell(f"{method.name:<25}{method.title}")
    tell(f"{'skada:NAME':<25}a classifier of skada, if installed")
    tell(f"{'package.module:Class':<25}an estimator of your own")


@app.command()
def run(
    table: Table,
    features: Features = None,
    pairs: Pairs = None,
    methods: Methods = None,
    repeats: Repeats = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    cache: Cache = None,
    form: Form = "table",
    data_home: DataHome = None,
) -> None:
    """Run a table, and show it. Stored results are not computed again.

    \b
    adrem bench run office-31 --methods source-svm,adrem-svm
    adrem bench run amazon-standard --features 400 --pairs K-D --repeats 3
    adrem bench run all --cluster tcp://host:8786
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    if jobs is not None and cluster is not None:
        raise typer.BadParameter("A cluster runs as many cells as it has workers: omit --jobs.", param_hint="--jobs")
    from adrem.benchmark.cells import run_cell
    from adrem.cli.models import check_jobs

    check_jobs(jobs)
    store, planned = _plan(table, features, pairs, methods, repeats, cache, form, data_home, running=True)
    if not planned.protocols:
        say("Nothing to run.")
        raise typer.Exit(1)
    finished = store.get(planned.cells)
    _tell_notes(store)
    todo = [cell for cell in planned.cells if cell not in finished]
    say(f"{len(planned.cells)} cells, {len(finished)} of them finished before. Results: {store.path}")
    with _workers_of(cluster, todo, data_home) as client:
        failed = _run(todo, store, jobs, data_home, run_cell, client)
    _show(store, planned, form)
    if failed or planned.damaged:
        raise typer.Exit(1)


@app.command()
def show(
    table: Table,
    features: Features = None,
    pairs: Pairs = None,
    methods: Methods = None,
    repeats: Repeats = None,
    cache: Cache = None,
    form: Form = "table",
    data_home: DataHome = None,
) -> None:
    """Show the stored results of a table, without running anything."""
    store, planned = _plan(table, features, pairs, methods, repeats, cache, form, data_home, running=False)
    if not planned.protocols:
        raise typer.Exit(1)
    _show(store, planned, form)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure, as `adrem bench list` names it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the PNG and the SVG.")] = Path(),
    jobs: Jobs = None,
    cache: Cache = None,
    data_home: DataHome = None,
) -> None:
    """Draw a figure as NAME.png and NAME.svg; its points go to NAME.csv."""
    from adrem.benchmark.figures import check_drawing, draw, find_figure
    from adrem.benchmark.store import Store
    from adrem.cli.models import check_jobs

    check_jobs(jobs)
    chosen = checked("NAME", lambda: find_figure(name))
    check_drawing(output)
    store = Store(_cache_folder(cache))
    cells, skipped = ([], {}) if chosen.cells is None else chosen.cells(data_home)
    for data, reason in skipped.items():
        say(f"Skipped {data}: {reason}")
    if chosen.cells is not None and not cells:
        raise typer.Exit(1)
    finished = store.get(cells)
    _tell_notes(store)
    todo = [cell for cell in cells if cell not in finished]
    if _run(todo, store, jobs, data_home, chosen.work):
        raise typer.Exit(1)
    for path in draw(chosen, store.get(cells), output):
        tell(str(path))


def _plan(
    table: str,
    features: str | None,
    pairs: str | None,
    methods: str | None,
    repeats: int | None,
    cache: Path | None,
    form: str,
    home: Path | None,
    *,
    running: bool,
) -> tuple[Store, RunPlan]:
    """Check all arguments before any work, and plan the cells."""
    from adrem.benchmark.protocols import find_pairs, find_protocols
    from adrem.benchmark.runner import plan
    from adrem.benchmark.store import Store
    from adrem.benchmark.tables import TABLE_FORMATS

    if form not in TABLE_FORMATS:
        raise typer.BadParameter(f"{form!r} is not one of {', '.join(TABLE_FORMATS)}.", param_hint="--format")
    checked("TABLE", lambda: find_protocols(table))
    protocols = checked("--features", lambda: find_protocols(table, features))
    chosen = checked("--methods", lambda: _find_methods(names_in(methods, "--methods")))
    wanted = names_in(pairs, "--pairs")
    pair_names = checked("--pairs", lambda: find_pairs(protocols, wanted)) if wanted else None
    if running:
        check_home(home)
    store = Store(_cache_folder(cache))
    stored = None if running else store
    planned = plan(protocols, chosen, pairs=pair_names, repeats=repeats, home=home, store=stored)
    for name, reason in planned.skipped.items():
        say(f"Skipped {name}: {reason}")
    return store, planned


def _find_methods(names: list[str]) -> list[Method] | None:
    """Find methods, and import those of other packages."""
    from adrem.benchmark.methods import find_methods

    if not names:
        return None
    found = find_methods(names)
    for method in found:
        method.parameters()
    return found


def _cache_folder(cache: Path | None) -> Path:
    from adrem.datasets.home import cache_home

    return cache_home() / "bench" if cache is None else cache


def _tell_notes(store: Store) -> None:
    """Print what was damaged, each once."""
    for note in store.notes:
        say(note)
    store.notes.clear()


def _show(store: Store, planned: RunPlan, form: str) -> None:
    from adrem.benchmark.results import summarize
    from adrem.benchmark.tables import render

    results = store.get(planned.cells)
    _tell_notes(store)
    tables = [summarize(protocol, planned.methods, results) for protocol in planned.protocols]
    tell(render(tables, form, terminal_width()), nl=False)
    warned = [text for result in results.values() for text in result.values.get("warnings", ())]
    if warned:
        say(f"{len(warned)} warning(s) in {len(results)} cells, such as {warned[0]}")
    if len(results) < len(planned.cells):
        left = len(planned.cells) - len(results)
        say(f"{left} of {len(planned.cells)} cells are not finished; `adrem bench run` runs them.")


@contextmanager
def _workers_of(cluster: str | None, todo: list[Cell], home: Path | None) -> Iterator[Any]:
    """Connect to a cluster and check its workers; None without a cluster or without cells to run."""
    if cluster is None or not todo:
        yield None
        return
    from adrem.benchmark.cluster import check_workers, connected

    with connected(cluster) as client:
        with stage("Checking the workers"):
            check_workers(client, todo, home)
        yield client


def _run(todo: list[Cell], store: Store, jobs: int | None, home: Path | None, work: Work, client: Any = None) -> bool:
    """Run cells with a progress bar, print what failed, and return whether any did."""
    from joblib import cpu_count
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    from adrem.benchmark.runner import run as run_cells

    if todo:
        store.check_writable()
    at_once = jobs or (cpu_count() if client is None else len(client.nthreads()))
    workers = min(at_once, max(1, len(todo)))
    try:
        with _run_bar(todo, workers) as observer:
            failed = run_cells(todo, store, jobs=workers, home=home, work=work, observer=observer, client=client)
    except KeyboardInterrupt:
        say("Stopped. Finished cells are stored: the same command continues.")
        raise typer.Exit(130) from None
    except TerminatedWorkerError:
        say("A process was killed, perhaps for lack of memory: try fewer --jobs.")
        say("Finished cells are stored: the same command continues.")
        raise typer.Exit(1) from None
    for cell, error in failed.items():
        where = f"{cell.task}/{cell.features} {cell.pair} {cell.method}, repetition {cell.repetition}"
        say(f"Failed: {where}: {type(error).__name__}: {error}")
    return bool(failed)


@contextmanager
def _run_bar(todo: list[Cell], jobs: int) -> Iterator[Observer | None]:
    """Show running cells and the time left on a terminal."""
    if not todo or not sys.stderr.isatty():
        yield None
        return
    from adrem.cli.bars import run_bar

    with run_bar(todo, jobs) as observer:
        yield observer
