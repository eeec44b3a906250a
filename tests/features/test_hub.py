"""Models from the hub: its own client asks a server on this machine that speaks its protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hubs import COMMIT, Hub, serving, sha256
from small_networks import text_model

from adrem.exceptions import DamagedDataError, DownloadError, ParameterError
from adrem.features import TextEncoder
from adrem.features.hub import fetch_model, is_repository

pytest.importorskip("huggingface_hub", reason="pip install 'adrem[hub]'")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    folder = text_model(tmp_path / "made")
    files = {
        "onnx/model.onnx": (folder / "model.onnx").read_bytes() + b"",
        "tokenizer.json": (folder / "tokenizer.json").read_bytes(),
        "config.json": (folder / "config.json").read_bytes(),
        "pytorch_model.bin": b"a pickle",
        "modeling.py": b"import os",
    }
    monkeypatch.setenv("ADREM_MODELS", str(tmp_path / "models"))
    with serving(Hub("owner/small", files)) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        yield served


def padded(hub: Hub) -> bytes:
    """Make the network large enough for a checksum of its own, by a field that protobuf skips."""
    content = hub.files["onnx/model.onnx"]
    note = b"x" * 5000
    hub.files["onnx/model.onnx"] = content + bytes([0x32, 0x88, 0x27]) + note  # its documentation, 5000 letters
    return hub.files["onnx/model.onnx"]


def test_a_model_is_fetched_and_used_by_its_name(hub: Hub, tmp_path: Path) -> None:
    network = padded(hub)
    name, folder = fetch_model("owner/small")
    assert (name, folder) == ("small", tmp_path / "models" / "small")
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json", "model.onnx", "origin.json", "tokenizer.json"
    ]  # fmt: skip
    origin = json.loads((folder / "origin.json").read_text())
    assert origin["revision"] == COMMIT
    assert origin["sha256"]["model.onnx"] == sha256(network)
    assert TextEncoder("small", cache=False).fit_transform(["good book"]).shape == (1, 4)
    # Neither code nor pickles were asked for, and all files are of the commit that was found first.
    assert not [path for _, path, _ in hub.asked if path.endswith((".bin", ".py"))]
    assert all(COMMIT in path for _, path, _ in hub.asked if "/resolve/" in path)
    assert not list((tmp_path / "models" / ".incoming").iterdir())


def test_a_broken_connection_is_resumed(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)  # what is kept of a broken answer
    network = padded(hub)
    hub.breaks = [2000]
    _, folder = fetch_model("owner/small")
    assert (folder / "model.onnx").read_bytes() == network
    assert [wanted for verb, _, wanted in hub.asked if verb == "GET" and wanted] == ["bytes=2000-"]


def test_altered_files_are_refused(hub: Hub, tmp_path: Path) -> None:
    hub.altered = b"y" * len(padded(hub))
    with pytest.raises(DamagedDataError, match="checksum differs"):
        fetch_model("owner/small")
    assert not (tmp_path / "models" / "small").exists()


def test_other_files_are_chosen_by_name(hub: Hub) -> None:
    hub.files["onnx/model_int8.onnx"] = hub.files["onnx/model.onnx"]
    _, folder = fetch_model("owner/small", file="onnx/model_int8.onnx")
    assert (folder / "model.onnx").is_file()
    assert any(path.endswith("model_int8.onnx") for _, path, _ in hub.asked)
    for unsafe in ("pytorch_model.bin", "modeling.py", "none.onnx"):
        with pytest.raises(ParameterError, match=r"Networks there: onnx/model\.onnx"):
            fetch_model("owner/small", file=unsafe)


def test_weights_of_timm_lie_in_its_folder(hub: Hub, tmp_path: Path) -> None:
    hub.repository, hub.files = "timm/net.tag", {"model.safetensors": b"weights", "config.json": b"{}"}
    assert fetch_model("timm/net.tag") == ("timm:net.tag", tmp_path / "models" / "timm" / "net.tag")
    assert (tmp_path / "models" / "timm" / "net.tag" / "model.safetensors").read_bytes() == b"weights"


@pytest.mark.usefixtures("hub")
def test_where_the_hub_is_not_reached_the_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DownloadError, match=r"put model.onnx, tokenizer.json .* into .*models/missing"):
        fetch_model("owner/missing")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match=r"https://huggingface.co/owner/small/tree/main into .*small"):
        fetch_model("owner/small")


def test_huge_files_are_refused_before_they_are_fetched(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.features.hub.MOST_NETWORK_BYTES", 10)
    with pytest.raises(ParameterError, match="may take 10 bytes"):
        fetch_model("owner/small")
    assert not [path for _, path, _ in hub.asked if "/resolve/" in path]


@pytest.mark.parametrize("name", ["small", "a/b/c", "../small", "owner/..", "owner/a..b", "/small", "owner/", "a/b\n"])
def test_names_of_repositories(name: str) -> None:
    assert not is_repository(name)
    assert is_repository("owner/small-v1.5")
