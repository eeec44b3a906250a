"""Small files in the formats of the published data sets."""

from __future__ import annotations

import io
import tarfile
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
FILE_SETS = (*MAT_FILES, *NPZ_FILES, "amazon-reviews")
N_CLASSES = {"amazon-400": 2, "amazon-reviews": 2, "office-31-decaf": 3, "cross-dataset-testbed": 4}


def make_files(name: str) -> dict[str, bytes]:
    """Small random files of a data set in the published format."""
    rng = RandomState(0)
    n_classes = N_CLASSES.get(name, 3)
    if name == "amazon-reviews":
        return {"processed_acl.tar.gz": review_archive(rng)}
    labels = np.arange(N_ROWS) % n_classes
    counts = {file: rng.poisson(1.0 + 2.0 * np.eye(n_classes, 12)[labels]) for file in files_of(name)}
    if name in MAT_FILES:
        first = 0 if name == "amazon-400" else 1
        return {file: _mat(X.astype(np.uint8), labels + first) for file, X in counts.items()}
    classes = np.array(["apple", "bike", "cup"])
    return {file: _npz(X.astype(np.float16), labels, classes) for file, X in counts.items()}


def files_of(name: str) -> tuple[str, ...]:
    return MAT_FILES.get(name) or NPZ_FILES.get(name) or ("processed_acl.tar.gz",)


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


def make_home(folder: Path, names: tuple[str, ...] = FILE_SETS) -> Path:
    """A folder of small data sets."""
    for name in names:
        (folder / name).mkdir(parents=True)
        for file, content in make_files(name).items():
            (folder / name / file).write_bytes(content)
    return folder


def accept_any_content(patch: pytest.MonkeyPatch, name: str) -> None:
    """Disable the checksum comparison for small files."""
    entry = REGISTRY[name]
    files = tuple(replace(file, sha256=()) for file in entry.files)
    patch.setitem(REGISTRY, name, replace(entry, files=files, rows=None, checksum=None))
