"""Options and outputs of the commands that label rows: the file of labels, and the summary."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli.shared import STANDARD, names_in, say, say_wrapped, terminal_width
from adrem.runtime.text import without_middle

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.columns import FileTable
    from adrem.columns.labelling import Labels

LABEL_FILE_FORMATS = ("csv", "tsv", "jsonl", "parquet")
MAX_NAMES = 5  # names listed in a line
COUNTS_WIDTH = 24  # terminal columns of the counts beside a label
MAX_CONFUSED, MAX_NAME, RECALL_WIDTH = 8, 12, 34  # classes, their names and the columns beside a table of confusions

Output = Annotated[str, typer.Option("--output", "-o", help="File for the labels: csv, tsv, jsonl, parquet, or -.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Keep = Annotated[str | None, typer.Option(help="Columns to copy into the file of labels, separated by commas.")]
Identifier = Annotated[str | None, typer.Option("--id", help="Column that identifies the rows; written first.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="Tables of text have no header: column_1, column_2, ...")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary as JSON to standard output.")]


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
    import tempfile

    if not path.parent.is_dir():
        raise typer.BadParameter(f"There is no folder {path.parent}.", param_hint=option)
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "not a regular file"
        raise typer.BadParameter(f"{path} is {kind}.", param_hint=option)
    if path.exists() and not force:
        raise typer.BadParameter(f"{path} exists: --force replaces it.", param_hint=option)
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(
            f"{path.parent} can't be written to: {error.strerror}. Choose another folder with {option}."
        ) from error


def format_of(output: str) -> str:
    """Return the format of an output: csv for standard output, else its suffix."""
    return "csv" if output == STANDARD else Path(output).suffix.lower().lstrip(".")


def columns_beside(table: FileTable, identifier: str | None, keep: str | None) -> DataFrame:
    """Return the columns of a table to write before the labels; of images, their paths."""
    from adrem.columns.pair import select

    return select(table, [*table.images, *([identifier] if identifier else []), *names_in(keep, "--keep")], "beside")


def write_labels(labels: Labels, beside: DataFrame, output: str) -> None:
    """Write a row for each label, with other columns before it."""
    import polars as pl

    from adrem.files.atomic import written_whole

    columns = {"label": labels.label, "confidence": labels.confidence.round(2), "source_label": labels.source_label}
    frame = pl.DataFrame({**{name: values.tolist() for name, values in columns.items()}, "changed": labels.changed})
    if labels.adapted_label is not None:
        frame = frame.with_columns(pl.Series("adapted_label", labels.adapted_label.tolist()))
    clash = [name for name in beside.columns if name in frame.columns]
    frame = pl.concat([beside.rename({name: f"{name}_given" for name in clash}), frame], how="horizontal")
    buffer = io.BytesIO()
    form = format_of(output)
    if form == "parquet":
        frame.write_parquet(buffer)
    elif form == "jsonl":
        frame.write_ndjson(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if form == "tsv" else ",")
    if output == STANDARD:
        sys.stdout.buffer.write(buffer.getvalue())
        sys.stdout.buffer.flush()  # raises errors here, and not when Python exits
        return
    with written_whole(Path(output)) as file:
        file.write(buffer.getvalue())


def summarize(labels: Labels, truth: Any, classes: list[Any]) -> dict[str, Any]:
    """Return counts, the mean confidence and, if the truth is known, accuracies as plain values."""
    from adrem.diagnostics.scores import score_labels

    adapted = labels.label if labels.adapted_label is None else labels.adapted_label
    summary: dict[str, Any] = {
        "rows": len(labels.label),
        "classes": {
            str(c): {"adapted": int((adapted == c).sum()), "source": int((labels.source_label == c).sum())}
            for c in classes
        },
        "changed": int((adapted != labels.source_label).sum()),
        "mean_confidence": float(labels.confidence.mean()),
    }
    scores = None if truth is None else score_labels(labels.source_label, adapted, truth, classes)
    if scores is not None:
        summary["accuracy"] = asdict(scores.accuracy)
        summary["scores"] = scores.to_dict()
        if scores.unknown:
            unknown = {"rows": sum(scores.unknown.values()), "labels": sorted(scores.unknown)[:MAX_NAMES]}
            summary["unknown_labels"] = unknown
    return summary


def _tell_scores(summary: dict[str, Any]) -> None:
    """Print the accuracies and, of a few classes, the recalls and confusions."""
    scores = summary["scores"]
    if scores["unlabelled"]:
        say(f"{scores['unlabelled']} of the rows have no label for scoring: they count neither as right nor as wrong.")
    for title, name in (("Accuracy", "accuracy"), ("Balanced accuracy", "balanced_accuracy")):
        own = scores[name]
        say(f"{title}: {100 * own['adapted']:.1f} % adapted, {100 * own['source']:.1f} % by the source alone.")
    _tell_confusions(scores["classes"], by_source=summary.get("handed_out") == "source")


def _tell_confusions(classes: list[dict[str, Any]], *, by_source: bool) -> None:
    """Print the recall of each class, and how often the labels that are written take it for another."""
    width = min(max(5, *(len(own["label"]) for own in classes)), MAX_NAME)
    if len(classes) > MAX_CONFUSED or width + RECALL_WIDTH + len(classes) * (width + 1) > terminal_width():
        return
    names = [without_middle(own["label"], width) for own in classes]
    whose, counted = ("source", "labelled_by_source") if by_source else ("adapted", "labelled")
    say(f"\n{'truth':<{width}} {'rows':>6} {'recall, source':>15} {'adapted':>8}  {whose} as")
    say(f"{'':<{width + RECALL_WIDTH}}{' '.join(f'{name:>{width}}' for name in names)}")
    for name, own in zip(names, classes, strict=True):
        recall = [f"{100 * share:.1f} %" if share is not None else "" for share in own["recall"].values()]
        counts = " ".join(f"{count:>{width}}" for count in own[counted])
        say(f"{name:<{width}} {own['rows']:>6} {recall[0]:>15} {recall[1]:>8}  {counts}")


def _tell_verdict(summary: dict[str, Any], saved: bool) -> None:
    """Print the verdict with its reasons, and what is to be said of labels for scoring."""
    if "unknown_labels" in summary:
        unknown = summary["unknown_labels"]
        say_wrapped(
            f"! {unknown['rows']} of the labels for scoring are not in the source, and count as wrong: "
            f"{', '.join(unknown['labels'])}. Labels of the source: {', '.join([*summary['classes']][:MAX_NAMES])}"
        )
    if "verdict" in summary:
        lines = [f"Verdict: {summary['verdict']['choice']}. {summary['verdict']['sentence']}"]
        if summary["verdict"]["choice"] == "source":
            model = ", and the model that is saved," if saved else ""
            chosen = summary["baseline"]["chosen"]
            lines[0] += (
                f" The labels that are written{model} are those of the source alone ({chosen}). The adapted labels are "
                "in the column 'adapted_label'."
            )
        if summary.get("contradicted"):
            lines.append(f"! {summary['contradicted']}")
        for line in [*lines, *(f"- {reason}" for reason in summary["verdict"]["reasons"])]:
            say_wrapped(line)


def _tell_estimate(estimate: dict[str, Any]) -> None:
    if estimate["reasons"]:
        say("Estimated accuracy: nothing can be said without labels.")
        for reason in estimate["reasons"]:
            say_wrapped(f"- {reason}")
        return
    low, value, high = (100 * estimate[name] for name in ("low", "accuracy", "high"))
    say(f"Estimated accuracy, without labels: {value:.0f} %, likely {low:.0f} to {high:.0f} %.")


def tell_summary(summary: dict[str, Any], about: dict[str, Any], as_json: bool) -> None:
    """Print the summary: as text to standard error, or as JSON to standard output."""
    if as_json:
        typer.echo(json.dumps({**summary, **about}))
        return
    width = min(max(5, *(len(name) for name in summary["classes"])), terminal_width() - COUNTS_WIDTH)
    say(f"\n{'label':<{width}} {'adapted':>9} {'source only':>12}")
    for name, counts in summary["classes"].items():
        say(f"{without_middle(name, width):<{width}} {counts['adapted']:>9} {counts['source']:>12}")
    say(f"{summary['changed']} of {summary['rows']} labels differ from those of the source alone.")
    if "scores" in summary:
        _tell_scores(summary)
    if "estimated_accuracy" in summary:
        _tell_estimate(summary["estimated_accuracy"])
    _tell_verdict(summary, about.get("saved") is not None)
    for title, name in (("Labels", "output"), ("Model", "saved"), ("Page", "report")):
        if about.get(name) not in (None, STANDARD):
            say(f"{title}: {about[name]}")
