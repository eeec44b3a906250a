"""Find the files of an encoder: at a path, else by its name in the folder of the models or in the cache."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from adrem.datasets.home import cache_home
from adrem.exceptions import DamagedDataError, EncoderNotFoundError, ParameterError
from adrem.features.catalog import CATALOG, Kind, Known
from adrem.runtime.memory import size_of

# Packages whose architectures are known by name, with weights from a file.
PACKAGES = ("timm", "torchvision")
MODULE = "torch"  # before the name of a module that was given
NAME = re.compile(rf"(?:(?:{'|'.join((*PACKAGES, MODULE))}):)?[A-Za-z0-9][A-Za-z0-9._-]{{0,99}}")
NETWORKS = ("model.onnx", "onnx/model.onnx")
SAFE = "model.safetensors"
TOKENIZER, CONFIG = "tokenizer.json", "config.json"
FORMS = (".onnx", ".npz", ".safetensors")
# How large a file may be; a network has to fit into one message of protobuf.
MOST_BYTES = {TOKENIZER: 2**26, CONFIG: 2**20}
MOST_NETWORK_BYTES = 2**31
# Files of weights that are pickles, or may hold one.
PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle", ".h5", ".keras"}
CONVERT = (
    "It may run code when it is read. Convert it once where you trust it: by torch.onnx.export(network, example, "
    "'model.onnx'), and name that file; or by safetensors.torch.save_file(network.state_dict(), 'NAME.safetensors'), "
    "for an architecture of torchvision or timm"
)


@dataclass(frozen=True)
class Weights:
    """The files of an encoder, and one checksum of them all."""

    name: str
    files: dict[str, Path]
    checksum: str

    @property
    def network(self) -> Path:
        """The file of the network."""
        return next(path for path in self.files.values() if path.suffix in FORMS)


def model_homes() -> list[Path]:
    """Return the folders with models: ``ADREM_MODELS`` if it is set, and one in the cache folder."""
    chosen = os.environ.get("ADREM_MODELS")
    return [*([Path(chosen).expanduser()] if chosen else []), cache_home() / "models"]


def find_weights(model: str | os.PathLike[str], kind: Kind) -> Weights:
    """Return the files of a model, given by its name or its path. All that is known of them is checked."""
    path = _as_path(model)
    if path is not None:
        return _at_path(path, kind)
    name = str(model)
    if ":" in name:
        return _of_package(name, kind)
    known = CATALOG.get(name)
    if known is not None:
        return _known(known, kind)
    for home in model_homes():
        for place in (home / name, home / f"{name}.onnx"):
            if place.exists():
                return _at_path(place, kind)
    names = ", ".join(own.name for own in CATALOG.values() if own.kind == kind)
    raise EncoderNotFoundError(
        f"There is no model {name!r}: known by name are {names}. Others are a folder with model.onnx"
        f"{' and tokenizer.json' if kind == 'text' else ''}, given by its path, or in {model_homes()[0]}."
    )


def model_name(model: str | os.PathLike[str]) -> str:
    """Return the name of a model, for one given by its path that of its folder or file."""
    path = Path(model)
    if path.suffix in FORMS:
        return path.parent.name if path.name in NETWORKS else path.stem
    return path.name


def find_known(known: Known) -> dict[str, Path] | None:
    """Return the files of a known encoder by their names, from the first folder that has one of them."""
    for home in model_homes():
        files = {name: home / name for name in known.files}
        if any(path.is_file() for path in files.values()):
            return files
    return None


def _as_path(model: str | os.PathLike[str]) -> Path | None:
    """Return a model that is given by its path; None if it is a name."""
    if not isinstance(model, str):
        return Path(model).expanduser()
    if NAME.fullmatch(model) and Path(model).suffix not in {*FORMS, *PICKLES}:
        return None
    if ".." in re.split(r"[/\\]", model) or not model.strip():
        raise ParameterError(
            f"{model!r} is no name of a model, and no path without '..': pass pathlib.Path({model!r}) if it is a "
            "folder of yours.",
            "model",
        )
    return Path(model).expanduser()


def _known(known: Known, kind: Kind) -> Weights:
    if known.kind != kind:
        raise ParameterError(f"{known.name} encodes {known.kind}s: choose another model for {kind}s.", "model")
    files = find_known(known)
    if files is None:
        listed = ", ".join(known.files)
        raise EncoderNotFoundError(
            f"The model {known.name} is not here. Put {listed} into {model_homes()[0]}, or set ADREM_MODELS to a "
            f"folder that holds them. `adrem models info {known.name}` says where they come from."
        )
    for name, checksum in known.files.items():
        _check_file(files[name], name)
        if checksum_of(files[name]) != checksum:
            raise DamagedDataError(
                f"{files[name]} is not the file that {known.name} has: its checksum differs. Get it again, or pass "
                "its path to use it as a model of your own."
            )
    own = {Path(name).name: path for name, path in files.items()}
    return Weights(known.name, own, _joined_checksum(own))


def _of_package(name: str, kind: Kind) -> Weights:
    """Return the weights of an architecture of a package; they lie in a folder with the name of the package."""
    package, _, architecture = name.partition(":")
    if package == MODULE:
        raise EncoderNotFoundError(
            f"{name} is a network that was given as a module of torch: pass it, by encoder.set_params(model=network)."
        )
    if kind != "image":
        raise ParameterError(f"{name} encodes images: choose another model for {kind}s.", "model")
    for home in model_homes():
        folder = home / package
        for place in (*(folder / f"{architecture}{form}" for form in FORMS[1:]), folder / architecture / SAFE):
            if place.is_file():
                _check_file(place, name)
                files = {place.name: place}
                return Weights(name, files, _joined_checksum(files))
    folder = model_homes()[0] / package
    pickles = [folder / f"{architecture}{form}" for form in sorted(PICKLES)]
    for pickle in pickles:
        if pickle.is_file():
            _check_network(pickle)
    raise EncoderNotFoundError(
        f"The weights of {name} are not here. Put {architecture}.safetensors into {folder}: `adrem models fetch "
        f"timm/{architecture}` gets those of timm from the hub, and safetensors.torch.save_file writes those of a "
        "network of yours."
    )


def _at_path(path: Path, kind: Kind) -> Weights:
    if not path.exists():
        raise EncoderNotFoundError(f"There is no file or folder {path}, which should hold a model.")
    files = {path.name: path} if path.is_file() else _in_folder(path)
    if kind == "text" and path.is_file():
        files |= {name: path.with_name(name) for name in (TOKENIZER, CONFIG) if path.with_name(name).is_file()}
    _check_network(next(iter(files.values())))
    for file in files.values():
        _check_file(file, str(path))
    if kind == "text" and TOKENIZER not in files:
        raise EncoderNotFoundError(f"There is no {TOKENIZER} beside the network in {path}: put it there.")
    return Weights(model_name(path), files, _joined_checksum(files))


def _in_folder(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that a model is made of."""
    network = next((folder / name for name in NETWORKS if (folder / name).is_file()), None)
    if network is None:
        pickles = sorted(path for path in folder.iterdir() if path.suffix in PICKLES)
        network = pickles[0] if pickles else folder / NETWORKS[0]
    beside = {name: folder / name for name in (TOKENIZER, CONFIG) if (folder / name).is_file()}
    return {network.name: network, **beside}


