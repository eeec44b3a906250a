"""adrem models: list, describe and install the networks that make features of texts and images."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adrem.cli.shared import checked, say, tell

if TYPE_CHECKING:
    from adrem.features.catalog import Known

app = typer.Typer(help="Networks that make features of texts and images.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A model, as `adrem models list` names it.")]


@app.command("list")
def list_all() -> None:
    """List the models that are known by name, and whether they are there."""
    from adrem.features.catalog import CATALOG
    from adrem.features.weights import model_homes
    from adrem.runtime.memory import size_of

    tell(f"{'name':<14}{'encodes':<10}{'features':>8}{'size':>10}  {'licence':<10}there")
    for known in CATALOG.values():
        line = f"{known.name:<14}{known.kind:<10}{known.n_features:>8}{size_of(known.n_bytes):>10}  {known.licence:<10}"
        tell(line + _place_of(known))
    say(f"Folders: {', '.join(map(str, model_homes()))}. Other models are given by their path.")


@app.command()
def info(name: Name) -> None:
    """Describe a model: what it is, where its files come from, and where they lie."""
    from adrem.features.weights import model_homes

    known = checked("NAME", partial(_find, name))
    lines = {
        "title": known.title,
        "encodes": known.kind,
        "features": known.n_features,
        "licence": known.licence,
        "origin": known.origin,
        "needs": f"pip install 'adrem[{known.kind if known.kind == 'text' else 'images'}]'",
        "there": _place_of(known),
    }
    for label, value in lines.items():
        tell(f"{label:<10}{value}")
    for file, checksum in known.files.items():
        tell(f"{'file':<10}{model_homes()[0] / file}\n{'':<10}sha256 {checksum}")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A model of `adrem models list`, or OWNER/NAME on huggingface.co.")],
    source: Annotated[Path | None, typer.Option("--from", help="A folder that holds the model's files.")] = None,
    revision: Annotated[str | None, typer.Option(help="Commit, branch or tag on the hub (default: newest).")] = None,
    file: Annotated[str | None, typer.Option(help="File of the network on the hub, if there are several.")] = None,
) -> None:
    """Put a model into the folder of the models, from the hub or from a folder, after a check of its files."""
    from adrem.features.hub import fetch_model, is_repository

    if is_repository(name):
        own, folder = fetch_model(name, revision, file)
        say(f"{own}: in {folder}")
        return
    if revision is not None or file is not None:
        raise typer.BadParameter("Only models of the hub (OWNER/NAME) have these.", param_hint="--revision, --file")
    _install(checked("NAME", partial(_find, name)), source)


def _install(known: Known, source: Path | None) -> None:
    """Copy the files of a known model from a folder."""
    from adrem.features.installing import install, is_complete
    from adrem.features.weights import model_homes

    home = model_homes()[0]
    if not is_complete(known, home):
        if source is None:
            files = ", ".join(known.files)
            raise typer.BadParameter(
                f"No address of {known.name} is known: get {files} ({known.origin}), put them into {home}, or name a "
                "folder that has them.",
                param_hint="--from",
            )
        install(known, source)
    say(f"{known.name}: in {home}")


def _find(name: str) -> Known:
    from adrem.features.catalog import CATALOG

    if name not in CATALOG:
        raise ValueError(f"There is no model {name!r}; known are {', '.join(CATALOG)}.")
    return CATALOG[name]


def _place_of(known: Known) -> str:
    """Return where a model lies, or what is wrong with it."""
    from adrem.exceptions import AdremError
    from adrem.features.weights import find_weights

    try:
        return str(find_weights(known.name, known.kind).network.parent)
    except FileNotFoundError:
        return "no"
    except AdremError:
        return "DAMAGED"
