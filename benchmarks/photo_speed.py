"""Measure how many photos a second become features of ResNet-50, and which part of the time decodes them.

    ADREM_MODELS=folder python benchmarks/photo_speed.py PHOTOS [--device cuda] [--out FILE]

On the CPU, figures are those of processor time, with one thread and with two: what idle cores would do. On a GPU they
are those of the clock; torch replaces onnxruntime, and `of_network_alone` is the rate as a share of that of the network
alone, on arrays in memory. Decoding is measured alone, with all cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv

from adrem.features import ImageEncoder
from adrem.features.pictures import read_picture
from adrem.features.resnet import resnet50
from adrem.features.weights import find_weights

OUT = Path(__file__).parents[1] / "docs/results/photo_speed.csv"
FIELDS = ("device", "threads", "batch", "photos", "images_per_second", "decoding_share", "of_network_alone")
SIZE, BATCH, REPEATS = 224, 128, 3


def encoder_of(device: str) -> ImageEncoder:
    """Return the paper's ResNet-50, on a GPU in torch."""
    if device == "cpu":
        return ImageEncoder(cache=False).fit([])
    from onnx_in_torch import OnnxModule

    module = OnnxModule(resnet50(find_weights("resnet50", "image").network))
    return ImageEncoder(module, normalization="keras", batch_size=BATCH, device=device, cache=False).fit([])


def seconds(clock: Callable[[], float], work: Callable[[], Any]) -> float:
    begin = clock()
    work()
    return clock() - begin


def decode(files: list[Path]) -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda file: np.asarray(read_picture(file, SIZE).resize((SIZE, SIZE))), files))


def measure(device: str, files: list[Path]) -> dict[str, Any]:
    """Return the figures of one device."""
    clock = process_time if device == "cpu" else perf_counter
    encoder = encoder_of(device)
    encoder.transform(files[: 2 * BATCH if device == "cuda" else 2])
    threads = int(os.environ.get("OMP_NUM_THREADS") or 0) or (os.cpu_count() or 1)
    whole = min(seconds(clock, lambda: encoder.transform(files)) for _ in range(REPEATS))
    decoding = min(seconds(clock, lambda: decode(files)) for _ in range(REPEATS))
    cores = threads if device == "cpu" else 1  # processor time is that of all cores
    row = {
        "device": device, "threads": threads, "batch": encoder.batch_size, "photos": len(files),
        "images_per_second": f"{cores * len(files) / whole:.1f}", "decoding_share": f"{decoding / whole:.3f}",
        "of_network_alone": "",
    }  # fmt: skip
    if device == "cuda":
        images = np.zeros((BATCH, 3, SIZE, SIZE), np.float32)
        n_batches = len(files) // BATCH
        alone = min(
            seconds(clock, lambda: [encoder._network.run(images) for _ in range(n_batches)]) for _ in range(REPEATS)
        )
        row["of_network_alone"] = f"{alone * len(files) / (n_batches * BATCH) / whole:.3f}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--n", type=int, help="number of photos")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--here", action="store_true", help="measure in this process, with the threads it has")
    arguments = parser.parse_args()
    if arguments.device == "cpu" and not arguments.here:
        for threads in "12":  # the number of threads is read when a network is opened
            subprocess.run([sys.executable, *sys.argv, "--here"], env={**os.environ, "OMP_NUM_THREADS": threads},
                           check=True)  # fmt: skip
        return
    files = sorted(arguments.photos.rglob("*.jpg"))
    n_files = arguments.n or (60 if arguments.device == "cpu" else len(files))
    row = measure(arguments.device, files[:: max(1, len(files) // n_files)][:n_files])
    rows = list(read_csv(arguments.out)) if arguments.out.exists() else []
    key = ("device", "threads")
    rows = [own for own in rows if [own[name] for name in key] != [str(row[name]) for name in key]]
    write_csv(arguments.out, FIELDS, [*rows, row])
    print(row)


if __name__ == "__main__":
    main()
