"""adrem adapt, adrem predict, adrem explain: labels for people with files."""

from __future__ import annotations

import io
import json
import sys
import textwrap
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli._shared import names_in, say, terminal_width

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.columns.labelling import Labels

STANDARD = "-"
# Names of the methods, and the classes and parameters behind them.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "adrem": ("AdREM", {}),
    "source": ("SourceOnly", {}),
    "hard-em": ("HardEM", {}),
    "soft-em": ("SoftEM", {}),
    "coral": ("CORAL", {}),
    "sa": ("SubspaceAlignment", {}),
    "gfk": ("GFK", {}),
    "tca": ("TCA", {}),
    "flda-l": ("FLDA", {}),
    "flda-q": ("FLDA", {"loss": "squared"}),
    "dasvm": ("DASVM", {}),
    "scl": ("SCL", {}),
    "iw": ("ImportanceWeighting", {}),
    "kmm": ("KMM", {}),
}


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Options from a TOML file; those of the command line come first."""
    if path is None:
        return None
    try:
        options = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise typer.BadParameter(f"{path} can't be read: {error}.", param_hint="--config") from error
    known = {name.lstrip("-").replace("-", "_"): p.name for p in context.command.params for name in p.opts}
    unknown = [name for name in options if name.replace("-", "_") not in known]
    if unknown:
        raise typer.BadParameter(f"{path}: there is no option {unknown[0]!r}.", param_hint="--config")
    values = {known[name.replace("-", "_")]: _as_text(value) for name, value in options.items()}
    context.default_map = {**(context.default_map or {}), **values}
    return path


def _as_text(value: Any) -> Any:
    """A list as lines: names may have commas in them."""
    return "".join(f"{item}\n" for item in value) if isinstance(value, list) else value


Output = Annotated[str, typer.Option("--output", "-o", help="Where the labels go: csv, tsv, jsonl, parquet, or -.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Keep = Annotated[str | None, typer.Option(help="Columns of the new table to write beside the labels, with commas.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary for programs on standard output.")]


def adapt(
    source: Annotated[str, typer.Argument(help="The labelled table, or - for standard input.")],
    target: Annotated[str, typer.Argument(help="The table to label, or -.")],
    output: Output,
    label: Annotated[str | None, typer.Option(help="Column of SOURCE with the labels.")] = None,
    identifier: Annotated[str | None, typer.Option("--id", help="Column that names the rows; written first.")] = None,
    keep: Keep = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, with commas between them.")] = None,
    text: Annotated[str | None, typer.Option(help="Columns that are text, with commas (default: found).")] = None,
    target_label: Annotated[str | None, typer.Option(help="Column of TARGET with labels, only to score by.")] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "adrem",
    loss: Annotated[str | None, typer.Option(help="hinge (an SVM) or log_loss (logistic regression).")] = None,
    prior: Annotated[str | None, typer.Option(help="Classes in TARGET: uniform, source, or a=0.8,b=0.2.")] = None,
    penalty: Annotated[float | None, typer.Option("--C", help="Weight of the losses (default: chosen).")] = None,
    members: Annotated[int | None, typer.Option(min=1, help="Runs that vote (default: 11).")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Iterations of each (default: 20).")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Members trained at a time.")] = None,
    save: Annotated[Path | None, typer.Option(help="File for the model, which `adrem predict` takes.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    config: Annotated[
        Path | None, typer.Option(callback=_read_config, is_eager=True, help="Options from a TOML file.")
    ] = None,
) -> None:
    """Label TARGET by what is learnt from SOURCE, which has labels.

    \b
    adrem adapt books.csv kitchen.csv --label stars -o labels.csv
    adrem adapt old.parquet new.parquet --label kind --save m.adrem -o new.csv
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    del config  # its options are in the others by now
    if source == target == STANDARD:
        raise typer.BadParameter("Only one of the two can be standard input.", param_hint="TARGET")
    _check_outputs(output, save, force, as_json, inputs=(source, target))
    given = {"loss": loss, "prior": prior, "members": members, "iterations": iterations, "C": penalty}
    model = _make_model(method, given, seed=seed, jobs=jobs)
    from adrem import __version__
    from adrem._persistence import save_bundle
    from adrem.columns import make_pair, read_file
    from adrem.columns.labelling import adapt_pair, label_rows
    from adrem.columns.pair import select

    tables = read_file(source), read_file(target)
    kept = [*([identifier] if identifier else []), *(names_in(keep, "--keep") or [])]
    beside = select(tables[1], kept, "--id, --keep")
    pair = make_pair(
        *tables,
        label=label,
        target_label=target_label,
        text=names_in(text, "--text") or (),
        left_out=[*([identifier] if identifier else []), *(names_in(drop, "--drop") or [])],
    )
    say(f"Source {tables[0].name}: {len(pair.y_source)} labelled rows.")
    say(f"Target {tables[1].name}: {tables[1].n_rows} rows.")
    for note in pair.notes:
        say(f"- {note}")
    about = {
        "adrem": __version__,
        "method": method,
        "seed": seed,
        "source": {"name": tables[0].name, "sha256": tables[0].checksum, "rows": tables[0].n_rows},
        "target": {"name": tables[1].name, "sha256": tables[1].checksum, "rows": tables[1].n_rows},
    }
    if prior not in (None, "uniform", "source"):
        model.set_params(class_prior=_shares_by_label(model.class_prior, pair.y_source))
    with _warnings_told():
        bundle = adapt_pair(pair, model, about)
    labels = label_rows(bundle, pair.X_target)
    summary = _summarize(labels, pair.truth, bundle.model.classes_.tolist())
    if save is not None:
        save_bundle(bundle, save)
    _write_labels(labels, beside, output)
    _report(summary, {"output": output, "model": None if save is None else str(save), **about}, as_json)


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `adrem adapt --save` wrote.")],
    new: Annotated[str, typer.Argument(help="The table to label, or - for standard input.")],
    output: Output,
    identifier: Annotated[str | None, typer.Option("--id", help="Column that names the rows; written first.")] = None,
    keep: Keep = None,
    target_label: Annotated[str | None, typer.Option(help="Column with labels, only to score by.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Label another table of the new domain by a model that was saved.

    \b
    adrem predict model.adrem more.csv -o labels.csv
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    _check_outputs(output, None, force, as_json, inputs=(new, str(model)))
    from adrem._persistence import load_bundle
    from adrem.columns import read_file
    from adrem.columns.labelling import label_rows, make_rows
    from adrem.columns.pair import as_labels, select

    if not model.is_file():
        raise typer.BadParameter(f"There is no file {model}.", param_hint="MODEL")
    bundle = load_bundle(model)
    table = read_file(new)
    kept = [*([identifier] if identifier else []), *(names_in(keep, "--keep") or [])]
    beside = select(table, kept, "--id, --keep")
    truth = table.labels
    if target_label is not None and table.frame is not None:
        truth = as_labels(select(table, [target_label], "--target-label")[target_label])
    rows, report = make_rows(bundle, table)
    if report.missing_columns:
        say(f"- not in {table.name}, taken as missing: {', '.join(report.missing_columns)}")
    for name, count in {**report.filled, **report.unknown_values}.items():
        say(f"- {count} value(s) of {name!r} are missing or were not seen before")
    labels = label_rows(bundle, rows)
    _write_labels(labels, beside, output)
    about = {"output": output, "model": str(model), "target": {"name": table.name, "sha256": table.checksum}}
    _report(_summarize(labels, truth, bundle.model.classes_.tolist()), about, as_json)


def explain(
    model: Annotated[Path, typer.Argument(help="A model that `adrem adapt --save` wrote.")],
    top: Annotated[int, typer.Option(min=1, help="How many words or columns for each class.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print it for programs.")] = False,
) -> None:
    """Show the words or columns that speak most for each class, before and after adapting.

    \b
    adrem explain model.adrem --top 15
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    from dataclasses import asdict

    from adrem._persistence import load_bundle
    from adrem.columns.explanation import explain as explain_bundle

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
            text = f"  {title}: {', '.join(features)}"
            typer.echo("\n".join(textwrap.wrap(text, terminal_width(), subsequent_indent="    ")))


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Warnings as lines for a person, without where in the code they come from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"! {text.replace('class_prior', '--prior')}")


def _make_model(method: str, options: dict[str, Any], *, seed: int, jobs: int | None) -> Any:
    """The estimator of a method; options that it does not have are wrong use."""
    from adrem import AdREM, baselines

    if method not in METHODS:
        raise typer.BadParameter(f"{method!r} is not one of {', '.join(METHODS)}.", param_hint="--method")
    if jobs == 0:
        raise typer.BadParameter("At least one at a time; -1 is a core each.", param_hint="--jobs")
    name, params = METHODS[method]
    names = {"loss": "loss", "prior": "class_prior", "members": "n_estimators", "iterations": "n_iter", "C": "C"}
    model: Any = AdREM(n_jobs=jobs, verbose=1) if name == "AdREM" else getattr(baselines, name)(**params)
    has = set(model.get_params()) - set(params)
    for option, value in options.items():
        if value is not None:
            if names[option] not in has:
                raise typer.BadParameter(f"The method {method} has no such option.", param_hint=f"--{option}")
            params = {**params, names[option]: _read_prior(value) if option == "prior" else value}
    model.set_params(random_state=seed, **params)
    try:
        model._validate_params()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return model


def _read_prior(text: str) -> Any:
    """A name, or shares by the names of the classes."""
    if text in ("uniform", "source"):
        return text
    try:
        shares = dict(part.rsplit("=", 1) for part in text.split(","))
        return {name.strip(): float(share) for name, share in shares.items()}
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither uniform nor source, nor shares such as a=0.8,b=0.2.", param_hint="--prior"
        ) from None


def _shares_by_label(shares: dict[str, float], labels: Any) -> dict[Any, float]:
    """The shares by the labels themselves, which the user wrote down."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    if set(known) != set(shares):
        raise typer.BadParameter(
            f"It names {', '.join(sorted(shares))}; the labels are {', '.join(sorted(known))}.", param_hint="--prior"
        )
    return {known[name]: share for name, share in shares.items()}


def _check_outputs(output: str, save: Path | None, force: bool, as_json: bool, inputs: tuple[str, ...]) -> None:
    """Refuse what could not be written, before any work."""
    if as_json and output == STANDARD:
        raise typer.BadParameter("Labels and summary can't both go to standard output.", param_hint="--json")
    paths = {"--output": None if output == STANDARD else Path(output), "--save": save}
    taken = {Path(name).resolve() for name in inputs if name != STANDARD}
    for option, path in paths.items():
        if path is None:
            continue
        if not path.parent.is_dir():
            raise typer.BadParameter(f"There is no folder {path.parent}.", param_hint=option)
        if path.is_dir():
            raise typer.BadParameter(f"{path} is a folder.", param_hint=option)
        if path.resolve() in taken:
            raise typer.BadParameter(f"{path} is used already: give each file its own name.", param_hint=option)
        if path.exists() and not force:
            raise typer.BadParameter(f"{path} exists: --force replaces it.", param_hint=option)
        taken.add(path.resolve())
    if output != STANDARD and _form(output) not in ("csv", "tsv", "jsonl", "parquet"):
        raise typer.BadParameter(f"{output} should end in csv, tsv, jsonl or parquet.", param_hint="--output")


def _form(output: str) -> str:
    return "csv" if output == STANDARD else Path(output).suffix.lower().lstrip(".")


def _write_labels(labels: Labels, beside: DataFrame, output: str) -> None:
    import polars as pl

    from adrem._files import written_whole

    columns = {"label": labels.label, "confidence": labels.confidence, "source_label": labels.source_label}
    frame = pl.DataFrame({**{name: values.tolist() for name, values in columns.items()}, "changed": labels.changed})
    clash = [name for name in beside.columns if name in frame.columns]
    frame = pl.concat([beside.rename({name: f"{name}_given" for name in clash}), frame], how="horizontal")
    buffer = io.BytesIO()
    form = _form(output)
    if form == "parquet":
        frame.write_parquet(buffer)
    elif form == "jsonl":
        frame.write_ndjson(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if form == "tsv" else ",")
    if output == STANDARD:
        sys.stdout.buffer.write(buffer.getvalue())
        return
    with written_whole(Path(output)) as file:
        file.write(buffer.getvalue())


def _summarize(labels: Labels, truth: Any, classes: list[Any]) -> dict[str, Any]:
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
    return summary


def _report(summary: dict[str, Any], about: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({**summary, **about}))
        return
    width = max(5, *(len(name) for name in summary["classes"]))
    say(f"\n{'label':<{width}} {'adapted':>9} {'source only':>12}")
    for name, counts in summary["classes"].items():
        say(f"{name:<{width}} {counts['adapted']:>9} {counts['source']:>12}")
    say(f"{summary['changed']} of {summary['rows']} labels differ from those of the source alone.")
    if "accuracy" in summary:
        adapted, plain = summary["accuracy"]["adapted"], summary["accuracy"]["source"]
        say(f"Accuracy: {100 * adapted:.1f} % adapted, {100 * plain:.1f} % by the source alone.")
    if about["output"] != STANDARD:
        say(f"Labels: {about['output']}")
    if about["model"] is not None and "source" in about:
        say(f"Model: {about['model']}")
