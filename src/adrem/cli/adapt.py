"""adrem adapt: labels for people with two files."""

from __future__ import annotations

import shlex
import sys
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

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
from adrem.cli._pages import check_pages, make_file_page
from adrem.cli._shared import STANDARD, names_in, say, say_wrapped, stage

PRIORS = ("uniform", "source", "estimate")
# Names of the methods, and the classes and parameters behind them.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "adrem": ("AdREM", {}),
    "auto": ("AdREMCV", {"candidates": ("hinge", "log_loss", "intercept", "neighbors", "source alone")}),
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


def adapt(
    source: Annotated[str, typer.Argument(help="The labelled table, or - for standard input.")],
    target: Annotated[str, typer.Argument(help="The table to label, or -.")],
    output: Output,
    label: Annotated[str | None, typer.Option(help="Column of SOURCE with the labels.")] = None,
    identifier: Identifier = None,
    keep: Keep = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, with commas between them.")] = None,
    text: Annotated[str | None, typer.Option(help="Columns that are text, with commas (default: found).")] = None,
    target_label: Annotated[str | None, typer.Option(help="Column of TARGET with labels, only to score by.")] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "adrem",
    loss: Annotated[str | None, typer.Option(help="hinge (an SVM) or log_loss (logistic regression).")] = None,
    prior: Annotated[
        str | None, typer.Option(help="Classes in TARGET: uniform, source, estimate, or a=0.8,b=0.2.")
    ] = None,
    penalty: Annotated[float | None, typer.Option("--C", help="Weight of the losses (default: chosen).")] = None,
    members: Annotated[int | None, typer.Option(min=1, help="Runs that vote (default: 11).")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Iterations of each (default: 20).")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Members trained at a time.")] = None,
    save: Annotated[Path | None, typer.Option(help="File for the model, which `adrem predict` takes.")] = None,
    report: Annotated[Path | None, typer.Option(help="File for a page about it all, HTML.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate the accuracy: about twice the time.")] = False,
    force: Force = False,
    as_json: AsJson = False,
    config: Annotated[
        Path | None, typer.Option(callback=_read_config, is_eager=True, help="Options from a TOML file.")
    ] = None,
) -> None:
    """Label TARGET by what is learnt from SOURCE, which has labels.

    \b
    adrem adapt books.csv kitchen.csv --label stars -o labels.csv
    adrem adapt old.csv new.csv --label kind -o labels.csv --report page.html
    adrem adapt old.parquet new.parquet --label kind --save m.adrem -o new.csv
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    del config  # its options are in the others by now
    if source == target == STANDARD:
        raise typer.BadParameter("Only one of the two can be standard input.", param_hint="TARGET")
    outputs = {"--output": output, "--save": save, "--report": report}
    check_outputs(outputs, force=force, as_json=as_json, inputs=(source, target))
    given = {"loss": loss, "prior": prior, "members": members, "iterations": iterations, "C": penalty}
    model = make_model(method, given, seed=seed, jobs=jobs)
    if report is not None:
        check_pages()
    from adrem import __version__
    from adrem._persistence import save_bundle
    from adrem.columns import make_pair, read_file
    from adrem.columns.labelling import adapt_pair, label_rows
    from adrem.columns.pair import select
    from adrem.diagnostics._accuracy import check_rows, estimate_examined

    with stage(f"Reading {source} and {target}"):
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
    if estimate:
        check_rows(pair.y_source, pair.X_target.shape[0])
    say(f"Source {tables[0].name}: {len(pair.y_source)} labelled rows.")
    say(f"Target {tables[1].name}: {tables[1].n_rows} rows.")
    for note in pair.notes:
        say_wrapped(f"- {note}")
    about = {
        "adrem": __version__,
        "method": method,
        "label": label,
        "seed": seed,
        "source": {"name": tables[0].name, "sha256": tables[0].checksum, "rows": tables[0].n_rows},
        "target": {"name": tables[1].name, "sha256": tables[1].checksum, "rows": tables[1].n_rows},
    }
    if prior not in (None, *PRIORS):
        model.set_params(class_prior=_shares_by_label(model.class_prior, pair.y_source))
    with _told_of_options() as warned:
        bundle, examined = adapt_pair(pair, model, about)
    choices = _tell_choices(model, prior)
    with stage("Judging the labels"):
        verdict = examined.judgement()[1]
        labels = label_rows(bundle, pair.X_target)
    summary = {**summarize(labels, pair.truth, bundle.model.classes_.tolist()), **choices}
    summary["verdict"] = {**asdict(verdict), "sentence": verdict.sentence}
    if estimate:
        with stage("Estimating the accuracy"):
            summary["estimated_accuracy"] = asdict(estimate_examined(examined))
    page = None
    if report is not None:
        with stage("Making the page"):
            page = make_file_page(
                pair, examined, bundle, identifier, accuracy=summary.get("accuracy"), command=_command(), warned=warned
            )
    # All is computed: now it is written, each file whole or not at all.
    if page is not None and report is not None:
        page.save(report)
    if save is not None:
        save_bundle(bundle, save)
    write_labels(labels, beside, output)
    places = {"saved": None if save is None else str(save), "report": None if report is None else str(report)}
    tell_summary(summary, {"output": output, **places, **about}, as_json)


def _tell_choices(model: Any, prior: str | None) -> dict[str, Any]:
    """What the method has found or chosen by itself: told, and for the summary."""
    choices: dict[str, Any] = {}
    if hasattr(model, "best_name_"):
        choices |= {"taken": model.best_name_, "tried": model.cv_results_["candidate"]}
        say_wrapped(f"- of {', '.join(model.cv_results_['candidate'])} was taken: {model.best_name_}")
    if prior == "estimate" or (
        prior is None and hasattr(model, "best_name_") and len(set(model.class_prior_.tolist())) > 1
    ):
        shares = dict(zip(map(str, model.classes_.tolist()), model.class_prior_.tolist(), strict=True))
        choices["class_prior"] = shares
        say_wrapped(f"- class shares, estimated: {', '.join(f'{name} {share:.2f}' for name, share in shares.items())}")
    return choices


@contextmanager
def _told_of_options() -> Iterator[list[str]]:
    """Warnings and errors in the words of the command line, without where in the code they come from."""
    told: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield told
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    told += [_in_options(text) for text in dict.fromkeys(str(warning.message) for warning in caught)]
    for text in told:
        say_wrapped(f"! {text}")


def _in_options(text: str) -> str:
    """A message about parameters as one about options."""
    return text.replace("class_prior", "--prior").replace("such as C=1.0", "such as --C 1.0, or leave that class out")


def make_model(method: str, options: dict[str, Any], *, seed: int, jobs: int | None) -> Any:
    """The estimator of a method; options that it does not have are wrong use."""
    from adrem import AdREM, AdREMCV, baselines

    if method not in METHODS:
        raise typer.BadParameter(f"{method!r} is not one of {', '.join(METHODS)}.", param_hint="--method")
    if jobs == 0:
        raise typer.BadParameter("At least one at a time; -1 is a core each.", param_hint="--jobs")
    name, params = METHODS[method]
    names = {"loss": "loss", "prior": "class_prior", "members": "n_estimators", "iterations": "n_iter", "C": "C"}
    ours = {"AdREM": AdREM, "AdREMCV": AdREMCV}
    model: Any = ours[name](n_jobs=jobs, verbose=1) if name in ours else getattr(baselines, name)()
    has = set(model.get_params()) - set(params)
    for option, value in options.items():
        if value is not None:
            if names[option] not in has:
                raise typer.BadParameter(f"The method {method} has no such option.", param_hint=f"--{option}")
            params = {**params, names[option]: _read_prior(value) if option == "prior" else value}
    model.set_params(random_state=seed, **params)
    if params.get("loss") not in (None, "hinge", "log_loss", "squared"):
        raise typer.BadParameter(f"{params['loss']!r} is neither hinge nor log_loss.", param_hint="--loss")
    if params.get("C") is not None and not 0 < params["C"] < float("inf"):
        raise typer.BadParameter("It has to be larger than zero.", param_hint="--C")
    return model


def _read_prior(text: str) -> Any:
    """A name, or shares by the names of the classes."""
    if text in PRIORS:
        return text
    try:
        parts = dict(part.rsplit("=", 1) for part in text.split(","))
        shares = {name.strip(): float(share) for name, share in parts.items()}
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not one of {', '.join(PRIORS)}, nor shares such as a=0.8,b=0.2.", param_hint="--prior"
        ) from None
    if min(shares.values()) < 0 or abs(sum(shares.values()) - 1) > 1e-6:
        raise typer.BadParameter("The shares have to be zero or more, and sum to one.", param_hint="--prior")
    return shares


def _shares_by_label(shares: dict[str, float], labels: Any) -> dict[Any, float]:
    """The shares by the labels themselves, which the user wrote down."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    if set(known) != set(shares):
        raise typer.BadParameter(
            f"It names {', '.join(sorted(shares))}; the labels are {', '.join(sorted(known))}.", param_hint="--prior"
        )
    return {known[name]: share for name, share in shares.items()}


def _command() -> str:
    """The command as it was given, to be given again."""
    return shlex.join(["adrem", *sys.argv[1:]])
