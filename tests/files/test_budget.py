"""Tests of what reading a file may take: each form is bounded, and lack of memory is told as such."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adrem.columns import read_file
from adrem.exceptions import DamagedDataError, FileTooLargeError, InvalidDataError, NotEnoughMemoryError
from adrem.files import labelled_rows
from adrem.files.budget import Budget
from adrem.files.frames import read_json_lines, read_text
from adrem.files.labelled_rows import guarded
from adrem.files.npz import read_npz
from adrem.files.pipes import Pipe
from adrem.files.svmlight import read_svmlight


def test_short_lines_under_a_wide_header_are_bounded() -> None:
    content = ",".join(f"c{k}" for k in range(2000)).encode() + b"\n" + b"1\n" * 2000
    assert read_text(content, "t.csv").shape == (2000, 2000)
    with pytest.raises(FileTooLargeError, match=r"t\.csv was not read: its 2002 x 2000 cells take 64 MB"):
        read_text(content, "t.csv", budget=Budget(5e7))


def test_json_lines_with_a_key_each_are_bounded() -> None:
    content = b"\n".join(b'{"k%d": 1}' % k for k in range(2000))
    assert read_json_lines(content, "t.jsonl").shape == (2000, 2000)
    with pytest.raises(FileTooLargeError, match=r"its 2000 x 2000 cells take 64 MB"):
        read_json_lines(content, "t.jsonl", Budget(5e7))


def test_wide_json_lines_are_read_as_narrow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b'{"a": 1, "b": "x", "c": [1]}\n\n{"b": null, "a": 2.5, "d": true}\n{"d": false}\n'
    expected = read_json_lines(content, "t.jsonl")
    monkeypatch.setattr("adrem.files.frames.MANY_KEYS", 0)
    assert read_json_lines(content, "t.jsonl").equals(expected)


def test_json_lines_of_many_keys_each_are_bounded_while_they_are_read() -> None:
    line = b"{" + b",".join(b'"k%d": %d' % (k, k) for k in range(2000)) + b"}\n"
    late = line.replace(b'"k7"', b'"other"')
    frame = read_json_lines(line * 40 + late, "t.jsonl")
    assert frame.shape == (41, 2001)
    assert (frame["k7"].null_count(), frame["other"].null_count(), frame["k1999"].sum()) == (1, 40, 41 * 1999)
    with pytest.raises(FileTooLargeError, match=r"its 42 x 2000 cells take 1 MB"):
        read_json_lines(line * 41, "t.jsonl", Budget(5e5))
    with pytest.raises(DamagedDataError, match=r"line 2 is no object"):
        read_json_lines(b'{"a": 1}\n[2]\n', "t.jsonl")


def test_features_of_svmlight_are_bounded() -> None:
    with pytest.raises(FileTooLargeError, match=r"models of 100000001 features take 20\.0 GB, and it may take 5\.0 GB"):
        read_svmlight(b"1 100000000:1\n0 1:1\n", "t.svmlight", Budget(5e9))
    with pytest.raises(FileTooLargeError, match="its entries take"):
        read_svmlight(b"1 1:1\n" * 1000, "t.svmlight", Budget(1e4))


def test_a_file_larger_than_the_memory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "t.csv").open("wb") as file:
        file.truncate(10**8)
    monkeypatch.setattr("adrem.columns.reading.Budget", lambda: Budget(6e7))
    with pytest.raises(FileTooLargeError, match=r"t\.csv has more than 20 MB, a third of the memory"):
        read_file(str(tmp_path / "t.csv"))


@pytest.mark.parametrize(
    "error",
    [MemoryError(), ValueError("Unable to allocate 3 GiB"), RuntimeError("memory allocation of 8 bytes failed")],
)
def test_lack_of_memory_is_told_as_such(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(NotEnoughMemoryError, match=r"t\.csv was not read for lack of memory: .* are free"):
        guarded("t.csv", "a table", fail)


def test_any_failure_with_hardly_any_memory_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise NameError("name 'PyLazyFrame' is not defined")

    with pytest.raises(DamagedDataError):
        guarded("t.csv", "a table", fail)
    monkeypatch.setattr("adrem.runtime.memory.available_memory", lambda: 1e6)
    with pytest.raises(NotEnoughMemoryError, match="lack of memory"):
        guarded("t.csv", "a table", fail)


LITTLE = """
import resource, sys
from adrem.columns import read_file
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]), -1))
try:
    print(read_file(sys.argv[1]).n_rows)
except BaseException as error:
    print(type(error).__name__, str(error).splitlines()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory")
@pytest.mark.parametrize("megabytes", [1, 60])
def test_a_process_with_little_memory_says_so(megabytes: int, tmp_path: Path) -> None:
    """polars was loaded in part then, and the error said that the file was damaged."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    command = [sys.executable, "-c", LITTLE, str(tmp_path / "t.csv"), str(megabytes * 10**6)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout.strip()
    assert said == "1" or ("memory" in said and "get it again" not in said), said + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_pipe_without_a_writer_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.csv")
    with Pipe(tmp_path / "t.csv", patience=0.2) as pipe, pytest.raises(InvalidDataError, match="to which no program"):
        pipe.read(10)


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_pipe_with_a_slow_writer_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb", buffering=0) as file:
            for part in (b"a,b\n", b"1,2\n", b"3,4\n"):
                threading.Event().wait(0.1)
                file.write(part)

    thread = threading.Thread(target=write)
    thread.start()
    assert read_file(str(path)).n_rows == 2
    thread.join()


def saved(**arrays: Any) -> bytes:
    import io

    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(3, "V4"), r"labels must be whole numbers, truth values or strings, and not \|V4"),
        (np.zeros(3, [("a", "i4")]), "and not"),
        (np.zeros(3, "M8[s]"), "and not datetime64"),
        (np.zeros(3, complex), "and not complex128"),
        (np.array([b"\xff", b"a", b"b"]), "are bytes that are not UTF-8"),
    ],
)
def test_labels_of_other_types_are_refused(labels: Any, message: str) -> None:
    with pytest.raises(DamagedDataError, match=message):
        read_npz(saved(x=np.eye(3), y=labels), "t.npz")


def test_labels_that_are_bytes_are_read_as_strings() -> None:
    table = read_npz(saved(x=np.eye(3), y=np.array(["ä".encode(), b"b", b"b"])), "t.npz")
    assert table.y is not None
    assert table.y.tolist() == ["ä", "b", "b"]


def test_polars_that_is_not_whole_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise NameError("name 'PyLazyFrame' is not defined")

    monkeypatch.setattr("polars.LazyFrame", fail)
    with pytest.raises(NotEnoughMemoryError, match="polars can't be loaded, which reads csv and parquet files"):
        labelled_rows.whole_polars()


def test_hostile_quotes_of_json_take_no_longer_than_others() -> None:
    """A search that begins anew at each quote takes the square of the time: hours for some megabytes."""
    begin = time.process_time()
    with pytest.raises(DamagedDataError):
        read_json_lines(b'{"' + b'\\"' * 1_000_000, "t.jsonl")
    assert time.process_time() - begin < 10
