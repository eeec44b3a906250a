"""Put the files of a known encoder into the folder of the models, after a check of each."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from adrem.exceptions import DamagedDataError, EncoderNotFoundError
from adrem.features.catalog import Known
from adrem.features.weights import checksum_of, model_homes
from adrem.files.atomic import written_whole


def install(known: Known, source: str | os.PathLike[str]) -> Path:
    """Copy the files of a model from a folder that holds them, and return the folder of the models.

    Files that are there already are not copied again, so that an interrupted copy goes on.
    """
    folder, home = Path(source).expanduser(), model_homes()[0]
    found = {name: _find(folder, name, known.name) for name in known.files}
    for name, checksum in known.files.items():
        if checksum_of(found[name]) != checksum:
            raise DamagedDataError(
                f"{found[name]} is not the file {name} of {known.name}: its checksum differs. Nothing was copied."
            )
    for name, checksum in known.files.items():
        place = home / name
        if place.is_file() and checksum_of(place) == checksum:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(place) as file, found[name].open("rb") as content:
            shutil.copyfileobj(content, file)
    return home


def is_complete(known: Known, home: Path) -> bool:
    """Return whether all files of a model are in a folder, with the right content."""
    files = {home / name: checksum for name, checksum in known.files.items()}
    return all(path.is_file() and checksum_of(path) == checksum for path, checksum in files.items())


def _find(folder: Path, name: str, model: str) -> Path:
    """Return a file from a folder of the form of the models, or from one that has the file itself."""
    for path in (folder / name, folder / Path(name).name):
        if path.is_file():
            return path
    raise EncoderNotFoundError(f"{folder} has no {name}, which belongs to {model}: name a folder that has it.")
