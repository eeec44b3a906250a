"""The encoders on real texts and photos, with the weights in ADREM_MODELS."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from photo_archive import some_photos
from sklearn.linear_model import LogisticRegression

from adrem.datasets.home import data_home
from adrem.datasets.reviews import TEXT
from adrem.features import ImageEncoder, TextEncoder
from adrem.files.packed import decompress

pytestmark = pytest.mark.skipif("ADREM_MODELS" not in os.environ, reason="set ADREM_MODELS to a folder with weights")
N_TEXTS = 100


def reviews(domain: str, label: str) -> list[str]:
    path = data_home() / "amazon-text" / domain / f"{label}.review.gz"
    return TEXT.findall(decompress(path.read_bytes(), path.name).decode("latin-1"))[:N_TEXTS]


def test_gte_small_knows_good_from_bad_in_another_domain(tmp_path: Path) -> None:
    """A few hundred reviews; of single words one learns about 60 % of so few."""
    encoder = TextEncoder(max_tokens=64, cache=tmp_path).fit([])
    rows = {d: encoder.transform(reviews(d, "positive") + reviews(d, "negative")) for d in ("books", "kitchen")}
    labels = np.repeat([1, 0], N_TEXTS)
    assert rows["books"].shape == (2 * N_TEXTS, 384)
    classifier = LogisticRegression(C=30).fit(rows["books"], labels)
    assert classifier.score(rows["kitchen"], labels) > 0.8


def test_gte_small_is_the_known_one() -> None:
    """Texts that mean the same are close, and the figures do not depend on what is beside a text."""
    encoder = TextEncoder(cache=False).fit([])
    pot, kettle, film = encoder.transform(["the pot leaks", "this kettle drips water", "a touching film about war"])
    assert pot @ kettle > pot @ film + 0.05
    np.testing.assert_array_equal(encoder.transform(["the pot leaks"])[0], pot)


@pytest.mark.parametrize(("domain", "least"), [("amazon", 0.99), ("webcam", 0.96), ("dslr", 0.95)])
def test_features_of_photos_are_those_of_the_paper(tmp_path: Path, domain: str, least: float) -> None:
    """The photos were scaled and compressed again, those of the cameras from larger ones."""
    files, expected = some_photos(tmp_path, domain, 35)
    made = ImageEncoder(cache=False).fit([]).transform(files).astype(np.float64)
    norms = np.linalg.norm(made, axis=1) * np.linalg.norm(expected, axis=1)
    assert np.mean((made * expected).sum(axis=1) / norms) > least
    # Each photo is nearest to its own features.
    distances = np.linalg.norm(made[:, None] - expected[None], axis=2)
    assert (distances.argmin(axis=1) == np.arange(len(files))).all()
