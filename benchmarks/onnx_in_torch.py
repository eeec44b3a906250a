"""The ResNet-50 of the paper as a module of torch, for GPUs where onnxruntime has none: its ONNX nodes, one by one."""

from __future__ import annotations

from typing import Any

import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional


class OnnxModule(torch.nn.Module):
    """Runs an ONNX network of convolutions, additions and pooling."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        graph = onnx.load_model_from_string(content).graph
        self._given, self._made = graph.input[0].name, graph.output[0].name
        self._nodes = [(own.op_type, [*own.input], own.output[0], _settings(own)) for own in graph.node]
        for array in graph.initializer:
            self.register_buffer(_plain(array.name), torch.from_numpy(numpy_helper.to_array(array).copy()))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the output for images."""
        values: dict[str, torch.Tensor] = {self._given: images}
        arrays = dict(self.named_buffers())
        for kind, inputs, output, settings in self._nodes:
            given = [values[name] if name in values else arrays[_plain(name)] for name in inputs]
            values[output] = _run(kind, given, settings)
        return values[self._made]


def _run(kind: str, given: list[torch.Tensor], settings: dict[str, Any]) -> torch.Tensor:
    if kind == "Conv":
        return functional.conv2d(*given, stride=settings["strides"][0], padding=settings["pads"][0])
    if kind == "MaxPool":
        side, stride, pad = (settings[name][0] for name in ("kernel_shape", "strides", "pads"))
        return functional.max_pool2d(given[0], side, stride, pad)
    simple = {
        "Relu": lambda: functional.relu(given[0]),
        "Add": lambda: given[0] + given[1],
        "GlobalAveragePool": lambda: given[0].mean(dim=(2, 3), keepdim=True),
        "Flatten": lambda: given[0].flatten(1),
    }
    return simple[kind]()


def _settings(node: Any) -> dict[str, Any]:
    return {own.name: onnx.helper.get_attribute_value(own) for own in node.attribute}


def _plain(name: str) -> str:
    return name.replace(".", "_")
