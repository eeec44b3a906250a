"""Networks as ONNX: what a file may hold, and sessions that run it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joblib import cpu_count

from adrem.exceptions import DamagedDataError, MissingImportError, ParameterError
from adrem.features.layers import LAST_HIDDEN, unknown_layer
from adrem.files.labelled_rows import guarded
from adrem.runtime.memory import check_room

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
BESIDE = "session.model_external_initializers_file_folder_path"
LINEAR = ("Gemm", "MatMul")


def open_session(path: Path, device: str, layer: str | None = None) -> Any:
    """Open the network in a file, after a check of the files that it refers to; see `start_session`."""
    check_device(device)
    content = _read(path)
    locations = list(_locations(parse_network(content, str(path))))
    _check_places(path, locations)
    if locations and layer is None:  # older versions find files beside a network only with its path
        return start_session(str(path), device, str(path))
    return start_session(content, device, str(path), layer)


def start_session(network: bytes | str, device: str, name: str, layer: str | None = None) -> Any:
    """Return a session that runs a network up to a layer, by default to its outputs.

    It uses the threads that `OMP_NUM_THREADS` allows, else all cores. Files beside the network are found by its name.
    """
    runtime = import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0) or cpu_count()
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised anyway
    options.add_session_config_entry(BESIDE, str(Path(name).parent.resolve()))
    chosen = network if layer is None or isinstance(network, str) else _up_to(network, layer, name)
    providers = [PROVIDERS[device]]
    return guarded(name, "a network", lambda: runtime.InferenceSession(chosen, options, providers=providers))


def run_session(session: Any, given: dict[str, Any], name: str) -> Any:
    """Return the first output of a network; errors name the network."""
    return guarded(name, "a network", lambda: session.run(None, given))[0]


def import_runtime() -> Any:
    """Import onnxruntime, or raise an error that says what to install."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingImportError(
            "Encoders need onnxruntime: pip install 'adrem[text]' for text, 'adrem[images]' for images."
        ) from error
    return onnxruntime


def check_device(device: str) -> None:
    """Raise an error, before any work, if onnxruntime has no such device."""
    if PROVIDERS[device] not in import_runtime().get_available_providers():
        raise ParameterError(
            f"device={device!r}: onnxruntime finds no GPU here. Install onnxruntime-gpu, or set device='cpu'.", "device"
        )


def _read(path: Path) -> bytes:
    check_room(4 * path.stat().st_size, f"The network {path.name}", "choose a smaller one")
    return path.read_bytes()


def _check_places(path: Path, locations: list[str]) -> None:
    """Raise an error for files outside of the folder of the network."""
    folder = path.parent.resolve()
    for location in locations:
        if Path(location).is_absolute() or not (folder / location).resolve().is_relative_to(folder):
            raise DamagedDataError(
                f"{path} refers to {location!r}, outside of its folder: it is not read. Get the model from a place "
                "that you trust."
            )


def parse_network(content: bytes, name: str) -> Any:
    """Parse a network, without reading any file that it refers to."""
    try:
        import onnx
    except ImportError as error:
        raise MissingImportError("Networks need onnx: pip install 'adrem[text]' or 'adrem[images]'.") from error
    network = guarded(name, "a network", lambda: onnx.load_model_from_string(content))
    if not network.graph.node:
        raise DamagedDataError(f"{name} holds no network: get the file again.")
    return network


def _up_to(content: bytes, layer: str, name: str) -> bytes:
    """Return a network whose only output is that of a layer."""
    network = parse_network(content, name)
    graph = network.graph
    known = _layers(graph)
    if layer not in known:
        raise unknown_layer(
            layer, name, [own.name for own in graph.output], [own for node in graph.node for own in node.output]
        )
    del graph.output[:]
    graph.output.add().name = known[layer]
    return bytes(network.SerializeToString())


def _layers(graph: Any) -> dict[str, str]:
    """Return what a network makes, by its name, by that of its node, and as the last hidden layer."""
    arrays = {array.name for array in graph.initializer}
    linear = [node for node in graph.node if node.op_type in LINEAR and {*node.input[1:]} & arrays]
    last = {LAST_HIDDEN: linear[-1].input[0]} if linear else {}
    nodes = {node.name: node.output[0] for node in graph.node if node.name and node.output}
    return {**nodes, **{made: made for node in graph.node for made in node.output}, **last}


def _locations(message: Any) -> Iterator[str]:
    """Yield the files that any tensor of a network refers to, at any depth."""
    for field, value in message.ListFields():
        if field.name == "external_data":
            yield from (entry.value for entry in value if entry.key == "location")
        elif field.message_type is not None:
            for part in value if hasattr(value, "__len__") else [value]:
                yield from _locations(part)
