"""Which files are sources, and which is the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from adrem.cli.shared import STANDARD

if TYPE_CHECKING:
    from adrem.columns import FileTable
    from adrem.features.encoder import Encoder


@dataclass(frozen=True)
class Places:
    """The files of the sources, of the target, and of its known labels.

    Without a file, the target is a value of the column `domain`.
    """

    sources: list[str]
    target: str | None
    domain: str | None
    value: str | None = None
    known: Sequence[str] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """All files."""
        return (*self.sources, *([] if self.target is None else [self.target]), *(self.known or ()))

    def read_known(self, *, header: bool) -> list[FileTable]:
        """Return the tables of known labels."""
        from adrem.columns import read_file

        return [read_file(path, header=header) for path in self.known or ()]

    def read(
        self, *, header: bool, label: str | None = None, encoder: Encoder | None = None
    ) -> tuple[list[FileTable], tuple[FileTable, FileTable]]:
        """Return the table of each source, and the pair of all sources and the target."""
        from adrem.columns.sources import by_column, join_sources, split_target

        sources = [read_table(path, header=header, encoder=encoder) for path in self.sources]
        joined = join_sources(sources, label)
        if self.target is None:
            return sources, split_target(joined, self.domain or "", self.value or "")
        if self.domain is not None:
            joined = by_column(joined, self.domain)
        return sources, (joined, read_table(self.target, header=header, encoder=encoder))


def read_table(path: str, *, header: bool, encoder: Encoder | None) -> FileTable:
    """Read a file, or images if there is an encoder of them."""
    from adrem.columns import read_file, read_photos
    from adrem.columns.photos import is_photos

    if encoder is None or encoder.kind != "image":
        return read_file(path, header=header)
    if not is_photos(path):
        raise ValueError(f"{path} is no folder of images, and the others are: name a folder.")
    return read_photos(path, encoder)


def read_places(files: list[str], target: str | None, domain: str | None, known: Sequence[str] | None = None) -> Places:
    """Return the sources and the target that were named."""
    if target is None and len(files) < 2:
        raise typer.BadParameter("Name a file to label after those with labels, or with --target.", param_hint="TARGET")
    if target is not None and domain is None and target != STANDARD and not Path(target).exists():
        raise typer.BadParameter(
            f"There is no file {target}. If it is a domain in a column, name the column with --domain.",
            param_hint="--target",
        )
    if target is None:
        places = Places(files[:-1], files[-1], domain, known=known)
    elif domain is not None and target != STANDARD and not Path(target).exists():
        places = Places(files, None, domain, target, known)
    else:
        places = Places(files, target, domain, known=known)
    if places.files.count(STANDARD) > 1:
        raise typer.BadParameter("Only one of the files can be standard input.", param_hint="TARGET")
    return places
