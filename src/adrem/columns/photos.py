"""Folders of images as tables: a row for each image, subfolders are classes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adrem.columns.reading import FileTable
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.features.pictures import SUFFIXES, thumbnail
from adrem.runtime.notices import NamingText

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.features.encoder import Encoder

PHOTO, CLASS = "photo", "class"
MOST_LISTED = 5


def read_photos(path: str, encoder: Encoder) -> FileTable:
    """Read a folder of images, or one image, and encode them; those that can't be read are left out and listed.

    Parameters
    ----------
    path : str
        A folder. If it has subfolders, their names are the classes of the images in them. Or an image.
    encoder : ImageEncoder
        The encoder, which keeps the features in its cache.

    Returns
    -------
    FileTable
        A row for each image, with its path as ``photo``, and its ``class`` if any has one.

    Raises
    ------
    ParameterError
        If there is no such file or folder.
    InvalidDataError
        If it has no image that can be read.

    See Also
    --------
    make_pair : Make a source and a target from two tables.

    Examples
    --------
    >>> from adrem.columns.photos import read_photos
    >>> from adrem.features import ImageEncoder
    >>> photos = read_photos("photos", ImageEncoder())  # doctest: +SKIP
    """
    import polars as pl

    root = Path(path).expanduser()
    if not root.exists():
        raise ParameterError(f"There is no file or folder {path}.", "path")
    if encoder.kind != "image":
        raise ParameterError(f"{path} needs an encoder of images, and not of {encoder.kind}s.", "encoder")
    files, n_others = _find_images(root)
    if not files:
        raise InvalidDataError(f"{path} has no image: they end in {', '.join(sorted(SUFFIXES))}.")
    bad = encoder.fit([]).encode(files).unreadable
    good = [file for place, file in enumerate(files) if place not in bad]
    notes = _notes(path, {files[place]: reason for place, reason in bad.items()}, root, n_others)
    if not good:
        raise InvalidDataError(f"{path} has no image that can be read: {notes[0]}.")
    frame = pl.DataFrame({PHOTO: [str(file) for file in good]})
    classes = [_class_of(file, root) for file in good]
    if any(classes):
        frame = frame.with_columns(pl.Series(CLASS, classes, dtype=pl.String))
    return FileTable(path, _checksum(good, root), frame=frame, images=(PHOTO,), notes=tuple(notes))


def is_photos(path: str) -> bool:
    """Return whether a path is a folder, or an image by its name."""
    file = Path(path).expanduser()
    return file.is_dir() or file.suffix.lower() in SUFFIXES


def _find_images(root: Path) -> tuple[list[Path], int]:
    """Return the images of a folder in order, and the number of its other files; hidden ones are not looked at."""
    if root.is_file():
        return [root], 0
    paths = [path for path in sorted(root.rglob("*")) if not _is_hidden(path.relative_to(root)) and not path.is_dir()]
    images = [path for path in paths if path.suffix.lower() in SUFFIXES]
    return images, len(paths) - len(images)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _class_of(file: Path, root: Path) -> str | None:
    """Return the subfolder that an image is in."""
    parts = file.relative_to(root).parts if root.is_dir() else ()
    return parts[0] if len(parts) > 1 else None


def _notes(name: str, bad: dict[Path, str], root: Path, n_others: int) -> list[str]:
    notes: list[str] = []
    if bad:
        listed = "; ".join(f"{file.relative_to(root)}: {reason}" for file, reason in list(bad.items())[:MOST_LISTED])
        more = "; ..." if len(bad) > MOST_LISTED else ""
        text = "{count} image(s) of {name} can't be read and are left out: {listed}{more}"
        notes.append(NamingText(text, count=len(bad), name=name, listed=listed, more=more))
    if n_others:
        notes.append(f"{n_others} file(s) of {name} are no images")
    return notes


def _checksum(files: list[Path], root: Path) -> str:
    """Return a checksum of the names and sizes of files."""
    lines = (f"{file.relative_to(root)} {file.stat().st_size}" for file in files)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


class Thumbnails(Sequence[bytes]):
    """A small picture of each row of a table of images, made on access."""

    def __init__(self, table: DataFrame, column: str, side: int) -> None:
        self._paths = table[column]
        self._side = side

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, row: Any) -> Any:
        return thumbnail(self._paths[row], self._side)
