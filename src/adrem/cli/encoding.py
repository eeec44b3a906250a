"""The options of encoders, and which encoder reads which table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from adrem.columns.recipe import Recipe
    from adrem.features.encoder import Encoder

Model = Annotated[
    str | None,
    typer.Option("--encoder", help="Network for texts or images: a name (adrem models list), a folder, an ONNX file."),
]
Chunks = Annotated[
    str | None, typer.Option(help="first or mean: what becomes of texts too long for the encoder (default: first).")
]
IMAGES = "resnet50"


def make_encoder(model: str | None, chunks: str | None, files: tuple[str, ...]) -> Encoder | None:
    """Return the encoder of images if the first of the files is a folder, of texts if one is asked for, else None."""
    from adrem.columns.photos import is_photos

    if is_photos(files[0]):
        from adrem.features import ImageEncoder

        if chunks is not None:
            raise typer.BadParameter("Only texts have chunks.", param_hint="--chunks")
        return ImageEncoder(_place(model or IMAGES), verbose=1).fit([])
    if model is None:
        if chunks is not None:
            raise typer.BadParameter("It needs a network for texts: --encoder gte-small.", param_hint="--chunks")
        return None
    from adrem.features import TextEncoder

    return TextEncoder(_place(model), chunks=chunks or "first", verbose=1).fit([])


def label_or_class(label: str | None, encoder: Encoder | None) -> str | None:
    """Return the column with the labels: of images the names of their folders, if no other is named."""
    from adrem.columns.photos import CLASS

    return CLASS if label is None and encoder is not None and encoder.kind == "image" else label


def encoder_of_images(recipe: Recipe | None) -> Encoder | None:
    """Return the encoder of a model for images; None for other models."""
    encoder = None if recipe is None else recipe.encoder_of_images
    return None if encoder is None else encoder.set_params(verbose=1)


def _place(model: str) -> Any:
    """Return the path of a model that is there, else its name."""
    return Path(model) if Path(model).exists() else model
