"""adrem bench: the paper's tables and figures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli._shared import DataHome, check_home, checked, names_in, say, stage, terminal_width

if TYPE_CHECKING:
    from adrem.benchmark.runner import Observer, Plan, Work
    from adrem.benchmark.store import Cell, Store

app = typer.Typer(help="The paper's benchmark: run its tables, show them, draw its figures.", no_args_is_help=True)

FORMS = ("table", "md", "csv", "latex", "html")  # those of adrem.benchmark.tables, whose import is not free

Table = Annotated[str, typer.Argument(help="A table, as `adrem bench list` names it, or `all`.")]
Features = Annotated[str | None, typer.Option(help="One kind of features, such as surf or resnet50 (default: all).")]
Pairs = Annotated[str | None, typer.Option(help="Pairs of domains, such as A-W,D-A (default: all).")]
Methods = Annotated[
    str | None,
    typer.Option(
        help="Methods with commas between them, `all` of ours, or skada:NAME for one of skada's (default: the table's)."
    ),
]
Repeats = Annotated[int | None, typer.Option(min=1, help="Repetitions (default: those of `bench list`).")]
Cache = Annotated[
    Path | None, typer.Option("--cache", help="Folder of finished results (default: in the cache folder).")
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Cells run at a time, each in a process of its own (default: a core each).")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run the cells on the workers of a Dask cluster, one at a time each, such as tcp://host:8786. They read "
        "the data from ADREM_DATA as it is set there, or from --data-home.",
    ),
]
Form = Annotated[str, typer.Option("--format", help="table, md, csv, latex or html.")]


@app.command("list")
def list_all() -> None:
    """List the tables, figures and methods."""
    from adrem.benchmark.figures import FIGURES
    from adrem.benchmark.methods import METHODS
    from adrem.benchmark.protocols import PROTOCOLS

    typer.echo(f"{'table':<25}{'features':<17}{'pairs':>5}{'repeats':>9}  data set")
    for p in PROTOCOLS:
        typer.echo(f"{p.table:<25}{p.features:<17}{len(p.pairs):>5}{p.repeats:>9}  {p.data}")
    typer.echo("\nfigure")
    for name, figure in FIGURES.items():
        typer.echo(f"{name:<25}{figure.title}")
    typer.echo("\nmethod")
    for method in METHODS.values():
        typer.echo(f"{method.name:<25}{method.title}")
    typer.echo(f"{'skada:NAME':<25}a classifier of skada, where it is installed")


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
    """Run a table, and show it. What was finished before is not run again.

    \b
    adrem bench run office-31 --methods source-svm,adrem-svm
    adrem bench run amazon-standard --features 400 --pairs K-D --repeats 3
    adrem bench run all --cluster tcp://host:8786
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    if jobs is not None and cluster is not None:
        raise typer.BadParameter(
            "a cluster runs as many cells as it has workers: leave --jobs out.", param_hint="--jobs"
        )
    from adrem.benchmark import runner

    store, planned = _plan(table, features, pairs, methods, repeats, cache, form, data_home, running=True)
    if not planned.protocols:
        say("Nothing to run.")
        raise typer.Exit(1)
    finished = store.get(planned.cells)
    todo = [cell for cell in planned.cells if cell not in finished]
    say(f"{len(planned.cells)} cells, {len(finished)} of them finished before. Results: {store.path}")
    with _workers_of(cluster, todo, data_home) as client:
        failed = _run(todo, store, jobs, data_home, runner.run_cell, client)
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
    """Show what is finished of a table, running nothing."""
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
    """Compute what a figure needs, and draw it as NAME.png and NAME.svg; its points go to NAME.csv."""
    from adrem.benchmark.figures import check_drawing, draw, find_figure
    from adrem.benchmark.store import Store

    chosen = checked("NAME", lambda: find_figure(name))
    check_drawing(output)
    store = Store(_cache_folder(cache))
    cells, skipped = ([], {}) if chosen.cells is None else chosen.cells(data_home)
    for data, reason in skipped.items():
        say(f"Skipped {data}: {reason}")
    if chosen.cells is not None and not cells:
        raise typer.Exit(1)
    finished = store.get(cells)
    todo = [cell for cell in cells if cell not in finished]
    if _run(todo, store, jobs, data_home, chosen.work):
        raise typer.Exit(1)
    for path in draw(chosen, store.get(cells), output):
        typer.echo(path)


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
) -> tuple[Store, Plan]:
    """Read the arguments, all of them before any work."""
    if form not in FORMS:
        raise typer.BadParameter(f"{form!r} is not one of {', '.join(FORMS)}.", param_hint="--format")
    from adrem.benchmark.methods import find_methods
    from adrem.benchmark.protocols import find_pairs, find_protocols
    from adrem.benchmark.runner import plan
    from adrem.benchmark.store import Store

    checked("TABLE", lambda: find_protocols(table))
    protocols = checked("--features", lambda: find_protocols(table, features))
    named = names_in(methods, "--methods")
    chosen = None if named is None else checked("--methods", lambda: find_methods(named))
    wanted = names_in(pairs, "--pairs")
    pair_names = None if wanted is None else checked("--pairs", lambda: find_pairs(protocols, wanted))
    if running:
        check_home(home)
    store = Store(_cache_folder(cache))
    stored = None if running else store
    planned = plan(protocols, chosen, pairs=pair_names, repeats=repeats, home=home, store=stored)
    for name, reason in planned.skipped.items():
        say(f"Skipped {name}: {reason}")
    return store, planned


