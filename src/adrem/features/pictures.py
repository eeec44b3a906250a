"""Read pictures of all kinds from files, arrays and Pillow's images, none of which is trusted."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import InvalidDataError, MissingImportError
from adrem.runtime.memory import size_of

if TYPE_CHECKING:
    from PIL.Image import Image

# Formats that Pillow decodes by itself: others start programs, or are none of photos.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
SUFFIXES = {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".pgm"}
MAX_PIXELS = 80_000_000
MAX_FILE_BYTES = 2**28
ENOUGH = 4  # a large JPEG is decoded at this many times the size that is needed, which takes less time and memory
WHITE = (255, 255, 255)


class UnreadablePictureError(InvalidDataError):
    """A picture can't be read; the message says why."""


def picture_bytes(item: Any) -> bytes:
    """Return the content of a file, or that of an array or an image: what its features depend on."""
    if isinstance(item, (str, os.PathLike)):
        return _content_of(Path(item))
    array = np.asarray(item)
    return f"{array.shape} {array.dtype.str} ".encode() + np.ascontiguousarray(array).tobytes()


def read_picture(item: Any, size: int) -> Image:
    """Return a picture as red, green and blue: upright, on white, the first one of several."""
    pillow = import_pillow()
    try:
        if isinstance(item, (str, os.PathLike)):
            return _open(_content_of(Path(item)), size)
        if isinstance(item, pillow.Image):
            return _as_colours(item)
        return _as_colours(pillow.fromarray(_as_bytes(np.asarray(item))))
    except UnreadablePictureError:
        raise
    except Exception as error:  # whatever damaged bytes provoke in the decoders
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise UnreadablePictureError(f"it can't be decoded ({reason})") from error


def thumbnail(item: Any, side: int) -> bytes:
    """Return a small picture as WebP, nothing for one that can't be read."""
    try:
        image = read_picture(item, side)
    except UnreadablePictureError:
        return b""
    image.thumbnail((side, side))
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=60)
    return buffer.getvalue()


def import_pillow() -> Any:
    """Import the images of Pillow, or raise an error that says what to install."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingImportError("Images need Pillow: pip install 'adrem[images]'.") from error
    Image.init()  # else it knows no format of rarer files by name
    return Image


def _content_of(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise UnreadablePictureError("it is no file" if path.exists() else "there is no such file")
        n_bytes = path.stat().st_size
        if not n_bytes:
            raise UnreadablePictureError("it is empty")
        if n_bytes > MAX_FILE_BYTES:
            raise UnreadablePictureError(f"it takes {size_of(n_bytes)}, and {size_of(MAX_FILE_BYTES)} are allowed")
        return path.read_bytes()
    except OSError as error:
        raise UnreadablePictureError(f"it can't be opened ({error.strerror})") from error


def _open(content: bytes, size: int) -> Image:
    pillow = import_pillow()
    try:
        image = pillow.open(io.BytesIO(content), formats=FORMATS)
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as error:
        raise UnreadablePictureError(f"it has more than {MAX_PIXELS:,} pixels") from error
    except pillow.UnidentifiedImageError as error:
        raise UnreadablePictureError(f"it is of no known format ({', '.join(FORMATS)})") from error
    with image:
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise UnreadablePictureError(f"it has {width} x {height} pixels, and {MAX_PIXELS:,} are allowed")
        image.draft(None, (ENOUGH * size, ENOUGH * size))
        return _as_colours(image)


def _as_colours(image: Image) -> Image:
    """Turn a picture upright, and into 8 bits of red, green and blue."""
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode in ("I", "F") or upright.mode.startswith("I;"):
        upright = import_pillow().fromarray(_as_bytes(np.asarray(upright)))
    if upright.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in upright.info:
        clear = upright.convert("RGBA")
        paper = import_pillow().new("RGBA", clear.size, (*WHITE, 255))
        upright = import_pillow().alpha_composite(paper, clear)
    return upright.convert("RGB")


def _as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return numbers of other types as bytes: 16 bits by their upper half, fractions up to 1 as shares of 255."""
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or not array.size:
        raise UnreadablePictureError(f"its shape is {array.shape}: it must be height x width, or with 3 or 4 colours")
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = np.nan_to_num(array.astype(np.float64))
    most = float(values.max())
    if array.dtype.kind in "iu":
        values = values / 257.0 if most > 255 else values
    elif most <= 1.0:
        values = values * 255.0
    elif most > 255:
        values = values / most * 255.0
    return np.clip(values.round(), 0, 255).astype(np.uint8)
