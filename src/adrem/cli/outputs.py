"""Options and outputs of the commands that label rows: the file of labels, and the summary."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adrem.cli.shared import STANDARD, names_in, say, say_wrapped, tell, terminal_width
from adrem.runtime.text import one_line, without_middle

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.cli.writing import LabelFile
    from adrem.columns import FileTable
    from adrem.columns.labelling import Labels

MAX_NAMES = 5  # names listed in a line
COUNTS_WIDTH = 24  # terminal columns of the counts beside a label
MAX_CONFUSED, MAX_NAME, RECALL_WIDTH = 8, 12, 34  # classes, their names and the columns beside a table of confusions

Output = Annotated[str, typer.Option("--output", "-o", help="File for the labels: csv, tsv, jsonl, parquet, or -.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Keep = Annotated[str | None, typer.Option(help="Columns to copy into the file of labels, separated by commas.")]
Identifier = Annotated[str | None, typer.Option("--id", help="Column that identifies the rows; written first.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="Tables of text have no header: column_1, column_2, ...")]
SafeCsv = Annotated[bool, typer.Option("--safe-csv", help="Keep spreadsheet programs from running cells as formulas.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary as JSON to standard output.")]


def columns_beside(table: FileTable, identifier: str | None, keep: str | None) -> DataFrame:
    """Return the columns of a table to write before the labels; of images, their paths."""
    from adrem.columns.pair import select

    own = [identifier] if identifier else []
    select(table, own, "identifier")
    return select(table, [*table.images, *own, *names_in(keep, "--keep")], "keep")


def write_labels(file: LabelFile, labels: Labels) -> None:
    """Write the labels, and tell if a spreadsheet program would run some of the cells."""
    tell_formulas(file.write(labels))


def tell_formulas(n_formulas: int) -> None:
    """Tell that a spreadsheet program would run some of the cells that were written."""
    if n_formulas:
        say_wrapped(
            f"! {n_formulas} cell(s) of the file begin with =, +, - or @: a spreadsheet program may run them as "
            "formulas. --safe-csv writes an apostrophe before them."
        )


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
        say_wrapped(
            f"{scores['unlabelled']} of the rows have no label for scoring: they count neither as right nor as wrong."
        )
    for title, name in (("Accuracy", "accuracy"), ("Balanced accuracy", "balanced_accuracy")):
        own = scores[name]
        say(f"{title}: {100 * own['adapted']:.1f} % adapted, {100 * own['source']:.1f} % by the source alone.")
    _tell_confusions(scores["classes"], by_source=summary.get("handed_out") == "source")


def _tell_confusions(classes: list[dict[str, Any]], *, by_source: bool) -> None:
    """Print the recall of each class, and how often the labels that are written take it for another."""
    width = min(max(5, *(len(own["label"]) for own in classes)), MAX_NAME)
    if len(classes) > MAX_CONFUSED or width + RECALL_WIDTH + len(classes) * (width + 1) > terminal_width():
        return
    names = [without_middle(one_line(own["label"]), width) for own in classes]
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


def _why_none(reasons: list[str]) -> str:
    from adrem.diagnostics.unknown import NO_ESTIMATE

    if NO_ESTIMATE in reasons:
        return "not estimated: with --unknown reject, neither with nor without labels"
    return "nothing can be said without labels"


def _tell_estimate(estimate: dict[str, Any]) -> None:
    if estimate["reasons"]:
        say_wrapped(f"Estimated accuracy: {_why_none(estimate['reasons'])}.")
        for reason in estimate["reasons"]:
            say_wrapped(f"- {reason}")
        return
    low, value, high = (100 * estimate[name] for name in ("low", "accuracy", "high"))
    by = f"by {estimate['n_labels']} labels" if estimate["n_labels"] else "without labels"
    say(f"Estimated accuracy, {by}: {value:.0f} %, likely {low:.0f} to {high:.0f} %.")
    if estimate["unused_labels"]:
        say_wrapped(f"- {estimate['unused_labels']}")


def tell_summary(summary: dict[str, Any], about: dict[str, Any], as_json: bool) -> None:
    """Print the summary: as text to standard error, or as JSON to standard output."""
    if as_json:
        tell(json.dumps({**summary, **about}))
        return
    width = min(max(5, *(len(name) for name in summary["classes"])), terminal_width() - COUNTS_WIDTH)
    say(f"\n{'label':<{width}} {'adapted':>9} {'source only':>12}")
    for name, counts in summary["classes"].items():
        say(f"{without_middle(one_line(name), width):<{width}} {counts['adapted']:>9} {counts['source']:>12}")
    say(f"{summary['changed']} of {summary['rows']} labels differ from those of the source alone.")
    if "scores" in summary:
        _tell_scores(summary)
    if "estimated_accuracy" in summary:
        _tell_estimate(summary["estimated_accuracy"])
    _tell_verdict(summary, about.get("saved") is not None)
    for title, name in (("Labels", "output"), ("Model", "saved"), ("Page", "report")):
        if about.get(name) not in (None, STANDARD):
            say(f"{title}: {about[name]}")
