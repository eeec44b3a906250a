"""Tests of the local copies of the published data sets."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from adrem.datasets import load, verify
from adrem.datasets.registry import DATA_SETS
from adrem.exceptions import DamagedDataError

PUBLISHED = [entry.name for entry in DATA_SETS if entry.checksum is not None]


@pytest.mark.parametrize("name", PUBLISHED)
def test_local_data_equal_the_published_data(name: str) -> None:
    assert verify(name).status == "ok"
    data = load(name)
    pair = data.pair(data.pairs[0])
    assert pair.X_source.shape[0] == len(pair.y_source)


@pytest.mark.parametrize("name", ["office-caltech-surf", "amazon-reviews"])
def test_changed_byte_is_detected(name: str, tmp_path: Path) -> None:
    shutil.copytree(Path(os.environ["ADREM_DATA"]) / name, tmp_path / name)
    path = max((tmp_path / name).iterdir(), key=lambda p: p.stat().st_size)
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(DamagedDataError, match=path.name):
        load(name, tmp_path)
    assert verify(name, tmp_path).status == "damaged"
