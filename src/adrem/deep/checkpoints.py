"""Checkpoints of a training: one safetensors file, which holds no code."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load as tensors_of
from safetensors.torch import save as bytes_of

from adrem.exceptions import DamagedDataError, InvalidDataError
from adrem.files.atomic import written_whole

NAME, LOG = "checkpoint.safetensors", "training.csv"
NOTES = "notes"  # a tensor of bytes: JSON
Tensors = dict[str, Any]


class Checkpoint(NamedTuple):
    """The tensors of a training and plain values beside them."""

    tensors: Tensors
    notes: dict[str, Any]


def write_tensors(path: Path, tensors: Tensors, notes: dict[str, Any]) -> None:
    """Write tensors and plain values to a file, which is there when all of it is."""
    import torch

    text = np.frombuffer(json.dumps(notes).encode(), np.uint8).copy()
    content = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()
    }
    with written_whole(path) as file:
        file.write(bytes_of({**content, NOTES: torch.from_numpy(text)}))


def read_tensors(path: Path) -> Checkpoint:
    """Read what `write_tensors` wrote."""
    try:
        tensors = tensors_of(path.read_bytes())
        notes = json.loads(tensors.pop(NOTES).numpy().tobytes())
    except (SafetensorError, KeyError, ValueError) as error:
        raise DamagedDataError(f"{path} is damaged, or no file of adrem.deep: remove it.") from error
    return Checkpoint(tensors, notes)


def write_log(path: Path, log: list[dict[str, Any]]) -> None:
    """Write the losses of a training as CSV."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, list(dict.fromkeys(name for entry in log for name in entry)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(log)
    with written_whole(path) as file:
        file.write(buffer.getvalue().encode())


class Folder:
    """Where a training keeps its last checkpoint and its log; nowhere without a path."""

    def __init__(self, path: Path | None, mark: str) -> None:
        self._file = None if path is None else path / NAME
        self._mark = mark
        if path is not None:
            path.mkdir(parents=True, exist_ok=True)

    def write(self, tensors: Tensors, notes: dict[str, Any]) -> None:
        """Replace the checkpoint."""
        if self._file is not None:
            write_tensors(self._file, tensors, {**notes, "mark": self._mark})
            write_log(self._file.with_name(LOG), notes["log"])

    def read(self) -> Checkpoint | None:
        """Return the checkpoint, if there is one of this very training."""
        if self._file is None or not self._file.exists():
            return None
        found = read_tensors(self._file)
        if found.notes.get("mark") != self._mark:
            raise InvalidDataError(
                f"{self._file} belongs to a fit with other rows or parameters: choose another folder as checkpoint, or "
                "remove the file to begin anew."
            )
        return found


def mark_of(arrays: list[Any], settings: Any) -> str:
    """Return a checksum of the rows, the labels and the settings of a training."""
    sha = hashlib.sha256(json.dumps(settings, default=str, sort_keys=True).encode())
    for array in arrays:
        sha.update(f"{array.shape} {array.dtype}".encode())
        sha.update(np.ascontiguousarray(array).data)
    return sha.hexdigest()
