"""Small networks and tokenizers, made here, in the form of those that encoders read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS = ("[PAD]", "[UNK]", "good", "bad", "book", "knife", "sharp", "dull")
N_FEATURES = 4


def text_model(folder: Path, **changes: Any) -> Path:
    """Write a model whose states are a fixed vector for each word."""
    folder.mkdir(parents=True, exist_ok=True)
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), N_FEATURES)).astype(np.float32)
    save_network(folder / "model.onnx", text_network(vectors))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer() | changes))
    (folder / "config.json").write_text('{"max_position_embeddings": 64}')
    return folder


def tokenizer() -> dict[str, Any]:
    """Return a tokenizer that splits at spaces."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate(WORDS)},
            "unk_token": "[UNK]",
        },
    }


def text_network(vectors: Any) -> onnx.ModelProto:
    """Return a network that looks up the vector of each token."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", "length", vectors.shape[1]])
    nodes = [helper.make_node("Gather", ["vectors", "input_ids"], ["states"])]
    graph = helper.make_graph(nodes, "lookup", inputs, [output], [numpy_helper.from_array(vectors, "vectors")])
    return network_of(graph)


def image_model(path: Path) -> Path:
    """Write a network whose features are the means of the three colours, as torchvision scales them."""
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, "height", "width"])
    features = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 3, 1, 1])
    nodes = [helper.make_node("GlobalAveragePool", ["images"], ["features"])]
    save_network(path, network_of(helper.make_graph(nodes, "means", [images], [features])))
    return path


def classifier_model(path: Path, side: int | str = "side", n: int | str = "n") -> Path:
    """Write a network with a map, the mean over it, and scores of five classes; its arrays are random, but fixed."""
    rng = np.random.default_rng(0)
    arrays = {"kernel": rng.normal(size=(4, 3, 3, 3)), "weight": rng.normal(size=(4, 5)), "bias": rng.normal(size=5)}
    kept = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()]
    nodes = [
        helper.make_node("Conv", ["images", "kernel"], ["map"], name="first"),
        helper.make_node("GlobalAveragePool", ["map"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"], axis=1),
        helper.make_node("Gemm", ["flat", "weight", "bias"], ["scores"]),
    ]
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, [n, 3, side, side])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [n, 5])
    save_network(path, network_of(helper.make_graph(nodes, "classifier", [images], [scores], kept)))
    return path


def network_of(graph: onnx.GraphProto) -> onnx.ModelProto:
    """Return a network for all versions of onnxruntime that are supported."""
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def save_network(path: Path, network: onnx.ModelProto) -> None:
    """Write a network to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(network.SerializeToString())
