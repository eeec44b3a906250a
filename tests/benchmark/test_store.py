"""Tests of the result store: concurrent writers, killed writers and foreign files."""

from __future__ import annotations

import random
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import fields, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Self

import pytest

from adrem.benchmark.store import Cell, Store
from adrem.exceptions import DamagedDataError

CELL = Cell("office-31", "resnet50", "A-W", 0, "adrem-svm", "c0ffee", '{"version": 1}')

# Stores a range of cells and prints the number of each, once the file "go" exists.
WRITER = """
import sys, time
from pathlib import Path
from adrem.benchmark.store import Cell, Store
folder, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
while not (folder / "go").exists():
    time.sleep(0.001)
store = Store(folder / "cache")
for n in range(first, last):
    store.put(Cell("t", "f", "A-B", n, "m", "d", "i"), {"accuracy": n / 7, "C": [n] * 50}, n / 10)
    print(n, flush=True)
"""


def numbered(n: int) -> Cell:
    return Cell("t", "f", "A-B", n, "m", "d", "i")


def start_writer(folder: Path, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), str(first), str(last)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def assert_whole(store: Store, n_cells: int, at_least: set[int]) -> set[int]:
    """Check that all stored results are correct and that none of the expected ones is missing."""
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (n_rows,) = connection.execute("SELECT count(*) FROM cells").fetchone()
    found = store.get(map(numbered, range(n_cells)))
    for cell, result in found.items():
        n = cell.repetition
        assert result.values == {"accuracy": n / 7, "C": [n] * 50}
        assert result.seconds == n / 10
    stored = {cell.repetition for cell in found}
    assert n_rows == len(stored)
    assert at_least <= stored
    return stored


def test_put_and_get_round_trip(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "cache")
    values = {"accuracy": 1 / 3, "warnings": ["„Ä“: a'b\n"], "none": None, "mean": [0.1, 1e-300, 2]}
    before = datetime.now(UTC).replace(microsecond=0)
    store.put(CELL, values, 0.1)
    other = replace(CELL, repetition=1)
    found = Store(tmp_path / "new" / "cache").get([other, CELL])
    assert list(found) == [CELL]
    assert found[CELL].values == values
    assert found[CELL].seconds == 0.1
    assert before <= datetime.fromisoformat(found[CELL].finished) <= datetime.now(UTC)
    assert store.path == tmp_path / "new" / "cache" / "results.sqlite"


