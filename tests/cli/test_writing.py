"""Tests of the outputs: names are known before the work, labels come first, files are whole or absent."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import pytest
import typer
from commands import Command

from adrem.cli.writing import LabelFile, check_outputs
from adrem.columns.labelling import Labels
from adrem.exceptions import ParameterError
from adrem.files import atomic

LABELS = Labels(np.array(["=a", "b"], dtype=object), np.array([1.0, 0.5]), np.array(["b", "b"], dtype=object))
FAST = ("--method", "source", "--C", "1")
SHARED_ROWS = [(f"the {'good fine' if k % 2 else 'bad poor'} thing", k % 2) for k in range(30)]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    frame = pl.DataFrame(SHARED_ROWS, schema=["text", "class"], orient="row")
    frame.write_csv(tmp_path / "a.csv")
    frame.with_columns(label=pl.lit("x"), label_given=pl.lit("y")).write_csv(tmp_path / "b.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_that_are_taken_get_free_ones(tmp_path: Path) -> None:
    beside = pl.DataFrame({"label": [1, 2], "label_given": [3, 4], "adapted_label": [5, 6]})
    LabelFile(str(tmp_path / "out.csv"), beside).write(LABELS)
    frame = pl.read_csv(tmp_path / "out.csv")
    assert frame.columns[:3] == ["label_given_given", "label_given", "adapted_label_given"]
    assert frame["label"].to_list() == ["=a", "b"]


def test_kept_columns_named_like_labels_are_no_error_after_the_work(adrem: Command, tables: Path) -> None:
    words = ("adapt", "a.csv", "b.csv", "--label", "class", "--text", "text", *FAST)
    code, _, err = adrem(*words, "--keep", "label,label_given", "-o", "out.csv")
    assert code == 0, err
    assert pl.read_csv(tables / "out.csv").columns[:2] == ["label_given_given", "label_given"]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (pl.Series("c", [[1], [2]]), "csv"),
        (pl.Series("c", [{"a": 1}, {"a": 2}]), "tsv"),
        (pl.Series("c", [[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)), "csv"),
        (pl.Series("c", [b"\xff", b"b"]), "csv"),
    ],
)
def test_column_that_a_format_cannot_hold_is_refused_before_the_work(
    values: pl.Series, form: str, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=rf"Column 'c' holds .*, which a {form} file can't"):
        LabelFile(str(tmp_path / f"out.{form}"), values.to_frame())
    LabelFile(str(tmp_path / "out.parquet"), values.to_frame()).write(LABELS)


def test_formulas_are_counted_or_made_harmless(tmp_path: Path) -> None:
    beside = pl.DataFrame({"kept": ["-5", "+cmd|x"], "n": [-1, -2]})
    path = tmp_path / "out.csv"
    assert LabelFile(str(path), beside).write(LABELS) == 2
    assert pl.read_csv(path)["kept"].to_list() == ["-5", "+cmd|x"]
    assert LabelFile(str(path), beside, safe=True).write(LABELS) == 0
    frame = pl.read_csv(path)
    assert frame.select("kept", "n", "label").rows() == [("-5", -1, "'=a"), ("'+cmd|x", -2, "b")]
    assert LabelFile(str(tmp_path / "out.parquet"), beside).write(LABELS) == 0
    with pytest.raises(typer.BadParameter, match="Only csv and tsv"):
        LabelFile(str(tmp_path / "out.parquet"), beside, safe=True)


def test_link_to_nothing_is_replaced_only_by_force(tmp_path: Path) -> None:
    link = tmp_path / "out.csv"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(typer.BadParameter, match="is a link to a file that is not there: --force replaces it"):
        check_outputs({"--output": str(link)}, force=False, as_json=False, inputs=())
    check_outputs({"--output": str(link)}, force=True, as_json=False, inputs=())


@pytest.mark.parametrize("length", [100, 237, 250, 255])
def test_long_name_can_be_written(length: int, tmp_path: Path) -> None:
    path = tmp_path / ("n" * (length - 4) + ".csv")
    check_outputs({"--output": str(path)}, force=False, as_json=False, inputs=())
    LabelFile(str(path), pl.DataFrame()).write(LABELS)
    assert [own.name for own in tmp_path.iterdir()] == [path.name]


def test_name_that_is_too_long_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"can't be written: File name too long\. Choose another"):
        check_outputs({"--output": str(tmp_path / f"{'n' * 300}.csv")}, force=False, as_json=False, inputs=())


def test_name_that_is_not_utf8_is_refused_before_the_work(adrem: Command) -> None:
    code, out, err = adrem("adapt", "a.csv", "b.csv", "--label", "class", "-o", os.fsdecode(b"\xff.csv"))
    assert (code, out) == (2, "")
    assert err == "adrem: \\udcff.csv is not UTF-8: give the file another name.\n"


OUTPUTS = ("labels.csv", "model.adrem", "page.html")


@pytest.mark.parametrize("failing", range(3))
@pytest.mark.parametrize("step", ["open", "write", "sync", "move"])
@pytest.mark.parametrize("old", [b"", b"old"])
def test_output_is_whole_or_absent_whatever_fails(
    failing: int, step: str, old: bytes, adrem: Command, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th file that is written fails at a step: those before it are whole, it and those after it as they were."""
    if old:
        for name in OUTPUTS:
            (tables / name).write_bytes(old)
    words = ("adapt", "a.csv", "b.csv", "--label", "class", "--text", "text", *FAST, "--force", "--no-estimate")
    _fail_at(step, failing, monkeypatch)
    code, _, err = adrem(*words, "-o", OUTPUTS[0], "--save", OUTPUTS[1], "--report", OUTPUTS[2])
    monkeypatch.undo()
    assert code == 1
    assert "Traceback" not in err
    left = {path.name: path.read_bytes() for path in tables.iterdir() if path.name not in ("a.csv", "b.csv")}
    for k, name in enumerate(OUTPUTS):
        if k < failing:
            assert len(left.pop(name)) > len(old)
        else:
            assert left.pop(name, b"") == old
    assert left == {}


def _fail_at(step: str, count: int, patch: pytest.MonkeyPatch) -> None:
    """Let a step of the writer fail the next time but `count`."""
    calls = iter(range(100))

    def failing(do: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if next(calls) == count:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return do(*args, **kwargs)

        return call

    if step == "sync":
        patch.setattr(os, "fsync", failing(os.fsync))
    elif step == "move":
        patch.setattr(Path, "replace", failing(Path.replace))
    else:
        count += 3  # files are opened once before the work
        make = atomic._new_file
        patch.setattr(atomic, "_new_file", failing(make) if step == "open" else _half(make, count))


def _half(make: Callable[[Path], tuple[Path, IO[bytes]]], count: int) -> Callable[[Path], tuple[Path, IO[bytes]]]:
    """Let the file that is opened next but `count` take only some bytes."""
    calls = iter(range(100))

    def opened(path: Path) -> tuple[Path, IO[bytes]]:
        temporary, file = make(path)
        if next(calls) != count:
            return temporary, file
        file.close()
        return temporary, _Full(temporary)

    return opened


class _Full(FileIO):
    """A file on a disk that is full after some bytes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "r+")

    def write(self, content: Any) -> int:
        super().write(bytes(content)[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
