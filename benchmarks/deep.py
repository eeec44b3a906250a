"""Train networks on photos of Office-31: Ad-REM with a network that learns, and the deep methods of the paper.

    ADREM_MODELS=folder python benchmarks/deep.py PHOTOS --out FILE [--methods adrem dann] [--pairs A-W] [--seeds 1]

PHOTOS is the folder that office-31-images.tar unpacks to. A row that is in the file is not measured again, so that an
interrupted run goes on; with --minutes a cell that would end too late is not begun. The rounds of Ad-REM are written to
a second file, FILE with -rounds in its name. No label of the target is used but for the accuracies.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from csv_files import read_csv, write_csv
from numpy.typing import NDArray

from adrem.deep import ALIGNMENTS, DeepAdREM, DeepPeer
from adrem.features.pictures import read_picture

OUT = Path(__file__).parents[1] / "docs/results/deep.csv"
DATA = "office-31"
DOMAINS = {"A": "amazon", "W": "webcam", "D": "dslr"}
PAIRS = ("A-W", "W-A", "A-D", "D-A", "D-W", "W-D")
SIDE = 256
STEPS = 1200
CHANCE = float(np.log(31))  # loss of a guess
KEYS = ("data", "pair", "method", "seed")
CELL = (
    *KEYS,
    "accuracy",
    "network_accuracy",
    "head_accuracy",
    "seconds",
    "training_seconds",
    "images_per_second",
    "source_loss",
    "device",
)
ROUND = (
    *KEYS, "round", "accuracy", "head_accuracy", "network_accuracy", "changed", "gained", "lost", "agreement", "loss",
    "head_seconds", "training_seconds",
)  # fmt: skip
# Ad-REM as it is, and what becomes of it without one of its parts.
ADREM: dict[str, dict[str, Any]] = {
    "adrem": {},
    "adrem, mcc": {"alignment": "mcc"},
    "adrem, network alone": {"head": "network", "rounds": 20, "steps": 60},
    "adrem, head alone": {"network_weight": 0.0},
    "adrem, plain draws": {"draws": "plain"},
    "adrem, full draws": {"growing": False},
    "adrem, one member": {"head": "adrem"},
    "adrem, once": {"rounds": 1, "steps": 1200},
    "adrem, frozen norm": {"frozen_norm": True},
}
METHODS = (*ADREM, "source", *ALIGNMENTS)
Photos = dict[str, tuple[Any, NDArray[Any]]]


def read_photos(folder: Path, each: int | None = None) -> Photos:
    """Return the pixels and the class of each photo by domain."""
    found = {}
    for key, name in DOMAINS.items():
        files = sorted((folder / name).glob("*/*.jpg"))[::each]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            pixels = list(pool.map(_pixels, files))
        found[key] = (np.stack(pixels), np.array([file.parent.name for file in files]))
    return found


def _pixels(file: Path) -> NDArray[np.uint8]:
    return np.asarray(read_picture(file, SIDE).resize((SIDE, SIDE)), np.uint8)


def make(method: str, seed: int, arguments: argparse.Namespace) -> Any:
    """Return the model of a method, unfitted."""
    common = {"device": arguments.device, "random_state": seed, "batch_size": arguments.batch_size}
    if method in ADREM:
        params = {"rounds": 4, "steps": arguments.steps // 4, "tol": 0.0} | ADREM[method]
        if arguments.steps != STEPS:
            params["steps"] = max(1, arguments.steps // params["rounds"])
        return DeepAdREM(**params, **common)
    return DeepPeer(alignment=None if method == "source" else method, steps=arguments.steps, **common)


def measure(photos: Photos, pair: str, method: str, seed: int, arguments: argparse.Namespace) -> tuple[Any, list[Any]]:
    """Return the row of a cell, and those of its rounds."""
    (source, y), (target, truth) = (photos[key] for key in pair.split("-"))
    model = make(method, seed, arguments)
    begin = perf_counter()
    model.fit(source, y, X_target=target)
    seconds = perf_counter() - begin
    log = model.training_log_
    trained = sum(entry["seconds"] for entry in log)
    n_images = sum(entry["seconds"] * entry["rows_per_second"] for entry in log)
    keys = {"data": DATA, "pair": pair, "method": method, "seed": seed}
    cell = keys | {
        "accuracy": percent(model.transduction_ == truth),
        "network_accuracy": percent(_last(model, "network_labels_") == truth),
        "head_accuracy": percent(_last(model, "head_labels_") == truth),
        "seconds": seconds,
        "training_seconds": trained,
        "images_per_second": n_images / trained,
        "source_loss": log[-1]["source_loss"],
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
    }
    return cell, [keys | row for row in rounds_of(model, truth)]


def _last(model: Any, name: str) -> NDArray[Any]:
    return np.asarray(getattr(model, name)[-1] if hasattr(model, name) else model.transduction_)


def percent(right: Any) -> float:
    return float(100 * np.mean(right))


def rounds_of(model: Any, truth: NDArray[Any]) -> list[dict[str, Any]]:
    """Return how many labels were right after each round, and how many became right or wrong in it."""
    rows: list[dict[str, Any]] = []
    for number, entry in enumerate(getattr(model, "history_", [])):
        right = model.round_labels_[number] == truth
        before = model.round_labels_[max(0, number - 1)] == truth
        rows.append(
            {
                **{name: entry[name] for name in ROUND if name in entry},
                "accuracy": percent(right),
                "head_accuracy": percent(model.head_labels_[number] == truth),
                "network_accuracy": percent(model.network_labels_[number] == truth),
                "gained": percent(right & ~before),
                "lost": percent(before & ~right),
                "changed": 100 * entry["changed"],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--methods", nargs="+", default=["adrem"], choices=METHODS)
    parser.add_argument("--pairs", nargs="+", default=PAIRS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--each", type=int, help="take every n-th photo only, to try the script")
    arguments = parser.parse_args()
    begin, longest = perf_counter(), dict[str, float]()
    rounds = arguments.out.with_stem(f"{arguments.out.stem}-rounds")
    cells: list[dict[str, Any]] = list(read_csv(arguments.out)) if arguments.out.exists() else []
    history: list[dict[str, Any]] = list(read_csv(rounds)) if rounds.exists() else []
    done = {tuple(row[key] for key in KEYS) for row in cells}
    photos = read_photos(arguments.photos, arguments.each)
    print(f"photos read in {perf_counter() - begin:.1f} s", flush=True)
    for seed in arguments.seeds:
        for method in arguments.methods:
            for pair in arguments.pairs:
                if (DATA, pair, method, str(seed)) in done:
                    continue
                started = perf_counter()
                if started - begin + longest.get(method, 0.0) > 60 * arguments.minutes:
                    print("no time is left for another cell: run it again", flush=True)
                    return
                cell, more = measure(photos, pair, method, seed, arguments)
                longest[method] = max(longest.get(method, 0.0), perf_counter() - started)
                told(f"{perf_counter() - begin:6.1f} s", cell)
                if cell["source_loss"] > CHANCE:
                    raise SystemExit(f"{method} has not learnt the source of {pair}: no row is written.")
                for row in more:
                    told("   ", {name: value for name, value in row.items() if name not in KEYS})
                cells.append(cell)
                history += more
                write_csv(rounds, ROUND, history)
                write_csv(arguments.out, CELL, cells)


def told(begin: str, row: dict[str, Any]) -> None:
    print(begin, {name: round(v, 3) if isinstance(v, float) else v for name, v in row.items()}, flush=True)


if __name__ == "__main__":
    main()
