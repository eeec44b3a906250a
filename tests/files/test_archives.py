from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
from typing import Any

import numpy as np
import pytest

from adrem.exceptions import FileTooLargeError, PythonObjectsError
from adrem.files.archives import read_arrays, read_bounded
from adrem.files.budget import Budget


def saved(**arrays: Any) -> io.BytesIO:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12).reshape(3, 4)),
        np.zeros((0, 3), np.float32),
        np.array(["ant", "bee"]),
        np.array(3.5),
        np.array([b"csr"]),
        np.arange(4, dtype=">i8"),
    ],
)
def test_read_arrays_round_trips_numpy_arrays(array: Any) -> None:
    found = read_arrays(saved(x=array))["x"]
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.flags.writeable


def test_too_large_arrays_are_rejected_before_unpacking() -> None:
    file = saved(x=np.zeros(10_000))
    with pytest.raises(FileTooLargeError, match=r"its arrays and a copy of them take 160 kB, and it may take 150 kB"):
        read_arrays(file, Budget(150_000))


def test_unpacking_stops_at_declared_size() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("x.npy", "w") as stream:
            np.lib.format.write_array(stream, np.zeros(1000))
            for _ in range(20):
                stream.write(bytes(10_000_000))
        archive.getinfo("x.npy").file_size = 8128
    tracemalloc.start()
    with pytest.raises(zipfile.BadZipFile, match="CRC"):
        read_arrays(file)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_pickled_objects_are_rejected() -> None:
    with pytest.raises(PythonObjectsError, match="x"):
        read_arrays(saved(x=np.array([{}])))


def test_archives_with_other_entries_are_rejected() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("text", b"hello")
    with pytest.raises(ValueError, match=r"'text' is not a \.npy array"):
        read_arrays(file)


def test_decompression_bomb_is_rejected() -> None:
    packed = gzip.compress(bytes(1_000_000))
    assert len(read_bounded(gzip.GzipFile(fileobj=io.BytesIO(packed)), "table.csv.gz")) == 1_000_000
    with pytest.raises(FileTooLargeError, match=r"table.csv.gz has more than 667 kB, a third of the memory"):
        read_bounded(gzip.GzipFile(fileobj=io.BytesIO(packed)), "table.csv.gz", Budget(2e6))
