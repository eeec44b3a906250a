"""adrem ask: choose rows of the target that are to be labelled by hand."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli import outputs
from adrem.cli.encoding import encoder_of_images
from adrem.cli.places import read_table
from adrem.cli.predict import Model, check_model_file
from adrem.cli.shared import say, say_wrapped, stage
from adrem.cli.writing import RowFile, check_outputs
from adrem.exceptions import InvalidDataError, ParameterError

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.active import Questions
    from adrem.columns import FileTable
    from adrem.columns.bundle import Bundle

RANDOM_PART = 2  # a half of the rows is random unless it is said otherwise


def ask(
    model: Model,
    target: Annotated[str, typer.Argument(help="The table that the model was adapted to.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File for the rows to label: csv, tsv, jsonl, parquet, or -.")
    ],
    identifier: outputs.Identifier = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of rows.")] = 20,
    n_random: Annotated[
        int | None, typer.Option("--random", min=0, help="How many of them are random (default: half).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    no_header: outputs.NoHeader = False,
    safe_csv: outputs.SafeCsv = False,
    force: outputs.Force = False,
) -> None:
    """Choose rows to label by hand, for `adrem adapt --known`.

    \b
    adrem ask model.adrem new.csv --id id -n 20 -o ask.csv
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    check_model_file(model)
    check_outputs({"--output": output}, force=force, as_json=False, inputs=(target, str(model)))
    from adrem.columns.bundle import load_bundle
    from adrem.columns.identity import check_identity
    from adrem.columns.labelling import make_rows

    if n_random is not None and n_random > n:
        raise typer.BadParameter(f"{n_random} is more than -n, which is {n}.", param_hint="--random")
    n_random = n // RANDOM_PART if n_random is None else n_random
    bundle = load_bundle(model)
    encoder = encoder_of_images(bundle.recipe)
    with stage(f"Reading {target}", quiet=encoder is not None):
        table = read_table(target, header=not no_header, encoder=encoder)
        name = _identifier(table, identifier)
        check_identity(bundle, table)
        rows, _ = make_rows(bundle, table)
    with stage("Choosing rows"):
        asked = _ask(bundle, table, rows, n, n_random, seed)
    file = RowFile(output, safe=safe_csv)
    outputs.tell_formulas(file.write_frame(_frame(bundle, table, rows, asked, name)))
    column = bundle.about["label"]
    say(f"{n} rows, {n_random} of them random: {output}")
    known = shlex.join(["--known", output, "--id", name])
    say_wrapped(f"Fill in the column {column!r}, and add {known} --estimate to the adrem adapt command.")


def _identifier(table: FileTable, identifier: str | None) -> str:
    if table.frame is None:
        raise InvalidDataError(f"{table.name} has rows of numbers: give a table with named columns.")
    if identifier is None and table.images:
        return table.images[0]
    if identifier is None:
        raise ParameterError(f"Which column of {table.name} identifies the rows?", "identifier")
    from adrem.columns.pair import select

    select(table, [identifier], "identifier")
    return identifier


def _ask(bundle: Bundle, table: FileTable, rows: Any, n: int, n_random: int, seed: int) -> Questions:
    """Choose rows, but none whose label was known when the model was fitted."""
    from adrem.active import ask as choose
    from adrem.columns.identity import labelled_before

    known = labelled_before(bundle, table)
    n_left = table.n_rows - len(known)
    if n > n_left:
        raise typer.BadParameter(
            f"{table.name} has {table.n_rows} rows, of which {len(known)} are labelled already: at most {n_left} "
            f"can be asked for, and not {n}.",
            param_hint="-n",
        )
    return choose(bundle.model, rows, n, n_random=n_random, random_state=seed, exclude=known)


def _frame(bundle: Bundle, table: FileTable, rows: Any, asked: Questions, identifier: str) -> DataFrame:
    """Return the table to fill: the identifier, an empty column of labels, two guesses, and all that may help."""
    import numpy as np
    import polars as pl

    if table.frame is None:
        raise InvalidDataError(f"{table.name} has no named columns.")
    label, classes = str(bundle.about["label"]), bundle.model.classes_
    chosen = table.frame[asked.rows.tolist()]
    guesses = bundle.model.label_rows(rows[asked.rows])
    shares = bundle.model.share_rows(rows[asked.rows]).copy()
    shares[np.arange(len(guesses)), guesses] = -1.0
    own = {
        label: pl.Series([None] * len(guesses), dtype=pl.String),
        "guess": pl.Series(classes[guesses].tolist()),
        "second_guess": pl.Series(classes[shares.argmax(axis=1)].tolist()),
        "chosen": pl.Series(np.where(asked.is_random, "random", "suggested").tolist()),
        "probability": pl.Series(asked.probability),
    }
    others = [name for name in table.frame.columns if name not in {identifier, *own}]
    return pl.DataFrame({identifier: chosen[identifier], **own, **{name: chosen[name] for name in others}})
