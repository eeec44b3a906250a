"""The layer that features are taken from, the views of an image, and how its colours become numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from PIL import Image
from small_networks import classifier_model, image_model, network_of, save_network

from adrem.exceptions import DamagedDataError, EncoderNotFoundError, ParameterError
from adrem.features import ImageEncoder
from adrem.features.layers import as_rows

SIZE = 35  # a seventh of it is 5
PHOTOS = [Image.fromarray(np.random.default_rng(seed).integers(0, 256, (50, 60, 3), np.uint8)) for seed in (0, 1)]


def encoder_of(path: Path, **settings: Any) -> ImageEncoder:
    return ImageEncoder(path, **{"size": SIZE, "cache": False, **settings}).fit([])


def test_layers_of_an_onnx_network(tmp_path: Path) -> None:
    path = classifier_model(tmp_path / "net.onnx")
    scores = encoder_of(path).transform(PHOTOS)
    hidden = encoder_of(path, layer="last hidden").transform(PHOTOS)
    arrays = {own.name: onnx.numpy_helper.to_array(own) for own in onnx.load(path).graph.initializer}
    np.testing.assert_allclose(hidden @ arrays["weight"] + arrays["bias"], scores, rtol=1e-4, atol=1e-5)
    # The name of an output, of a node, and of what it makes; maps become their means.
    for name in ("flat", "mean", "map", "first"):
        np.testing.assert_allclose(encoder_of(path, layer=name).transform(PHOTOS), hidden, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(encoder_of(path, layer="scores").transform(PHOTOS), scores)


def test_a_layer_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"no layer 'fc'. It has scores, flat, mean, map"):
        encoder_of(classifier_model(tmp_path / "net.onnx"), layer="fc")
    with pytest.raises(ParameterError, match="no linear layer"):
        encoder_of(image_model(tmp_path / "means.onnx"), layer="last hidden")


def test_layers_have_caches_of_their_own(tmp_path: Path) -> None:
    path, cache = classifier_model(tmp_path / "net.onnx"), tmp_path / "cache"
    widths = [encoder_of(path, layer=layer, cache=cache).transform(PHOTOS).shape[1] for layer in (None, "map", None)]
    assert widths == [5, 4, 5]
    assert len(list(cache.glob("*.sqlite"))) == 2


def test_settings_that_change_after_fit(tmp_path: Path) -> None:
    """No features of another layer or normalization get into the cache."""
    path, cache = classifier_model(tmp_path / "net.onnx"), tmp_path / "cache"
    encoder = encoder_of(path, cache=cache)
    for settings in ({"normalization": "keras"}, {"layer": "scores"}):
        made = encoder.set_params(**settings).transform(PHOTOS)
        np.testing.assert_allclose(
            made, ImageEncoder(**encoder.get_params() | {"cache": False}).fit_transform(PHOTOS), rtol=1e-5
        )
    with pytest.raises(EncoderNotFoundError, match="fit again"):
        encoder.set_params(layer="map").transform(PHOTOS)


def test_a_network_without_a_row_for_each_image(tmp_path: Path) -> None:
    images = onnx.helper.make_tensor_value_info("images", onnx.TensorProto.FLOAT, ["n", 3, "height", "width"])
    mean = onnx.helper.make_tensor_value_info("mean", onnx.TensorProto.FLOAT, [])
    nodes = [onnx.helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0)]
    save_network(tmp_path / "mean.onnx", network_of(onnx.helper.make_graph(nodes, "mean", [images], [mean])))
    with pytest.raises(DamagedDataError, match="no row of features"):
        encoder_of(tmp_path / "mean.onnx")


def test_eighteen_views_are_nine_crops_and_their_mirror_images(tmp_path: Path) -> None:
    path = classifier_model(tmp_path / "net.onnx")
    one = encoder_of(path, size=SIZE)
    for photo, made in zip(PHOTOS, encoder_of(path, views=18, batch_size=2).transform(PHOTOS), strict=True):
        large = photo.resize((SIZE + 10, SIZE + 10), Image.Resampling.BILINEAR)
        crops = [large.crop((x, y, x + SIZE, y + SIZE)) for x in (0, 5, 10) for y in (0, 5, 10)]
        mirrored = [crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT) for crop in crops]
        np.testing.assert_allclose(made, one.transform([*crops, *mirrored]).mean(axis=0), rtol=1e-4, atol=1e-5)


def test_views_have_caches_of_their_own(tmp_path: Path) -> None:
    path, cache = classifier_model(tmp_path / "net.onnx"), tmp_path / "cache"
    one, many = (encoder_of(path, views=views, cache=cache).transform(PHOTOS) for views in (1, 18))
    assert np.abs(one - many).max() > 1e-3
    np.testing.assert_array_equal(encoder_of(path, views=18, cache=cache).transform(PHOTOS), many)


@pytest.mark.parametrize("settings", [{"views": 2}, {"normalization": "none"}, {"layer": 3}])
def test_other_values_are_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        encoder_of(classifier_model(tmp_path / "net.onnx"), **settings)


def test_a_network_for_one_image_of_one_size(tmp_path: Path) -> None:
    path = classifier_model(tmp_path / "net.onnx", side=SIZE, n=1)
    free = classifier_model(tmp_path / "free.onnx")
    made = encoder_of(path, views=18, batch_size=2).transform(PHOTOS)
    np.testing.assert_allclose(made, encoder_of(free, views=18).transform(PHOTOS), rtol=1e-5)
    with pytest.raises(ParameterError, match=f"set size={SIZE}"):
        encoder_of(path, size=64)


@pytest.mark.parametrize(
    ("normalization", "numbers"),
    [
        ("imagenet", [(200 / 255 - 0.485) / 0.229, (100 / 255 - 0.456) / 0.224, (50 / 255 - 0.406) / 0.225]),
        ("keras", [50 - 103.939, 100 - 116.779, 200 - 123.68]),
        ("symmetric", [200 / 127.5 - 1, 100 / 127.5 - 1, 50 / 127.5 - 1]),
        ("clip", [(200 / 255 - 0.4815) / 0.2686, (100 / 255 - 0.4578) / 0.2613, (50 / 255 - 0.4082) / 0.2758]),
    ],
)
def test_normalizations(tmp_path: Path, normalization: str, numbers: list[float]) -> None:
    encoder = encoder_of(image_model(tmp_path / "means.onnx"), normalization=normalization)
    made = encoder.transform([Image.new("RGB", (9, 9), (200, 100, 50))])[0]
    np.testing.assert_allclose(made, numbers, rtol=1e-3)


def test_outputs_become_rows() -> None:
    output = np.arange(24.0)
    np.testing.assert_array_equal(as_rows(output.reshape(2, 3, 2, 2)), output.reshape(2, 3, 4).mean(axis=2))
    np.testing.assert_array_equal(as_rows(output.reshape(2, 4, 3)), output.reshape(2, 4, 3).mean(axis=1))
