"""The encoder of images."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from adrem.exceptions import DamagedDataError, InvalidDataError, InvalidTypeError
from adrem.features.encoder import COMMON, Encoded, Encoder
from adrem.features.onnx import check_device, open_session, start_session
from adrem.features.pictures import UnreadablePictureError, picture_bytes, read_picture
from adrem.features.resnet import resnet50
from adrem.features.store import Entry
from adrem.features.weights import Weights
from adrem.files.labelled_rows import guarded

MOST_LISTED = 5
KERAS_MEANS = np.array([103.939, 116.779, 123.68], np.float32)  # of blue, green and red
IMAGENET_MEANS, IMAGENET_SCALES = (
    np.array(values, np.float32) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
)


@dataclass
class _Network:
    session: Any
    n_features: int
    prepare: Callable[[NDArray[np.float32]], NDArray[np.float32]]


class ImageEncoder(Encoder):
    """Turn images into features by a network that runs with onnxruntime: by default the ResNet-50 of the paper.

    Each image is scaled to a square. The features of ResNet-50 are the outputs of its last hidden layer.

    Parameters
    ----------
    model : str or path-like, default="resnet50"
        A name (`adrem models list` prints those that are known), or an ONNX file: its input are images of shape
        (n, 3, height, width) as torchvision normalizes them, its first output has the features. Names are looked up in
        ``ADREM_MODELS``, then in the cache folder.
    size : int, default=224
        Height and width to which images are scaled.
    batch_size : int, default=1
        Images that go through the network at a time; more only help on a GPU.
    device : {"cpu", "cuda"}, default="cpu"
        Where the network runs; "cuda" needs onnxruntime-gpu.
    cache : path-like or False, default=None
        The folder in which features are kept by the content of the images, by default one in the cache folder.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    checksum_ : str
        The checksum of the model's files.
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
        "size": [Interval(Integral, 32, 2048, closed="both")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        model: Any = "resnet50",
        *,
        size: int = 224,
        batch_size: int = 1,
        device: str = "cpu",
        cache: Any = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.size = size
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

    def _settings(self) -> list[Any]:
        return [self.size, self.batch_size]

    def _open(self, weights: Weights) -> None:
        check_device(self.device)
        prepare, path = _as_torchvision, weights.network
        if path.suffix == ".npz":
            prepare, content = _as_keras, resnet50(path)
            session = guarded(str(path), "a network", lambda: start_session(content, self.device))
        else:
            session = open_session(path, self.device)
        given, made = session.get_inputs(), session.get_outputs()[0]
        n_features = made.shape[1] if len(made.shape) > 1 else None
        if len(given) != 1 or len(given[0].shape) != 4 or not isinstance(n_features, int):
            raise DamagedDataError(
                f"{weights.network} is no network for images: it takes one array (n, 3, height, width), and gives "
                "features of a fixed number."
            )
        self._network = _Network(session, n_features, prepare)

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
        from PIL.Image import Resampling

        scaled = image.resize((self.size, self.size), Resampling.BILINEAR)
        return self._network.prepare(np.asarray(scaled, np.float32)).transpose(2, 0, 1)

    def _features_of(self, batch: dict[bytes, NDArray[np.float32]]) -> dict[bytes, Entry | str]:
        session = self._network.session
        images = np.stack([*batch.values()])
        features = guarded(
            str(self.model), "a network", lambda: session.run(None, {session.get_inputs()[0].name: images})
        )[0]
        rows = features if features.ndim == 2 else features.mean(axis=tuple(range(2, features.ndim)))
        return {key: Entry(np.asarray(row, np.float32), False) for key, row in zip(batch, rows, strict=True)}


def _key_of(item: Any) -> bytes | str:
    try:
        return hashlib.sha256(picture_bytes(item)).digest()
    except UnreadablePictureError as error:
        return str(error)


def _as_keras(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return blue, green and red without their means."""
    return np.ascontiguousarray(pixels[:, :, ::-1]) - KERAS_MEANS


def _as_torchvision(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    return (pixels / np.float32(255) - IMAGENET_MEANS) / IMAGENET_SCALES
