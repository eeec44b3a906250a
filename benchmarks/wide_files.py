"""Measure how long reading two wide tables takes, from the files to rows of numbers.

    python benchmarks/wide_files.py docs/results/wide-files.csv [--columns 2500 10000 20000] [--rows 1000]

It writes a source and a target with so many rows each, as CSV and as JSON lines, and reads each pair in a process of
its own, as `adrem adapt` does: columns of numbers with four decimals, or a mix of numbers, whole numbers, categories,
numbers with empty cells, and numbers with a decimal comma. The seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from csv_files import write_csv

READ = """
import resource, sys, time
import polars, scipy.sparse, sklearn.preprocessing, sklearn.tree
from adrem.columns import make_pair, read_file
begin = time.process_time()
tables = [read_file(path) for path in sys.argv[1:]]
read = time.process_time()
make_pair(*tables, label="label")
end = time.process_time()
print(read - begin, end - read, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""
FIELDS = ("columns", "rows", "content", "format", "seconds_to_read", "seconds_to_make_rows", "peak_gb")


def numbers(k: int, n_rows: int, rng: np.random.Generator) -> pl.Series:
    return pl.Series(f"column {k}", rng.normal(size=n_rows).round(4))


def mixed(k: int, n_rows: int, rng: np.random.Generator) -> pl.Series:
    name = f"column {k}"
    if k % 5 == 1:
        return pl.Series(name, rng.integers(0, 50, n_rows))
    if k % 5 == 2:
        return pl.Series(name, rng.choice(["red", "green", "blue"], n_rows))
    if k % 5 == 3:
        return pl.Series(name, np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows).round(3))).fill_nan(
            None
        )
    if k % 5 == 4:
        return pl.Series(name, [f"{value:.2f}".replace(".", ",") for value in rng.normal(size=n_rows)])
    return numbers(k, n_rows, rng)


CONTENTS = {"numbers": numbers, "mixed": mixed}


def write_table(path: Path, content: str, n_columns: int, n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [CONTENTS[content](k, n_rows, rng) for k in range(n_columns)]
    frame = pl.DataFrame([*columns, pl.Series("label", rng.integers(0, 2, n_rows))])
    (frame.write_csv if path.suffix == ".csv" else frame.write_ndjson)(path)


def measure(content: str, form: str, n_columns: int, n_rows: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.{form}" for name in ("source", "target")]
        for seed, path in enumerate(paths):
            write_table(path, content, n_columns, n_rows, seed)
        command = [sys.executable, "-c", READ, *map(str, paths)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(zip(FIELDS, (n_columns, n_rows, content, form, *map(float, done.stdout.split())), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--columns", type=int, nargs="+", default=[2500, 10_000, 20_000])
    parser.add_argument("--rows", type=int, default=1000, help="Rows of each of the two files.")
    parser.add_argument("--formats", nargs="+", default=["csv", "jsonl"], choices=["csv", "jsonl"])
    parser.add_argument("--contents", nargs="+", default=[*CONTENTS], choices=[*CONTENTS])
    options = parser.parse_args()
    rows = []
    for content in options.contents:
        for form in options.formats:
            for n_columns in options.columns:
                rows.append(measure(content, form, n_columns, options.rows))
                print(rows[-1], flush=True)
                write_csv(options.output, FIELDS, rows)


if __name__ == "__main__":
    main()
