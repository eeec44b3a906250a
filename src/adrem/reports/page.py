"""The HTML page of a diagnosis."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from importlib.metadata import version
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adrem.diagnostics import Diagnosis
from adrem.diagnostics.results import ClassExamples
from adrem.diagnostics.scores import ClassScore, Scores, contradiction
from adrem.exceptions import MissingImportError
from adrem.files.atomic import written_whole
from adrem.reports import charts
from adrem.reports.excerpts import excerpt, marked
from adrem.reports.pictures import Album
from adrem.runtime.text import without_middle

if TYPE_CHECKING:
    from jinja2 import Template

SHOWN_CLASSES = 40
CONFUSED_CLASSES = 12
N_COLOURS = 10
LABEL_LENGTH = 24  # characters of a label
NBSP = "\N{NO-BREAK SPACE}"
SIGMA = "\N{GREEK SMALL LETTER SIGMA}"  # a standard deviation


@dataclass(frozen=True)
class About:
    """Names and facts shown on a page.

    Attributes
    ----------
    title, source_name, target_name : str
        Title of the page, and names of the two domains.
    source_rows, target_rows : sequence of str, default=None
        Description of each row, shown as a tooltip.
    speaking : mapping of int to sequence of str
        For rows of the target with text, the words that speak for the label, the strongest first.
    source_places : sequence of int, default=None
        Row numbers of the source in its file, if not all rows were used.
    command : str
        Command that reproduces the result.
    facts : mapping
        What else is needed to reproduce it: versions, parameters, checksums.
    notes : sequence of str
        How columns were used.
    warnings : sequence of str
        Warnings of the fit.
    scores : Scores, default=None
        Scores of the labels, if the target labels are known.
    estimate : mapping, default=None
        The estimated ``accuracy``, its bounds ``low`` and ``high``, the ``reasons`` if it is unknown, and ``n_labels``,
        the number of labels of the target that it comes from.
    handed_out : str
        Whose labels were written: "adapted", "source", or "" if none were.
    saved : bool
        Whether the model was saved, too.
    baseline : str
        The classifier of the source that the labels are compared with.
    samples : bool
        Whether to show single rows.
    source_pictures, target_pictures : sequence of bytes, default=None
        A small picture of each row, as WebP. They are asked for only where they are shown.
    examples : sequence of ClassExamples
        The rows whose pictures are shown for each label.
    """

    title: str = "Domain adaptation report"
    source_name: str = "source"
    target_name: str = "target"
    source_rows: Sequence[str] | None = None
    target_rows: Sequence[str] | None = None
    speaking: Mapping[int, Sequence[str]] = field(default_factory=dict)
    source_places: Sequence[int] | None = None
    command: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    scores: Scores | None = None
    estimate: Mapping[str, Any] | None = None
    handed_out: str = ""
    saved: bool = False
    baseline: str = ""
    samples: bool = True
    source_pictures: Sequence[bytes] | None = None
    target_pictures: Sequence[bytes] | None = None
    examples: Sequence[ClassExamples] = ()


class Report:
    """The report of a model, as returned by `adrem.report`.

    Notebooks show the page. ``diagnosis`` has its numbers, ``html`` its text.

    Parameters
    ----------
    diagnosis : Diagnosis
        The numbers of the page.
    html : str
        The page.

    Examples
    --------
    >>> import adrem
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(20, 20, rotation=60, random_state=0)
    >>> model = adrem.AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> page = adrem.report(model, X_source, y_source, X_target, title="Arcs")
    >>> "<title>Arcs</title>" in page.html
    True
    """

    def __init__(self, diagnosis: Diagnosis, html: str) -> None:
        self.diagnosis = diagnosis
        self.html = html

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file. An existing file is replaced only by a complete one.

        Parameters
        ----------
        path : path-like
            Path of the file. The page needs no other file and no network.
        """
        with written_whole(Path(fspath(path))) as file:
            file.write(self.html.encode())

    def _repr_html_(self) -> str:
        # In a frame, so that the styles of the page and the notebook do not mix.
        return (
            f'<iframe title="adrem" sandbox="allow-scripts" srcdoc="{escape(self.html)}" '
            'style="width:100%;height:80vh;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Report({self.diagnosis.verdict.choice!r}, {len(self.html)} characters of HTML)"


def make_page(diagnosis: Diagnosis, labels: dict[str, list[Any]], about: About) -> Report:
    """Render the page of a diagnosis. `labels` has those given for ``source`` and adapted for ``target``."""
    style, script = (files("adrem.reports").joinpath(name).read_text("utf-8") for name in ("style.css", "script.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    from markupsafe import Markup

    album = Album(about.source_pictures, about.target_pictures)
    certainty = _certainty(diagnosis, about, album)
    grid = album.grid(about.examples, about.target_rows)
    html = _template().render(
        d=diagnosis,
        version=version("adrem"),
        # Files of the package: the only text of the page that is not escaped.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        script_hash=f"sha256-{digest}",
        **_words(diagnosis, about),
        **_classes(diagnosis),
        **_map(diagnosis if about.samples else replace(diagnosis, map=None), labels, about, album),
        **_course(diagnosis),
        **certainty,
        grid=grid,
        pictures=Markup(json.dumps(album.uris)),  # noqa: S704 - addresses of letters and digits
    )
    return Report(diagnosis, html)


@cache
def _template() -> Template:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise MissingImportError("A report needs jinja2: pip install 'adrem[report]'") from error
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "count": lambda value: f"{round(value):,}",
        "share": lambda value: f"{value:.2f}",
        "percent": lambda value: f"{100 * value:.1f}{NBSP}%",
        "nonbreaking": lambda text: text.replace(" %", f"{NBSP}%"),
        "short": charts.short,
        "level": lambda value, unit: (
            f"{100 * value:.1f}{NBSP}%" if unit == "share of rows" else f"{value:+.2f}{NBSP}{SIGMA}"
        ),
        "brief": _brief,
    }
    return environment.from_string(files("adrem.reports").joinpath("template.html.jinja").read_text("utf-8"))


def _brief(label: Any) -> Any:
    """Return a label as HTML: shortened, and with places to break a line after underscores."""
    from markupsafe import Markup
    from markupsafe import escape as escaped

    return Markup("_<wbr>").join(map(escaped, without_middle(str(label), LABEL_LENGTH).split("_")))


def _words(d: Diagnosis, about: About) -> dict[str, Any]:
    auc = 0.5 if d.gap is None else d.gap.auc
    separation = ("barely", "partly", "mostly", "almost always")[int(np.searchsorted([0.6, 0.8, 0.95], auc))]
    facts = {"adrem": version("adrem"), "method": d.method, **about.facts}
    contradicted = contradiction(d.verdict.choice, about.scores)
    return {
        "title": about.title,
        "source_name": about.source_name,
        "target_name": about.target_name,
        "scores": about.scores,
        "confusion": _confusion(about.scores),
        "estimate": about.estimate,
        **_written(about),
        "baseline": about.baseline,
        "samples": about.samples,
        "contradicted": contradicted,
        "is_good": d.verdict.choice == "adapted" and not d.verdict.same and not contradicted,
        "separation": separation,
        "gauge": round(100 * min(1.0, max(0.0, 2 * auc - 1)), 2),
        "method_name": {"AdREM": "Ad-REM", "Committee": "the committee"}.get(d.method, d.method),
        "kinds": list(zip(d.kinds, d.members, strict=False)),
        "command": about.command.split(" ") if about.command else [],
        "facts": list(facts.items()),
        "notes": about.notes,
        "warned": about.warnings,
        "class_features": d.class_features[:SHOWN_CLASSES],
        "n_more_class_features": max(0, len(d.class_features) - SHOWN_CLASSES),
    }


def _written(about: About) -> dict[str, Any]:
    """Return whose labels were written, and the words for them and for the others."""
    by_source = about.handed_out == "source"
    return {
        "handed_out": about.handed_out,
        "saved": about.saved,
        "written_side": "source" if by_source else "adapted",
        "other_side": "adapted" if by_source else "source",
        "written": "source alone" if by_source else "adapted",
        "other": "adapted" if by_source else "for the source alone",
        "confusion_title": f"{'Labels of the source alone' if by_source else 'Adapted labels'} by true label",
    }


def _confusion(scores: Scores | None) -> list[ClassScore]:
    """Return the classes of the table of confusions, none if there are too many for a table."""
    return [] if scores is None or len(scores.classes) > CONFUSED_CLASSES else scores.classes


def _classes(d: Diagnosis) -> dict[str, Any]:
    """Return the classes as rows of a table, with the widths of their bars in percent."""
    shown = d.classes
    if len(shown) > SHOWN_CLASSES:
        shown = sorted(shown, key=lambda c: -c.after)[:SHOWN_CLASSES]
    largest = max(1.0, *(max(c.before, c.after, (c.prior or 0.0) * d.n_target) for c in shown))
    rows = [
        {
            **vars(c),
            "before_width": round(100 * c.before / largest, 2),
            "after_width": round(100 * c.after / largest, 2),
            "prior_place": None if c.prior is None else round(100 * c.prior * d.n_target / largest, 2),
        }
        for c in shown
    ]
    return {"classes": rows, "n_more_classes": len(d.classes) - len(shown)}


def _map(d: Diagnosis, labels: dict[str, list[Any]], about: About, album: Album) -> dict[str, Any]:
    """Return the points of both maps and the legend. The largest classes get the colours."""
    if d.map is None:
        return {"by_domain": [], "by_label": [], "legend": [], "n_uncoloured": 0}
    by_size = list(range(len(d.classes)))
    if len(by_size) > N_COLOURS:
        by_size.sort(key=lambda k: -d.classes[k].after)
    place = {d.classes[k].label: rank for rank, k in enumerate(by_size)}
    tones = [f"k{rank}" if rank < N_COLOURS else "rest" for rank in range(len(by_size))]
    sides = (
        ("source", about.source_name, d.map.source_rows, d.map.source_points, about.source_rows),
        ("target", about.target_name, d.map.target_rows, d.map.target_points, about.target_rows),
    )
    by_domain, by_label = [], []
    for side, name, rows, points, texts in sides:
        places = about.source_places if side == "source" else None
        for row, point in zip(rows, points, strict=True):
            label, place_in_file = labels[side][row], row if places is None else int(places[row])
            x, y = charts.map_place(point)
            said = "" if texts is None else f": {excerpt(texts[row])}"
            rank = place[label]
            common = {"x": x, "y": y, "shape": f"{side}-row", "tip": f"{name}, row {place_in_file + 1}, {label}{said}"}
            by_domain.append({**common, "tone": f"of-{side}", "pick": None})
            by_label.append({**common, "tone": tones[rank], "pick": rank})
            by_domain[-1]["picture"] = by_label[-1]["picture"] = album.place(side, int(row))
    legend = [
        {"label": d.classes[k].label, "tone": tones[rank], "pick": rank}
        for rank, k in enumerate(by_size[:SHOWN_CLASSES])
    ]
    n_uncoloured = max(0, len(by_size) - N_COLOURS)
    return {"by_domain": by_domain, "by_label": by_label, "legend": legend, "n_uncoloured": n_uncoloured}


def _course(d: Diagnosis) -> dict[str, Any]:
    if len(d.course) < 2:
        return {"changed_chart": None, "loss_chart": None, "member_chart": None, "n_members": 0}
    changed = [("labels changed", "after", [step.changed for step in d.course])]
    losses = [
        ("loss", "before", [step.loss for step in d.course]),
        ("balanced loss", "after", [step.balanced_loss for step in d.course]),
    ]
    return {
        "changed_chart": charts.line_chart(changed, "iteration", "labels changed"),
        # The losses of different kinds can't be compared.
        "loss_chart": None if d.kinds else charts.line_chart(losses, "iteration", "loss"),
        "member_chart": charts.member_chart(d.members) if d.members and not d.kinds else None,
        "n_members": max(1, len(d.members)),
    }


def _certainty(d: Diagnosis, about: About, album: Album) -> dict[str, Any]:
    described = about.target_rows is not None
    texts = [
        marked("" if about.target_rows is None else about.target_rows[row.row], about.speaking.get(row.row, ()))
        for row in d.uncertain
    ]
    by_votes = not d.kinds and len(d.members) == len(d.bins)
    return {
        "confidence_chart": charts.confidence_chart(d.bins, by_votes),
        "confidence_text": _confidence_text(d, by_votes),
        "described": described,
        "speaking": bool(about.speaking),
        "by_member_votes": bool(d.members) and not d.kinds,
        "uncertain": [
            {**vars(row), "pieces": text, "picture": album.place("target", row.row)}
            for row, text in zip(d.uncertain, texts, strict=True)
        ],
    }


def _confidence_text(d: Diagnosis, by_votes: bool) -> str:
    sure = d.bins[-1].kept + d.bins[-1].changed
    share = f"{sure:,} of {d.n_target:,} rows, {100 * sure / d.n_target:.1f}{NBSP}%,"
    if not by_votes:
        return f"{share} have a label with an estimated confidence above {100 * d.bins[-1].low:.0f}{NBSP}%."
    return (
        f"{share} get the votes of all {len(d.members)} members. Votes show how much a label depends on the random "
        "draws, not how likely it is to be right."
    )
