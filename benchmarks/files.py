"""Measure time and memory of `adrem adapt` on two large CSV files.

    ADREM_DATA=folder python benchmarks/files.py [--rows 100000]

It writes two CSV files with a column of text (parts of the Amazon reviews of books and of kitchens, about 90 words a
row), and runs `adrem adapt` on them with one thread.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from adrem.datasets import load

PIECE = 12  # words that stay together
WORDS = (60, 120)


def texts_of(X: Any, names: Any) -> list[list[str]]:
    """The words of every row, each as often as it is counted."""
    rows = X.tocsr()
    parts = [slice(rows.indptr[k], rows.indptr[k + 1]) for k in range(rows.shape[0])]
    return [np.repeat(names[rows.indices[part]], rows.data[part].astype(int)).tolist() for part in parts]


def write_reviews(path: Path, n_rows: int, texts: list[list[str]], labels: Any, rng: np.random.Generator) -> None:
    classes = np.unique(labels)
    of_class = [[texts[k] for k in np.flatnonzero(labels == c)] for c in classes]
    rows = []
    for k in range(n_rows):
        words: list[str] = []
        wanted = rng.integers(*WORDS)
        while len(words) < wanted:
            text = of_class[k % len(classes)][rng.integers(len(of_class[k % len(classes)]))]
            first = int(rng.integers(max(1, len(text) - PIECE)))
            words += text[first : first + PIECE]
        rows.append(" ".join(words))
    stars = [str(classes[k % len(classes)]) for k in range(n_rows)]
    pl.DataFrame({"id": [f"r{k}" for k in range(n_rows)], "review": rows, "stars": stars}).write_csv(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="Rows of each file.")
    n_rows = parser.parse_args().rows
    data = load("amazon-reviews")
    pair = data.pair("B", "K", preprocess=False)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        names = np.asarray(data.feature_names)
        for name, X, y in (("books", pair.X_source, pair.y_source), ("kitchen", pair.X_target, pair.y_target)):
            write_reviews(home / f"{name}.csv", n_rows, texts_of(X, names), y, rng)
            print(f"{name}.csv: {n_rows} rows, {(home / f'{name}.csv').stat().st_size / 1e6:.0f} MB")
        words = ["books.csv", "kitchen.csv", "--label", "stars", "--id", "id", "-o", "labels.csv", "--report", "p.html"]
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "adrem", "adapt", *words],
            cwd=home,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=True,
        )
        seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    print(f"adrem adapt: {seconds:.0f} s, {memory:.1f} GB at most")


if __name__ == "__main__":
    main()
