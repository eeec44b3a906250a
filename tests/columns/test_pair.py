from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file

from adrem.columns import FileTable, make_pair, read_file
from adrem.columns.names import describe_columns
from adrem.exceptions import ParameterError
from adrem.preprocessing import JointStdScaler, transform_pair

SOURCE = pl.DataFrame(
    {
        "sku": [f"s{k}" for k in range(30)],
        "price": [float(k) for k in range(30)],
        "kind": ["a", "b", "c"] * 10,
        "label": ["yes", "no", None] * 10,
        "old": [1] * 30,
    }
)
TARGET = SOURCE.select("price", "kind", "label", "sku").with_columns(price=pl.when(pl.col("price") > 3).then("price"))


def table(frame: pl.DataFrame, name: str = "a.csv") -> FileTable:
    return FileTable(name, "0" * 64, frame=frame)


def test_make_pair_reports_notes() -> None:
    pair = make_pair(table(SOURCE), table(TARGET, "b.csv"), label="label")
    assert len(pair.y_source) == 20
    assert pair.truth is None
    text = "\n".join(pair.notes)
    for said in (
        "10 row(s) of a.csv without a label were left out",
        "column 'label' of b.csv has labels in 20 of 30 rows: both classifiers learn from these rows too",
        "column 'sku' is left out: identifier",
        "numbers: 'price'",
        "categories: 'kind'",
        "only in a.csv, left out: 'old'",
        "4 missing value(s) of 'price' were filled with the median",
    ):
        assert said in text
    assert pair.feature_names[:3] == ["price", "price is missing", "(constant)"]


def test_target_labels_are_used_only_for_scoring() -> None:
    plain = make_pair(table(SOURCE), table(TARGET), label="label")
    scored = make_pair(table(SOURCE), table(TARGET), label="label", target_label="label")
    assert scored.truth is not None
    np.testing.assert_array_equal(scored.X_target, plain.X_target)
    assert "label" not in "".join(scored.feature_names)


@pytest.mark.parametrize(
    ("change", "label", "message"),
    [
        ({}, None, r"Which column of a\.csv holds the labels\? Its columns: 'sku'"),
        ({}, "stars", r"a\.csv has no column 'stars'\. Its columns: 'sku'"),
        ({"label": pl.lit("yes")}, "label", r"Column 'label' of a\.csv has only one value, 'yes'"),
        ({"label": pl.int_range(30)}, "label", None),
    ],
)
def test_unusable_label_columns_are_rejected(
    change: dict[str, pl.Expr], label: str | None, message: str | None
) -> None:
    frame = SOURCE.with_columns(**change)
    if message is None:
        frame = pl.concat([frame] * 5).with_columns(label=pl.int_range(150))
        message = r"has 150 distinct values in 150 rows: labels must repeat"
    with pytest.raises(ParameterError, match=message) as caught:
        make_pair(table(frame), table(TARGET), label=label)
    assert caught.value.parameter == "label"


def test_numeric_files_are_read_and_scaled(tmp_path: Path) -> None:
    rng = np.random.RandomState(0)
    X, y = rng.poisson(1.0, (20, 6)).astype(float), np.arange(20) % 2
    np.savez(tmp_path / "a.npz", x=X[:12], y=y[:12])
    np.savez(tmp_path / "b.npz", x=X[12:])
    pair = make_pair(*(read_file(str(tmp_path / name)) for name in ("a.npz", "b.npz")))
    expected = transform_pair(JointStdScaler(), X[:12], X[12:])
    np.testing.assert_allclose(pair.X_source, expected[0])
    np.testing.assert_allclose(pair.X_target, expected[1])
    assert pair.recipe is None
    X[:, 5] = np.where(np.arange(20) < 12, 0.0, X[:, 5])  # the first file has no entry in the last feature
    for name, rows in (("a.svmlight", slice(0, 12)), ("b.svmlight", slice(12, 20))):
        dump_svmlight_file(X[rows], y[rows], str(tmp_path / name), zero_based=False)
    pair = make_pair(*(read_file(str(tmp_path / name)) for name in ("a.svmlight", "b.svmlight")))
    assert pair.X_source.shape == (12, 6)
    assert isinstance(pair.X_source, np.ndarray)  # a table, and not text
    with pytest.raises(ValueError, match="both files need the same form"):
        make_pair(table(SOURCE), read_file(str(tmp_path / "a.npz")), label="label")
    with pytest.raises(ValueError, match=r"b\.npz has no labels"):
        make_pair(read_file(str(tmp_path / "b.npz")), read_file(str(tmp_path / "a.npz")))


def test_labels_keep_their_written_form(tmp_path: Path) -> None:
    rows = "\n".join(f"{k * k},{('01', '1', 'NA', '0.5')[k % 4]}" for k in range(40))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"n,y\n{rows}\n")
    tables = [read_file(str(tmp_path / name)) for name in ("a.csv", "b.csv")]
    pair = make_pair(*tables, label="y")
    assert sorted(set(pair.y_source)) == ["0.5", "01", "1", "NA"]
    with pytest.raises(ParameterError, match="Neither file has a column 'nope'") as caught:
        make_pair(*tables, label="y", left_out=["nope"])
    assert caught.value.parameter == "left_out"


def test_values_too_large_to_square_are_rejected() -> None:
    frame = SOURCE.with_columns(price=pl.col("price") * 1e200)
    with pytest.raises(ParameterError, match=r"Column 'price' has values beyond 1e\+100"):
        make_pair(table(frame), table(TARGET), label="label")


