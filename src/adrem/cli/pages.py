"""The HTML report of ``adrem adapt``."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from adrem.cli.parameters import verdict_with_options, with_options

if TYPE_CHECKING:
    from adrem.columns.bundle import Bundle
    from adrem.columns.pair import Pair
    from adrem.columns.recipe import Recipe
    from adrem.diagnostics.contributions import ClassFeatures
    from adrem.diagnostics.diagnosis import Examination
    from adrem.diagnostics.results import Diagnosis
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
    diagnosis = examined.diagnosis()
    about = About(
        title=f"{names[1]}, labelled from {names[0]}",
        source_name=names[0],
        target_name=names[1],
        source_rows=texts[0],
        target_rows=texts[1],
        speaking={} if texts[1] is None else _speaking(pair, model, diagnosis),
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
        **_pictures(pair, examined, samples=samples),
    )
    labels: dict[str, list[Any]] = {
        "source": pair.y_source.tolist(),
        "target": model.classes_[examined.after].tolist(),
    }
    return make_page(_shown(diagnosis, pair.recipe), labels, about)


def _shown(diagnosis: Diagnosis, recipe: Recipe | None) -> Diagnosis:
    """Return a diagnosis that names options, and the features that tell a person something."""
    return replace(
        diagnosis,
        verdict=verdict_with_options(diagnosis.verdict),
        class_features=_readable_features(diagnosis.class_features, recipe),
    )


def _pictures(pair: Pair, examined: Examination, *, samples: bool) -> dict[str, Any]:
    """Return the pictures of rows that are images, and the rows to look at for each label; nothing for other rows."""
    from adrem.columns.photos import PHOTO, Thumbnails
    from adrem.reports.pictures import SHOWN_ROWS, SIDE

    if not samples or pair.frames is None or pair.recipe is None or pair.recipe.encoder_of_images is None:
        return {}
    source, target = (Thumbnails(frame, PHOTO, SIDE) for frame in pair.frames)
    return {"source_pictures": source, "target_pictures": target, "examples": examined.examples(SHOWN_ROWS)}


def _speaking(pair: Pair, model: Any, diagnosis: Diagnosis) -> dict[int, list[str]]:
    """Return the words that speak for the label of the least certain rows; none for tables without text."""
    from adrem.columns.words import speaking_words

    if pair.frames is None or pair.recipe is None:
        return {}
    rows, labels = ([getattr(own, name) for own in diagnosis.uncertain] for name in ("row", "label"))
    return speaking_words(model, pair.recipe, pair.frames[1], rows, labels)


def _readable_features(features: list[ClassFeatures], recipe: Recipe | None) -> list[ClassFeatures]:
    """Return the classes with features that tell a person something."""
    readable = [_readable(own, recipe) for own in features]
    return [own for own in readable if own.source or own.adapted]


def _readable(features: ClassFeatures, recipe: Recipe | None) -> ClassFeatures:
    """Return the features of a class without the constant and those of networks, which tell a person nothing."""
    from adrem.columns.recipe import CONSTANT

    hidden = {CONSTANT, *([] if recipe is None else recipe.encoded_names)}
    sides = {"source": features.source, "adapted": features.adapted, "gained": features.gained}
    return replace(features, **{name: [own for own in side if own not in hidden] for name, side in sides.items()})


def baseline_text(baseline: Any) -> str:
    """Return which classifier of the source was chosen, and how good it is on held-out rows."""
    accuracy = baseline.cv_accuracy_.get(baseline.chosen_)
    return baseline.chosen_ if accuracy is None else f"{baseline.chosen_}, held-out accuracy {accuracy:.2f}"


def parameters(model: Any) -> str:
    """Return the parameters of a model as one line."""
    return ", ".join(f"{name}={value!r}" for name, value in model.get_params().items())
