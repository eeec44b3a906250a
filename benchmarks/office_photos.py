"""Compare features made from the photos of Office-31 with those of the paper: their cosine, and Ad-REM on both.

    OMP_NUM_THREADS=1 ADREM_DATA=folder ADREM_MODELS=folder python benchmarks/office_photos.py PHOTOS [--cache FOLDER]

PHOTOS is the folder that office-31-images.tar unpacks to. Accuracies are means over the seeds 0, 1 and 2. Features are
cached, and a row that is in the file is not measured again, so an interrupted run goes on. The photos were scaled and
compressed again before they were shared; the paper's features were made from the originals, and their accuracies are
those of docs/results/office-31.csv. Rows with "of the paper" in their name take the features of one domain from there,
which tells on which side accuracy is lost. `--views 18` adds rows with the views of the authors' program, `--device
cuda` encodes on a GPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv
from numpy.typing import NDArray
from photo_speed import encoder_of

from adrem import AdREM
from adrem.datasets import load
from adrem.datasets.home import data_home
from adrem.features import ImageEncoder
from adrem.preprocessing import JointStdScaler, transform_pair

OUT = Path(__file__).parents[1] / "docs/results/office_photos.csv"
PAPER = OUT.with_name("office-31.csv")
ADREM = ("adrem-svm", "resnet50")
FIELDS = ("what", "value", "of_the_paper")
DOMAINS = {"A": "amazon", "W": "webcam", "D": "dslr"}
PAIRS = ("A-W", "W-A", "A-D", "D-A", "D-W", "W-D")
MIXED = ("A-W", "W-A")
SEEDS = (0, 1, 2)


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
    models = [AdREM(random_state=seed).fit(rows[0], y, X_target=rows[1]) for seed in SEEDS]
    return float(np.mean([100 * np.mean(model.transduction_ == truth) for model in models]))


class Comparison:
    """The rows of the results: what is in the file stays, what is missing is measured."""

    def __init__(self, out: Path, folder: Path, encoder: ImageEncoder) -> None:
        self.out = out
        self.rows: list[dict[str, Any]] = list(read_csv(out)) if out.exists() else []
        data = load("office-31-resnet50")
        self.labels = {key: np.asarray(data.domains[key].y) for key in DOMAINS}
        self.paper = {key: np.asarray(data.domains[key].X, np.float64) for key in DOMAINS}
        self.own = {key: encoder.transform(photos(folder, name)).astype(np.float64) for key, name in DOMAINS.items()}
        self.suffix = "" if encoder.views == 1 else f", {encoder.views} views"

    def add(self, what: str, value: Callable[[], float], of_the_paper: str = "") -> None:
        what += self.suffix
        if what in {row["what"] for row in self.rows}:
            return
        form = ".4f" if "cosine" in what else ".2f"
        self.rows.append({"what": what, "value": f"{value():{form}}", "of_the_paper": of_the_paper})
        write_csv(self.out, FIELDS, self.rows)

    def cosines(self) -> None:
        for key, name in DOMAINS.items():
            self.add(f"cosine, {name}", partial(self._cosine, key))

    def pair(self, pair: str) -> None:
        [known] = [
            row["accuracy"]
            for row in read_csv(PAPER)
            if (row["pair"], row["method"], row["features"]) == (pair, *ADREM)
        ]
        self.add(pair, lambda: self._accuracy(pair, self.own, self.own), f"{float(known):.2f}")

    def mixed(self, pair: str) -> None:
        self.add(f"{pair}, source of the paper", lambda: self._accuracy(pair, self.paper, self.own))
        self.add(f"{pair}, target of the paper", lambda: self._accuracy(pair, self.own, self.paper))

    def _cosine(self, key: str) -> float:
        return float(cosine(self.own[key], self.paper[key]).mean())

    def _accuracy(self, pair: str, of_source: dict[str, Any], of_target: dict[str, Any]) -> float:
        source, target = pair.split("-")
        return accuracy(of_source[source], self.labels[source], of_target[target], self.labels[target])


def summarize(rows: list[dict[str, str]], suffix: str = "") -> str:
    """Return the table of the guide: the accuracies of the pairs that are measured."""
    found = {row["what"]: row for row in rows}
    pairs = [pair for pair in PAIRS if pair + suffix in found]
    lines = [f"| Ad-REM on | {' | '.join(pairs)} | mean |", "|---" * (len(pairs) + 2) + "|"]
    for title, column in (("features from the photos", "value"), ("the paper's features", "of_the_paper")):
        values = [float(found[pair + suffix][column]) for pair in pairs]
        lines.append(f"| {title} | {' | '.join(f'{value:.1f}' for value in [*values, np.mean(values)])} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--cache", type=Path, help="folder of the features")
    parser.add_argument("--views", type=int, choices=[1, 18], default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    encoder = encoder_of(arguments.device).set_params(views=arguments.views, cache=arguments.cache, verbose=1).fit([])
    comparison = Comparison(arguments.out, arguments.photos, encoder)
    comparison.cosines()
    for pair in PAIRS:
        comparison.pair(pair)
    for pair in MIXED if arguments.views == 1 else ():
        comparison.mixed(pair)
    print(arguments.out.read_text("utf-8"))
    print(summarize(read_csv(arguments.out), comparison.suffix))


if __name__ == "__main__":
    main()