def test_misspelled_column_gets_a_suggestion() -> None:
    names = [f"pixel{k}" for k in range(64)] + ["digit"]
    assert describe_columns(names, "digits").startswith("Did you mean 'digit'? Its columns: 'pixel0', ")
    assert describe_columns(names).endswith("'pixel4' and 60 more.")


def test_label_resembling_missing_value_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("size,kind\n" + "1,x\n2,y\n3,NaN\n4,NaN\n" * 3)
    (tmp_path / "b.csv").write_text("size\n1\n2\n3\n4\n")
    pair = make_pair(read_file(str(tmp_path / "a.csv")), read_file(str(tmp_path / "b.csv")), label="kind")
    assert any("if it marks missing labels, empty these cells" in note for note in pair.notes)


def test_tables_without_a_header_get_a_hint(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n".join(f"{7 * k % 31}.5\t{(5 * k + 3) % 29}\t{k % 2}" for k in range(30)))
    with pytest.raises(ParameterError, match=r"no column 'kind'.*Is it tab-separated without a header\? header names"):
        make_pair(*[read_file(str(tmp_path / "a.csv"))] * 2, label="kind")
    named = [read_file(str(tmp_path / "a.csv"), header=False)] * 2
    assert make_pair(*named, label="column_3").feature_names == ["column_1", "column_2", "(constant)"]
    texts = "\n".join(f"{'dull ' * 30}{k},{'good' if k % 2 else 'bad'}" for k in range(30))
    (tmp_path / "texts.csv").write_text(texts)
    with pytest.raises(ParameterError, match=r"Is its first line no header\? header names"):
        make_pair(*[read_file(str(tmp_path / "texts.csv"))] * 2, label="kind")
    few = "\n".join(f"K{k},Bern,03.08.2021,yes" for k in range(30))
    (tmp_path / "few.csv").write_text(few)
    with pytest.raises(ParameterError, match=r"no column 'kind'.*Is its first line no header\? header names"):
        make_pair(*[read_file(str(tmp_path / "few.csv"))] * 2, label="kind")
    (tmp_path / "b.csv").write_text("1\t1\n2\t3\n")
    with pytest.raises(ValueError, match=r"2 columns named '1'.*If its first line is no header, use header"):
        read_file(str(tmp_path / "b.csv"))
    (tmp_path / "d.csv").write_text("Patients,,\nage,sex,kind\n1,2,a\n")
    with pytest.raises(ValueError, match="2 columns without a name: name or delete them, and remove lines above"):
        read_file(str(tmp_path / "d.csv"))
    (tmp_path / "c.csv").write_text("a b c\n1 2 3\n")
    with pytest.raises(ParameterError, match="Are its columns separated by spaces"):
        make_pair(*[read_file(str(tmp_path / "c.csv"))] * 2, label="kind")


def test_spaces_around_names_values_and_labels_do_not_count(tmp_path: Path) -> None:
    rows = [(("red", "blue")[k % 3 == 0], 7 * k % 31, ("cat", "dog")[k % 2]) for k in range(40)]
    for name, mark in (("a.csv", ", "), ("b.csv", ","), ("c.csv", "|")):
        (tmp_path / name).write_text("\n".join(mark.join(map(str, row)) for row in [("hue", "size", "kind"), *rows]))
    spaced, plain, bars = (read_file(str(tmp_path / name)) for name in ("a.csv", "b.csv", "c.csv"))
    for target in (plain, bars):
        pair = make_pair(spaced, target, label="kind", target_label="kind")
        assert pair.feature_names == ["size", "(constant)", "hue = blue", "hue = red"]
        assert pair.truth is not None
        assert pair.truth.tolist() == pair.y_source.tolist() == [kind for *_, kind in rows]


def test_marks_of_missing_values_and_blank_labels_are_named() -> None:
    values = [str(7 * k % 31 + 0.5) for k in range(30)]
    kinds = ["x", "y"] * 15
    source = table(pl.DataFrame({"a": [*values[:-1], "?"], "b": values, "kind": kinds}))
    unlabelled = {"a": values, "b": [*values[:-2], "n/a", "?"], "kind": ["", None] * 15}
    target = table(pl.DataFrame(unlabelled), "target")
    pair = make_pair(source, target, label="kind", target_label="kind")
    assert "'?' means missing in 'a', 'b'" in pair.notes
    assert "'n/a' means missing in 'b'" in pair.notes
    assert "no row of target has a label in 'kind': nothing can be scored" in pair.notes


def test_words_for_missing_labels_are_unknown_labels_unless_they_are_classes() -> None:
    values = [str(7 * k % 31 + 0.5) for k in range(30)]
    source = table(pl.DataFrame({"a": values, "kind": ["x", "none"] * 15}))
    target = table(pl.DataFrame({"a": values, "kind": ["x", "NA", "none"] * 10}))
    pair = make_pair(source, target, label="kind", target_label="kind")
    assert pair.truth is not None
    assert pair.truth.tolist() == ["x", "", "none"] * 10


def test_note_on_many_requested_categories_counts_those_kept() -> None:
    rng = np.random.default_rng(0)
    towns = np.array([f"town {k}" for k in range(60)])
    source, target = (
        pl.DataFrame({"town": towns[rng.integers(first, first + 50, 500)], "ill": ["yes", "no"] * 250})
        for first in (0, 10)
    )
    pair = make_pair(
        FileTable("a", "", source), FileTable("b", "", target.drop("ill")), label="ill", categorical=["town"]
    )
    assert any(
        "'town' has many values, of which 40 are common in both files: the others count" in note for note in pair.notes
    )
