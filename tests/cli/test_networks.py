"""adrem models: what there is, and where it lies."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from commands import Command
from hubs import Hub, serving

from adrem.features import catalog
from adrem.features.catalog import Known


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of models, beside the files of a small one that is known by name."""
    (tmp_path / "usb").mkdir()
    (tmp_path / "usb" / "model.onnx").write_bytes(b"content")
    files = {"small/model.onnx": hashlib.sha256(b"content").hexdigest()}
    small = Known("small", "image", "A small one", "MIT", "the tests", 3, 7, files)
    monkeypatch.setattr(catalog, "CATALOG", {"small": small})
    monkeypatch.setattr("adrem.features.weights.CATALOG", {"small": small})
    monkeypatch.setenv("ADREM_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def test_a_model_is_listed_described_and_installed(adrem: Command, home: Path) -> None:
    code, out, err = adrem("models", "list")
    assert code == 0
    assert out.splitlines()[1].split() == ["small", "image", "3", "7", "bytes", "MIT", "no"]
    assert str(home) in err
    code, _, err = adrem("models", "fetch", "small")
    assert code == 2
    said = " ".join(err.split())
    assert "No address of small is known: get small/model.onnx (the tests), put them into" in said
    for _ in range(2):  # the second time nothing is left to do
        code, _, err = adrem("models", "fetch", "small", "--from", home.parent / "usb")
        assert code == 0, err
        assert (home / "small/model.onnx").read_bytes() == b"content"
    code, out, _ = adrem("models", "info", "small")
    assert code == 0
    assert f"there     {home / 'small'}" in out
    assert hashlib.sha256(b"content").hexdigest() in out
    (home / "small/model.onnx").write_bytes(b"altered content")
    assert "DAMAGED" in adrem("models", "list").out


def test_altered_and_missing_files_are_not_installed(adrem: Command, home: Path) -> None:
    usb = home.parent / "usb"
    (usb / "model.onnx").write_bytes(b"others")
    code, _, err = adrem("models", "fetch", "small", "--from", usb)
    assert code == 1
    assert "its checksum differs. Nothing was copied" in err
    (usb / "model.onnx").unlink()
    code, _, err = adrem("models", "fetch", "small", "--from", usb)
    assert code == 1
    assert "has no small/model.onnx" in err
    assert not home.exists()
    code, _, err = adrem("models", "info", "unknown")
    assert code == 2
    assert "known are small" in err


def test_a_model_is_fetched_from_the_hub(adrem: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub", reason="pip install 'adrem[hub]'")
    with serving(Hub("owner/net", {"model.onnx": b"content"})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        code, _, err = adrem("models", "fetch", "owner/net", "--revision", "main")
    assert code == 0, err
    assert f"net: in {home / 'net'}" in err
    assert (home / "net" / "model.onnx").read_bytes() == b"content"
    code, _, err = adrem("models", "fetch", "small", "--revision", "main")
    assert code == 2
    assert "Only models of the hub" in err
