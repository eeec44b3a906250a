"""The ResNet-50 of the paper, as Keras has it, in PyTorch: the stride of a stage is on its first convolution."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import nn

from adrem.exceptions import DamagedDataError
from adrem.features.weights import find_weights
from adrem.files.archives import read_arrays
from adrem.files.budget import Budget
from adrem.files.labelled_rows import guarded

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))  # width and number of blocks
WIDENED = 4  # channels of a block for each of its width
EPSILON = 1e-3
MEANS = (103.939, 116.779, 123.68)  # of blue, green and red
MAX_BYTES = 2**28  # what a file of weights may unpack to


class ResNet50(nn.Module):
    """ResNet-50 without its last layer: 2048 features of each image.

    The weights have the names that torchvision gives them. ``load_known`` reads those of Keras, with which the paper's
    features were made.

    Parameters
    ----------
    stages : sequence of (int, int), default=((64, 3), (128, 4), (256, 6), (512, 3))
        Width and number of blocks of each stage; others make a smaller network of the same kind.

    See Also
    --------
    adrem.features.ImageEncoder : The same network in onnxruntime, which does not learn.

    Examples
    --------
    >>> import torch
    >>> from adrem.deep import ResNet50
    >>> small = ResNet50(stages=((8, 1), (16, 1)))
    >>> small(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 64])
    """

    def __init__(self, stages: Any = STAGES) -> None:
        super().__init__()
        width = stages[0][0]
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width, eps=EPSILON)
        self._names = [f"layer{number}" for number in range(1, len(stages) + 1)]
        channels = width
        for name, (own, n_blocks) in zip(self._names, stages, strict=True):
            stride = 1 if name == "layer1" else 2
            blocks = [
                _Block(channels if k == 0 else own * WIDENED, own, stride if k == 0 else 1) for k in range(n_blocks)
            ]
            self.add_module(name, nn.Sequential(*blocks))
            channels = own * WIDENED

    @classmethod
    def load_known(cls, model: str | Path = "resnet50") -> Self:
        """Return the network with the weights of Keras.

        Parameters
        ----------
        model : str or Path, default="resnet50"
            Its name, which is looked up as by `adrem.features.ImageEncoder`, or a file of weights.

        Returns
        -------
        ResNet50
            The network.

        Examples
        --------
        >>> from adrem.deep import ResNet50
        >>> network = ResNet50.load_known()  # doctest: +SKIP
        """
        path = find_weights(model, "image").network
        with path.open("rb") as file:
            arrays = guarded(str(path), "weights of ResNet-50", lambda: read_arrays(file, Budget(MAX_BYTES)))
        weights = {name: torch.from_numpy(np.array(array, np.float32)) for name, array in arrays.items()}
        network = cls()
        own = {name for name in network.state_dict() if not name.endswith("num_batches_tracked")}
        if own != weights.keys():
            raise DamagedDataError(f"{path} does not hold the weights of ResNet-50 under torchvision's names.")
        guarded(str(path), "weights of ResNet-50", lambda: network.load_state_dict(weights, strict=False))
        return network

    @staticmethod
    def prepare(pixels: Any) -> Any:
        """Return pixels as the network takes them: blue, green, red, without their means.

        Parameters
        ----------
        pixels : tensor of shape (n, 3, height, width)
            Red, green and blue, from 0 to 255.

        Returns
        -------
        tensor of shape (n, 3, height, width)
            The network's input.

        Examples
        --------
        >>> import torch
        >>> from adrem.deep import ResNet50
        >>> ResNet50.prepare(torch.full((1, 3, 1, 1), 128.0)).flatten().round().tolist()
        [24.0, 11.0, 4.0]
        """
        return pixels.flip(1) - torch.tensor(MEANS, device=pixels.device).view(1, 3, 1, 1)

    def forward(self, images: Any) -> Any:
        """Return the means of the last map.

        Parameters
        ----------
        images : tensor of shape (n, 3, height, width)
            Images from ``prepare``.

        Returns
        -------
        tensor of shape (n, n_features)
            The features.

        Examples
        --------
        >>> import torch
        >>> from adrem.deep import ResNet50
        >>> ResNet50(stages=((8, 1),))(torch.zeros(1, 3, 32, 32)).shape
        torch.Size([1, 32])
        """
        out = nn.functional.relu(self.bn1(self.conv1(images)))
        out = nn.functional.max_pool2d(out, 3, stride=2, padding=1)
        for name in self._names:
            out = self.get_submodule(name)(out)
        return out.mean(dim=(2, 3))


class _Block(nn.Module):
    """Three convolutions, and a short way around them."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        wide = width * WIDENED
        self.conv1 = nn.Conv2d(channels, width, 1, stride=stride, bias=False)
        self.bn1 = nn.BatchNorm2d(width, eps=EPSILON)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width, eps=EPSILON)
        self.conv3 = nn.Conv2d(width, wide, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(wide, eps=EPSILON)
        self.downsample = None
        if stride > 1 or channels != wide:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, wide, 1, stride=stride, bias=False), nn.BatchNorm2d(wide, eps=EPSILON)
            )

    def forward(self, given: Any) -> Any:
        out = nn.functional.relu(self.bn1(self.conv1(given)))
        out = nn.functional.relu(self.bn2(self.conv2(out)))
        short = given if self.downsample is None else self.downsample(given)
        return nn.functional.relu(self.bn3(self.conv3(out)) + short)
