"""Memory: large tables in a process with a memory limit, with every estimator and diagnostic.

An answer is correct, and so is a refusal before the work that names the bytes needed. A killed process is a failure,
and so is numpy's "Unable to allocate". Each case runs in a forked process with a real limit.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from torture.outcomes import ANSWERED, REFUSED, Outcome, Row

ROOT = Path(__file__).parents[1]
MORE = 2_000_000_000  # bytes that a case may take, besides what the process with its data has
SECONDS = 60  # that a case may take
FIGURE = re.compile(r"takes (about )?[\d.]+ (bytes|kB|MB|GB)")
Case = Callable[[], object]
FEW: dict[str, Any] = {"C": 0.01, "n_estimators": 3, "n_iter": 3, "random_state": 0}


class Pair(NamedTuple):
    """A labelled source and a target."""

    source: Any
    labels: Any
    target: Any

    def fit(self, model: Any) -> Any:
        return model.fit(self.source, self.labels, X_target=self.target)


def dense_pair(n_rows: int, n_features: int = 4) -> Pair:
    """Two classes, and a target that is moved."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n_rows)
    rows = rng.normal(size=(n_rows, n_features)) + labels[:, None]
    half = n_rows // 2
    return Pair(rows[:half], labels[:half], rows[half:] + 0.2)


def sparse_pair(n_rows: int, n_features: int, n_words: int = 5) -> Pair:
    """Rows of a few words, one of which tells the class."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n_rows)
    words = rng.integers(0, n_features, (n_rows, n_words)).astype(np.int32)
    words[:, 0] = 2 * rng.integers(0, 50, n_rows) + labels
    ends = np.arange(0, words.size + 1, n_words, dtype=np.int32)
    rows = sp.csr_array((np.ones(words.size), words.ravel(), ends), shape=(n_rows, n_features))
    rows.sum_duplicates()
    half = n_rows // 2
    return Pair(rows[:half], labels[:half], rows[half:])


def models() -> dict[str, Any]:
    """Every estimator, some in several forms, with little to do."""
    from adrem import AdREM, Committee
    from adrem.baselines import CORAL, DASVM, FLDA, GFK, KMM, SCL, TCA, HardEM, ImportanceWeighting, SoftEM, SourceOnly
    from adrem.baselines import SubspaceAlignment as Alignment

    few = {name: FEW[name] for name in ("n_estimators", "n_iter", "random_state")}
    return {
        "AdREM": AdREM(**FEW),
        "AdREM, gram": AdREM(**FEW, machine="gram", memory_limit=2**60),
        "AdREM, rbf": AdREM(**FEW, kernel="rbf"),
        "AdREM, rbf without a limit": AdREM(**FEW, kernel="rbf", memory_limit=2**60),
        "AdREM, class shares": AdREM(**{**FEW, "n_iter": 1}, class_prior="estimate"),
        "AdREM, auto neighbours": AdREM(**FEW, neighbors="auto"),
        "Committee": Committee(class_prior="uniform", **few),
        "SourceOnly": SourceOnly(C=0.01),
        "HardEM": HardEM(C=0.01, max_iter=5),
        "SoftEM": SoftEM(C=0.01, max_iter=3),
        "CORAL": CORAL(C=0.01),
        "CORAL, similarity": CORAL(C=0.01, form="similarity"),
        "SubspaceAlignment": Alignment(C=0.01),
        "SubspaceAlignment, nearest": Alignment(form="nearest"),
        "GFK": GFK(C=0.01),
        "TCA": TCA(C=0.01),
        "FLDA": FLDA(C=0.01),
        "FLDA, squared": FLDA("squared", C=0.01),
        "DASVM": DASVM(C=0.01, max_iter=5),
        "SCL": SCL(C=0.01),
        "ImportanceWeighting": ImportanceWeighting(C=0.01, domain_C=0.01),
        "KMM": KMM(C=0.01),
    }


def check_labels(model: Any, pair: Pair) -> None:
    """All target rows are labelled, with classes of the source, and the same once more."""
    labels = model.predict(pair.target)
    if labels.shape != (pair.target.shape[0],) or not np.isin(labels, model.classes_).all():
        raise RuntimeError("a row has no label, or one that is no class")
    if not np.array_equal(labels, model.transduction_):
        raise RuntimeError("predict and transduction_ differ")


def fit_and_check(model: Any, pair: Pair) -> None:
    check_labels(pair.fit(model), pair)


def fit_cases(pair: Pair) -> Iterator[tuple[str, Case]]:
    """A fit of every estimator."""
    for name, model in models().items():
        yield name, partial(fit_and_check, model, pair)


def other_cases(dense: Pair, sparse: Pair) -> Iterator[tuple[str, Case]]:
    """Diagnostics, scorers, scalers; many classes; models of similarities that see many rows."""
    from adrem import AdREM, model_selection, report
    from adrem.baselines import CORAL, SourceOnly
    from adrem.diagnostics import diagnose, estimate_accuracy
    from adrem.preprocessing import DomainStandardScaler, JointStdScaler

    for kind, pair in (("dense", dense), ("sparse", sparse)):
        model = pair.fit(AdREM(**FEW))
        both = sp.vstack([pair.source, pair.target]) if kind == "sparse" else np.vstack([pair.source, pair.target])
        labels = np.concatenate([pair.labels, np.full(pair.target.shape[0], -1)])
        look = diagnose if kind == "dense" else report  # which is a diagnosis and more
        yield f"{look.__name__}, {kind}", partial(look, model, *pair)
        yield f"estimate_accuracy, {kind}", partial(estimate_accuracy, model, *pair)
        for name in (name for name in model_selection.__all__ if name.endswith("Scorer")):
            scorer = getattr(model_selection, name)(**({"C": 0.01} if name == "CircularScorer" else {}))
            yield f"{name}, {kind}", partial(scorer, model, both, labels)
        yield f"JointStdScaler, {kind}", partial(JointStdScaler().fit_transform, both)
    each = np.arange(sparse.source.shape[0])
    scaler = DomainStandardScaler(with_mean=False)
    yield "DomainStandardScaler, a domain a row, sparse", lambda: scaler.fit(sparse.source, sample_domain=each)
    n_classes = 20_000
    many = sparse._replace(labels=np.arange(sparse.source.shape[0]) % n_classes)
    yield f"AdREM, {n_classes} classes, sparse", lambda: many.fit(AdREM(**FEW))
    new_rows = np.tile(dense.target, (2, 1))
    for name, few_rows in (("rbf", AdREM(**FEW, kernel="rbf")), ("similarity", CORAL(C=0.01, form="similarity"))):
        few_rows.fit(dense.source[:1000], dense.labels[:1000], X_target=dense.target[:1000])
        yield f"predict of 200 000 rows, {name}", partial(few_rows.predict, new_rows)
    of_many = SourceOnly(C=0.01).fit(dense.source[:1000], np.arange(1000) % 500)
    yield "predict of 100 000 rows, 500 classes", lambda: of_many.predict(dense.target)
    near = AdREM(**{**FEW, "n_iter": 1}, neighbors=5)
    yield (
        "AdREM, neighbours of 21 000 rows",
        lambda: near.fit(dense.source[:5000], dense.labels[:5000], X_target=dense.target[:21_000]),
    )


def all_cases() -> Iterator[tuple[str, str, Case]]:
    """The question, the case, and the case itself; tables and models are made outside the limit."""
    dense, sparse = dense_pair(200_000), sparse_pair(100_000, 1_000_000)
    for what, pair in (("200 000 x 4 dense", dense), ("100 000 x 1 000 000 sparse", sparse)):
        yield from ((what, name, case) for name, case in fit_cases(pair))
    yield from (("diagnostics, scorers, scalers, new rows", name, case) for name, case in other_cases(dense, sparse))


def attempt(case: Case) -> str:
    """What becomes of a case under limits that are set."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case()
    except (MemoryError, ValueError) as error:
        return REFUSED if FIGURE.search(str(error)) else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ANSWERED


