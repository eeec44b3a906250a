"""Tests of atomic writes: a file is complete or absent, also if the writer fails or is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from adrem.files import atomic as _files
from adrem.files.atomic import written_whole

WRITE_FOREVER = """
import sys, time
from pathlib import Path
from adrem.files.atomic import written_whole
with written_whole(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def start_writing(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", WRITE_FOREVER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def end_with(error: type[BaseException], file: IO[bytes]) -> None:
    file.write(b"new")
    raise error


def write_to_full_device(path: Path) -> None:
    with written_whole(path) as file:
        os.dup2(os.open("/dev/full", os.O_WRONLY), file.fileno())
        file.write(b"new")


def test_file_is_replaced_after_complete_write(tmp_path: Path) -> None:
    path = tmp_path / "name"
    path.write_bytes(b"old")
    with written_whole(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["name"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_error_keeps_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "name"
    path.write_bytes(b"old")
    with pytest.raises(error), written_whole(path) as file:
        end_with(error, file)
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["name"]


def test_killed_write_is_cleaned_up_by_next(tmp_path: Path) -> None:
    path = tmp_path / "it's [a] name"
    path.write_bytes(b"old")
    other = tmp_path / f".{path.name}.notes"
    other.write_bytes(b"the user's own")
    with start_writing(path) as process:
        process.kill()
    assert path.read_bytes() == b"old"
    assert len(names_in(tmp_path)) == 3
    assert sum(name.startswith(".") for name in names_in(tmp_path)) == 2
    with written_whole(path) as file:
        file.write(b"new")
    assert names_in(tmp_path) == sorted([path.name, other.name])


def test_concurrent_write_of_other_process_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "name"
    with start_writing(path) as process:
        for content in (b"one", b"two"):
            with written_whole(path) as file:
                file.write(content)
        assert path.read_bytes() == b"two"
        assert len(names_in(tmp_path)) == 2
        if sys.platform != "win32":  # signals can't be sent on Windows
            process.send_signal(signal.SIGINT)
            process.wait()
            assert names_in(tmp_path) == ["name"]
        process.kill()


def test_unwritable_path_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "name"
    folder.mkdir()
    with pytest.raises(OSError, match=rf"{folder} was not written\. Choose another folder"), written_whole(folder):
        pass
    assert names_in(tmp_path) == ["name"]
    with pytest.raises(FileNotFoundError, match="was not written"), written_whole(tmp_path / "nowhere" / "name"):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_raises_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Free some space, or choose another folder"):
        write_to_full_device(tmp_path / "name")
    assert names_in(tmp_path) == []


def test_temporary_file_removed_before_lock_is_recreated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process that writes the same path may remove the file between its creation and its lock."""
    lock = _files._lock
    seen: list[str] = []

    def remove_first(file: IO[bytes], *, wait: bool) -> None:
        if not seen:
            Path(file.name).unlink()
        seen.append(file.name)
        lock(file, wait=wait)

    monkeypatch.setattr(_files, "_lock", remove_first)
    with written_whole(tmp_path / "name") as file:
        file.write(b"new")
    assert (tmp_path / "name").read_bytes() == b"new"
    assert len(seen) == 2
