"""Compressed files and archives of files, unpacked in memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Collection
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from adrem.exceptions import InvalidDataError
from adrem.files.archives import PLAIN, opened_zip, read_bounded
from adrem.files.budget import Budget
from adrem.files.labelled_rows import guarded


def decompress(content: bytes, name: str, budget: Budget | None = None) -> bytes:
    """Decompress gzip, bzip2 and xz, known by their first bytes; return other content as it is."""
    for magic, kind, opened in (
        (b"\x1f\x8b", "gzip", gzip.open),
        (b"BZh", "bzip2", bz2.open),
        (b"\xfd7zXZ\x00", "xz", lzma.open),
    ):
        if content.startswith(magic):
            stream: Any = opened(io.BytesIO(content))
            unpacked: bytes = guarded(name, f"a {kind} file", partial(read_bounded, stream, name, budget))
            return unpacked
    return content


def read_members(content: bytes, name: str, wanted: Collection[str]) -> dict[str, bytes]:
    """Return the members of a zip or tar.gz archive that have the wanted file names, by their path."""
    unpack = _read_zip if name.endswith(".zip") else _read_tar
    members: dict[str, bytes] = guarded(name, "an archive", lambda: unpack(content, name, wanted))
    return members


def _read_zip(content: bytes, name: str, wanted: Collection[str]) -> dict[str, bytes]:
    with opened_zip(io.BytesIO(content)) as archive:
        found = [member for member in archive.infolist() if PurePosixPath(member.filename).name in wanted]
        if any(member.compress_type not in PLAIN for member in found):  # other methods can't be read in parts
            raise InvalidDataError("its members are not compressed by deflate: create the archive again")
        return {m.filename: read_bounded(archive.open(m), f"{name}, {m.filename}") for m in found}


def _read_tar(content: bytes, name: str, wanted: Collection[str]) -> dict[str, bytes]:
    # Read to the checksum at the end: tarfile does not notice missing bytes there.
    inner = read_bounded(gzip.open(io.BytesIO(content)), name)  # noqa: SIM115 - read_bounded closes it
    with tarfile.open(fileobj=io.BytesIO(inner), mode="r:") as archive:
        whole = [m for m in archive.getmembers() if m.isreg() and not m.issparse()]
        members = [m for m in whole if PurePosixPath(m.name).name in wanted]
        return {m.name: (archive.extractfile(m) or io.BytesIO()).read() for m in members}
