"""adrem label: a page in the browser to label rows of the target on."""

from __future__ import annotations

import secrets
import shlex
import sys
import warnings
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli import outputs
from adrem.cli.adapt import origins
from adrem.cli.encoding import Chunks, Model, label_or_class, make_encoder
from adrem.cli.models import make_model, use_labels
from adrem.cli.pages import check_pages, make_file_page
from adrem.cli.parameters import with_options
from adrem.cli.places import read_places
from adrem.cli.shared import names_in, say, say_wrapped, stage
from adrem.cli.writing import LabelFile
from adrem.exceptions import MissingImportError

if TYPE_CHECKING:
    from adrem.columns import FileTable
    from adrem.labelling.project import Adapted

ANSWERS = "answers.jsonl"


def label(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE", help="The labelled tables, and the one to label rows of.")
    ],
    label: Annotated[str | None, typer.Option(help="Column of the source with the labels.")] = None,
    identifier: outputs.Identifier = None,
    folder: Annotated[
        Path | None, typer.Option(help="Folder of the answers and exports (default: TABLE-labels, beside the table).")
    ] = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")] = None,
    text: Annotated[str | None, typer.Option(help="Text columns, separated by commas (default: detected).")] = None,
    encoder: Model = None,
    chunks: Chunks = None,
    no_header: outputs.NoHeader = False,
    method: Annotated[str, typer.Option(help="As of adrem adapt.")] = "committee",
    members: Annotated[int | None, typer.Option(min=1, help="Members (default: 5 of each kind; adrem: 11).")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Members trained at a time.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page (default: any free one).")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
) -> None:
    """Label rows by hand on a page in the browser, and adapt again with the labels.

    \b
    adrem label books.csv kitchen.csv --label stars
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    _check_server()
    check_pages()
    wanted = read_places(tables, None, None)
    model = make_model(method, {"n_estimators": members}, seed=seed, jobs=jobs)
    from adrem import __version__
    from adrem.columns import make_pair
    from adrem.labelling.desk import Desk
    from adrem.labelling.journal import Journal
    from adrem.labelling.labelled_file import LABELLED
    from adrem.labelling.project import Project
    from adrem.labelling.server import LOOPBACK, listen, make_app, make_server

    network = make_encoder(encoder, chunks, wanted.files)
    label = label_or_class(label, network)
    with stage(f"Reading {' and '.join(wanted.files)}", quiet=network is not None):
        sources, both = wanted.read(header=not no_header, label=label, encoder=network)
        pair = make_pair(
            *both,
            label=label,
            text=names_in(text, "--text"),
            left_out=[*([identifier] if identifier else []), *names_in(drop, "--drop")],
            encoder=network,
        )
    for note in pair.notes:
        say_wrapped(f"- {with_options(note)}")
    use_labels(model, pair.y_source)
    about = {"adrem": __version__, "method": method, "label": label, "seed": seed, **origins(sources, both)}
    if identifier is None and both[1].images:
        identifier = both[1].images[0]
    project = Project(pair, lambda: _new(model), about, identifier, _exports(both[1], identifier))
    place = _folder_of(both[1], folder)
    _check_folder(place, [*project.exports, LABELLED], wanted.files)
    classes = [str(own) for own in project.classes]
    listening = listen(port)
    with Journal(place / ANSWERS, {**origins(sources, both), "label": label, "classes": classes}) as journal:
        if journal.entries:
            say(f"{len(journal.entries)} answers are in {journal.path}: they go on.")
        with stage("Adapting"):
            desk = Desk(project, journal)
        token, own = secrets.token_urlsafe(24), listening.getsockname()[1]
        once = None if no_browser else secrets.token_urlsafe(24)
        home = f"http://{LOOPBACK}:{own}"

        def when_ready() -> None:
            say(f"Answers and exports: {place}")
            say(f"The page: {home}/{token}/\nCtrl-C ends it. Every answer is on disk.")
            if once is not None:  # a browser in the terminal would block
                Thread(target=webbrowser.open, args=(f"{home}/{once}/",), daemon=True).start()

        make_server(make_app(desk, place, token=token, port=own, once=once), when_ready).run([listening])


def _check_server() -> None:
    for name in ("starlette", "uvicorn"):
        if find_spec(name) is None:
            raise MissingImportError(f"The page needs {name}: pip install 'adrem[label]'")


def _new(model: Any) -> Any:
    """Return a new model that is not fitted, and that shows no progress where the page does."""
    from sklearn.base import clone

    new = clone(model)
    return new.set_params(verbose=0) if "verbose" in new.get_params() else new


def _folder_of(target: FileTable, folder: Path | None) -> Path:
    """Return the folder of the answers, which is made if it is not there."""
    named = Path(target.name)
    found = folder if folder is not None else named.with_name(f"{named.name.partition('.')[0]}-labels")
    try:
        found.mkdir(exist_ok=True)
    except OSError as error:
        raise OSError(f"{found} can't be made: {error.strerror}. Name another folder with --folder.") from error
    return found


def _check_folder(folder: Path, exported: list[str], inputs: tuple[str, ...]) -> None:
    """Raise an error if the answers or an export would replace a file that is not of this command."""
    there = [path for path in (folder / name for name in (ANSWERS, *exported)) if path.exists()]
    tables = [Path(name) for name in inputs if Path(name).exists()]
    for path in there:
        if any(path.samefile(table) for table in tables):
            raise typer.BadParameter(
                f"{path} is a table that is read, and would be replaced: name another folder.", param_hint="--folder"
            )
    if there and not (folder / ANSWERS).exists():
        raise typer.BadParameter(
            f"{there[0]} would be replaced, and {folder} has no {ANSWERS}: name another folder.", param_hint="--folder"
        )


def _exports(target: FileTable, identifier: str | None) -> dict[str, Any]:
    """Return what writes the files to export, by their names."""
    from adrem.columns.bundle import save_bundle
    from adrem.columns.labelling import label_pair

    def write_labels(adapted: Adapted, given: dict[int, Any], path: Path) -> None:
        file = LabelFile(str(path), outputs.columns_beside(target, identifier, None))
        file.write(label_pair(adapted.bundle, adapted.pair, adapted.examined, given))

    def write_report(adapted: Adapted, _: dict[int, Any], path: Path) -> None:
        bundle = adapted.bundle
        summary = {"handed_out": "source" if bundle.model is bundle.baseline else "adapted"}
        command = shlex.join(["adrem", *sys.argv[1:]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            page = make_file_page(
                adapted.pair, adapted.examined, bundle, identifier, summary=summary, command=command, warned=[]
            )
        page.save(path)

    return {
        "labels.csv": write_labels,
        "model.adrem": lambda adapted, _, path: save_bundle(adapted.bundle, path),
        "report.html": write_report,
    }
