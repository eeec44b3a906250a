"""adrem predict, adrem explain: use a saved model."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adrem.cli import outputs
from adrem.cli.encoding import encoder_of_images
from adrem.cli.parameters import with_options
from adrem.cli.places import read_table
from adrem.cli.shared import say_wrapped, stage, tell, terminal_width
from adrem.cli.writing import LabelFile, check_outputs
from adrem.runtime.text import one_line

if TYPE_CHECKING:
    from adrem.columns.bundle import Bundle
    from adrem.columns.recipe import ColumnFindings

Model = Annotated[Path, typer.Argument(help="Model file written by `adrem adapt --save`.")]


def predict(
    model: Model,
    new: Annotated[str, typer.Argument(help="The table to label, or - for standard input.")],
    output: outputs.Output,
    identifier: outputs.Identifier = None,
    keep: outputs.Keep = None,
    target_label: Annotated[str | None, typer.Option(help="Column with labels, only for scoring.")] = None,
    no_header: outputs.NoHeader = False,
    safe_csv: outputs.SafeCsv = False,
    force: outputs.Force = False,
    as_json: outputs.AsJson = False,
) -> None:
    """Label another table of the target domain with a saved model.

    \b
    adrem predict model.adrem more.csv -o labels.csv
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    check_model_file(model)
    check_outputs({"--output": output}, force=force, as_json=as_json, inputs=(new, str(model)))
    from adrem.columns.bundle import load_bundle
    from adrem.columns.labelling import label_rows, make_rows
    from adrem.columns.labels import check_plain, labels_for_scoring
    from adrem.columns.pair import select
    from adrem.diagnostics.unknown import with_unknown

    bundle = load_bundle(model)
    encoder = encoder_of_images(bundle.recipe)
    with stage(f"Reading {new}", quiet=encoder is not None):
        table = read_table(new, header=not no_header, encoder=encoder)
        beside = outputs.columns_beside(table, identifier, keep)
        label_file = LabelFile(output, beside, safe=safe_csv)
        truth = table.labels
        if target_label is not None and table.frame is not None:
            given = select(table, [target_label], "target_label")[target_label]
            check_plain(given, table.name, "target_label")
            truth = labels_for_scoring(given, bundle.model.classes_)
        rows, report = make_rows(bundle, table)
    for note in table.notes:
        say_wrapped(f"- {with_options(note)}")
    _tell_columns(report, table.name, (*beside.columns, target_label, bundle.about.get("label")))
    labels = label_rows(bundle, rows)
    outputs.write_labels(label_file, labels)
    about = {"output": output, "model": str(model), "target": {"name": table.name, "sha256": table.checksum}}
    summary = outputs.summarize(labels, with_unknown(bundle.model, truth), bundle.model.classes_.tolist())
    if _tell_if_source(bundle):
        summary["handed_out"] = "source"
    outputs.tell_summary(summary, about, as_json)


def _tell_columns(report: ColumnFindings, name: str, expected: tuple[str | None, ...]) -> None:
    """Print how the columns of a table differ from those that the model was trained on."""
    from adrem.runtime.text import some_names

    if report.missing_columns:
        missing = some_names(report.missing_columns)
        say_wrapped(f"! missing in {name}, but used by the model: {missing}. The labels may be unreliable.")
    unknown = [column for column in report.new_columns if column not in expected]
    if unknown:
        say_wrapped(f"- unknown to the model, left out: {some_names(unknown)}")
    for column, count in report.filled.items():
        say_wrapped(f"- {count} value(s) of {column!r} are missing or not numbers: replaced by the median")
    for column, count in report.unknown_values.items():
        say_wrapped(f"- {count} value(s) of {column!r} are unknown to the model")
    for column, count in report.without_words.items():
        say_wrapped(f"- {count} text(s) of {column!r} have no known word")
    for column, count in report.cut.items():
        say_wrapped(f"- {count} text(s) of {column!r} are longer than what the encoder reads")


def explain(
    model: Model,
    top: Annotated[int, typer.Option(min=1, help="Number of words or columns for each class.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the words or columns with the most weight for each class.

    \b
    adrem explain model.adrem --top 15
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    from dataclasses import asdict

    from adrem.columns.bundle import load_bundle
    from adrem.columns.explanation import explain as explain_bundle

    check_model_file(model)
    bundle = load_bundle(model)
    found = explain_bundle(bundle, top)
    if as_json:
        tell(json.dumps([asdict(own) for own in found]))
        return
    _tell_if_source(bundle)
    for own in found:
        tell(one_line(str(own.label)))
        for title, features in (
            ("source alone", own.source),
            ("adapted", own.adapted),
            ("gained by adapting", own.gained),
        ):
            text = f"  {title}: {', '.join(map(one_line, features)) or 'nothing'}"
            tell("\n".join(textwrap.wrap(text, terminal_width(), subsequent_indent="    ")))
        if own.columns:
            effects = (
                f"{one_line(e.column)} {e.per_deviation:+.2g} for {_plainly(e.deviation)} more" for e in own.columns
            )
            text = f"  change of the score: {', '.join(map(one_line, effects))}"
            tell("\n".join(textwrap.wrap(text, terminal_width(), subsequent_indent="    ")))


def _plainly(number: float) -> str:
    """Return a number with three digits, and a large one as a whole number."""
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _tell_if_source(bundle: Bundle) -> bool:
    """Print and return whether the model is the classifier of the source alone."""
    is_source = bundle.model is bundle.baseline
    if is_source:
        say_wrapped("- the model is the classifier of the source alone, because adapting seemed to make labels worse")
    return is_source


def check_model_file(model: Path) -> None:
    """Raise an error if there is no such file."""
    if not model.is_file():
        raise ValueError(f"There is no file {model}.")
