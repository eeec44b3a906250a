"""Fits of very large tables, within the memory that `AdREM.fit_memory` forecasts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from torture.outcomes import ANSWERED, Row

RUNS = {
    "dense_rows": "200 000 x 512 dense rows of float32, 10 classes",
    "sparse_text": "1 000 000 rows of sparse text, 2^20 features",
}
N_WORDS = 90  # of a text, of which some are the same
AT_A_TIME = 50_000  # texts that are made at a time


class Data(NamedTuple):
    """Two domains, and the labels of the second to look them up in the end."""

    source: Any
    labels: NDArray[np.intp]
    target: Any
    truth: NDArray[np.intp]


def dense_rows() -> None:
    """Ten classes around centres, and a target that is moved."""
    rng = np.random.default_rng(0)
    n_rows, n_features = 100_000, 512
    centres = 0.2 * rng.standard_normal((10, n_features), dtype=np.float32)
    labels, truth = rng.integers(0, 10, (2, n_rows))
    source, target = (rng.standard_normal((n_rows, n_features), dtype=np.float32) for _ in range(2))
    for first in range(0, n_rows, AT_A_TIME):
        part = slice(first, first + AT_A_TIME)
        source[part] += centres[labels[part]]
        target[part] += centres[truth[part]]
    target += 0.1 * rng.standard_normal(n_features, dtype=np.float32)
    measure(Data(source, labels, target, truth), C=1e-4)


def sparse_text() -> None:
    """Words by Zipf's law; some of them come in two forms, one a class, and the target has other words besides."""
    n_rows = 500_000
    (source, labels), (target, truth) = (make_text(n_rows, seed, seed * 12_346) for seed in (0, 1))
    measure(Data(source, labels, target, truth), C=0.01)


def make_text(n_rows: int, seed: int, moved: int) -> tuple[sp.csr_array, NDArray[np.intp]]:
    """Texts as counts of words, and their labels; a third of the words are moved to others."""
    rng = np.random.default_rng(seed)
    n_features = 2**20
    labels = rng.integers(0, 2, n_rows)
    parts = []
    for first in range(0, n_rows, AT_A_TIME):
        own = labels[first : first + AT_A_TIME, None].astype(np.int32)
        ranks = np.exp(rng.random((len(own), N_WORDS), dtype=np.float32) * np.log(n_features)).astype(np.int32) - 1
        tells = (ranks % 10 == 3) & (rng.random(ranks.shape, dtype=np.float32) < 0.6)
        words = np.where(tells, ranks - ranks % 2 + own, ranks)
        words = np.where(words % 3 == 0, words + moved, words) % n_features
        ends = np.arange(0, words.size + 1, N_WORDS, dtype=np.int32)
        ones = np.ones(words.size, np.float32)
        part = sp.csr_array((ones, words.ravel().astype(np.int32), ends), shape=(len(own), n_features))
        part.sum_duplicates()
        parts.append(part)
    return sp.csr_array(sp.vstack(parts, format="csr")), labels


def measure(data: Data, C: float) -> None:
    """Fit and predict; print the time, the memory that was stated and what was taken at most, besides the data."""
    from adrem import AdREM

    small: dict[str, Any] = {"C": C, "n_estimators": 3, "n_iter": 5, "random_state": 0}
    AdREM(**small).fit(data.source[:200], data.labels[:200], X_target=data.target[:200])  # compiled before it counts
    model = AdREM(**small)
    stated = model.fit_memory(data.source, data.labels, X_target=data.target)
    before = of_process("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    begin = time.process_time()
    labels = model.fit(data.source, data.labels, X_target=data.target).predict(data.target)
    found = {
        "seconds": time.process_time() - begin,
        "stated": stated,
        "taken": of_process("VmHWM") - before,
        "before": before,
        "same": bool(np.array_equal(labels, model.transduction_)),
        "accuracy": float(np.mean(labels == data.truth)),
    }
    print(json.dumps(found))


def of_process(name: str) -> int:
    """Bytes that the process has, or has had at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def row(name: str, found: Any) -> Row:
    """Whether a run kept to its word."""
    if isinstance(found, str):
        return Row.of("load", RUNS[name], [("the process", found)])
    outcomes = [
        ("memory", ANSWERED if found["taken"] <= found["stated"] else f"{found['taken']} bytes, more than stated"),
        ("labels", ANSWERED if found["same"] else "predict and transduction_ differ"),
        ("accuracy", ANSWERED if found["accuracy"] > 0.7 else f"only {found['accuracy']:.2f}"),
    ]
    before, stated, taken = (f"{found[name] / 1e9:.2f} GB" for name in ("before", "stated", "taken"))
    note = (
        f"3 members x 5 iterations, C given: {found['seconds']:.0f} s of one core; besides the {before} of the process "
        f"with its data, {stated} stated and {taken} taken"
    )
    return Row.of("load", RUNS[name], outcomes, note)
