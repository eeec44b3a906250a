"""Measure how many photos a second become features of ResNet-50, and which part of the time decodes them.

    ADREM_MODELS=folder python benchmarks/photo_speed.py PHOTOS [--device cuda] [--out FILE]

Rates are those by the clock, the best of three, and for each second of processor time; on a busy machine only the
second tells something, with one thread. On a GPU torch replaces onnxruntime. `decoding_share` is the time to decode the
photos alone, on all cores, as a share of the whole: processor time on the CPU, else by the clock. `of_network_alone` is
the rate as a share of that of the network alone, on arrays in memory.
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
FIELDS = (
    "device",
    "threads",
    "batch",
    "photos",
    "images_per_second",
    "for_each_core_second",
    "decoding_share",
    "of_network_alone",
)
SIZE, BATCH, REPEATS = 224, 128, 3


def encoder_of(device: str) -> ImageEncoder:
    """Return the paper's ResNet-50, on a GPU in torch."""
    if device == "cpu":
        return ImageEncoder(cache=False).fit([])
    from onnx_in_torch import OnnxModule

    module = OnnxModule(resnet50(find_weights("resnet50", "image").network))
    return ImageEncoder(module, normalization="keras", batch_size=BATCH, device=device, cache=False).fit([])


def seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds that some work takes by the clock, and of processor time: the least of several runs."""
    taken = []
    for _ in range(REPEATS):
        begin = perf_counter(), process_time()
        work()
        taken.append((perf_counter() - begin[0], process_time() - begin[1]))
    clock, processor = zip(*taken, strict=True)
    return min(clock), min(processor)


def decode(files: list[Path]) -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda file: np.asarray(read_picture(file, SIZE).resize((SIZE, SIZE))), files))


def measure(device: str, files: list[Path]) -> dict[str, Any]:
    """Return the figures of one device."""
    encoder = encoder_of(device)
    encoder.transform(files[: 2 * BATCH if device == "cuda" else 2])
    whole, decoding = seconds(lambda: encoder.transform(files)), seconds(lambda: decode(files))
    measured = 0 if device == "cuda" else 1
    row = {
        "device": device,
        "threads": int(os.environ.get("OMP_NUM_THREADS") or 0) or (os.cpu_count() or 1),
        "batch": encoder.batch_size,
        "photos": len(files),
        "images_per_second": f"{len(files) / whole[0]:.1f}",
        "for_each_core_second": f"{len(files) / whole[1]:.1f}",
        "decoding_share": f"{decoding[measured] / whole[measured]:.3f}",
        "of_network_alone": "",
    }
    if device == "cuda":
        images = np.zeros((BATCH, 3, SIZE, SIZE), np.float32)
        n_batches = len(files) // BATCH
        alone = seconds(lambda: [encoder._network.run(images) for _ in range(n_batches)])[0]
        row["of_network_alone"] = f"{alone * len(files) / (n_batches * BATCH) / whole[0]:.3f}"
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
