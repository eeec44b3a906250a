"""Networks of torch: modules as encoders of images, and architectures with weights from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import adrem
from adrem import AdREM
from adrem.exceptions import EncoderNotFoundError, MissingImportError, ParameterError
from adrem.features import ImageEncoder
from adrem.features.saved import encoder_from_dict, encoder_to_dict
from adrem.features.torch_network import checksum_of_module

torch = pytest.importorskip("torch")
PHOTOS = [Image.new("RGB", (40, 30), colour) for colour in ((200, 100, 50), (0, 0, 255), (90, 90, 90))]


def network(seed: int = 0) -> Any:
    """Return a network with a hidden layer, and a dropout that is off when it is evaluated."""
    torch.manual_seed(seed)
    layers = [torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Dropout(), torch.nn.Linear(4, 7))


def encoder_of(module: Any, **settings: Any) -> ImageEncoder:
    return ImageEncoder(module, size=32, cache=False, **settings).fit([])


def test_a_module_encodes_as_torch_itself_does() -> None:
    module = network()
    made = encoder_of(module).transform(PHOTOS)
    mean, scale = (torch.tensor(values).reshape(3, 1, 1) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    pixels = [torch.tensor(np.asarray(photo.resize((32, 32)))).permute(2, 0, 1) / 255 for photo in PHOTOS]
    with torch.inference_mode():
        expected = module.eval()(torch.stack([(own - mean) / scale for own in pixels])).numpy()
    np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-5)


def test_the_module_of_the_caller_stays_as_it_is() -> None:
    module = network().train()
    before = checksum_of_module(module)
    encoder_of(module, layer="last hidden").transform(PHOTOS)
    assert module.training
    assert checksum_of_module(module) == before
    assert not module[5]._forward_hooks


def test_layers_are_chosen_by_name() -> None:
    module = network()
    hidden = encoder_of(module, layer="last hidden").transform(PHOTOS)
    np.testing.assert_allclose(hidden, encoder_of(module, layer="3").transform(PHOTOS))
    # The mean of the map before is what the network pools itself.
    np.testing.assert_allclose(hidden, encoder_of(module, layer="1").transform(PHOTOS), rtol=1e-4, atol=1e-6)
    with pytest.raises(ParameterError, match="no layer 'fc'"):
        encoder_of(module, layer="fc")
    with pytest.raises(ParameterError, match="no linear layer"):
        encoder_of(module[:2], layer="last hidden")


def test_clones_and_names() -> None:
    encoder = encoder_of(network())
    other = clone(encoder).fit([])
    assert other.checksum_ == encoder.checksum_
    assert other.get_feature_names_out()[0] == "torch:Sequential_0"
    assert encoder_of(network(1)).checksum_ != encoder.checksum_


def test_a_saved_encoder_asks_for_its_module() -> None:
    module = network()
    encoder = encoder_of(module)
    expected = encoder.transform(PHOTOS)
    again = encoder_from_dict(encoder_to_dict(encoder)).set_params(cache=False)
    with pytest.raises(EncoderNotFoundError, match="set_params"):
        again.transform(PHOTOS)
    with pytest.raises(EncoderNotFoundError, match="checksum differs"):
        again.set_params(model=network(1)).transform(PHOTOS)
    np.testing.assert_array_equal(again.set_params(model=module).transform(PHOTOS), expected)


def test_a_pipeline_names_the_module_that_it_needs(tmp_path: Path) -> None:
    module = network()
    photos = PHOTOS * 4
    pipeline = make_pipeline(encoder_of(module), AdREM(C=1.0, n_estimators=3, random_state=0))
    pipeline.fit(photos, ["sand", "sea", "rock"] * 4)
    adrem.save(pipeline, tmp_path / "model.adrem")
    again = adrem.load(tmp_path / "model.adrem")
    with pytest.raises(EncoderNotFoundError, match="torch:Sequential"):
        again.predict(photos)
    again[0].set_params(model=module, cache=False)
    np.testing.assert_array_equal(again.predict(photos), pipeline.predict(photos))


@pytest.mark.skipif(torch.cuda.is_available(), reason="the error is for machines without a GPU, and there is one here")
def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="no GPU"):
        encoder_of(network(), device="cuda")


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADREM_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.mark.parametrize("package", ["timm", "torchvision"])
def test_an_architecture_without_weights_says_where_to_put_them(models: Path, package: str) -> None:
    with pytest.raises(EncoderNotFoundError, match=f"resnet18.safetensors into {models / package}"):
        ImageEncoder(f"{package}:resnet18").fit([])


def test_pickles_of_weights_are_refused_with_a_way_to_convert_them(models: Path) -> None:
    (models / "timm").mkdir(parents=True)
    (models / "timm" / "resnet18.pth").write_bytes(b"cos\nsystem\n(S'touch x'\ntR.")
    with pytest.raises(ParameterError, match="save_file"):
        ImageEncoder("timm:resnet18").fit([])


def test_weights_alone_are_no_network(tmp_path: Path) -> None:
    (tmp_path / "resnet18.safetensors").write_bytes(b"x")
    with pytest.raises(ParameterError, match="timm:resnet18"):
        ImageEncoder(tmp_path / "resnet18.safetensors").fit([])


@pytest.mark.parametrize("name", ["timm:../x", "timm:", "pickle:x", "timm:a:b", "torchvision:a/b"])
def test_names_with_colons_are_plain(name: str) -> None:
    with pytest.raises((ParameterError, EncoderNotFoundError)):
        ImageEncoder(name).fit([])


def packaged(package: str) -> Any:
    """Import torchvision or timm; skip where it is missing, or was built for another torch."""
    try:
        return pytest.importorskip(package)
    except RuntimeError as error:
        # A wheel of torchvision that was built for another version of torch raises this when it is imported.
        pytest.skip(f"{package} was built for another version of torch: {error}")


@pytest.mark.thorough
@pytest.mark.parametrize("package", ["timm", "torchvision"])
def test_an_architecture_with_weights_from_a_file(models: Path, package: str) -> None:
    module_of = packaged(package)
    save_file = pytest.importorskip("safetensors.torch").save_file
    torch.manual_seed(0)
    made = module_of.models.get_model("resnet18") if package == "torchvision" else module_of.create_model("resnet18")
    (models / package).mkdir(parents=True)
    save_file(made.state_dict(), models / package / "resnet18.safetensors")
    encoder = ImageEncoder(f"{package}:resnet18", size=64, cache=False).fit([])
    expected = encoder_of(made, layer="last hidden").set_params(size=64).fit([]).transform(PHOTOS)
    np.testing.assert_allclose(encoder.transform(PHOTOS), expected, rtol=1e-4, atol=1e-5)
    assert encoder.n_features_out_ == 512
    again = encoder_from_dict(encoder_to_dict(encoder)).set_params(cache=False)
    np.testing.assert_array_equal(again.transform(PHOTOS), encoder.transform(PHOTOS))
    with pytest.raises((ParameterError, EncoderNotFoundError)):
        ImageEncoder(f"{package}:resnet1818").fit([])


def test_a_package_that_is_missing_is_named(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (models / "timm").mkdir(parents=True)
    (models / "timm" / "resnet18.safetensors").write_bytes(b"x")
    monkeypatch.setitem(__import__("sys").modules, "timm", None)
    with pytest.raises(MissingImportError, match="timm"):
        ImageEncoder("timm:resnet18").fit([])
