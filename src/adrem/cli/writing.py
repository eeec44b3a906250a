"""Where outputs go: all names are checked before the work, and the labels are written first."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from adrem.cli.shared import STANDARD
from adrem.exceptions import ParameterError
from adrem.files.atomic import check_writable, written_whole
from adrem.runtime.notices import NamingText
from adrem.runtime.text import printable

if TYPE_CHECKING:
    from polars import DataFrame, Series

    from adrem.columns.labelling import Labels

LABEL_FILE_FORMATS = ("csv", "tsv", "jsonl", "parquet")
TEXT_FORMATS = ("csv", "tsv")
COLUMNS = ("label", "confidence", "source_label", "changed", "adapted_label")
FORMULA = r"^[=+\-@\t\r＝＋－＠]"  # noqa: RUF001 - spreadsheet programs take the wide forms too


def check_outputs(
    outputs: Mapping[str, str | Path | None], *, force: bool, as_json: bool, inputs: tuple[str, ...]
) -> None:
    """Raise an error before any work if an output can't be written; the labels go to ``--output``."""
    labels = str(outputs["--output"])
    if as_json and labels == STANDARD:
        raise typer.BadParameter("Labels and summary can't both go to standard output.", param_hint="--json")
    if labels == STANDARD and sys.__stdout__ is None:
        raise OSError("Standard output is closed: name a file for the labels with --output.")
    files = {option: name for option, name in outputs.items() if name is not None}
    if labels == STANDARD:
        del files["--output"]
    _check_files(files, {Path(name).resolve() for name in inputs if name != STANDARD}, force)
    if format_of(labels) not in LABEL_FILE_FORMATS:
        raise typer.BadParameter(f"{labels} should end in csv, tsv, jsonl or parquet.", param_hint="--output")


def _check_files(files: Mapping[str, str | Path], taken: set[Path], force: bool) -> None:
    """Raise an error if a file can't be written, or is also an input or another output."""
    for option, name in files.items():
        path = Path(name)
        if path == Path(STANDARD):
            raise typer.BadParameter("Only the labels can go to standard output: name a file.", param_hint=option)
        if path.resolve() in taken:
            raise typer.BadParameter(f"{path} is already used: give each file its own name.", param_hint=option)
        check_output(path, option, force)
        taken.add(path.resolve())


def check_output(path: Path, option: str, force: bool) -> None:
    """Raise an error if a file can't be written."""
    if not path.parent.is_dir():
        raise typer.BadParameter(f"There is no folder {path.parent}.", param_hint=option)
    try:
        check_writable(path)
    except OSError as error:
        raise OSError(
            f"{path} can't be written: {error.strerror}. Choose another folder or name with {option}."
        ) from error
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "not a regular file"
        raise typer.BadParameter(f"{path} is {kind}.", param_hint=option)
    if os.path.lexists(path) and not force:
        kind = "exists" if path.exists() else "is a link to a file that is not there"
        raise typer.BadParameter(f"{path} {kind}: --force replaces it.", param_hint=option)


def format_of(output: str) -> str:
    """Return the format of an output: csv for standard output, else its suffix."""
    return "csv" if output == STANDARD else Path(output).suffix.lower().lstrip(".")


class RowFile:
    """A file of rows, in a form that its name tells.

    Parameters
    ----------
    output : str
        Its path, or ``-``.
    safe : bool, default=False
        Whether cells that a spreadsheet program would run as formulas get an apostrophe.
    """

    def __init__(self, output: str, *, safe: bool = False) -> None:
        self.output = output
        self.form = format_of(output)
        self.safe = safe
        if safe and self.form not in TEXT_FORMATS:
            raise typer.BadParameter("Only csv and tsv files can hold formulas.", param_hint="--safe-csv")

    def write_frame(self, frame: DataFrame) -> int:
        """Write a frame, and return how many cells a spreadsheet program would run as formulas."""
        n_formulas = sum(int(_are_formulas(column).sum()) for column in _of_text(frame))
        if self.form not in TEXT_FORMATS:
            n_formulas = 0
        elif self.safe and n_formulas:
            frame, n_formulas = frame.with_columns([_apart(column) for column in _of_text(frame)]), 0
        self._put(self._encoded(frame))
        return n_formulas

    def _put(self, content: bytes) -> None:
        if self.output != STANDARD:
            with written_whole(Path(self.output)) as file:
                file.write(content)
            return
        if sys.stdout.isatty():
            content = printable(content.decode()).encode()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()  # raises errors here, and not when Python exits

    def _encoded(self, frame: DataFrame) -> bytes:
        buffer = io.BytesIO()
        if self.form == "parquet":
            frame.write_parquet(buffer)
        elif self.form == "jsonl":
            frame.write_ndjson(buffer)
        else:
            frame.write_csv(buffer, separator="\t" if self.form == "tsv" else ",")
        return buffer.getvalue()

    def check_column(self, column: Series) -> None:
        """Raise an error for a column that the format can't hold, such as lists in csv."""
        try:
            self._encoded(column.to_frame())
        except Exception as error:  # polars has an error of its own for each type
            text = "Column {name!r} holds {type}, which a {form} file can't: leave it out, or write parquet."
            raise ParameterError(
                NamingText(text, name=column.name, type=column.dtype, form=self.form), "beside"
            ) from error


class LabelFile(RowFile):
    """The file of labels, with the names of its columns and all other columns known before the work.

    Parameters
    ----------
    output : str
        Its path, or ``-``.
    beside : polars.DataFrame
        The columns to write before the labels.
    safe : bool, default=False
        Whether cells that a spreadsheet program would run as formulas get an apostrophe.
    """

    def __init__(self, output: str, beside: DataFrame, *, safe: bool = False) -> None:
        super().__init__(output, safe=safe)
        self.beside = beside.rename(_free_names(beside.columns))
        for column in self.beside.get_columns():
            self.check_column(column)

    def write(self, labels: Labels) -> int:
        """Write a row for each label, and return how many cells a spreadsheet program would run as formulas."""
        import polars as pl

        columns = {"label": labels.label, "confidence": labels.confidence.round(2), "source_label": labels.source_label}
        frame = pl.DataFrame({**{name: values.tolist() for name, values in columns.items()}, "changed": labels.changed})
        if labels.adapted_label is not None:
            frame = frame.with_columns(pl.Series("adapted_label", labels.adapted_label.tolist()))
        return self.write_frame(pl.concat([self.beside, frame], how="horizontal"))


def _free_names(names: list[str]) -> dict[str, str]:
    """Return new names for the columns whose names the labels have."""
    taken, new = {*COLUMNS, *names}, {}
    for name in names:
        if name in COLUMNS:
            new[name] = f"{name}_given"
            while new[name] in taken:
                new[name] += "_given"
            taken.add(new[name])
    return new


def _of_text(frame: DataFrame) -> list[Series]:
    return [column for column in frame.get_columns() if str(column.dtype) == "String"]


def _are_formulas(column: Series) -> Any:
    """Return which cells begin like a formula and are no numbers."""
    numbers = column.str.strip_chars().cast(float, strict=False)
    return (column.str.contains(FORMULA) & numbers.is_null()).fill_null(False)


def _apart(column: Series) -> Series:
    """Return a column whose formulas begin with an apostrophe."""
    return column.zip_with(~_are_formulas(column), column.str.replace("^", "'"))
