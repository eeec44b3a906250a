"""Photos of Office-31, from the archive in ADREM_DATA."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adrem.datasets.home import data_home


def some_photos(folder: Path, domain: str, n: int) -> tuple[list[Path], NDArray[np.float64]]:
    """Unpack every k-th photo of a domain; return the files, and the paper's features of them."""
    with np.load(data_home() / "office-31-resnet50" / f"{domain}.npz", allow_pickle=False) as arrays:
        places = np.linspace(0, len(arrays["files"]) - 1, n).astype(int)
        names, features = arrays["files"][places].tolist(), arrays["x"][places].astype(np.float64)
    files = [f"office-31-images/{domain}/{Path(name).with_suffix('.jpg').as_posix()}" for name in names]
    with tarfile.open(data_home() / "office-31-images" / "office-31-images.tar") as archive:
        for name in files:
            archive.extract(name, folder, filter="data")
    return [folder / name for name in files], features
