"""Tests of the cache of compiled code: full disks and damaged files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

# Prints the result of a compiled function and its number of cache hits.
CODE = """
from adrem.machines.compiled.losses import sigmoid
print(sigmoid(0.0), sum(sigmoid.stats.cache_hits.values()))
"""
SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"


def run(folder: Path, before: str = "") -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    code = f"{before}\n{CODE}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


def kept(folder: Path, ending: str) -> list[Path]:
    return list(folder.rglob(f"*sigmoid*.{ending}"))


def test_kernel_is_compiled_once(tmp_path: Path) -> None:
    assert run(tmp_path) == ["0.5", "0"]
    assert run(tmp_path) == ["0.5", "1"]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"no pickle"])
def test_damaged_cache_file_is_recompiled(tmp_path: Path, ending: str, content: bytes) -> None:
    run(tmp_path)
    [path] = kept(tmp_path, ending)
    path.write_bytes(content)
    assert run(tmp_path) == ["0.5", "0"]
    assert run(tmp_path) == ["0.5", "1"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limit")
def test_full_disk_falls_back_to_compiling(tmp_path: Path) -> None:
    """A file size limit of 100 bytes stands for a full disk: writing fails."""
    assert run(tmp_path, SMALL_FILES) == ["0.5", "0"]
    assert kept(tmp_path, "nbc") == []
    assert run(tmp_path) == ["0.5", "0"]
    assert run(tmp_path) == ["0.5", "1"]


def test_source_stamp_covers_all_compiled_files(tmp_path: Path) -> None:
    """A change in any compiled file triggers recompilation."""
    code = """
from pathlib import Path
import adrem.machines.compiled.cache as cache
from adrem.machines.compiled.losses import sigmoid
stamp = sigmoid._cache._cache_file._source_stamp
print(len(stamp) == len(list(Path(cache.__file__).parent.glob("*.py"))))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
