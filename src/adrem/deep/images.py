"""Rows as tensors: images decoded once, and what a batch of them becomes on its way into the network."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from joblib import cpu_count

from adrem.exceptions import InvalidDataError, InvalidTypeError
from adrem.features.pictures import UnreadablePictureError, import_pillow, read_picture

SMALLEST_AREA = 0.4  # of a crop, as a share of the image
STRETCH = math.log(4 / 3)  # logarithm of the largest change of proportions
MOST_LISTED = 5
MEANS, SCALES = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, for torchvision's networks
Batch = Any  # a tensor: PyTorch is typed in parts only
Augment = Callable[[Batch], Batch]


def read_rows(X: Any, name: str, side: int) -> Batch:
    """Return rows as a tensor on the CPU: images as bytes of shape (n, 3, height, width), other arrays as float32.

    Images are a list of paths, arrays or images of Pillow, which are scaled to a square of this side, or one array of
    bytes of shape (n, height, width, 3), which is taken as it is.
    """
    if isinstance(X, (str, bytes, os.PathLike)):
        raise InvalidTypeError(f"{name} is one image: pass a list of images.")
    if isinstance(X, torch.Tensor):
        X = X.detach().cpu().numpy()
    if isinstance(X, np.ndarray) and X.dtype.kind in "buif":
        return _read_array(X, name)
    items = X.to_list() if hasattr(X, "to_list") else list(X)
    if not items:
        raise InvalidDataError(f"{name} has no rows.")
    with ThreadPoolExecutor(cpu_count()) as pool:
        pictures = list(pool.map(lambda item: _pixels(item, side), items))
    bad = {place: found for place, found in enumerate(pictures) if isinstance(found, str)}
    if bad:
        listed = "; ".join(f"{name}[{place}]: {reason}" for place, reason in list(bad.items())[:MOST_LISTED])
        raise InvalidDataError(f"{len(bad)} image(s) can't be read: {listed}. Leave them out.")
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).contiguous()


def _read_array(array: Any, name: str) -> Batch:
    if array.ndim < 2 or not array.size:
        raise InvalidDataError(f"{name} has shape {array.shape}: it must hold a row of numbers, or an image, each.")
    if array.dtype == np.uint8 and array.ndim == 4 and array.shape[3] == 3:
        return torch.from_numpy(np.ascontiguousarray(array.transpose(0, 3, 1, 2)))
    rows = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(rows).all():
        raise InvalidDataError(f"{name} has numbers that are not finite, or too large for 32 bits: replace them.")
    return torch.from_numpy(rows)


def _pixels(item: Any, side: int) -> Any:
    """Return an image as bytes, or why it can't be read."""
    try:
        image = read_picture(item, side)
    except UnreadablePictureError as error:
        return str(error)
    return np.asarray(image.resize((side, side), import_pillow().Resampling.BILINEAR), np.uint8)


@dataclass(frozen=True)
class Views:
    """How rows go into an encoder: augmented while it trains, as they are and mirrored while it labels.

    Rows that are not bytes go in as they are, unless there is a function of the caller that augments them.
    """

    prepare: Augment
    size: int
    augment: Augment | None

    def training(self, rows: Batch) -> Batch:
        """Return a batch to learn from."""
        if rows.dtype != torch.uint8:
            return rows if self.augment is None else self.augment(rows)
        pixels = self.prepare(rows.float())
        return random_crops(pixels, self.size) if self.augment is None else self.augment(pixels)

    def labelling(self, rows: Batch) -> list[Batch]:
        """Return the batches whose mean output is that of the rows."""
        if rows.dtype != torch.uint8:
            return [rows]
        pixels = self.prepare(rows.float())
        scaled = scaled_to(pixels, self.size)
        return [scaled, scaled.flip(3)]


def views_of(encoder: Any, size: int, augment: Augment | None) -> Views:
    """Return the views of an encoder: one with a method `prepare` gets images as that makes them."""
    return Views(getattr(encoder, "prepare", as_torchvision), size, augment)


def as_torchvision(pixels: Batch) -> Batch:
    """Return red, green and blue from 0 to 255 as torchvision's networks take them."""
    means, scales = (torch.tensor(own, device=pixels.device).view(1, 3, 1, 1) for own in (MEANS, SCALES))
    return (pixels / 255 - means) / scales


def scaled_to(pixels: Batch, size: int) -> Batch:
    """Scale images to a square."""
    return torch.nn.functional.interpolate(pixels, size=(size, size), mode="bilinear", antialias=True)


def random_crops(pixels: Batch, size: int) -> Batch:
    """Return a random part of each image, scaled to a square, every other one mirrored: one operation for all."""
    n, device = len(pixels), pixels.device
    area = torch.empty(n, device=device).uniform_(SMALLEST_AREA, 1)
    stretch = torch.exp(torch.empty(n, device=device).uniform_(-STRETCH, STRETCH))
    width, height = (area * stretch).sqrt().clamp(max=1), (area / stretch).sqrt().clamp(max=1)
    sign = (torch.rand(n, device=device) < 0.5).float() * 2 - 1
    moves = torch.zeros(n, 2, 3, device=device)
    moves[:, 0, 0] = width * sign
    moves[:, 1, 1] = height
    moves[:, 0, 2] = (torch.rand(n, device=device) * 2 - 1) * (1 - width)
    moves[:, 1, 2] = (torch.rand(n, device=device) * 2 - 1) * (1 - height)
    grid = torch.nn.functional.affine_grid(moves, [n, 3, size, size], align_corners=False)
    return torch.nn.functional.grid_sample(pixels, grid, align_corners=False)
