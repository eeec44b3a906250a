"""Files of models that may be hostile: nothing is run, nothing outside of their folder is read, nothing hangs."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from small_networks import image_model, save_network, text_model, text_network, tokenizer

from adrem.exceptions import DamagedDataError, EncoderNotFoundError, ParameterError
from adrem.features import ImageEncoder, TextEncoder

VECTORS = np.ones((8, 4), np.float32)


def with_external(location: str) -> onnx.ModelProto:
    """Return a network whose vectors are in another file."""
    network = text_network(VECTORS)
    tensor = network.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("length", str(VECTORS.nbytes))):
        tensor.external_data.add(key=key, value=value)
    return network


@pytest.mark.parametrize(
    "location", ["../secret.bin", "a/../../secret.bin", "{folder}/../secret.bin", "link/secret.bin"]
)
def test_weights_outside_of_the_folder_are_refused(tmp_path: Path, location: str) -> None:
    folder = text_model(tmp_path / "tiny")
    (tmp_path / "secret.bin").write_bytes(VECTORS.tobytes())
    (folder / "link").symlink_to(tmp_path)
    save_network(folder / "model.onnx", with_external(location.format(folder=folder)))
    with pytest.raises(DamagedDataError, match="outside of its folder: it is not read"):
        TextEncoder(folder, max_tokens=8).fit([])


def test_weights_in_a_part_of_the_network_are_found(tmp_path: Path) -> None:
    """A tensor in the branch of a condition."""
    folder = text_model(tmp_path / "tiny")
    network = text_network(VECTORS)
    inner = with_external("../secret.bin").graph
    network.graph.node.append(helper.make_node("If", ["c"], ["d"], then_branch=inner, else_branch=inner))
    save_network(folder / "model.onnx", network)
    with pytest.raises(DamagedDataError, match="outside of its folder"):
        TextEncoder(folder, max_tokens=8).fit([])


def test_weights_in_the_folder_are_read(tmp_path: Path) -> None:
    folder = text_model(tmp_path / "tiny")
    save_network(folder / "model.onnx", with_external("weights.bin"))
    (folder / "weights.bin").write_bytes(VECTORS.tobytes())
    features = TextEncoder(folder, max_tokens=8, cache=False).fit_transform(["good"])
    np.testing.assert_allclose(features, [[0.5] * 4])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x08" * 1000, b"\xff" * 1000])
def test_damaged_networks_are_one_clear_error(tmp_path: Path, content: bytes) -> None:
    folder = text_model(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(DamagedDataError, match=r"model\.onnx"):
        TextEncoder(folder, max_tokens=8).fit([])


@pytest.mark.parametrize("name", ["../tiny", "a/../../tiny", "..", "..\\tiny", ""])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text_model(tmp_path / "tiny")
    monkeypatch.setenv("ADREM_MODELS", str(tmp_path / "models"))
    with pytest.raises(ParameterError, match="is no name of a model"):
        TextEncoder(name).fit([])


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".pkl"])
def test_pickles_are_refused_with_the_way_to_convert_them(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"network{suffix}"
    file.write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    for encoder in (TextEncoder(file), TextEncoder(str(file)), ImageEncoder(file), TextEncoder(tmp_path)):
        with pytest.raises(ParameterError, match=r"no file that is safe to read.*torch\.onnx\.export"):
            encoder.fit([])


def test_a_folder_without_a_network_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EncoderNotFoundError, match=r"no file .*model\.onnx"):
        TextEncoder(tmp_path / "empty").fit([])
    folder = text_model(tmp_path / "tiny")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EncoderNotFoundError, match=r"There is no tokenizer\.json beside the network"):
        TextEncoder(folder).fit([])


def replace(content: str, string: str = "a") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": string}, "content": content}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {
                "pre_tokenizer": {
                    "type": "Split",
                    "pattern": {"Regex": "(a+)+$"},
                    "behavior": "Isolated",
                    "invert": False,
                }
            },
            "which may take forever",
        ),
        ({"normalizer": {"type": "Sequence", "normalizers": [replace("aa")] * 40}}, "times longer"),
        ({"normalizer": {"type": "Sequence", "normalizers": [replace("b")] * 60}}, "steps, and may have 50"),
        ({"model": {"type": "Program", "vocab": {}}}, "of an unknown type"),
        ({"model": []}, "holds no tokenizer"),
        ({"pre_tokenizer": {"type": "Unknown"}}, "can't be read as a tokenizer"),
    ],
)
def test_tokenizers_made_to_hang_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    folder = text_model(tmp_path / "tiny", **changes)
    begin = perf_counter()
    with pytest.raises(DamagedDataError, match=message):
        TextEncoder(folder, max_tokens=8).fit([])
    assert perf_counter() - begin < 10


def test_lengths_in_a_tokenizer_do_not_count(tmp_path: Path) -> None:
    padding = {"strategy": {"Fixed": 10**12}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0}
    padding |= {"pad_type_id": 0, "pad_token": "[PAD]"}
    folder = text_model(tmp_path / "tiny", padding=padding)
    assert TextEncoder(folder, max_tokens=8, cache=False).fit_transform(["good"]).shape == (1, 4)


def test_a_long_word_takes_no_time_of_its_square(tmp_path: Path) -> None:
    vocabulary = {"[UNK]": 0, "a": 1, "##a": 2}
    words = {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    folder = text_model(tmp_path / "tiny", model={**words, "max_input_chars_per_word": 10**9})
    begin = perf_counter()
    encoded = TextEncoder(folder, max_tokens=8, cache=False).fit([]).encode(["a" * 3_000_000])
    assert encoded.cut.tolist() == [True]
    assert perf_counter() - begin < 10


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json"])
def test_large_and_deep_files_are_refused(tmp_path: Path, name: str) -> None:
    folder = text_model(tmp_path / "tiny")
    (folder / name).write_text("[" * 100_000)
    with pytest.raises(DamagedDataError, match=name):
        TextEncoder(folder, max_tokens=8).fit([])
    with (folder / name).open("wb") as file:
        file.truncate(2**30)  # takes no room on the disk
    with pytest.raises(DamagedDataError, match="it is not read"):
        TextEncoder(folder, max_tokens=8).fit([])


def test_tokens_beyond_the_network_are_an_error(tmp_path: Path) -> None:
    model = tokenizer()["model"]
    folder = text_model(tmp_path / "tiny", model={**model, "vocab": {**model["vocab"], "huge": 10**6}})
    with pytest.raises(DamagedDataError, match="can't be read as a network"):
        TextEncoder(folder, max_tokens=8, cache=False).fit_transform(["huge"])


def test_a_network_of_another_kind_is_refused(tmp_path: Path) -> None:
    folder = text_model(tmp_path / "tiny")
    image_model(folder / "model.onnx")
    with pytest.raises(DamagedDataError, match="a network for texts takes input_ids"):
        TextEncoder(folder, max_tokens=8).fit([])
    with pytest.raises(DamagedDataError, match="is no network for images"):
        ImageEncoder(text_model(tmp_path / "other") / "model.onnx").fit([])


def test_altered_files_of_a_known_model_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADREM_MODELS", str(tmp_path))
    text_model(tmp_path / "gte-small-int8")
    with pytest.raises(DamagedDataError, match="is not the file that gte-small has: its checksum differs"):
        TextEncoder().fit([])
    np.savez(tmp_path / "resnet50-keras.npz", a=np.array([None], dtype=object))
    with pytest.raises(DamagedDataError, match="its checksum differs"):
        ImageEncoder().fit([])
    with pytest.raises(DamagedDataError, match="can't be read as weights of ResNet-50"):
        ImageEncoder(tmp_path / "resnet50-keras.npz").fit([])
