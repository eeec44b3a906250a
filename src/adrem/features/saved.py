"""Encoders as plain values: the name of the model, its checksum and the settings, never the network."""

from __future__ import annotations

from typing import Any

from adrem.base.constraints import check_params
from adrem.exceptions import DamagedDataError
from adrem.features.encoder import Encoder
from adrem.features.images import ImageEncoder
from adrem.features.text import TextEncoder
from adrem.features.weights import NAME

CLASSES: dict[str, type[Encoder]] = {"text": TextEncoder, "image": ImageEncoder}
# What is of one machine only.
LOCAL = ("cache", "device", "verbose")
MAX_FEATURES = 2**16


def encoder_to_dict(encoder: Encoder) -> dict[str, Any]:
    """Return what names a fitted encoder. A model given by its path is named by the last part of it."""
    params = {name: value for name, value in encoder.get_params().items() if name not in LOCAL}
    return {
        "kind": encoder.kind,
        "params": {**params, "model": encoder.model_name},
        "checksum": encoder.checksum_,
        "n_features": encoder.n_features_out_,
    }


def encoder_from_dict(parts: dict[str, Any]) -> Encoder:
    """Return the encoder of values from a file that may be hostile; its network is opened when it is needed."""
    given = {name: value for name, value in parts["params"].items() if name not in LOCAL}
    encoder = CLASSES[parts["kind"]](**given)
    check_params(encoder)
    n_features = int(parts["n_features"])
    if not NAME.fullmatch(str(given["model"])) or not 0 < n_features <= MAX_FEATURES:
        raise DamagedDataError("The encoder of the model file has no plain name, or no number of features.")
    encoder.checksum_, encoder.n_features_out_ = str(parts["checksum"]), n_features
    return encoder
