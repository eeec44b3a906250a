"""The paper's network in PyTorch on real photos, with the weights in ADREM_MODELS."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from photo_archive import some_photos

from adrem.exceptions import DamagedDataError
from adrem.features import ImageEncoder

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[deep]"')
deep = pytest.importorskip("adrem.deep")
images = pytest.importorskip("adrem.deep.images")
network = pytest.importorskip("adrem.deep.network")
pytestmark = pytest.mark.skipif("ADREM_MODELS" not in os.environ, reason="set ADREM_MODELS to a folder with weights")


@pytest.mark.parametrize(("side", "least"), [(224, 0.999999), (256, 0.998)])
def test_features_are_those_of_the_encoder(tmp_path: Path, side: int, least: float) -> None:
    """The same numbers for the same pixels; nearly so for images that are kept a little larger, for crops."""
    photos = [file for domain in ("amazon", "webcam") for file in some_photos(tmp_path, domain, 3)[0]]
    expected = ImageEncoder(cache=False).fit([]).transform(photos)
    encoder = deep.ResNet50.load_known().eval()
    views = images.views_of(encoder, 224, None)
    upright, _mirrored = views.labelling(images.read_rows(photos, "X", side))
    with torch.no_grad():
        found = network.encoded(encoder, upright).numpy()
    norms = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    assert ((found * expected).sum(axis=1) / norms).min() > least
    if side == 224:
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "few.npz", conv1=np.zeros(3, np.float32))
    with pytest.raises(DamagedDataError, match="does not hold the weights"):
        deep.ResNet50.load_known(tmp_path / "few.npz")
