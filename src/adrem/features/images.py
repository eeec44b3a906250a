"""The encoder of images."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions

from adrem.exceptions import DamagedDataError, InvalidDataError, InvalidTypeError, ParameterError
from adrem.features.encoder import COMMON, Encoded, Encoder
from adrem.features.layers import LAST_HIDDEN, as_rows
from adrem.features.normalization import IMAGENET, KERAS, NORMALIZATIONS, Normalization
from adrem.features.onnx import check_device, open_session, run_session, start_session
from adrem.features.pictures import UnreadablePictureError, picture_bytes, read_picture
from adrem.features.resnet import resnet50
from adrem.features.store import Entry
from adrem.features.torch_network import Run, checksum_of_module, is_module, named_module, run_module
from adrem.features.weights import MODULE, Weights

MOST_LISTED = 5
# The nine crops of the authors' program overlap by all but this share of the size.
MARGIN = 7
THIRDS = range(3)


@dataclass
class _Network:
    run: Run
    normalize: Normalization
    n_features: int


class ImageEncoder(Encoder):
    """Turn images into features by a network, by default the ResNet-50 of the paper.

    Each image is scaled to a square. The features of networks known by name are what their last linear layer gets.

    Parameters
    ----------
    model : str, path-like or torch.nn.Module, default="resnet50"
        A name (`adrem models list` prints those that are known); an ONNX file whose input are images of shape
        (n, 3, height, width); a module of torch that takes such images; or "timm:NAME" or "torchvision:NAME", an
        architecture of these packages with weights from NAME.safetensors in the folder of that package. Names are
        looked up in ``ADREM_MODELS``, then in the cache folder.
    layer : str or None, default=None
        What the features are. None is the last hidden layer of networks known by name, and the first output of others.
        "last hidden" is the input of the last linear layer. Others are the name of an output, of a node of an ONNX
        network, or of a part of a module. Maps are averaged over their places, sequences over their tokens.
    size : int, default=224
        Height and width to which images are scaled.
    views : {1, 18}, default=1
        With 18, features are the mean over nine crops and their mirror images, as in the program of the paper's
        authors: the image is scaled to 9/7 of the size, and cropped at the corners, at the middle of the edges, and at
        the centre. It takes 18 times as long.
    normalization : {"auto", "imagenet", "keras", "symmetric", "clip"}, default="auto"
        How colours become numbers. "imagenet": as torchvision does. "keras": blue, green and red without their means.
        "symmetric": from -1 to 1. "clip": as CLIP does. "auto" is "keras" for "resnet50", what timm tells for its
        architectures, and "imagenet" for others.
    batch_size : int, default=1
        Images that go through the network at a time; more only help on a GPU.
    device : {"cpu", "cuda"}, default="cpu"
        Where the network runs; for ONNX networks "cuda" needs onnxruntime-gpu.
    cache : path-like or False, default=None
        The folder in which features are kept by the content of the images, by default one in the cache folder.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    checksum_ : str
        The checksum of the model's files, or of the weights of a module.
    n_features_out_ : int
        The number of features.

    See Also
    --------
    TextEncoder : The encoder of texts.

    Examples
    --------
    >>> from adrem.features import ImageEncoder
    >>> encoder = ImageEncoder("resnet50")
    >>> features = encoder.fit_transform(["photos/mug.jpg", "photos/chair.png"])  # doctest: +SKIP
    >>> features.shape  # doctest: +SKIP
    (2, 2048)
    """

    kind = "image"
    noun = "image"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON,
        "model": [*COMMON["model"], HasMethods(["state_dict", "forward"])],
        "layer": [str, None],
        "size": [Interval(Integral, 32, 2048, closed="both")],
        "views": [Options(Integral, {1, 18})],
        "normalization": [StrOptions({"auto", *NORMALIZATIONS})],
    }

    def __init__(
        self,
        model: Any = "resnet50",
        *,
        layer: str | None = None,
        size: int = 224,
        views: int = 1,
        normalization: str = "auto",
        batch_size: int = 1,
        device: str = "cpu",
        cache: Any = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.layer = layer
        self.size = size
        self.views = views
        self.normalization = normalization
        self.batch_size = batch_size
        self.device = device
        self.cache = cache
        self.verbose = verbose

    def _check_items(self, X: Any) -> Sequence[Any]:
        """Return images as a sequence of paths, arrays or images of Pillow."""
        if isinstance(X, (str, bytes, os.PathLike)):
            raise InvalidTypeError("X is one image: pass a list of images.")
        items = X.to_list() if hasattr(X, "to_list") else list(X)
        for place, item in enumerate(items):
            is_path = isinstance(item, (str, os.PathLike))
            if not (is_path or hasattr(item, "__array_interface__") or hasattr(item, "__array__")):
                raise InvalidTypeError(
                    f"X[{place}] is {type(item).__name__}, and no image: pass paths, arrays or images of Pillow."
                )
        return items

    def check_readable(self, encoded: Encoded) -> None:
        """Raise an error that lists the images that can't be read."""
        bad = encoded.unreadable
        if bad:
            listed = "; ".join(f"X[{place}]: {reason}" for place, reason in list(bad.items())[:MOST_LISTED])
            raise InvalidDataError(
                f"{len(bad)} image(s) can't be read: {listed}. Leave them out; `encode` tells which they are."
            )

    @property
    def model_name(self) -> str:
        """The name of the model; for a module that of its class."""
        return f"{MODULE}:{type(self.model).__name__}" if is_module(self.model) else super().model_name

    def _settings(self) -> list[Any]:
        return [self.layer, self.size, self.views, self.normalization, self.batch_size]

    def _find_weights(self) -> Weights:
        if is_module(self.model):
            return Weights(self.model_name, {}, checksum_of_module(self.model))
        return super()._find_weights()

    def _open(self, weights: Weights) -> None:
        run, usual = self._runner(weights)
        chosen = usual if self.normalization == "auto" else NORMALIZATIONS[self.normalization]
        made = run(np.zeros((1, 3, self.size, self.size), np.float32))
        if made.ndim < 2 or made.shape[0] != 1:
            raise DamagedDataError(f"{weights.name} is no network for images: it gives no row of features for each.")
        rows = as_rows(made)
        self._network = _Network(run, chosen, rows.shape[1])

    def _runner(self, weights: Weights) -> tuple[Run, Normalization]:
        """Return what runs the network on images, and how these are normalized for it."""
        if not weights.files:
            return run_module(self.model, self.device, self.layer, weights.name), IMAGENET
        path = weights.network
        if ":" in weights.name:
            module, told = named_module(weights.name, path)
            return run_module(module, self.device, self.layer or LAST_HIDDEN, weights.name), told
        check_device(self.device)
        if path.suffix == ".npz":
            layer = None if self.layer == LAST_HIDDEN else self.layer
            return _images_through(start_session(resnet50(path), self.device, str(path), layer), path, self.size), KERAS
        return _images_through(open_session(path, self.device, self.layer), path, self.size), IMAGENET

    def _n_features(self) -> int:
        return self._network.n_features

    def _keys(self, items: Sequence[Any]) -> Iterable[bytes | str]:
        with ThreadPoolExecutor(cpu_count()) as pool:
            yield from pool.map(_key_of, items)

    def _run(self, items: list[Any], keys: list[bytes]) -> Iterator[dict[bytes, Entry | str]]:
        """Yield the features of batches; the next images are decoded while the network runs."""
        batch: dict[bytes, NDArray[np.float32]] = {}
        for key, pixels in zip(keys, self._decoded(items), strict=True):
            if isinstance(pixels, str):
                yield {key: pixels}
                continue
            batch[key] = pixels
            if len(batch) == self.batch_size:
                yield self._features_of(batch)
                batch = {}
        if batch:
            yield self._features_of(batch)

    def _decoded(self, items: list[Any]) -> Iterator[NDArray[np.float32] | str]:
        """Yield the pixels of images in order, with a few more of them under way."""
        ahead = self.batch_size + 2 * cpu_count()
        waiting: deque[Future[NDArray[np.float32] | str]] = deque()
        with ThreadPoolExecutor(cpu_count()) as pool:
            for item in items:
                waiting.append(pool.submit(self._pixels, item))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _pixels(self, item: Any) -> NDArray[np.float32] | str:
        """Return an image as the network takes it, or why it can't be read."""
        try:
            image = read_picture(item, self.size)
        except UnreadablePictureError as error:
            return str(error)
        return np.stack([self._network.normalize(view) for view in self._views_of(image)])

    def _views_of(self, image: Any) -> list[NDArray[np.float32]]:
        """Return the image in the size of the network, or its crops and their mirror images."""
        from PIL.Image import Resampling

        margin = 0 if self.views == 1 else self.size // MARGIN
        side = self.size + 2 * margin
        pixels = np.asarray(image.resize((side, side), Resampling.BILINEAR), np.float32)
        if not margin:
            return [pixels]
        crops = [
            pixels[top * margin : top * margin + self.size, left * margin : left * margin + self.size]
            for top in THIRDS
            for left in THIRDS
        ]
        return [*crops, *(crop[:, ::-1] for crop in crops)]

    def _features_of(self, batch: dict[bytes, NDArray[np.float32]]) -> dict[bytes, Entry | str]:
        rows = as_rows(self._network.run(np.concatenate([*batch.values()])))
        means = rows if self.views == 1 else rows.reshape(len(batch), self.views, -1).mean(axis=1)
        return {key: Entry(np.asarray(row, np.float32), False) for key, row in zip(batch, means, strict=True)}


def _images_through(session: Any, path: Path, size: int) -> Run:
    """Return what runs a session on images, after a check that it takes those of a size."""
    given = session.get_inputs()
    shape = given[0].shape
    if len(given) != 1 or len(shape) != 4:
        raise DamagedDataError(f"{path} is no network for images: it takes one array (n, 3, height, width).")
    for expected in shape[2:]:
        if isinstance(expected, int) and expected != size:
            raise ParameterError(f"{path} takes images of {expected} pixels a side: set size={expected}.", "size")
    one_by_one = shape[0] == 1  # exported for one image at a time

    def run(images: NDArray[np.float32]) -> NDArray[Any]:
        if one_by_one and len(images) > 1:
            return np.concatenate([run(image[None]) for image in images])
        return np.asarray(run_session(session, {given[0].name: images}, str(path)))

    return run


def _key_of(item: Any) -> bytes | str:
    try:
        return hashlib.sha256(picture_bytes(item)).digest()
    except UnreadablePictureError as error:
        return str(error)
