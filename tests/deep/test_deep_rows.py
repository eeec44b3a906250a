"""Tests of what goes into a network: rows as tensors, crops, draws, and errors about the arguments of `fit`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adrem.exceptions import InvalidDataError, InvalidTypeError, ParameterError

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[deep]"')
deep = pytest.importorskip("adrem.deep")
images = pytest.importorskip("adrem.deep.images")
draws = pytest.importorskip("adrem.deep.draws")
pytestmark = pytest.mark.thorough
PIXELS = np.random.default_rng(0).integers(0, 256, (6, 20, 30, 3), dtype=np.uint8)
ROWS, LABELS = np.zeros((8, 2), np.float32), [0, 1] * 4


def test_images_become_squares_of_bytes(tmp_path: Path) -> None:
    from PIL import Image

    Image.fromarray(PIXELS[0]).save(tmp_path / "one.png")
    rows = images.read_rows([tmp_path / "one.png", Image.fromarray(PIXELS[1]), PIXELS[2]], "X", 16)
    assert rows.shape == (3, 3, 16, 16)
    assert rows.dtype == torch.uint8
    expected = np.asarray(Image.fromarray(PIXELS[1]).resize((16, 16), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(rows[1].permute(1, 2, 0).numpy(), expected)


def test_arrays_are_taken_as_they_are() -> None:
    assert images.read_rows(PIXELS, "X", 16).shape == (6, 3, 20, 30)
    own = images.read_rows(np.eye(3), "X", 16)
    assert own.dtype == torch.float32
    np.testing.assert_array_equal(own.numpy(), np.eye(3))


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ("photo.jpg", InvalidTypeError, "X is one image: pass a list"),
        (["nowhere.jpg"], InvalidDataError, r"1 image\(s\) can't be read: X\[0\]: there is no such file"),
        ([], InvalidDataError, "X has no rows"),
        (np.array([[np.nan]]), InvalidDataError, "not finite"),
        (np.zeros(3), InvalidDataError, r"X has shape \(3,\)"),
    ],
)
def test_what_is_no_row_is_refused(rows: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        images.read_rows(rows, "X", 16)


def test_crops_are_parts_of_their_images() -> None:
    torch.manual_seed(0)
    row = torch.arange(64.0).repeat(64, 1)  # values grow from left to right
    found = images.random_crops(row[None, None].repeat(200, 3, 1, 1), 32)
    assert found.shape == (200, 3, 32, 32)
    left, right = found[:, 0, 16, 0], found[:, 0, 16, -1]
    assert 0.3 < float((left > right).float().mean()) < 0.7  # half of them are mirrored
    area = ((right - left).abs() / 64) ** 2
    assert 0.3 < float(area.min()) < 0.6
    assert float(area.max()) > 0.8


def test_balanced_draws_have_equally_many_of_each_class() -> None:
    labels = np.repeat([0, 1, 3], [50, 3, 7])
    rows = draws.balanced_draw(labels, 4, 0.5, np.random.default_rng(0))
    assert np.bincount(labels[rows], minlength=4).tolist() == [8, 8, 0, 8]
    assert len(set(rows[labels[rows] == 0])) == 8
    assert set(rows[labels[rows] == 1]) == {50, 51, 52}


def test_plain_draws_are_rows_whatever_their_class() -> None:
    rows = draws.plain_draw(np.zeros(40, int), 0.25, np.random.default_rng(0))
    assert len(set(rows)) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of the two"),
        ({"X_target": ROWS, "sample_domain": [1] * 8}, "one of the two"),
        ({"X_target": np.zeros((8, 3), np.float32)}, "both domains need the same"),
        ({"X_target": ROWS[:1]}, "2 rows or more"),
        ({"sample_domain": [1] * 8}, "no target rows"),
    ],
)
def test_domains_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidDataError, match=message):
        deep.DeepPeer(torch.nn.Linear(2, 2)).fit(ROWS, LABELS, **arguments)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: deep.DeepAdREM(torch.nn.Linear(3, 2)), InvalidDataError, r"can't take a row of shape \(2,\)"),
        (lambda: deep.DeepAdREM("resnet9"), ParameterError, "encoder"),
        (lambda: deep.DeepAdREM(torch.nn.Linear(2, 2), head="svm"), InvalidTypeError, "head must be one of"),
        (lambda: deep.DeepPeer(torch.nn.Linear(2, 2), "rot"), ParameterError, "alignment"),
        (lambda: deep.DeepPeer(torch.nn.Linear(2, 2), torch.nn.Linear), InvalidTypeError, "no subclass"),
        (lambda: deep.DeepPeer(torch.nn.Linear(2, 2), checkpoint="x"), ParameterError, "integer as random_state"),
        (lambda: deep.DeepPeer(torch.nn.Linear(2, 2), lr=1e30, steps=9), ParameterError, "choose a smaller lr"),
    ],
)
def test_errors_name_what_to_change(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    rows = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    with pytest.raises(error, match=message):
        make().set_params(device="cpu").fit(rows, LABELS, X_target=rows)


def test_encoders_see_images_as_torchvision_makes_them() -> None:
    seen: list[Any] = []

    means = torch.nn.Identity()
    means.register_forward_hook(lambda _, rows, __: seen.append(rows[0]))
    model = deep.DeepPeer(means, steps=1, size=16, device="cpu", random_state=0)
    model.fit(PIXELS, LABELS[:6], X_target=PIXELS)
    assert seen[0].shape == (1, 3, 16, 16)
    pixels = torch.from_numpy(PIXELS[:1]).permute(0, 3, 1, 2) / 255
    expected = (pixels.mean((2, 3)) - torch.tensor(images.MEANS)) / torch.tensor(images.SCALES)
    torch.testing.assert_close(seen[0].mean((2, 3)), expected, atol=0.05, rtol=0)
    assert model.network_.narrow[0].in_features == 3
