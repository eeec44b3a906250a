"""Tests of the journal: what was answered is read again, whatever happened to the process."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adrem.exceptions import InvalidDataError, OutputError
from adrem.labelling.answers import Answers
from adrem.labelling.journal import LABEL, NONE, SKIP, UNDO, Entry, Journal

ABOUT = {"target": "a checksum"}
N_ROWS = 12
ENTRIES = st.lists(
    st.one_of(
        st.builds(Entry, st.just(LABEL), st.integers(0, N_ROWS - 1), st.text(max_size=5)),
        st.builds(Entry, st.sampled_from([NONE, SKIP]), st.integers(0, N_ROWS - 1)),
    ),
    max_size=30,
)


def write(path: Path, entries: list[Entry]) -> None:
    with Journal(path, ABOUT) as journal:
        for entry in entries:
            journal.append(entry)


def read(path: Path) -> list[Entry]:
    with Journal(path, ABOUT) as journal:
        return journal.entries


@given(entries=ENTRIES, cut=st.floats(0, 1))
def test_after_a_cut_at_any_byte_all_complete_entries_are_there(entries: list[Entry], cut: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        write(path, entries)
        content = path.read_bytes()
        kept = content[: int(cut * len(content))]
        path.write_bytes(kept)
        n_complete = max(kept.count(b"\n") - 1, 0)
        assert read(path) == entries[:n_complete]
        write(path, [Entry(SKIP, 3)])
        assert read(path) == [*entries[:n_complete], Entry(SKIP, 3)]


@given(entries=ENTRIES, undone=st.sets(st.integers(0, 40)))
def test_answers_are_the_same_after_a_restart_and_undo_brings_the_earlier_one_back(
    entries: list[Entry], undone: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        expected: list[Entry] = []
        with Journal(path, ABOUT) as journal:
            answers = Answers(journal, N_ROWS)
            for k, entry in enumerate(entries):
                answers.add(entry)
                expected.append(entry)
                if k in undone:
                    assert answers.undo() == expected.pop().row
        with Journal(path, ABOUT) as journal:
            again = Answers(journal, N_ROWS)
        last = {entry.row: entry for entry in expected}
        for own in (answers, again):
            assert {row: own.of(row) for row in own.rows} == last
            assert len(own) == len(last)
        assert again.next() == answers.next()


def test_undo_without_an_answer_changes_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "answers.jsonl", ABOUT) as journal:
        assert Answers(journal, N_ROWS).undo() is None
        assert journal.entries == []


def test_every_third_row_is_a_check_and_no_check_is_suggested(tmp_path: Path) -> None:
    with Journal(tmp_path / "answers.jsonl", ABOUT) as journal:
        answers = Answers(journal, 100, known=[1, 2, 3])
        answers.suggest(range(100))
        asked: list[int] = []
        while (row := answers.next()) is not None and len(asked) < 30:
            answers.add(Entry(LABEL, row, "a"))
            asked.append(row)
    assert len(set(asked)) == 30
    assert [answers.is_check(row) for row in asked] == [k % 3 == 2 for k in range(30)]
    assert not {1, 2, 3} & {*asked[2::3]}
    assert {*answers.labels(of_checks=True)} == {*asked[2::3]}
    assert not {*answers.labels(of_checks=False)} & {*answers.checks}


def test_after_the_suggested_rows_others_are_asked_for(tmp_path: Path) -> None:
    """Each third row stays a check, whatever the number of suggested rows, and no row is left out."""
    with Journal(tmp_path / "answers.jsonl", ABOUT) as journal, pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)  # 3000 of them take long
        answers = Answers(journal, 3000)
        suggested = [*range(0, 3000, 50)]
        answers.suggest(suggested)
        asked = []
        while (row := answers.next()) is not None:
            answers.add(Entry(SKIP, row))
            asked.append(row)
    assert sorted(asked) == [*range(3000)]
    assert [answers.is_check(row) for row in asked] == [k % 3 == 2 for k in range(3000)]
    of_models = [row for row in suggested if not answers.is_check(row)]
    assert [row for row in asked if not answers.is_check(row)][: len(of_models)] == of_models


def test_all_rows_are_asked_once_and_then_none(tmp_path: Path) -> None:
    with Journal(tmp_path / "answers.jsonl", ABOUT) as journal:
        answers = Answers(journal, 10)
        answers.suggest(range(10))
        asked = []
        while (row := answers.next()) is not None:
            answers.add(Entry(SKIP, row))
            asked.append(row)
    assert sorted(asked) == [*range(10)]
    assert answers.beside(None) == (asked[-1], None)
    assert answers.beside(asked[0]) == (None, asked[1])


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit for the size of files")
def test_of_an_answer_that_does_not_fit_on_the_disk_nothing_is_left(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "answers.jsonl"
    with Journal(path, ABOUT) as journal:
        journal.append(Entry(NONE, 1))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, limits[1]))
            for _ in range(2):
                with pytest.raises(OSError, match="full"):
                    journal.append(Entry(NONE, 2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        journal.append(Entry(NONE, 3))
    assert read(path) == [Entry(NONE, 1), Entry(NONE, 3)]


@pytest.mark.parametrize("content", ["the notes of somebody", '{"review": "good"}\n{"review": "bad"}', '{"format": 2'])
def test_a_file_of_others_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(content)
    with pytest.raises(InvalidDataError, match="choose another folder"):
        Journal(path, ABOUT)
    assert path.read_text() == content


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with Journal(path, ABOUT), pytest.raises(OutputError, match="in use"):
        Journal(path, ABOUT)
    assert read(path) == []


def test_answers_about_other_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write(path, [Entry(NONE, 1)])
    with pytest.raises(InvalidDataError, match="other tables"):
        Journal(path, {"target": "another checksum"})
    assert read(path) == [Entry(NONE, 1)]


@pytest.mark.parametrize(
    "line", ["no json", "[1]", '{"kind": "label"}', '{"kind": "run", "row": 1}', '{"kind": "none", "row": "1"}']
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "answers.jsonl"
    write(path, [Entry(NONE, 1)])
    path.write_text(path.read_text() + line + "\n" + '{"kind": "none", "row": 2}\n')
    with pytest.raises(InvalidDataError, match="Line 3"):
        Journal(path, ABOUT)


def test_undo_of_a_journal_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write(path, [Entry(LABEL, 1, "a"), Entry(LABEL, 1, "b"), Entry(UNDO, 1)])
    with Journal(path, ABOUT) as journal:
        assert Answers(journal, N_ROWS).of(1) == Entry(LABEL, 1, "a")
