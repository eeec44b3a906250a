"""Small files in the formats of the published data sets."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from numpy.random import RandomState

from adrem.datasets.registry import REGISTRY

N_ROWS = 24
MAT_FILES = {
    "amazon-400": ("books_400.mat", "dvd_400.mat", "elec_400.mat", "kitchen_400.mat"),
    "office-caltech-surf": (
        "amazon_SURF_L10.mat",
        "Caltech10_SURF_L10.mat",
        "dslr_SURF_L10.mat",
        "webcam_SURF_L10.mat",
    ),
    "office-31-decaf": ("amazon_fc7.mat", "dslr_fc7.mat", "webcam_fc7.mat"),
    "cross-dataset-testbed": (
        "dense_caltech256_decaf7_subsampled.mat",
        "dense_imagenet_decaf7_subsampled.mat",
        "dense_sun_decaf7_subsampled.mat",
    ),
}
NPZ_FILES = {
    "office-caltech-resnet50": ("amazon.npz", "caltech10.npz", "dslr.npz", "webcam.npz"),
    "office-31-resnet50": ("amazon.npz", "dslr.npz", "webcam.npz"),
}
BATCH_FILES = tuple(f"batch{k}.dat.gz" for k in (1, 2, 3, 4, 5, 6, 8, 9))
REVIEW_FILES = tuple(
    f"{d}/{label}.review.gz" for d in ("books", "dvd", "electronics", "kitchen") for label in ("negative", "positive")
)
# A file of plain text that is cut after a line is a whole file of fewer rows.
TEXT_FILES = {
    "mushrooms": ("agaricus-lepiota.data",),
    "phishing": ("TrainingDataset.arff",),
    "heart-disease": tuple(f"processed.{name}.data" for name in ("cleveland", "hungarian", "switzerland", "va")),
}
PACKED_FILES = {
    "amazon-reviews": ("processed_acl.tar.gz",),
    "amazon-text": REVIEW_FILES,
    "gas-sensor-drift": BATCH_FILES,
}
BINARY_SETS = (*MAT_FILES, *NPZ_FILES, *PACKED_FILES)
FILE_SETS = (*BINARY_SETS, *TEXT_FILES)
N_CLASSES = {"amazon-400": 2, "amazon-reviews": 2, "office-31-decaf": 3, "cross-dataset-testbed": 4}


def make_files(name: str) -> dict[str, bytes]:
    """Small random files of a data set in the published format."""
    rng = RandomState(0)
    n_classes = N_CLASSES.get(name, 3)
    if name in MAKERS:
        return {file: MAKERS[name](rng, file) for file in files_of(name)}
    labels = np.arange(N_ROWS) % n_classes
    counts = {file: rng.poisson(1.0 + 2.0 * np.eye(n_classes, 12)[labels]) for file in files_of(name)}
    if name in MAT_FILES:
        first = 0 if name == "amazon-400" else 1
        return {file: _mat(X.astype(np.uint8), labels + first) for file, X in counts.items()}
    classes = np.array(["apple", "bike", "cup"])
    return {file: _npz(X.astype(np.float16), labels, classes) for file, X in counts.items()}


def files_of(name: str) -> tuple[str, ...]:
    return {**MAT_FILES, **NPZ_FILES, **PACKED_FILES, **TEXT_FILES}[name]


def _mat(X: Any, labels: Any) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, {"fts": X, "labels": labels[:, None].astype(np.uint8)}, do_compression=True)
    return file.getvalue()


def _npz(X: Any, labels: Any, classes: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, x=X, y=labels, classes=classes, files=np.array([f"{i}.jpg" for i in range(len(X))]))
    return file.getvalue()


def review_archive(rng: RandomState, *, extra: str = "") -> bytes:
    """Reviews in the format of Blitzer's archive; terms may be word pairs and contain colons."""
    words = {"negative": ["bad", "poor", "not_good", "a:b"], "positive": ["good", "fine", "very_good", "é"]}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for domain in ("books", "dvd", "electronics", "kitchen"):
            for label, own in words.items():
                lines = "".join(
                    f"the:{1 + rng.randint(3)} {own[rng.randint(4)]}:1 {domain}:2 #label#:{label}\n"
                    for _ in range(N_ROWS // 2)
                )
                content = (extra + lines).encode()
                member = tarfile.TarInfo(f"processed_acl/{domain}/{label}.review")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def _texts(rng: RandomState, file: str) -> bytes:
    words = ("bad", "poor", "not") if "negative" in file else ("good", "fine", "very")
    reviews = [
        f"<review>\n<title>\nTitle\n</title>\n<review_text>\nThe book, {words[rng.randint(3)]} \xe9t\xe9!\n"
        "</review_text>\n</review>\n"
        for _ in range(N_ROWS // 2)
    ]
    return gzip.compress(f"<data>\n{''.join(reviews)}</data>\n".encode("latin-1"), mtime=0)


def _batch(rng: RandomState, _file: str) -> bytes:
    rows = rng.uniform(-10.0, 1e5, (N_ROWS, 128)).round(3)
    lines = [
        f"{1 + k % 6} " + " ".join(f"{j + 1}:{value}" for j, value in enumerate(row)) for k, row in enumerate(rows)
    ]
    return gzip.compress("\n".join(lines).encode() + b"\n", mtime=0)


def _mushrooms(rng: RandomState, _file: str) -> bytes:
    codes = np.array(list("abc"))[rng.randint(3, size=(2 * N_ROWS, 22))]
    codes[:, 9] = np.repeat(["e", "t"], N_ROWS)
    labels = np.where(codes[:, 4] == "a", "e", "p")
    return "".join(f"{label},{','.join(row)}\n" for label, row in zip(labels, codes, strict=True)).encode()


def _phishing(rng: RandomState, _file: str) -> bytes:
    cells = rng.randint(-1, 2, size=(2 * N_ROWS, 31))
    cells[:, 0] = np.repeat([1, -1], N_ROWS)
    cells[:, -1] = np.where(cells[:, 7] > 0, 1, -1)
    lines = [",".join(map(str, row)) for row in cells]
    return "\n".join(["@relation phishing", "@attribute a {-1,1}", "@data", *lines]).encode()


def _heart(rng: RandomState, file: str) -> bytes:
    rows = rng.randint(1, 90, size=(N_ROWS, 14)).astype(str)
    for column, codes in ((2, "1234"), (6, "012"), (10, "123"), (12, "367"), (13, "01234")):
        rows[:, column] = np.array(list(codes))[rng.randint(len(codes), size=N_ROWS)]
    rows[:3, 4], rows[:2, 12] = ("-9" if "hungarian" in file else "?"), "?"
    return "".join(",".join(row) + "\n" for row in rows).encode()


MAKERS: dict[str, Callable[[RandomState, str], bytes]] = {
    "amazon-reviews": lambda rng, _file: review_archive(rng),
    "amazon-text": _texts,
    "gas-sensor-drift": _batch,
    "mushrooms": _mushrooms,
    "phishing": _phishing,
    "heart-disease": _heart,
}


def make_home(folder: Path, names: tuple[str, ...] = FILE_SETS) -> Path:
    """A folder of small data sets."""
    for name in names:
        (folder / name).mkdir(parents=True)
        for file, content in make_files(name).items():
            (folder / name / file).parent.mkdir(exist_ok=True)
            (folder / name / file).write_bytes(content)
    return folder


def accept_any_content(patch: pytest.MonkeyPatch, name: str) -> None:
    """Disable the checksum comparison for small files."""
    entry = REGISTRY[name]
    files = tuple(replace(file, sha256=()) for file in entry.files)
    patch.setitem(REGISTRY, name, replace(entry, files=files, rows=None, checksum=None))
