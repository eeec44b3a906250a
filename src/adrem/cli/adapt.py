"""adrem adapt: label one file with a model trained on another."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli.encoding import Chunks, Model, label_or_class, make_encoder
from adrem.cli.judging import plain_estimate, wants_estimate
from adrem.cli.models import make_model, use_labels
from adrem.cli.outputs import (
    AsJson,
    Force,
    Identifier,
    Keep,
    NoHeader,
    Output,
    SafeCsv,
    columns_beside,
    summarize,
    tell_summary,
    write_labels,
)
from adrem.cli.pages import baseline_text, check_pages, make_file_page
from adrem.cli.parameters import verdict_with_options, warning_with_options, with_options
from adrem.cli.places import read_places
from adrem.cli.shared import names_in, say, say_wrapped, stage
from adrem.cli.writing import LabelFile, check_outputs
from adrem.registry import COMMAND_LINE_METHODS

if TYPE_CHECKING:
    from adrem.columns import FileTable, Pair
    from adrem.columns.bundle import Bundle
    from adrem.diagnostics.diagnosis import Examination


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read options from a TOML file; those of the command line take precedence."""
    if path is None:
        return None
    import tomllib

    try:
        options = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise typer.BadParameter(f"{path} can't be read: {error}.", param_hint="--config") from error
    known = {name.lstrip("-").replace("-", "_"): p.name for p in context.command.params for name in p.opts}
    unknown = [name for name in options if name.replace("-", "_") not in known]
    if unknown:
        raise typer.BadParameter(f"{path}: there is no option {unknown[0]!r}.", param_hint="--config")
    named = {known[name.replace("-", "_")]: value for name, value in options.items()}
    repeated = {p.name for p in context.command.params if getattr(p, "multiple", False)}
    context.default_map = {**(context.default_map or {}), **_as_given(named, repeated)}
    return path


def _as_given(options: dict[str, Any], repeated: Collection[str]) -> dict[str, Any]:
    """Return options as on the command line; those that may be given several times are lists."""
    lists = {name: value if isinstance(value, list) else [value] for name, value in options.items() if name in repeated}
    return {name: lists.get(name, _as_text(value)) for name, value in options.items()}


def _as_text(value: Any) -> Any:
    """Return a list as lines, because names may have commas in them."""
    return "".join(f"{item}\n" for item in value) if isinstance(value, list) else value


