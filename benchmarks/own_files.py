"""Measure what `adrem adapt` hands out for files of one's own, as they are: tables, reviews, sensors, images.

    ADREM_DATA=folder python benchmarks/own_files.py [--only heart gas] [--out docs/results/own_files.csv]

Each row is a pair: the accuracy of the classifier of the source, of the adapted labels and of those that are handed
out, the verdict, and the estimated accuracy with its interval. Rows that are in the file are not measured again.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import time
import warnings
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from csv_files import read_csv, write_csv

from adrem import Committee
from adrem.columns import FileTable, make_pair, read_file
from adrem.columns.labelling import adapt_pair, label_rows
from adrem.datasets import load_digits_shift
from adrem.diagnostics.accuracy import estimate_examined

FIELDS = (
    "data", "pair", "rows", "chosen", "baseline", "adapted", "handed_out", "verdict", "estimate", "low", "high",
    "seconds",
)  # fmt: skip
HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")
HEART = [
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal",
    "num",
]  # fmt: skip
BATCHES = (2, 3, 4, 5, 6, 8, 9)
DOMAINS = ("books", "dvd", "electronics", "kitchen")
REVIEW = re.compile(r"<review>(.*?)</review>", re.DOTALL)
PARTS = {"product": "product_name", "date": "date", "title": "title", "review": "review_text"}
LABEL = "label"

Case = tuple[str, str, FileTable, FileTable]


def cases(home: Path, only: list[str]) -> Iterator[Case]:
    """Yield the pairs of the wanted data sets."""
    for name, make in MAKERS.items():
        if not only or name in only:
            for pair, source, target in make(home):
                yield name, pair, source, target


def table(name: str, frame: pl.DataFrame) -> FileTable:
    return FileTable(name, "", frame=frame)


def heart(home: Path) -> Iterator[tuple[str, FileTable, FileTable]]:
    """Hospitals, with the marks of missing values that the files have."""
    frames = {}
    for name in HOSPITALS:
        path = home / "heart-disease" / f"processed.{name}.data"
        frame = pl.read_csv(path, has_header=False, new_columns=HEART, infer_schema=False)
        is_ill = frame["num"].cast(pl.Float64) > 0
        frames[name] = table(
            name, frame.drop("num").with_columns(is_ill.replace_strict({True: "ill", False: "well"}).alias(LABEL))
        )
    for source, target in permutations(HOSPITALS, 2):
        yield f"{source} > {target}", frames[source], frames[target]


def gas(home: Path) -> Iterator[tuple[str, FileTable, FileTable]]:
    """The first batch of the sensors to later ones; files of numbers."""
    files = {k: read_file(str(home / "gas-sensor-drift" / f"batch{k}.dat.gz")) for k in (1, *BATCHES)}
    for k in BATCHES:
        yield f"1 > {k}", files[1], files[k]


def review_frame(home: Path, domain: str) -> pl.DataFrame:
    rows = []
    for label in ("positive", "negative"):
        text = gzip.decompress((home / "amazon-text" / domain / f"{label}.review.gz").read_bytes()).decode("latin-1")
        for review in REVIEW.findall(text):
            found = {name: re.search(rf"<{tag}>(.*?)</{tag}>", review, re.DOTALL) for name, tag in PARTS.items()}
            rows.append({name: part.group(1).strip() if part else "" for name, part in found.items()} | {LABEL: label})
    return pl.DataFrame(rows)


def reviews(home: Path) -> Iterator[tuple[str, FileTable, FileTable]]:
    """The text of raw reviews."""
    tables = {name: table(name, review_frame(home, name).select("review", LABEL)) for name in DOMAINS}
    for source, target in permutations(DOMAINS, 2):
        yield f"{source} > {target}", tables[source], tables[target]


def altered_reviews(home: Path) -> Iterator[tuple[str, FileTable, FileTable]]:
    """Books to kitchen with the other columns, and with a fifth of the target positive."""
    books, kitchen = (review_frame(home, name) for name in ("books", "kitchen"))
    yield "with title, product and date", table("books", books), table("kitchen", kitchen)
    few = pl.concat([kitchen.filter(pl.col(LABEL) == "negative"), kitchen.filter(pl.col(LABEL) == "positive")[:250]])
    yield "80 % negative", table("books", books.select("review", LABEL)), table("kitchen", few.select("review", LABEL))


def both_ways(frame: pl.DataFrame, is_first: Any, names: tuple[str, str]) -> Iterator[tuple[str, FileTable, FileTable]]:
    parts = [table(own, frame.filter(kept)) for own, kept in zip(names, (is_first, ~is_first), strict=True)]
    yield f"{names[0]} > {names[1]}", parts[0], parts[1]
    yield f"{names[1]} > {names[0]}", parts[1], parts[0]


def mushrooms(home: Path) -> Iterator[tuple[str, FileTable, FileTable]]:
    path = home / "mushrooms" / "agaricus-lepiota.data"
    frame = pl.read_csv(path, has_header=False, infer_schema=False)
    names = [LABEL, *(f"c{k}" for k in range(1, frame.width))]
    frame.columns = names
    yield from both_ways(frame.drop("c10"), frame["c10"] == "e", ("enlarging", "tapering"))


def phishing(home: Path) -> Iterator[tuple[str, FileTable, FileTable]]:
    text = (home / "phishing" / "TrainingDataset.arff").read_text("latin-1")
    rows = [line.split(",") for line in text.split("\n") if "," in line and "@" not in line]
    frame = pl.DataFrame(rows, schema=[*(f"c{k}" for k in range(len(rows[0]) - 1)), LABEL], orient="row")
    yield from both_ways(frame.drop("c0"), frame["c0"] == "-1", ("ip address", "none"))


def digits(home: Path) -> Iterator[tuple[str, FileTable, FileTable]]:
    del home
    data = load_digits_shift()
    names = [f"pixel{k}" for k in range(64)]
    frames = [pl.DataFrame(X, schema=names).with_columns(pl.Series(LABEL, y)) for X, y in (data[:2], data[2:])]
    yield "clean > camera", table("clean", frames[0]), table("camera", frames[1])


MAKERS = {
    "heart": heart,
    "gas": gas,
    "reviews": reviews,
    "altered reviews": altered_reviews,
    "mushrooms": mushrooms,
    "phishing": phishing,
    "digits": digits,
}


def measure(name: str, pair_name: str, source: FileTable, target: FileTable) -> dict[str, Any]:
    """Adapt as the command line does with its defaults."""
    start = time.perf_counter()
    labelled = {} if source.frame is None else {"label": LABEL, "target_label": LABEL}
    pair = make_pair(source, target, **labelled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bundle, examined = adapt_pair(pair, Committee(random_state=0), {})
        labels = label_rows(bundle, pair.X_target)
        verdict = examined.verdict.choice
        estimate = estimate_examined(examined)
    scores = examined.score(pair.truth)
    if scores is None:
        raise ValueError(f"{target.name} has no labels to score by.")
    return {
        "data": name,
        "pair": pair_name,
        "rows": len(labels.label),
        "chosen": bundle.baseline.chosen_,
        "baseline": scores.accuracy.source,
        "adapted": scores.accuracy.adapted,
        "handed_out": float(np.mean(labels.label.astype(str) == np.asarray(pair.truth).astype(str))),
        "verdict": verdict,
        "estimate": estimate.accuracy,
        "low": estimate.low,
        "high": estimate.high,
        "seconds": round(time.perf_counter() - start, 1),
    }


def show(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table."""
    lines = [
        "| data | pair | source alone | adapted | handed out | verdict | estimate |",
        "|---|---|---:|---:|---:|---|---|",
    ]
    for row in rows:
        shares = [f"{100 * float(row[name]):.1f}" for name in ("baseline", "adapted", "handed_out")]
        value, low, high = (f"{100 * float(row[name]):.0f}" for name in ("estimate", "low", "high"))
        lines.append(
            f"| {row['data']} | {row['pair']} | {' | '.join(shares)} | {row['verdict']} | {value} [{low}-{high}] |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="data sets to measure")
    parser.add_argument("--pairs", nargs="*", default=[], help="pairs to measure")
    parser.add_argument("--out", type=Path, default=Path("docs/results/own_files.csv"))
    arguments = parser.parse_args()
    home = Path(os.environ["ADREM_DATA"])
    rows: list[dict[str, Any]] = [*read_csv(arguments.out)] if arguments.out.exists() else []
    done = {(row["data"], row["pair"]) for row in rows}
    for name, pair, source, target in cases(home, arguments.only):
        if (name, pair) not in done and (not arguments.pairs or pair in arguments.pairs):
            rows.append(measure(name, pair, source, target))
            write_csv(arguments.out, FIELDS, rows)
    print(show(rows))


if __name__ == "__main__":
    main()