def _cache_folder(cache: Path | None) -> Path:
    from adrem.datasets._home import cache_home

    return cache_home() / "bench" if cache is None else cache


def _show(store: Store, planned: Plan, form: str) -> None:
    from adrem.benchmark.results import summarize
    from adrem.benchmark.tables import render

    results = store.get(planned.cells)
    tables = [summarize(protocol, planned.methods, results) for protocol in planned.protocols]
    typer.echo(render(tables, form, terminal_width()), nl=False)
    warned = [text for result in results.values() for text in result.values.get("warnings", ())]
    if warned:
        say(f"{len(warned)} warning(s) in {len(results)} cells, such as {warned[0]}")
    if len(results) < len(planned.cells):
        left = len(planned.cells) - len(results)
        say(f"{left} of {len(planned.cells)} cells are not finished; `adrem bench run` runs them.")


@contextmanager
def _workers_of(cluster: str | None, todo: list[Cell], home: Path | None) -> Iterator[Any]:
    """A client of a cluster whose workers can run the cells, where there is a cluster and something to run."""
    if cluster is None or not todo:
        yield None
        return
    from adrem.benchmark.cluster import check_workers, connected

    with connected(cluster) as client:
        with stage("Looking at the workers"):
            check_workers(client, todo, home)
        yield client


def _run(todo: list[Cell], store: Store, jobs: int | None, home: Path | None, work: Work, client: Any = None) -> bool:
    """Run cells with a bar, and tell what failed, and whether any did."""
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
        say("Stopped. What is finished is stored: the same command goes on from there.")
        raise typer.Exit(130) from None
    except TerminatedWorkerError:
        say("A process was ended from outside, perhaps for lack of memory: try fewer --jobs.")
        say("What is finished is stored: the same command goes on from there.")
        raise typer.Exit(1) from None
    for cell, error in failed.items():
        where = f"{cell.task}/{cell.features} {cell.pair} {cell.method}, repetition {cell.repetition}"
        say(f"Failed: {where}: {type(error).__name__}: {error}")
    return bool(failed)


@contextmanager
def _run_bar(todo: list[Cell], jobs: int) -> Iterator[Observer | None]:
    """On a terminal a bar with what is running and the time left."""
    if not todo or not sys.stderr.isatty():
        yield None
        return
    from adrem.cli._bars import run_bar

    with run_bar(todo, jobs) as observer:
        yield observer