def adapt(
    tables: Annotated[
        list[str],
        typer.Argument(metavar="TABLE", help="The labelled tables, and the one to label; - is standard input."),
    ],
    output: Output,
    target: Annotated[
        str | None, typer.Option(help="The table to label; all others are sources. With --domain: a value of it.")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="Column that names the source of each row.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the source with the labels.")] = None,
    identifier: Identifier = None,
    keep: Keep = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")] = None,
    text: Annotated[str | None, typer.Option(help="Text columns, separated by commas (default: detected).")] = None,
    numeric: Annotated[str | None, typer.Option(help="Columns of numbers or dates (default: detected).")] = None,
    categorical: Annotated[str | None, typer.Option(help="Columns of categories (default: detected).")] = None,
    missing: Annotated[
        str | None, typer.Option(help="Codes that mean missing, such as -9,unknown (default: detected; none: no code).")
    ] = None,
    encoder: Model = None,
    chunks: Chunks = None,
    no_header: NoHeader = False,
    target_label: Annotated[str | None, typer.Option(help="Column of the target with labels, for scoring.")] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="Table with known labels of the target, to learn from: the columns of --id and --label. Give it again "
            "for another table."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(COMMAND_LINE_METHODS)}.")] = "committee",
    loss: Annotated[str | None, typer.Option(help="hinge or log_loss, with other methods.")] = None,
    prior: Annotated[
        str | None,
        typer.Option(help="Class shares in the target: auto (the default), uniform, source, estimate, or a=0.8,b=0.2."),
    ] = None,
    protected: Annotated[
        str | None, typer.Option(help="Classes that are in the target for certain, separated by commas.")
    ] = None,
    unknown: Annotated[
        str | None, typer.Option(help="ignore (the default) or reject: a label for rows that belong to no class.")
    ] = None,
    unknown_label: Annotated[str | None, typer.Option(help="That label (default: unknown).")] = None,
    penalty: Annotated[float | None, typer.Option("--C", help="Weight of the losses, with other methods.")] = None,
    members: Annotated[int | None, typer.Option(min=1, help="Members (default: 5 of each kind; adrem: 11).")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Iterations of each member (default: 20).")] = None,
    effort: Annotated[
        str | None, typer.Option(help="low, auto (the default) or high: how long the committee may take.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Members trained at a time.")] = None,
    save: Annotated[Path | None, typer.Option(help="File for the model, to be used by `adrem predict`.")] = None,
    report: Annotated[Path | None, typer.Option(help="File for a report, HTML.")] = None,
    estimate: Annotated[
        bool | None, typer.Option("--estimate/--no-estimate", help="Estimate the accuracy (default: for a report).")
    ] = None,
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Keep single rows of the data out of the report.")
    ] = False,
    safe_csv: SafeCsv = False,
    force: Force = False,
    as_json: AsJson = False,
    config: Annotated[
        Path | None, typer.Option(callback=_read_config, is_eager=True, help="Options from a TOML file.")
    ] = None,
) -> None:
    """Label a table with a model trained on one or several others, which have labels.

    \b
    adrem adapt books.csv kitchen.csv --label stars -o labels.csv
    adrem adapt old.csv new.csv --label kind -o labels.csv --report page.html
    adrem adapt old.parquet new.parquet --label kind --save m.adrem -o new.csv
    adrem adapt a.csv b.csv c.csv --target d.csv --label kind -o d_labels.csv
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    del config  # its options are already the defaults of the others
    wanted = read_places(tables, target, domain, known)
    outputs = {"--output": output, "--save": save, "--report": report}
    check_outputs(outputs, force=force, as_json=as_json, inputs=wanted.files)
    given = {
        "loss": loss,
        "class_prior": prior,
        "protected_classes": protected and names_in(protected, "--protected"),
        "unknown": unknown,
        "unknown_label": unknown_label,
        "n_estimators": members,
        "n_iter": iterations,
        "effort": effort,
        "C": penalty,
    }
    model = make_model(method, given, seed=seed, jobs=jobs)
    if report is not None:
        check_pages()
    from adrem import __version__
    from adrem.columns import make_pair
    from adrem.columns.bundle import save_bundle
    from adrem.columns.identity import with_identity
    from adrem.columns.labelling import adapt_pair, label_pair
    from adrem.diagnostics.scores import contradiction
    from adrem.diagnostics.unknown import with_unknown

    network = make_encoder(encoder, chunks, wanted.files)
    label = label_or_class(label, network)
    with stage(f"Reading {' and '.join(wanted.files)}", quiet=network is not None):
        sources, both = wanted.read(header=not no_header, label=label, encoder=network)
        label_file = LabelFile(output, columns_beside(both[1], identifier, keep), safe=safe_csv)
        pair = make_pair(
            *both,
            label=label,
            target_label=target_label,
            text=names_in(text, "--text"),
            numeric=names_in(numeric, "--numeric"),
            categorical=names_in(categorical, "--categorical"),
            missing=None if missing is None else names_in(missing, "--missing"),
            known=wanted.read_known(header=not no_header),
            identifier=identifier,
            left_out=[*(name for name in (identifier, domain) if name), *names_in(drop, "--drop")],
            encoder=network,
        )
    estimated = wants_estimate(pair, estimate, report is not None)
    notes = _tell(pair, sources, both[1])
    about = {"adrem": __version__, "method": method, "label": label, "seed": seed, **origins(sources, both)}
    use_labels(model, pair.y_source)
    with _warnings_as_lines() as warned:
        bundle, examined = adapt_pair(pair, model, with_identity(about, both[1], identifier, pair))
    choices = _tell_choices(model, prior)
    truth = with_unknown(model, pair.truth)
    labels = label_pair(bundle, pair, examined)
    summary = {
        **summarize(labels, truth, examined.model.classes_.tolist()),
        **choices,
        **_tell_baseline(bundle),
        **_judge(examined, estimated, pair),
        "known_labels": pair.n_known,
        "notes": notes,
        "warnings": warned,
    }
    summary["contradicted"] = contradiction(examined.verdict.choice, examined.score(pair.truth))
    page = None
    if report is not None:
        with stage("Writing the report"):
            page = make_file_page(
                pair,
                examined,
                bundle,
                identifier,
                summary=summary,
                command=_command(),
                warned=warned,
                samples=not no_samples,
                saved=save is not None,
            )
    # Files are written only once everything is computed, and the labels first.
    write_labels(label_file, labels)
    if save is not None:
        save_bundle(bundle, save)
    if page is not None and report is not None:
        page.save(report)
    places = {"output": output, "saved": save and str(save), "report": report and str(report)}
    tell_summary(summary, {**places, **about}, as_json)


def _tell(pair: Pair, sources: list[FileTable], target: FileTable) -> list[str]:
    """Print what was read, and return the notes on it."""
    if len(sources) == 1:
        say(f"Source {sources[0].name}: {len(pair.y_source)} labelled rows.")
    else:
        say(f"{len(sources)} sources: {len(pair.y_source)} labelled rows.")
    if pair.source_sizes:
        say(f"Rows of each source: {', '.join(map(str, pair.source_sizes))}.")
    say(f"Target {target.name}: {target.n_rows} rows.")
    notes = [with_options(note) for note in pair.notes]
    for note in notes:
        say_wrapped(f"- {note}")
    if pair.recipe is not None and pair.recipe.terms:
        say_wrapped(
            "- texts are counts of words; a network knows more: --encoder gte-small (adrem models info gte-small)"
        )
    return notes


def origins(sources: list[FileTable], both: tuple[FileTable, FileTable]) -> dict[str, Any]:
    """Return the names, checksums and sizes of the tables."""

    def origin(table: FileTable) -> dict[str, Any]:
        return {"name": table.name, "sha256": table.checksum, "rows": table.n_rows}

    found: dict[str, Any] = {side: origin(table) for side, table in zip(("source", "target"), both, strict=True)}
    return found if len(sources) == 1 else {**found, "sources": [origin(table) for table in sources]}


def _judge(examined: Examination, estimate: list[str] | None, pair: Pair) -> dict[str, Any]:
    """Return the verdict and the estimated accuracy, or the reasons why there is none; no estimate for None."""
    with stage("Judging the labels"):
        verdict = verdict_with_options(examined.verdict)
    found: dict[str, Any] = {"verdict": {**asdict(verdict), "sentence": verdict.sentence}}
    if estimate is not None:
        with stage("Estimating the accuracy"):
            found["estimated_accuracy"] = plain_estimate(examined, estimate, pair)
    return found


def _tell_choices(model: Any, prior: str | None) -> dict[str, Any]:
    """Print and return what the method chose or estimated."""
    for line in model.findings():
        say_wrapped(f"- {line}")
    if not hasattr(model, "class_prior_"):
        return {}
    shares = dict(zip(map(str, model.classes_.tolist()), model.class_prior_.tolist(), strict=True))
    choices: dict[str, Any] = {"class_prior": shares, **_of_unknown(model)}
    if hasattr(model, "kinds_"):
        return choices | {"kinds": model.kinds_, "left_out": model.left_out_, "findings": model.findings()}
    if prior in (None, "uniform"):
        say_wrapped("- class shares: assumed equal; --prior sets them")
        return choices
    origin = {"estimate": "estimated", "source": "as in the source"}.get(prior, "as given")
    listed = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    say_wrapped(f"- class shares: {origin}, {listed}")
    return choices


def _of_unknown(model: Any) -> dict[str, Any]:
    """Return the estimated share of rows of no class, if they are rejected."""
    if not hasattr(model, "unknown_share_"):
        return {}
    low, high = model.unknown_interval_.tolist()
    return {"unknown": {"label": str(model.unknown_label), "share": model.unknown_share_, "low": low, "high": high}}


def _tell_baseline(bundle: Bundle) -> dict[str, Any]:
    """Print and return which classifier of the source the labels are compared with, and whose labels are written."""
    baseline = bundle.baseline
    say_wrapped(f"- source only: {baseline_text(baseline)}")
    handed_out = "source" if bundle.model is baseline else "adapted"
    return {"handed_out": handed_out, "baseline": {"chosen": baseline.chosen_, "cv_accuracy": baseline.cv_accuracy_}}


@contextmanager
def _warnings_as_lines() -> Iterator[list[str]]:
    """Print each warning once, without its location in the code, and collect the texts."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    texts += dict.fromkeys(warning_with_options(warning.message) for warning in caught)
    for text in texts:
        say_wrapped(f"! {text}")


def _command() -> str:
    """Return the command that is running, quoted for a shell."""
    return shlex.join(["adrem", *sys.argv[1:]])
