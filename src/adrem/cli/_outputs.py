"""What the commands that label rows share: their options, the file of labels, and the summary."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli._shared import STANDARD, say, say_wrapped, shorten, terminal_width

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.columns.labelling import Labels

FORMS = ("csv", "tsv", "jsonl", "parquet")
SHOWN = 5  # names in a line
NUMBERS = 24  # columns that the numbers beside a label take

Output = Annotated[str, typer.Option("--output", "-o", help="Where the labels go: csv, tsv, jsonl, parquet, or -.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Keep = Annotated[str | None, typer.Option(help="Columns of the new table to write beside the labels, with commas.")]
Identifier = Annotated[str | None, typer.Option("--id", help="Column that names the rows; written first.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary for programs on standard output.")]


def check_outputs(
    outputs: Mapping[str, str | Path | None], *, force: bool, as_json: bool, inputs: tuple[str, ...]
) -> None:
    """Refuse what could not be written, before any work; the labels are the output of ``--output``."""
    labels = str(outputs["--output"])
    if as_json and labels == STANDARD:
        raise typer.BadParameter("Labels and summary can't both go to standard output.", param_hint="--json")
    if labels == STANDARD and sys.__stdout__ is None:
        raise OSError("Standard output is closed: name a file for the labels by --output.")
    taken = {Path(name).resolve() for name in inputs if name != STANDARD}
    for option, name in outputs.items():
        if name is None or (option == "--output" and name == STANDARD):
            continue
        if name == Path(STANDARD):
            raise typer.BadParameter("Only the labels can go to standard output: name a file.", param_hint=option)
        path = Path(name)
        if path.resolve() in taken:
            raise typer.BadParameter(f"{path} is used already: give each file its own name.", param_hint=option)
        check_output(path, option, force)
        taken.add(path.resolve())
    if form_of(labels) not in FORMS:
        raise typer.BadParameter(f"{labels} should end in csv, tsv, jsonl or parquet.", param_hint="--output")


def check_output(path: Path, option: str, force: bool) -> None:
    """Refuse a file that could not be written."""
    if not path.parent.is_dir():
        raise typer.BadParameter(f"There is no folder {path.parent}.", param_hint=option)
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no ordinary file"
        raise typer.BadParameter(f"{path} is {kind}.", param_hint=option)
    if path.exists() and not force:
        raise typer.BadParameter(f"{path} exists: --force replaces it.", param_hint=option)
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(
            f"{path.parent} can't be written to: {error.strerror}. Name another place by {option}."
        ) from error


def form_of(output: str) -> str:
    return "csv" if output == STANDARD else Path(output).suffix.lower().lstrip(".")


def write_labels(labels: Labels, beside: DataFrame, output: str) -> None:
    """Write the labels, a row each, with other columns before them."""
    import polars as pl

    from adrem._files import written_whole

    columns = {"label": labels.label, "confidence": labels.confidence, "source_label": labels.source_label}
    frame = pl.DataFrame({**{name: values.tolist() for name, values in columns.items()}, "changed": labels.changed})
    clash = [name for name in beside.columns if name in frame.columns]
    frame = pl.concat([beside.rename({name: f"{name}_given" for name in clash}), frame], how="horizontal")
    buffer = io.BytesIO()
    form = form_of(output)
    if form == "parquet":
        frame.write_parquet(buffer)
    elif form == "jsonl":
        frame.write_ndjson(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if form == "tsv" else ",")
    if output == STANDARD:
        sys.stdout.buffer.write(buffer.getvalue())
        sys.stdout.buffer.flush()  # what goes wrong is told now, and not as Python ends
        return
    with written_whole(Path(output)) as file:
        file.write(buffer.getvalue())


def summarize(labels: Labels, truth: Any, classes: list[Any]) -> dict[str, Any]:
    """What there is to say of the labels, as plain values."""
    summary: dict[str, Any] = {
        "rows": len(labels.label),
        "classes": {
            str(c): {"adapted": int((labels.label == c).sum()), "source": int((labels.source_label == c).sum())}
            for c in classes
        },
        "changed": int(labels.changed.sum()),
        "mean_confidence": float(labels.confidence.mean()),
    }
    if truth is not None:
        as_text = truth.astype(str)
        summary["accuracy"] = {
            "adapted": float((labels.label.astype(str) == as_text).mean()),
            "source": float((labels.source_label.astype(str) == as_text).mean()),
        }
        strange = sorted(set(as_text.tolist()) - {str(c) for c in classes})
        if strange:
            n_strange = int(sum((as_text == name).sum() for name in strange))
            summary["unknown_labels"] = {"rows": n_strange, "labels": strange[:SHOWN]}
    return summary


def _tell_accuracy(summary: dict[str, Any]) -> None:
    if "accuracy" in summary:
        adapted, plain = summary["accuracy"]["adapted"], summary["accuracy"]["source"]
        say(f"Accuracy: {100 * adapted:.1f} % adapted, {100 * plain:.1f} % by the source alone.")
    if "estimated_accuracy" in summary:
        low, value, high = (100 * summary["estimated_accuracy"][name] for name in ("low", "accuracy", "high"))
        say(f"Estimated accuracy, without labels: {value:.0f} %, likely {low:.0f} to {high:.0f} %.")


def tell_summary(summary: dict[str, Any], about: dict[str, Any], as_json: bool) -> None:
    """Print the summary: for a person on standard error, or for programs on standard output."""
    if as_json:
        typer.echo(json.dumps({**summary, **about}))
        return
    width = min(max(5, *(len(name) for name in summary["classes"])), terminal_width() - NUMBERS)
    say(f"\n{'label':<{width}} {'adapted':>9} {'source only':>12}")
    for name, counts in summary["classes"].items():
        say(f"{shorten(name, width):<{width}} {counts['adapted']:>9} {counts['source']:>12}")
    say(f"{summary['changed']} of {summary['rows']} labels differ from those of the source alone.")
    _tell_accuracy(summary)
    if "unknown_labels" in summary:
        strange = summary["unknown_labels"]
        say_wrapped(
            f"! {strange['rows']} of the labels to score by are none of the source's: {', '.join(strange['labels'])}"
        )
    if "verdict" in summary:
        lines = [f"Verdict: {summary['verdict']['choice']}. {summary['verdict']['sentence']}"]
        if summary["verdict"]["choice"] == "source":
            lines = [f"{lines[0]} They are in the column source_label."]
        for line in [*lines, *(f"- {reason}" for reason in summary["verdict"]["reasons"])]:
            say_wrapped(line)
    for title, name in (("Labels", "output"), ("Model", "saved"), ("Page", "report")):
        if about.get(name) not in (None, STANDARD):
            say(f"{title}: {about[name]}")