def limited(case: Case, limit: int, place: int) -> Outcome:
    """What becomes of a case in a fork that may take so much more, as `place` of the process's pages counts it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        pages = int(Path("/proc/self/statm").read_text().split()[place])
        most = pages * mmap.PAGESIZE + MORE
        resource.setrlimit(limit, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, 2 * SECONDS))
        signal.alarm(5 * SECONDS)  # a busy machine is no fault, and a process that hangs is one
        os.write(writer, attempt(case).encode()[:4000])
        os._exit(0)
    begin = time.perf_counter()
    os.close(writer)
    with os.fdopen(reader) as stream:
        outcome = stream.read()
    _, status, usage = os.wait4(child, 0)
    return Outcome(_how_it_ended(outcome, status), time.perf_counter() - begin, usage.ru_maxrss / 1e3)


def _how_it_ended(outcome: str, status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        late = number in (signal.SIGALRM, signal.SIGXCPU)
        return f"not done in {SECONDS} s" if late else f"killed by {signal.Signals(number).name}"
    return outcome or "the process ended without a word"


def main() -> None:
    """Try all cases, and print the outcomes as lines of JSON."""
    from adrem import AdREM

    for pair in (dense_pair(400), sparse_pair(400, 1000)):  # what is compiled is compiled before any limit
        for machine in ("rows", "gram"):
            pair.fit(AdREM(**FEW, machine=machine))
            pair.fit(AdREM(**FEW, machine=machine, loss="log_loss"))
    # By turns the two limits that a process has: all that it maps, and what it maps for data.
    limits = ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5))
    for k, (what, name, case) in enumerate(all_cases()):
        outcome = limited(case, *limits[k % 2])
        print(json.dumps([what, name, outcome, outcome.seconds, outcome.megabytes]), flush=True)


def run(*, full: bool) -> list[Row]:  # noqa: ARG001 - there is no longer form
    """A row for each kind of table."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "torture.memory"],
        cwd=ROOT,
        env={**os.environ, **threads},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    outcomes: dict[str, list[tuple[str, str]]] = {}
    for what, name, *outcome in lines:
        outcomes.setdefault(what, []).append((name, Outcome(*outcome)))
    if done.returncode:
        outcomes.setdefault("all cases", []).append(("the process", f"ended with {done.returncode}"))
    note = f"each in a process limited to {MORE / 1e9:.0f} GB more and {SECONDS} s"
    return [Row.of("memory", what, pairs, note) for what, pairs in outcomes.items()]


if __name__ == "__main__":
    main()
