"""Networks of torch: modules that are given, and architectures of torchvision and timm with weights from a file."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import MissingImportError, ParameterError
from adrem.features.layers import LAST_HIDDEN, unknown_layer
from adrem.features.normalization import IMAGENET, Normalization
from adrem.files.archives import read_arrays
from adrem.files.budget import Budget
from adrem.files.labelled_rows import guarded

MAX_BYTES = 2**31  # what the weights of an npz file may unpack to

Run = Callable[[NDArray[np.float32]], NDArray[Any]]


def is_module(model: Any) -> bool:
    """Return whether a model is a module of torch, without an import of torch."""
    return callable(getattr(model, "state_dict", None)) and callable(getattr(model, "forward", None))


def checksum_of_module(module: Any) -> str:
    """Return a checksum of the class and of all weights of a module."""
    digest = hashlib.sha256(type(module).__qualname__.encode())
    tensors = {name: value for name, value in module.state_dict().items() if hasattr(value, "detach")}
    for name, tensor in sorted(tensors.items()):
        values = tensor.detach().cpu().contiguous()
        digest.update(f"\n{name} {values.dtype} {tuple(values.shape)}\n".encode())
        digest.update(values.reshape(-1).view(_torch().uint8).numpy().tobytes())
    return digest.hexdigest()


def run_module(module: Any, device: str, layer: str | None, name: str) -> Run:
    """Return a function that runs a copy of a module up to a layer, by default to its output."""
    torch = _torch()
    if device == "cuda" and not torch.cuda.is_available():
        raise ParameterError("device='cuda': torch finds no GPU here. Set device='cpu'.", "device")
    own = copy.deepcopy(module).eval().requires_grad_(False).to(device)
    place, takes_input = _find_layer(own, layer, name)

    def run(images: NDArray[np.float32]) -> NDArray[Any]:
        with torch.inference_mode(), _caught(place, takes_input) as caught:
            output = own(torch.from_numpy(images).to(device))
        found = caught[-1] if place is not None and caught else output
        while isinstance(found, (tuple, list)):
            found = found[0]
        return np.asarray(found.float().cpu().numpy())

    return lambda images: np.asarray(guarded(name, "a network", lambda: run(images)))


def named_module(name: str, weights: Path) -> tuple[Any, Normalization]:
    """Return an architecture of torchvision or timm with weights from a file, and how its images are normalized."""
    package, _, architecture = name.partition(":")
    module = _timm(architecture) if package == "timm" else _torchvision(architecture)
    state = _read_state(weights)
    guarded(str(weights), f"weights of {name}", lambda: module.load_state_dict(state))
    told = getattr(module, "pretrained_cfg", None) or {}
    if "mean" in told and "std" in told:
        return module, Normalization(tuple(told["mean"]), tuple(told["std"]))
    return module, IMAGENET


def _find_layer(module: Any, layer: str | None, name: str) -> tuple[Any, bool]:
    """Return the part of a module that is a layer, and whether its input is meant instead of its output."""
    if layer is None:
        return None, False
    parts = dict(module.named_modules())
    parts.pop("", None)
    if layer == LAST_HIDDEN:
        linear = [part for part in parts.values() if isinstance(part, _torch().nn.Linear)]
        if linear:
            return linear[-1], True
    elif layer in parts:
        return parts[layer], False
    raise unknown_layer(layer, name, [], list(parts))


@contextmanager
def _caught(part: Any, takes_input: bool) -> Iterator[list[Any]]:
    """Collect what goes into a part of a network, or what comes out."""
    caught: list[Any] = []
    if part is None:
        yield caught
        return
    handle = part.register_forward_hook(lambda _, given, made: caught.append(given if takes_input else made))
    try:
        yield caught
    finally:
        handle.remove()


def _read_state(path: Path) -> dict[str, Any]:
    """Return the weights of a safetensors or npz file by their names."""
    torch = _torch()
    if path.suffix == ".npz":
        with path.open("rb") as file:
            arrays = guarded(str(path), "weights", lambda: read_arrays(file, Budget(MAX_BYTES)))
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
    try:
        from safetensors.torch import load_file
    except ImportError as error:
        raise MissingImportError(f"{path.name} needs safetensors: pip install 'adrem[timm]'.") from error
    state: dict[str, Any] = guarded(str(path), "weights", lambda: load_file(path))
    return state


def _timm(architecture: str) -> Any:
    timm = _import("timm")
    return _made(f"timm:{architecture}", lambda: timm.create_model(architecture, pretrained=False))


def _torchvision(architecture: str) -> Any:
    models = _import("torchvision").models
    return _made(f"torchvision:{architecture}", lambda: models.get_model(architecture, weights=None))


def _made(name: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:
        raise ParameterError(f"{name} is no architecture that is installed: {error}.", "model") from error


def _import(package: str) -> Any:
    import importlib

    try:
        return importlib.import_module(package)
    except Exception as error:  # torchvision raises others if it was built for another torch
        reason = " ".join(str(error).split())[:100]
        raise MissingImportError(
            f"{package} is needed, and torch of a version that fits it: pip install 'adrem[timm]' ({reason})."
        ) from error


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingImportError("Networks of torch need torch: pip install 'adrem[gpu]'.") from error
    return torch
