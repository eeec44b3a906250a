"""Zip archives of numpy arrays. Archives may be hostile: sizes are checked before reading, and no code is run."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from adrem.exceptions import FileTooLargeError, InvalidDataError, NotEnoughMemoryError, PythonObjectsError
from adrem.files.budget import DIRECTORY_BYTES, Budget
from adrem.runtime.memory import available_memory, size_of

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


def opened_zip(file: IO[bytes]) -> zipfile.ZipFile:
    """Open a zip archive; raise an error if its directory is longer than that of a thousand members."""
    shielded = _Shielded(file)
    archive = zipfile.ZipFile(shielded)
    shielded.most = math.inf
    return archive


class _Shielded(io.BufferedIOBase):
    """A file that refuses to read many bytes at once, as zipfile does for a directory of any length."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.most: float = DIRECTORY_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        place = self._file.tell()
        wanted = size if size is not None and size >= 0 else self._file.seek(0, io.SEEK_END) - place
        self._file.seek(place)
        if wanted > self.most:
            raise FileTooLargeError(f"its directory takes {size_of(wanted)}, and {size_of(self.most)} are allowed")
        return self._file.read(wanted)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def read_arrays(file: IO[bytes], budget: Budget | None = None) -> dict[str, NDArray[Any]]:
    """Read all arrays by name, if the sizes that the archive states fit into memory. No more than these is unpacked."""
    budget = budget or Budget()
    with opened_zip(file) as archive:
        members = archive.infolist()
        budget.draw_members([member.filename for member in members])
        budget.draw(2 * sum(member.file_size for member in members), "its arrays and a copy of them")
        return {member.filename.removesuffix(".npy"): _read_member(archive, member, budget) for member in members}


def read_bounded(stream: AbstractContextManager[Any], name: str, budget: Budget | None = None) -> bytes:
    """Read a stream to its end; raise an error if it does not fit into memory."""
    budget = budget or Budget()
    most = budget.apart  # the parts, their join, and what is parsed from it
    with stream as file:
        try:
            content = b"".join(_parts_of(file, name, most))
        except MemoryError as error:
            if isinstance(error, FileTooLargeError):
                raise
            raise NotEnoughMemoryError(
                f"{name} was not read for lack of memory: {size_of(available_memory())} are free."
            ) from error
    budget.draw(len(content), "its bytes")
    return content


def _parts_of(file: Any, name: str, most: float) -> Iterator[bytes]:
    n_bytes = 0
    while part := file.read(PART):
        n_bytes += len(part)
        if n_bytes > most:
            raise FileTooLargeError(f"{name} has more than {size_of(most)}, a third of the memory that is free.")
        yield part


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: Budget) -> NDArray[Any]:
    if not member.filename.endswith(".npy") or member.compress_type not in PLAIN:
        raise InvalidDataError(f"{member.filename!r} is not a .npy array")
    with archive.open(member) as stream:
        shape, by_columns, dtype = _HEADERS[npy.read_magic(stream)](stream)
        if dtype.hasobject:
            raise PythonObjectsError(member.filename.removesuffix(".npy"))
        if dtype.kind in "SU":
            budget.check_strings(member.filename, dtype.itemsize // np.dtype(f"{dtype.kind}1").itemsize)
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.itemsize == 0 or min(shape, default=0) < 0 or stream.tell() + n_bytes != member.file_size:
            raise InvalidDataError(f"{member.filename!r} does not have the size that its header states")
        content = bytearray()
        # In parts, since one large read would unpack past the stated size; one more byte, to compare the checksum.
        while part := stream.read(min(PART, n_bytes - len(content) + 1)):
            content += part
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")
