"""Pictures of all kinds become features, or are told to be unreadable."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from small_networks import image_model

from adrem.exceptions import InvalidDataError, InvalidTypeError
from adrem.features import ImageEncoder

RED = (255, 0, 0)
# What the small network makes of one colour.
MEANS, SCALES = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture
def encoder(tmp_path: Path) -> ImageEncoder:
    return ImageEncoder(image_model(tmp_path / "means.onnx"), size=32, cache=tmp_path / "cache").fit([])


def colour_of(encoder: ImageEncoder, image: Any) -> list[float]:
    """Return the mean colour that reached the network."""
    colour: list[float] = (255 * (encoder.transform([image])[0] * SCALES + MEANS)).round().tolist()
    return colour


def half(mode: str, left: Any, right: Any, size: tuple[int, int] = (40, 20)) -> Image.Image:
    """Return a picture of two colours side by side."""
    image = Image.new(mode, size, right)
    image.paste(left, (0, 0, size[0] // 2, size[1]))
    return image


def png(width: int, height: int) -> bytes:
    """Return the start of a picture that claims a size."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    data = b"IDAT" + zlib.compress(b"\0" * 100)
    return b"\x89PNG\r\n\x1a\n" + body + struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))


def test_forms_of_one_picture_give_the_same(encoder: ImageEncoder, tmp_path: Path) -> None:
    image = Image.new("RGB", (50, 30), (200, 100, 50))
    image.save(tmp_path / "a.png")
    array = np.asarray(image)
    forms = [tmp_path / "a.png", str(tmp_path / "a.png"), image, array, array.astype(np.float32) / 255]
    for form in forms:
        assert colour_of(encoder, form) == [200, 100, 50]


@pytest.mark.parametrize(
    ("image", "colour"),
    [
        (Image.new("L", (9, 9), 100), [100, 100, 100]),
        (Image.new("1", (9, 9), 1), [255, 255, 255]),
        (Image.new("CMYK", (9, 9), (0, 255, 255, 0)), [255, 0, 0]),
        (Image.new("RGBA", (9, 9), (255, 0, 0, 0)), [255, 255, 255]),
        (Image.new("LA", (9, 9), (0, 255)), [0, 0, 0]),
        (Image.new("P", (9, 9), 0), [0, 0, 0]),
        (Image.fromarray(np.full((9, 9), 257 * 100, np.uint16)), [100, 100, 100]),
        (np.full((9, 9), 257 * 100, np.uint16), [100, 100, 100]),
        (np.full((9, 9, 4), 255, np.uint8), [255, 255, 255]),
    ],
)
def test_all_modes_become_colours(encoder: ImageEncoder, image: Any, colour: list[float]) -> None:
    assert colour_of(encoder, image) == colour


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM"])
def test_all_formats_are_read(encoder: ImageEncoder, tmp_path: Path, form: str) -> None:
    Image.new("RGB", (20, 20), RED).save(tmp_path / "image", form)
    np.testing.assert_allclose(colour_of(encoder, tmp_path / "image"), RED, atol=2)


def test_a_16_bit_file_keeps_its_upper_half(encoder: ImageEncoder, tmp_path: Path) -> None:
    Image.fromarray(np.full((9, 9), 257 * 60, np.uint16)).save(tmp_path / "deep.png")
    assert colour_of(encoder, tmp_path / "deep.png") == [60, 60, 60]


def test_a_turned_photo_is_the_same_as_an_upright_one(tmp_path: Path) -> None:
    from adrem.features.pictures import read_picture

    upright = half("RGB", RED, (0, 0, 255))
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    upright.rotate(90, expand=True).save(tmp_path / "turned.png", exif=exif)
    np.testing.assert_array_equal(np.asarray(read_picture(tmp_path / "turned.png", 32)), np.asarray(upright))


def test_the_first_picture_of_an_animation_is_used(encoder: ImageEncoder, tmp_path: Path) -> None:
    frames = [Image.new("RGB", (9, 9), colour) for colour in (RED, (0, 0, 255))]
    for form in ("GIF", "WEBP", "PNG"):
        file = tmp_path / f"moving.{form.lower()}"
        frames[0].save(file, form, save_all=True, append_images=frames[1:], duration=100)
        np.testing.assert_allclose(colour_of(encoder, file), RED, atol=8)


def test_what_can_not_be_read_is_listed_and_the_rest_is_read(encoder: ImageEncoder, tmp_path: Path) -> None:
    good = tmp_path / "good.png"
    Image.new("RGB", (20, 20), RED).save(good)
    photo = io.BytesIO()
    Image.effect_noise((200, 200), 50).save(photo, "JPEG")
    contents = {
        "empty.jpg": (b"", "it is empty"),
        "text.jpg": (b"this is no image", "of no known format"),
        "cut.jpg": (photo.getvalue()[: len(photo.getvalue()) // 2], "truncated"),
        "huge.png": (png(100_000, 100_000), "pixels"),
        "large.png": (png(9_000, 9_000), "9000 x 9000 pixels, and 80,000,000 are allowed"),
        "program.eps": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "of no known format"),
    }
    for name, (content, _) in contents.items():
        (tmp_path / name).write_bytes(content)
    reasons = [*(reason for _, reason in contents.values()), "it is no file", "there is no such file"]
    files = [good, *(tmp_path / name for name in contents), tmp_path, tmp_path / "none.jpg", good]
    encoded = encoder.encode(files)
    assert list(encoded.unreadable) == list(range(1, len(files) - 1))
    for reason, expected in zip(encoded.unreadable.values(), reasons, strict=True):
        assert expected in reason
    np.testing.assert_array_equal(encoded.features[0], encoded.features[-1])
    assert np.isnan(encoded.features[1:-1]).all()
    with pytest.raises(InvalidDataError, match=r"8 image\(s\) can't be read: X\[1\]: it is empty; .* Leave them out"):
        encoder.transform(files)


def test_what_is_no_image_is_refused(encoder: ImageEncoder) -> None:
    with pytest.raises(InvalidTypeError, match=r"X\[1\] is int, and no image"):
        encoder.encode(["a.jpg", 3])
    with pytest.raises(InvalidTypeError, match="X is one image"):
        encoder.encode("a.jpg")
    with pytest.raises(InvalidDataError, match="its shape is"):
        encoder.transform([np.zeros((2, 2, 2), np.uint8)])


def no_network(images: Any) -> Any:
    raise AssertionError(f"{len(images)} image(s) were not in the cache")


def test_the_second_run_asks_the_cache(encoder: ImageEncoder, tmp_path: Path) -> None:
    files = []
    for k in range(5):
        files.append(tmp_path / f"{k % 3}-{k}.png")
        Image.new("RGB", (9, 9), (50 * (k % 3), 0, 0)).save(files[-1])
    first = encoder.transform(files)
    again = ImageEncoder(encoder.model, size=32, cache=encoder.cache).fit([])
    again._network.run = no_network
    np.testing.assert_array_equal(again.transform(files), first)
    np.testing.assert_array_equal(first[0], first[3])


def test_batches_give_the_same(encoder: ImageEncoder) -> None:
    images = [Image.new("RGB", (9, 9), (k, 2 * k, 3 * k)) for k in range(7)]
    many = ImageEncoder(encoder.model, size=32, batch_size=3, cache=False).fit([])
    np.testing.assert_allclose(many.transform(images), encoder.transform(images), atol=1e-6)
