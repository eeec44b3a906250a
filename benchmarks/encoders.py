"""Measure what an encoder of texts is worth: words, gte-small, and both, on the raw Amazon reviews, 12 pairs.

    OMP_NUM_THREADS=1 ADREM_DATA=folder ADREM_MODELS=folder python benchmarks/encoders.py [--out FILE]

A pair that is in the file is not run again, and features are cached, so an interrupted run goes on. `seconds` are those
of the fit; encoding is timed on texts that are not in the cache, in a row of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from csv_files import read_csv, write_csv
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from adrem import AdREM
from adrem.datasets.home import data_home
from adrem.datasets.reviews import TEXT
from adrem.features import TextEncoder
from adrem.files.packed import decompress
from adrem.preprocessing import JointStdScaler, transform_pair

OUT = Path(__file__).parents[1] / "docs/results/encoders.csv"
DOMAINS = ("books", "dvd", "electronics", "kitchen")
TITLES = {
    "words": "words and pairs of words",
    "gte-small": "gte-small",
    "beside": "both, side by side",
    "votes": "both, mean of the probabilities",
}
FIELDS = ("pair", "features", "source", "adapted", "seconds")
COST = "seconds for 1000 texts"
N_TIMED = 500
Rows = tuple[Any, Any]


def reviews(domain: str) -> tuple[list[str], NDArray[Any]]:
    """Return the texts of a domain, and their labels."""
    texts: list[str] = []
    counts = []
    for label in ("negative", "positive"):
        path = data_home() / "amazon-text" / domain / f"{label}.review.gz"
        found = TEXT.findall(decompress(path.read_bytes(), path.name).decode("latin-1"))
        texts += found
        counts.append(len(found))
    return texts, np.repeat(["negative", "positive"], counts)


def words_of(source: list[str], target: list[str]) -> Rows:
    """Return counts of words and pairs of words, each divided by its standard deviation, as `adrem adapt` does."""
    counter = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b", dtype=np.float64).fit(source + target)  # noqa: S106
    rows: Rows = transform_pair(JointStdScaler(), counter.transform(source), counter.transform(target))
    return rows


def encoded(encoder: TextEncoder, source: list[str], target: list[str]) -> Rows:
    """Return the features of an encoder, standardized over both domains."""
    both = StandardScaler().fit_transform(encoder.transform(source + target).astype(np.float64))
    return both[: len(source)], both[len(source) :]


def beside(words: Rows, features: Rows) -> Rows:
    """Return both kinds of features side by side, each kind with the same sum of squares."""
    scales = [np.sqrt(sum(sp.csr_array(part).power(2).sum() for part in rows)) for rows in (words, features)]
    n_rows = sum(part.shape[0] for part in words)
    scales = [scale / np.sqrt(n_rows * features[0].shape[1]) for scale in scales]
    joined = [
        sp.csr_array(sp.hstack([w / scales[0], sp.csr_array(f) / scales[1]], format="csr"))
        for w, f in zip(words, features, strict=True)
    ]
    return joined[0], joined[1]


def model(penalty: Any) -> AdREM:
    return AdREM(C=penalty, loss="log_loss", fit_intercept=True, n_estimators=5, random_state=0)


def run_pair(encoder: TextEncoder, source: str, target: str) -> Iterator[dict[str, Any]]:
    """Yield the accuracies of a pair with each kind of features, for the source alone and adapted."""
    (s_texts, y), (t_texts, truth) = reviews(source), reviews(target)
    words, features = words_of(s_texts, t_texts), encoded(encoder, s_texts, t_texts)
    chances: dict[str, tuple[Any, Any, float]] = {}
    for name, rows in {"words": words, "gte-small": features, "beside": beside(words, features)}.items():
        begin = perf_counter()
        adapted = model("cv").fit(rows[0], y, X_target=rows[1])
        alone = model(adapted.C_).fit(rows[0], y)
        chances[name] = (alone.predict_proba(rows[1]), adapted.predict_proba(rows[1]), perf_counter() - begin)
    one, other = chances["words"], chances["gte-small"]
    chances["votes"] = (one[0] + other[0], one[1] + other[1], one[2] + other[2])
    classes = np.unique(y)
    for name, (alone, adapted, seconds) in chances.items():
        scores = [100 * np.mean(classes[own.argmax(axis=1)] == truth) for own in (alone, adapted)]
        pair = f"{source[0]}-{target[0]}".upper()
        yield {"pair": pair, "features": name, "source": f"{scores[0]:.2f}", "adapted": f"{scores[1]:.2f}",
               "seconds": f"{seconds:.1f}"}  # fmt: skip


def cost(encoder: TextEncoder) -> dict[str, Any]:
    """Return the seconds of processor time for a thousand reviews, some of each domain, without the cache."""
    texts = [text for domain in DOMAINS for text in reviews(domain)[0][:: 8000 // N_TIMED]]
    uncached = TextEncoder(**{**encoder.get_params(), "cache": False}).fit(texts[:1])
    begin = process_time()
    uncached.transform(texts)
    seconds = 1000 * (process_time() - begin) / len(texts)
    return {"pair": COST, "features": "gte-small", "source": "", "adapted": "", "seconds": f"{seconds:.1f}"}


def summarize(rows: list[dict[str, str]]) -> list[str]:
    """Return the table of the guide."""
    lines = ["| features | source only | Ad-REM | worst pair, against the source |", "|---|---|---|---|"]
    for name, title in TITLES.items():
        own = [
            (float(row["source"]), float(row["adapted"])) for row in rows if row["features"] == name and row["source"]
        ]
        before, after = np.array(own).T
        lines.append(f"| {title} | {before.mean():.1f} | **{after.mean():.1f}** | {(after - before).min():+.1f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--cache", type=Path, help="folder of the features")
    arguments = parser.parse_args()
    encoder = TextEncoder("gte-small", cache=arguments.cache, verbose=1).fit([])
    rows: list[dict[str, Any]] = list(read_csv(arguments.out)) if arguments.out.exists() else []
    done = {row["pair"] for row in rows}
    for source, target in permutations(DOMAINS, 2):
        if f"{source[0]}-{target[0]}".upper() not in done:
            rows += run_pair(encoder, source, target)
            write_csv(arguments.out, FIELDS, rows)
    if COST not in done:
        write_csv(arguments.out, FIELDS, [*rows, cost(encoder)])
    print("\n".join(summarize(read_csv(arguments.out))))


if __name__ == "__main__":
    main()