def _check_network(network: Path) -> None:
    if network.suffix.lower() in PICKLES:
        raise ParameterError(f"{network} is no file that is safe to read. {CONVERT}.", "model")
    if network.suffix.lower() == ".safetensors":
        raise ParameterError(
            f"{network} has weights without a network: put it into {model_homes()[0] / PACKAGES[0]}, and name its "
            "architecture, such as timm:resnet18.",
            "model",
        )
    if network.suffix.lower() not in FORMS:
        raise ParameterError(f"{network} is not of a known form: name a file that ends in .onnx.", "model")


def _check_file(path: Path, name: str) -> None:
    if not path.is_file():
        raise EncoderNotFoundError(f"There is no file {path}, which belongs to the model {name}: put it there.")
    n_bytes, most = path.stat().st_size, MOST_BYTES.get(path.name, MOST_NETWORK_BYTES)
    if n_bytes > most:
        raise DamagedDataError(f"{path} takes {size_of(n_bytes)}, and may take {size_of(most)}: it is not read.")


def _joined_checksum(files: dict[str, Path]) -> str:
    lines = [f"{checksum_of(path)}  {name}" for name, path in sorted(files.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def checksum_of(path: Path) -> str:
    """Return the SHA-256 checksum of a file, computed once for each state of it."""
    state = path.stat()
    return _checksum(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _checksum(path: Path, time: int, size: int) -> str:  # noqa: ARG001 - what the answer depends on
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
