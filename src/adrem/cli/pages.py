"""The HTML report of ``adrem adapt``."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from adrem.cli.parameters import verdict_with_options, with_options

if TYPE_CHECKING:
    from adrem.columns.bundle import Bundle
    from adrem.columns.pair import Pair
    from adrem.diagnostics.contributions import ClassFeatures
    from adrem.diagnostics.diagnosis import Examination
    from adrem.reports import Report


def check_pages() -> None:
    """Raise an error before any work if jinja2 is missing."""
    if find_spec("jinja2") is None:
        raise ImportError("The report needs jinja2: pip install 'adrem[cli]'")


def make_file_page(
    pair: Pair,
    examined: Examination,
    bundle: Bundle,
    identifier: str | None,
    *,
    summary: dict[str, Any],
    command: str,
    warned: list[str],
    samples: bool = True,
    saved: bool = False,
) -> Report:
    """Return the report about two files; without `samples`, it has no single row of them."""
    from pathlib import Path

    from adrem.columns.labelling import RowTexts
    from adrem.reports import About, make_page

    model, origin = examined.model, bundle.about
    texts: list[RowTexts | None] = [None, None]
    if samples and pair.frames is not None and pair.recipe is not None:
        texts = [RowTexts(frame, pair.recipe, identifier) for frame in pair.frames]
    names = [Path(origin[side]["name"]).name for side in ("source", "target")]
    about = About(
        title=f"{names[1]}, labelled from {names[0]}",
        source_name=names[0],
        target_name=names[1],
        source_rows=texts[0],
        target_rows=texts[1],
        source_places=None if pair.source_places is None else pair.source_places.tolist(),
        command=command,
        facts={
            "source only": baseline_text(bundle.baseline),
            "seed": origin["seed"],
            "C": f"{model.C_:g}",
            "parameters": parameters(model),
            **{f"sha256 of {origin[side]['name']}": origin[side]["sha256"] for side in ("source", "target")},
        },
        notes=[with_options(note) for note in pair.notes],
        scores=examined.score(pair.truth),
        estimate=summary.get("estimated_accuracy"),
        handed_out=summary["handed_out"],
        saved=saved,
        baseline=bundle.baseline.chosen_,
        samples=samples,
        warnings=warned,
    )
    labels: dict[str, list[Any]] = {
        "source": pair.y_source.tolist(),
        "target": model.classes_[examined.after].tolist(),
    }
    diagnosis = examined.diagnosis()
    shown = replace(
        diagnosis,
        verdict=verdict_with_options(diagnosis.verdict),
        class_features=[_without_constant(own) for own in diagnosis.class_features],
    )
    return make_page(shown, labels, about)


def _without_constant(features: ClassFeatures) -> ClassFeatures:
    """Return the features of a class without the constant, which is no column."""
    from adrem.columns.recipe import CONSTANT

    sides = {"source": features.source, "adapted": features.adapted, "gained": features.gained}
    return replace(features, **{name: [own for own in side if own != CONSTANT] for name, side in sides.items()})


def baseline_text(baseline: Any) -> str:
    """Return which classifier of the source was chosen, and how good it is on held-out rows."""
    accuracy = baseline.cv_accuracy_.get(baseline.chosen_)
    return baseline.chosen_ if accuracy is None else f"{baseline.chosen_}, held-out accuracy {accuracy:.2f}"


def parameters(model: Any) -> str:
    """Return the parameters of a model as one line."""
    return ", ".join(f"{name}={value!r}" for name, value in model.get_params().items())