def test_put_replaces_an_older_result(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(CELL, {"accuracy": 1.0}, 1.0)
    store.put(CELL, {"accuracy": 2.0}, 3.0)
    (result,) = store.get([CELL, CELL]).values()
    assert (result.values, result.seconds) == ({"accuracy": 2.0}, 3.0)


def test_unserializable_result_keeps_the_old_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(CELL, {"accuracy": 1.0}, 1.0)
    with pytest.raises(TypeError, match="not JSON serializable"):
        store.put(CELL, {"accuracy": object()}, 1.0)
    assert store.get([CELL])[CELL].values == {"accuracy": 1.0}


@pytest.mark.parametrize("name", [field.name for field in fields(Cell)])
def test_key_depends_on_every_field(tmp_path: Path, name: str) -> None:
    changed: dict[str, Any] = {name: 1 if name == "repetition" else f"{getattr(CELL, name)}x"}
    other = replace(CELL, **changed)
    assert other.key != CELL.key
    store = Store(tmp_path)
    store.put(CELL, {"accuracy": 1.0}, 1.0)
    assert store.get([other]) == {}
    store.put(other, {"accuracy": 2.0}, 1.0)
    assert [result.values["accuracy"] for result in store.get([CELL, other]).values()] == [1.0, 2.0]


def test_key_separates_adjacent_fields() -> None:
    assert replace(CELL, task="a", features="bc").key != replace(CELL, task="ab", features="c").key
    assert CELL.key == replace(CELL).key


def test_concurrent_writers_lose_no_results(tmp_path: Path) -> None:
    """Both processes create the store, and both write some of the cells."""
    with start_writer(tmp_path, 0, 60) as one, start_writer(tmp_path, 40, 100) as other:
        (tmp_path / "go").touch()
        assert one.wait(60) == other.wait(60) == 0
    assert_whole(Store(tmp_path / "cache"), 100, set(range(100)))


def test_killed_writer_leaves_a_readable_store(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    chance = random.Random(0)  # noqa: S311 - random delays, not secrets
    first = 0
    kept: set[int] = set()
    for _ in range(5):
        with start_writer(tmp_path, first, 100_000) as process:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(3)]
            time.sleep(chance.uniform(0.0, 0.03))
            process.kill()
            said += process.stdout.readlines()
            process.wait()
        kept |= {int(line) for line in said}
        store = Store(tmp_path / "cache")
        stored = assert_whole(store, max(kept) + 10, kept)
        assert len(stored - kept) <= 1  # the one stored but not yet printed when it was killed
        kept = stored
        first = max(stored) + 1
    store.put(numbered(first), {"accuracy": first / 7, "C": [first] * 50}, first / 10)
    assert_whole(store, first + 1, kept | {first})


@pytest.mark.parametrize("content", [b"accuracy,std\n1.0,2.0\n", b"\0" * 5000, b"SQLite format 3\0" + b"x" * 3000])
def test_foreign_file_is_rejected_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "results.sqlite"
    path.write_bytes(content)
    with pytest.raises(DamagedDataError, match=r"is not a file of results .*: delete it") as caught:
        Store(tmp_path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content


def test_truncated_store_is_put_aside(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for n in range(40):
        store.put(numbered(n), {"accuracy": [1.0] * 500}, 1.0)
    content = store.path.read_bytes()
    store.path.write_bytes(content[: len(content) // 2])
    assert_put_aside(tmp_path, content[: len(content) // 2], "malformed|pages")


def assert_put_aside(folder: Path, content: bytes, reason: str) -> None:
    """Check that a damaged file is kept under another name, and that a new one works."""
    store = Store(folder)
    assert re.search(f"was damaged \\(.*({reason}).*it is kept as results.damaged-", store.notes[0])
    (aside,) = folder.glob("results.damaged-*.sqlite")
    assert aside.read_bytes() == content
    assert store.get([CELL]) == {}
    store.put(CELL, {"accuracy": 1.0}, 1.0)
    assert Store(folder).get([CELL])[CELL].values == {"accuracy": 1.0}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE VIEW other AS SELECT * FROM cells", "it has a view"),
        ("CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM cells; END", "it has a trigger"),
        ("ALTER TABLE cells ADD COLUMN more TEXT", "its table has other columns"),
        ("CREATE TABLE more (x)", "it has a table"),
    ],
)
def test_store_with_other_parts_is_put_aside(statement: str, reason: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(CELL, {"accuracy": 0.5}, 1.0)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute(statement)
    assert_put_aside(tmp_path, store.path.read_bytes(), reason)


def test_view_in_place_of_the_table_is_another_program(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as connection, connection:
        connection.execute("CREATE VIEW cells AS SELECT 1 AS key")
    with pytest.raises(DamagedDataError, match="is a database of another program: use another folder"):
        Store(tmp_path)


@pytest.mark.parametrize(
    ("column", "value"),
    [("result", None), ("result", "{"), ("result", "[1]"), ("result", b"\x00"), ("seconds", None), ("seconds", "long"),
     ("seconds", 9e999), ("finished", None)],
)  # fmt: skip
def test_damaged_result_counts_as_missing_and_is_told(column: str, value: Any, tmp_path: Path) -> None:
    store = Store(tmp_path)
    other = replace(CELL, repetition=1)
    for cell in (CELL, other):
        store.put(cell, {"accuracy": 0.5}, 1.0)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute(f"UPDATE cells SET {column} = ? WHERE key = ?", (value, CELL.key))  # noqa: S608
    assert list(store.get([CELL, other])) == [other]
    assert store.notes == ["A stored result is damaged, and is computed again: A-W adrem-svm."]
    store.put(CELL, {"accuracy": 0.5}, 1.0)
    assert list(store.get([CELL, other])) == [CELL, other]


def test_locked_store_is_not_reported_as_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    monkeypatch.setattr("adrem.benchmark.store.LOCK_TIMEOUT", 0.05)
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Exception, match="locked") as caught:
            Store(tmp_path)
    assert not isinstance(caught.value, DamagedDataError)
    assert "delete" not in str(caught.value)


def test_last_data_is_that_of_newest_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        day = 1

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(2026, 1, cls.day, tzinfo=tz)

    monkeypatch.setattr("adrem.benchmark.store.datetime", Clock)
    store = Store(tmp_path)
    assert store.last_data("office-31", "resnet50") is None
    for day, data in ((5, "old"), (9, "new"), (7, "middle")):
        Clock.day = day
        store.put(replace(CELL, data=data), {"accuracy": 1.0}, 1.0)
    Clock.day = 20
    store.put(replace(CELL, data="decaf", features="decaf"), {"accuracy": 1.0}, 1.0)
    store.put(replace(CELL, data="other", task="office-caltech-full"), {"accuracy": 1.0}, 1.0)
    assert store.last_data("office-31", "resnet50") == "new"
    assert store.last_data("office-31", "decaf") == "decaf"
    assert store.last_data("office-31", "surf") is None


def test_check_writable_raises_for_locked_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.benchmark.store.LOCK_TIMEOUT", 0.1)
    store = Store(tmp_path)
    store.put(CELL, {"accuracy": 1.0}, 0.1)
    store.check_writable()
    with closing(sqlite3.connect(store.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert store.get([CELL])[CELL].values == {"accuracy": 1.0}
        with pytest.raises(OSError, match=r"can't be used now: database is locked\. .* use another folder\.$"):
            store.check_writable()
    store.check_writable()


def test_store_raises_for_uncreatable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"can't be created: .* use another folder\.$"):
        Store(tmp_path / "file" / "results")
