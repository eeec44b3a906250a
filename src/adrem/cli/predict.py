"""adrem predict, adrem explain: what a saved model is for."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from adrem.cli._outputs import (
    AsJson,
    Force,
    Identifier,
    Keep,
    Output,
    check_outputs,
    summarize,
    tell_summary,
    write_labels,
)
from adrem.cli._shared import names_in, say_wrapped, stage, terminal_width

Model = Annotated[Path, typer.Argument(help="A model that `adrem adapt --save` wrote.")]


def predict(
    model: Model,
    new: Annotated[str, typer.Argument(help="The table to label, or - for standard input.")],
    output: Output,
    identifier: Identifier = None,
    keep: Keep = None,
    target_label: Annotated[str | None, typer.Option(help="Column with labels, only to score by.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Label another table of the new domain by a model that was saved.

    \b
    adrem predict model.adrem more.csv -o labels.csv
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    _check_model(model)
    check_outputs({"--output": output}, force=force, as_json=as_json, inputs=(new, str(model)))
    from adrem._persistence import load_bundle
    from adrem.columns import read_file
    from adrem.columns.labelling import label_rows, make_rows
    from adrem.columns.pair import as_labels, select, some_names

    with stage(f"Reading {model} and {new}"):
        bundle = load_bundle(model)
        table = read_file(new)
        kept = [*([identifier] if identifier else []), *(names_in(keep, "--keep") or [])]
        beside = select(table, kept, "--id, --keep")
        truth = table.labels
        if target_label is not None and table.frame is not None:
            truth = as_labels(select(table, [target_label], "--target-label")[target_label])
        rows, report = make_rows(bundle, table)
    if report.missing_columns:
        missing = some_names(report.missing_columns)
        say_wrapped(f"! not in {table.name}, though the model learnt from it: {missing}. The labels may be far off.")
    strange = [name for name in report.new_columns if name not in (*kept, target_label, bundle.about.get("label"))]
    if strange:
        say_wrapped(f"- not known to the model, left out: {some_names(strange)}")
    for name, count in report.filled.items():
        say_wrapped(f"- {count} value(s) of {name!r} are missing or no numbers: the median takes their place")
    for name, count in report.unknown_values.items():
        say_wrapped(f"- {count} value(s) of {name!r} were not seen before")
    for name, count in report.without_words.items():
        say_wrapped(f"- {count} text(s) of {name!r} have no word that the model knows")
    labels = label_rows(bundle, rows)
    write_labels(labels, beside, output)
    about = {"output": output, "model": str(model), "target": {"name": table.name, "sha256": table.checksum}}
    tell_summary(summarize(labels, truth, bundle.model.classes_.tolist()), about, as_json)


def explain(
    model: Model,
    top: Annotated[int, typer.Option(min=1, help="How many words or columns for each class.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print it for programs.")] = False,
) -> None:
    """Show what speaks most for each class, before and after adapting.

    \b
    adrem explain model.adrem --top 15
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    from dataclasses import asdict

    from adrem._persistence import load_bundle
    from adrem.columns.explanation import explain as explain_bundle

    _check_model(model)
    voices = explain_bundle(load_bundle(model), top)
    if as_json:
        typer.echo(json.dumps([asdict(voice) for voice in voices]))
        return
    for voice in voices:
        typer.echo(f"{voice.label}")
        for title, features in (
            ("source alone", voice.source),
            ("adapted", voice.adapted),
            ("taught by the new domain", voice.taught),
        ):
            text = f"  {title}: {', '.join(features) or 'nothing'}"
            typer.echo("\n".join(textwrap.wrap(text, terminal_width(), subsequent_indent="    ")))


def _check_model(model: Path) -> None:
    if not model.is_file():
        raise ValueError(f"There is no file {model}.")
