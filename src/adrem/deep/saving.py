"""A fitted network as a folder: the head as a model file, the weights as safetensors beside it. Neither runs code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from adrem.base.constraints import check_params
from adrem.deep.checkpoints import read_tensors, write_tensors
from adrem.deep.classifier import DeepClassifier, choose_device
from adrem.deep.estimator import DeepAdREM
from adrem.deep.images import views_of
from adrem.deep.network import Network, own_encoder
from adrem.deep.peers import DeepPeer
from adrem.exceptions import InvalidTypeError, UnreadableModelError
from adrem.persistence import models

WEIGHTS, HEAD = "network.safetensors", "head.adrem"
FORMAT = "adrem-deep-1"
CLASSES: dict[str, type[DeepClassifier]] = {"DeepAdREM": DeepAdREM, "DeepPeer": DeepPeer}
LABELS = ("transduction_", "round_labels_", "head_labels_", "network_labels_")
VALUES = ("history_", "training_log_", "seconds_")
PLAIN = (bool, int, float, str, type(None))


def save(model: DeepClassifier, folder: str | os.PathLike[str]) -> None:
    """Write a fitted network to a folder.

    Parameters
    ----------
    model : DeepAdREM or DeepPeer
        A fitted model. Its encoder, if it is no known one, is not written but for its weights: `load` needs it again.
    folder : path-like
        The folder, which is made if it is not there. Files of the same names are replaced.

    See Also
    --------
    load : Read it again.

    Examples
    --------
    >>> from adrem.deep import load, save
    >>> save(model, "mugs")  # doctest: +SKIP
    >>> load("mugs").predict(["snapshot.jpg"])  # doctest: +SKIP
    """
    if type(model).__name__ not in CLASSES:
        raise InvalidTypeError(f"{type(model).__name__} can't be saved here: give a DeepAdREM or a DeepPeer.")
    check_is_fitted(model, "network_")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if getattr(model, "head_", None) is not None:
        models.save(model.head_, place / HEAD)
    codes = {name: _codes(model, name) for name in LABELS if hasattr(model, name)}
    tensors = {f"network.{name}": own for name, own in model.network_.state_dict().items()} | codes
    params = {name: own for name, own in model.get_params(deep=False).items() if isinstance(own, PLAIN)}
    notes = {
        "format": FORMAT,
        "model": type(model).__name__,
        "params": params,
        "classes": model.classes_.tolist(),
        "has_head": getattr(model, "head_", None) is not None,
        "values": {name: getattr(model, name) for name in VALUES if hasattr(model, name)},
    }
    write_tensors(place / WEIGHTS, tensors, notes)


def load(folder: str | os.PathLike[str], *, encoder: Any = None) -> Any:
    """Read a network that `save` wrote.

    Parameters
    ----------
    folder : path-like
        The folder.
    encoder : torch.nn.Module, default=None
        The encoder, with any weights, if it is not known by name.

    Returns
    -------
    DeepAdREM or DeepPeer
        The fitted model, on the CPU or, with ``device="auto"`` or ``"cuda"``, on the GPU.

    Raises
    ------
    UnreadableModelError
        If the files are damaged, or of another encoder.

    See Also
    --------
    save : Write such a folder.

    Examples
    --------
    >>> from adrem.deep import load
    >>> model = load("mugs")  # doctest: +SKIP
    """
    place = Path(folder)
    tensors, notes = read_tensors(place / WEIGHTS)
    try:
        return _rebuild(place, tensors, notes, encoder)
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, IndexError) as error:
        if isinstance(error, InvalidTypeError | UnreadableModelError):
            raise
        raise UnreadableModelError(
            f"{place} has no network of adrem.deep, or one of another encoder: {error}"
        ) from error


def _rebuild(place: Path, tensors: dict[str, Any], notes: dict[str, Any], encoder: Any) -> DeepClassifier:
    if notes["format"] != FORMAT:
        raise UnreadableModelError(f"{place} is of another version of adrem.")
    params = notes["params"] | ({} if encoder is None else {"encoder": encoder})
    model = CLASSES[notes["model"]](**params)
    if "encoder" not in params:
        raise InvalidTypeError(f"{place} was saved with an encoder of its own: pass it, load(folder, encoder=network).")
    check_params(model)
    model.classes_ = np.array(notes["classes"])
    n_outputs, n_inputs = tensors["network.narrow.0.weight"].shape
    if n_outputs != model.width:  # before a layer of any width is made
        raise UnreadableModelError(f"{place} states another width than its weights have.")
    own = own_encoder(model.encoder)
    model.views_ = views_of(own, model.size, model.augment)
    model.network_ = Network(own, n_inputs, model.width, len(model.classes_))
    weights = {name.removeprefix("network."): own for name, own in tensors.items() if name.startswith("network.")}
    model.network_.load_state_dict(weights)
    model.network_.to(choose_device(model.device)).eval()
    for name in set(LABELS) & tensors.keys():
        setattr(model, name, model.classes_[tensors[name].numpy()])
    for name in set(VALUES) & notes["values"].keys():
        setattr(model, name, notes["values"][name])
    model.head_ = models.load(place / HEAD) if notes["has_head"] else None
    return model


def _codes(model: DeepClassifier, name: str) -> Any:
    """Return labels as positions of classes."""
    return torch.from_numpy(np.searchsorted(model.classes_, getattr(model, name)).astype(np.int32))
