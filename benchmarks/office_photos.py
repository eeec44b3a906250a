"""Compare features made from the photos of Office-31 with those of the paper: their cosine, and Ad-REM on both.

    OMP_NUM_THREADS=1 ADREM_DATA=folder ADREM_MODELS=folder python benchmarks/office_photos.py PHOTOS [--cache FOLDER]

PHOTOS is the folder that office-31-images.tar unpacks to. Features are cached, and a row that is in the file is not
measured again, so an interrupted run goes on. The photos were scaled and compressed again before they were shared; the
paper's features were made from the originals.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv
from numpy.typing import NDArray

from adrem import AdREM
from adrem.datasets import load
from adrem.datasets.home import data_home
from adrem.features import ImageEncoder
from adrem.features.pictures import read_picture
from adrem.preprocessing import JointStdScaler, transform_pair

OUT = Path(__file__).parents[1] / "docs/results/office_photos.csv"
FIELDS = ("what", "value", "of_the_paper")
DOMAINS = {"A": "amazon", "W": "webcam", "D": "dslr"}
COST, N_TIMED = "seconds for 1000 photos", 100
PAIRS = ("A-W", "W-A", "A-D", "D-A", "D-W", "W-D")


def photos(folder: Path, domain: str) -> list[Path]:
    """Return the photo of each row of the paper's features."""
    with np.load(data_home() / "office-31-resnet50" / f"{domain}.npz", allow_pickle=False) as arrays:
        names = arrays["files"].tolist()
    return [(folder / domain / name).with_suffix(".jpg") for name in names]


def cosine(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cosine of each row with that of another table."""
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray((one * other).sum(axis=1) / norms)


def accuracy(source: NDArray[Any], y: NDArray[Any], target: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the accuracy of Ad-REM in percent, on features divided by their deviation, as in the paper."""
    rows = transform_pair(JointStdScaler(), source, target)
    model = AdREM(random_state=0).fit(rows[0], y, X_target=rows[1])
    return float(100 * np.mean(model.transduction_ == truth))


def cost(files: list[Path]) -> list[dict[str, Any]]:
    """Return the processor time for a thousand photos, and which part of it decodes them; some are timed, uncached."""
    encoder = ImageEncoder(cache=False).fit([])
    encoder.transform(files[:1])
    begin = process_time()
    for file in files:
        np.asarray(read_picture(file, encoder.size).resize((encoder.size, encoder.size)))
    decoded = process_time()
    encoder.transform(files)
    seconds = process_time() - decoded
    return [
        {"what": COST, "value": f"{1000 * seconds / len(files):.1f}", "of_the_paper": ""},
        {"what": "share of decoding", "value": f"{(decoded - begin) / seconds:.3f}", "of_the_paper": ""},
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--cache", type=Path, help="folder of the features")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = list(read_csv(arguments.out)) if arguments.out.exists() else []
    done = {row["what"] for row in rows}
    encoder = ImageEncoder(cache=arguments.cache, verbose=1).fit([])
    data = load("office-31-resnet50")
    own = {key: encoder.transform(photos(arguments.photos, name)) for key, name in DOMAINS.items()}
    for key, name in DOMAINS.items():
        if f"cosine, {name}" not in done:
            found = cosine(own[key].astype(np.float64), np.asarray(data.domains[key].X, np.float64))
            rows.append({"what": f"cosine, {name}", "value": f"{found.mean():.4f}", "of_the_paper": ""})
            write_csv(arguments.out, FIELDS, rows)
    if COST not in done:
        rows += cost(photos(arguments.photos, "amazon")[:: 2817 // N_TIMED])
        write_csv(arguments.out, FIELDS, rows)
    for pair in PAIRS:
        if pair not in done:
            a, b = (data.domains[key] for key in pair.split("-"))
            values = [accuracy(*sides) for sides in _sides(pair, own, a, b)]
            rows.append({"what": pair, "value": f"{values[0]:.2f}", "of_the_paper": f"{values[1]:.2f}"})
            write_csv(arguments.out, FIELDS, rows)
    print(arguments.out.read_text("utf-8"))


def _sides(pair: str, own: dict[str, NDArray[Any]], a: Any, b: Any) -> list[tuple[Any, ...]]:
    """Return source and target of a pair with features from the photos, and with those of the paper."""
    source, target = (own[key].astype(np.float64) for key in pair.split("-"))
    return [(source, a.y, target, b.y), (np.asarray(a.X, np.float64), a.y, np.asarray(b.X, np.float64), b.y)]


if __name__ == "__main__":
    main()
