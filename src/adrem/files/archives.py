"""Zip archives of numpy arrays. Archives may be hostile: sizes are checked before reading, and no code is run."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Mapping
from gzip import GzipFile
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from adrem.exceptions import FileTooLargeError, InvalidDataError, PythonObjectsError
from adrem.runtime.memory import available_memory, size_of

MAX_MEMBERS = 1000
PART = 1 << 24
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADERS: dict[tuple[int, int], Callable[[IO[bytes]], Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


def write_arrays(file: IO[bytes], arrays: Mapping[str, Any], *, compressed: bool) -> None:
    """Write named arrays, like np.savez; in numpy 1 that leaves the file open after an error."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_arrays(file: IO[bytes], most_bytes: float = math.inf) -> dict[str, NDArray[Any]]:
    """Read all arrays by name, if the sizes that the archive states fit into memory. No more than these is unpacked."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS or len({member.filename for member in members}) < len(members):
            raise InvalidDataError("it has more than a thousand members, or duplicate names")
        needed, free = sum(member.file_size for member in members), available_memory()
        if needed > most_bytes or 2 * needed > free:  # as much again for copies
            limit = f"the limit is {size_of(most_bytes)}" if needed > most_bytes else f"{size_of(free)} are free"
            raise FileTooLargeError(f"its arrays take {size_of(needed)}, and {limit}")
        return {member.filename.removesuffix(".npy"): _read_member(archive, member) for member in members}


def read_bounded(stream: IO[bytes] | GzipFile, name: str) -> bytes:
    """Read a compressed stream to its end; raise an error if it does not fit into memory."""
    most = available_memory() / 3  # the parts, their join, and what is parsed from it
    parts, n_bytes = [], 0
    with stream:
        while part := stream.read(PART):
            n_bytes += len(part)
            if n_bytes > most:
                raise FileTooLargeError(
                    f"{name} unpacks to more than {size_of(most)}, a third of the memory that is free."
                )
            parts.append(part)
    return b"".join(parts)


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    if not member.filename.endswith(".npy") or member.compress_type not in PLAIN:
        raise InvalidDataError(f"{member.filename!r} is not a .npy array")
    with archive.open(member) as stream:
        shape, by_columns, dtype = _HEADERS[npy.read_magic(stream)](stream)
        if dtype.hasobject:
            raise PythonObjectsError(member.filename.removesuffix(".npy"))
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.itemsize == 0 or min(shape, default=0) < 0 or stream.tell() + n_bytes != member.file_size:
            raise InvalidDataError(f"{member.filename!r} does not have the size that its header states")
        content = bytearray()
        # In parts, since one large read would unpack past the stated size; one more byte, to compare the checksum.
        while part := stream.read(min(PART, n_bytes - len(content) + 1)):
            content += part
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")
