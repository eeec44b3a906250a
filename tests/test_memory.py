from __future__ import annotations

from pathlib import Path

import pytest

from adrem import _memory
from adrem._memory import available_memory


def test_memory_is_that_of_the_machine_or_of_the_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    assert available_memory() == float("inf")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:  2000 kB\n")
    assert available_memory() == 2000 * 1024
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 50\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() == 2000 * 1024
    (tmp_path / "memory.max").write_text("1000\n")
    assert available_memory() == 150
    (tmp_path / "memory.max").write_text("800\n")
    assert available_memory() == 0


def test_containers_of_the_first_kind_are_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("1000\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("700\n")
    (tmp_path / "memory" / "memory.stat").write_text("total_inactive_file 100\n")
    assert available_memory() == 400
