"""Known labels of the target, from a column that is partly empty or from a file of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from adrem.baselines import SourceOnly
from adrem.columns import FileTable, Pair, make_pair
from adrem.columns.labelling import adapt_pair, label_pair
from adrem.exceptions import ParameterError

N = 24
SIZES = [10.0, 30.0] * (N // 2)
SOURCE = pl.DataFrame({"name": [f"s{k}" for k in range(N)], "size": SIZES, "kind": ["a", "b"] * (N // 2)})
TARGET = pl.DataFrame({"name": [f"t{k}" for k in range(N)], "size": [size + k for k, size in enumerate(SIZES)]})
SOME: list[Any] = ["a", None, "b", "", "NA", " a "] + [None] * (N - 6)
EXPECTED = ["a", None, "b", None, None, "a"] + [None] * (N - 6)


def table(frame: pl.DataFrame, name: str = "b.csv") -> FileTable:
    return FileTable(name, "", frame)


def pair_of(target: pl.DataFrame = TARGET, source: pl.DataFrame = SOURCE, **options: Any) -> Pair:
    options = {"label": "kind", "left_out": ["name"], **options}
    return make_pair(table(source, "a.csv"), table(target), **options)


def labelled(**columns: Any) -> FileTable:
    return table(pl.DataFrame(columns), "known.csv")


def test_partly_empty_column_is_known() -> None:
    pair = pair_of(TARGET.with_columns(kind=pl.Series(SOME)))
    assert pair.known is not None
    assert pair.known.tolist() == EXPECTED
    assert pair.notes[0] == (
        "column 'kind' of b.csv has labels in 3 of 24 rows: both classifiers learn from these rows too; with "
        "target_label it is only scored by them"
    )
    assert not any("is not used" in note for note in pair.notes)
    assert pair.truth is None
    np.testing.assert_array_equal(pair.X_target, pair_of().X_target)


@pytest.mark.parametrize("labels", [["a", "b"] * (N // 2), [None] * N, [""] * N])
def test_full_or_empty_column_is_not_read(labels: list[Any]) -> None:
    pair = pair_of(TARGET.with_columns(kind=pl.Series(labels, dtype=pl.String)))
    assert pair.known is None
    assert any("column 'kind' of b.csv is not used" in note for note in pair.notes)


def test_column_for_scoring_is_not_learnt_from() -> None:
    pair = pair_of(TARGET.with_columns(kind=pl.Series(SOME)), target_label="kind")
    assert pair.known is None
    both = pair_of(TARGET.with_columns(kind=pl.Series(SOME), truth=pl.Series(["b"] * N)), target_label="truth")
    assert both.known is not None
    assert both.truth is not None
    assert both.truth.tolist() == ["b" if label is None else "" for label in EXPECTED]


def test_file_names_the_rows() -> None:
    known = labelled(name=["t2", "t0", "t5", "t7"], kind=["b", "a", "a", None])
    pair = pair_of(known=known, identifier="name")
    assert pair.known is not None
    assert pair.known.tolist() == EXPECTED
    assert pair.notes[0] == (
        "known.csv has labels of 3 of the 24 rows of b.csv: both classifiers learn from them; 1 of its 4 rows has no "
        "label"
    )


def test_several_files_name_the_rows() -> None:
    first = labelled(name=["t0", "t1"], kind=["a", None], chosen=["random"] * 2, probability=[0.5, 0.5])
    second = table(
        pl.DataFrame({"name": ["t1", "t0"], "kind": ["b", "a"], "chosen": "suggested", "probability": 1.0}), "2.csv"
    )
    pair = pair_of(known=[first, second], identifier="name")
    assert pair.known is not None
    assert pair.known[:3].tolist() == ["a", "b", None]
    assert pair.known_probability is not None
    np.testing.assert_array_equal(pair.known_probability[:3], [0.5, 1.0, np.nan])
    assert [note[:9] for note in pair.notes[:2]] == ["known.csv", "2.csv has"]
    other = table(pl.DataFrame({"name": ["t0"], "kind": ["b"]}), "2.csv")
    with pytest.raises(ParameterError, match=r"known.csv gives 't0' the label 'a', and 2.csv gives it 'b': keep one"):
        pair_of(known=[first, other], identifier="name")


def test_a_label_that_the_source_does_not_have_is_named_and_not_learnt() -> None:
    known = labelled(name=["t0", "t1", "t2"], kind=["a", "kiwi", "kiwi"])
    pair = pair_of(known=known, identifier="name")
    assert pair.known is not None
    assert pair.known[:3].tolist() == ["a", None, None]
    assert pair.given is not None
    assert pair.given[:4].tolist() == ["a", "kiwi", "kiwi", None]
    assert pair.n_known == 1
    assert pair.notes[1] == (
        "2 labels are of no class of the source ('kiwi'): the model can't learn them; the estimate of the accuracy "
        "counts them as wrong"
    )
    column = pair_of(TARGET.with_columns(kind=pl.Series(["a", "kiwi"] + [None] * (N - 2))))
    assert column.given is not None
    assert column.given[:3].tolist() == ["a", "kiwi", None]
    assert column.notes[1].startswith("1 label is of no class of the source ('kiwi'): the model can't learn it")


def test_whole_numbers_are_one_label_with_and_without_a_point() -> None:
    source = SOURCE.with_columns(kind=pl.Series([0, 1] * (N // 2)))
    target = TARGET.with_columns(kind=pl.Series([0.0, None, 1.0] + [None] * (N - 3)))
    known = pair_of(target, source).known
    assert known is not None
    assert known[:3].tolist() == [0, None, 1]
    names = labelled(name=["t0"], kind=[1.0])
    known = pair_of(source=source, known=names, identifier="name").known
    assert known is not None
    assert known[0] == 1


@pytest.mark.parametrize(
    ("known", "message", "parameter"),
    [
        (
            labelled(name=["t0"], kind=["c"]),
            "'kind' of known.csv has no label that the source has, but 'c'; the source has 'a', 'b'",
            "known",
        ),
        (labelled(name=["t0", "t1"], kind=["", None]), "column 'kind' of known.csv is empty in all 2 rows", "known"),
        (labelled(name=["x"], kind=["a"]), "known.csv labels 'x', and b.csv has no row with it in 'name'", "known"),
        (labelled(name=["t0", "t0"], kind=["a", "b"]), "gives 't0' the labels 'a' and 'b': keep one", "known"),
        (labelled(nom=["t0"], kind=["a"]), "known.csv has no column 'name'", "known"),
        (labelled(name=["t0"], sort=["a"]), "known.csv has no column 'kind'", "known"),
        (FileTable("n.npz", "", rows=np.ones((2, 2))), "n.npz has rows of numbers", "known"),
    ],
)
def test_bad_file_is_refused(known: FileTable, message: str, parameter: str) -> None:
    with pytest.raises(ParameterError, match=message) as raised:
        pair_of(known=known, identifier="name")
    assert raised.value.parameter == parameter


def test_identifier_is_needed_and_names_one_row() -> None:
    known = labelled(name=["t0"], kind=["a"])
    with pytest.raises(ParameterError, match=r"Which column of known.csv and b.csv identifies the rows\?"):
        pair_of(known=known)
    twice = TARGET.with_columns(name=pl.Series(["t0"] * N))
    with pytest.raises(ParameterError, match="has several rows with it"):
        pair_of(twice, known=known, identifier="name")
    with pytest.raises(ParameterError, match="has no column 'nom'"):
        pair_of(known=known, identifier="nom")


def test_column_of_other_labels_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"'kind' of b.csv has no label that the source has, but 'c'"):
        pair_of(TARGET.with_columns(kind=pl.Series(["c"] + [None] * (N - 1))))


@pytest.mark.parametrize("sources", [None, np.arange(N) % 2])
def test_labels_are_learnt_and_written_as_given(sources: Any) -> None:
    target = TARGET.with_columns(kind=pl.Series(["b", "a"] + [None] * (N - 2)))  # the other way round
    source = FileTable("a.csv", "", SOURCE, sources=sources)
    pair = make_pair(source, table(target), label="kind", left_out=["name"])
    bundle, examined = adapt_pair(pair, SourceOnly(C=1.0), {})
    assert examined.model.known_rows_.tolist() == [0, 1]
    assert examined.model.transduction_[:2].tolist() == ["b", "a"]
    labels = label_pair(bundle, pair, examined)
    for written in (labels.label, labels.source_label):
        assert written[:2].tolist() == ["b", "a"]
    assert labels.confidence[:2].tolist() == [1.0, 1.0]
    assert not labels.changed[:2].any()
