from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from adrem.datasets import parsed as _parsed
from adrem.datasets.parsed import parsed_once
from adrem.files.labelled_rows import Table


class Parser:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> dict[str, Table]:
        self.calls += 1
        names = ["good", "not good", "é:x"]
        sparse = sp.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
        return {"a": Table(sparse, np.array(["x", "y"]), names), "b": Table(np.eye(3), None, names)}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADREM_CACHE", str(tmp_path))
    return tmp_path / "parsed"


def check(tables: dict[str, Table]) -> None:
    expected = Parser()()
    assert list(tables) == list(expected)
    np.testing.assert_array_equal(tables["a"].X.toarray(), expected["a"].X.toarray())
    np.testing.assert_array_equal(tables["a"].y, expected["a"].y)
    np.testing.assert_array_equal(tables["b"].X, expected["b"].X)
    assert tables["b"].y is None
    assert tables["b"].feature_names == ["good", "not good", "é:x"]


def test_equal_keys_are_parsed_once(cache: Path) -> None:
    parse = Parser()
    for _ in range(3):
        check(parsed_once("name", "k" * 64, parse))
    assert parse.calls == 1
    assert [path.name for path in cache.iterdir()] == [f"name-{'k' * 16}.npz"]
    check(parsed_once("name", "j" * 64, parse))
    assert parse.calls == 2


def test_keys_with_equal_prefix_are_distinguished(cache: Path) -> None:
    parse = Parser()
    parsed_once("name", "k" * 64, parse)
    parsed_once("name", "k" * 16 + "j" * 48, parse)
    assert parse.calls == 2
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 no archive", None])
def test_damaged_cache_file_is_rebuilt(cache: Path, damage: bytes | None) -> None:
    parse = Parser()
    parsed_once("name", "k" * 64, parse)
    (path,) = cache.iterdir()
    path.write_bytes(path.read_bytes()[:-300] if damage is None else damage)
    check(parsed_once("name", "k" * 64, parse))
    check(parsed_once("name", "k" * 64, parse))
    assert parse.calls == 2


def test_unwritable_cache_falls_back_to_parsing(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    parse = Parser()
    check(parsed_once("name", "k" * 64, parse))
    check(parsed_once("name", "k" * 64, parse))
    assert parse.calls == 2


def test_older_cache_version_is_rebuilt(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parse = Parser()
    parsed_once("name", "k" * 64, parse)
    monkeypatch.setattr(_parsed, "VERSION", _parsed.VERSION + 1)
    check(parsed_once("name", "k" * 64, parse))
    assert parse.calls == 2
    assert len(list(cache.iterdir())) == 1
