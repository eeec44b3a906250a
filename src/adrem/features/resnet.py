"""The ResNet-50 of the paper, as Keras has it, built as an ONNX network from its weights.

The stride of a stage is on its first convolution. Batch normalization is folded into the convolutions before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import MissingImportError
from adrem.files.archives import read_arrays
from adrem.files.budget import Budget
from adrem.files.labelled_rows import guarded

STAGES = (3, 4, 6, 3)  # blocks of each stage
EPSILON = 1e-3
OPSET, IR_VERSION = 13, 8  # known to every onnxruntime that is supported
MAX_BYTES = 2**28  # what the weights may unpack to


def resnet50(path: Path) -> bytes:
    """Return the network of a file of weights under torchvision's names."""
    with path.open("rb") as file:
        weights = guarded(str(path), "weights of ResNet-50", lambda: read_arrays(file, Budget(MAX_BYTES)))
    return bytes(guarded(str(path), "weights of ResNet-50", lambda: _Builder(weights).build()))


class _Builder:
    """Adds layers to a network, one after the other."""

    def __init__(self, weights: dict[str, NDArray[Any]]) -> None:
        try:
            from onnx import helper, numpy_helper
        except ImportError as error:
            raise MissingImportError("ResNet-50 needs onnx: pip install 'adrem[images]'.") from error
        self._helper, self._numpy = helper, numpy_helper
        self._weights = weights
        self._nodes: list[Any] = []
        self._arrays: list[Any] = []

    def build(self) -> bytes:
        """Return the whole network, from images to the mean over the last map."""
        out = self._relu(self._convolution("images", "conv1", "bn1", stride=2, pad=3))
        out = self._node("MaxPool", [out], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        for stage, n_blocks in enumerate(STAGES, 1):
            for block in range(n_blocks):
                stride = 2 if block == 0 and stage > 1 else 1
                out = self._block(out, f"layer{stage}.{block}", stride, widened=block == 0)
        pooled = self._node("GlobalAveragePool", [out])
        self._nodes.append(self._helper.make_node("Flatten", [pooled], ["features"], axis=1))
        return bytes(self._model().SerializeToString())

    def _block(self, given: str, name: str, stride: int, *, widened: bool) -> str:
        out = self._relu(self._convolution(given, f"{name}.conv1", f"{name}.bn1", stride=stride))
        out = self._relu(self._convolution(out, f"{name}.conv2", f"{name}.bn2", pad=1))
        out = self._convolution(out, f"{name}.conv3", f"{name}.bn3")
        short = given
        if widened:
            short = self._convolution(given, f"{name}.downsample.0", f"{name}.downsample.1", stride=stride)
        return self._relu(self._node("Add", [out, short]), name)

    def _convolution(self, given: str, name: str, normal: str, *, stride: int = 1, pad: int = 0) -> str:
        """Add a convolution with the normalization that follows it."""
        kernel = self._weights[f"{name}.weight"].astype(np.float32)
        gain, shift, mean, variance = (
            self._weights[f"{normal}.{part}"].astype(np.float32)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        gain = gain / np.sqrt(variance + EPSILON)
        self._keep(f"{name}.weight", kernel * gain[:, None, None, None])
        self._keep(f"{name}.bias", shift - mean * gain)
        inputs = [given, f"{name}.weight", f"{name}.bias"]
        return self._node("Conv", inputs, strides=[stride] * 2, pads=[pad] * 4, kernel_shape=[*kernel.shape[2:]])

    def _relu(self, given: str, name: str = "") -> str:
        return self._node("Relu", [given], name)

    def _node(self, kind: str, inputs: list[str], name: str = "", **settings: Any) -> str:
        output = name or f"{kind}_{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(kind, inputs, [output], **settings))
        return output

    def _keep(self, name: str, array: NDArray[np.float32]) -> None:
        self._arrays.append(self._numpy.from_array(np.ascontiguousarray(array), name))

    def _model(self) -> Any:
        helper, number = self._helper, 1  # the number of float32
        images = helper.make_tensor_value_info("images", number, ["n", 3, "height", "width"])
        features = helper.make_tensor_value_info("features", number, ["n", "features"])
        graph = helper.make_graph(self._nodes, "resnet50", [images], [features], self._arrays)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
