"""Compare the time of a full `fit` with that of the authors' procedure, in one process on one thread, alternated.

    OMP_NUM_THREADS=1 ADREM_DATA=folder python benchmarks/solver.py [TASK ...] [--loss hinge] [--rounds 3] [--members 1]
                                                                    [--threads 2]

`theirs` is the procedure of the authors' program on liblinear as scikit-learn ships it: C chosen on the same grid and
the same kind of folds, copies of the drawn rows concatenated, every training from nothing, tol 0.1, no intercept. Its
members are timed on a few and scaled to eleven, its choice of C is timed in full; ours is timed as a user calls it. The
two rules for C differ in near-ties, so their members are trained with the C that ours has chosen.
Medians over the rounds; accuracies of the vote (ours) and of the members that were run (theirs) stand beside, and the
most memory that ours took besides the rows. With `--threads`, ours on one thread is set beside ours on several instead.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from peak_memory import begin_peak, peak
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from adrem import AdREM
from adrem.datasets import DomainPair, load
from adrem.machines.regularization import GRID, N_FOLDS

N_MEMBERS, N_ITER = 11, 20


class Run(NamedTuple):
    """Seconds of a full ensemble, accuracy in percent, the C that was chosen, and bytes that it took."""

    seconds: float
    accuracy: float
    C: float
    taken: int = 0


def make_dense() -> DomainPair:
    """Ten classes in 2048 features, 2000 rows a domain, the target shifted."""
    X, y = make_classification(4000, 2048, n_informative=200, n_classes=10, n_clusters_per_class=1, random_state=0)
    X = (X / X.std(axis=0)).astype(np.float32)
    shift = 0.3 * np.random.default_rng(0).standard_normal(2048).astype(np.float32)
    return DomainPair(X[:2000], y[:2000], X[2000:] + shift, y[2000:])


TASKS: dict[str, Callable[[], DomainPair]] = {
    "office-31 A>W": lambda: load("office-31-resnet50").pair("A-W"),
    "surf A>C": lambda: load("office-caltech-surf").pair("A-C"),
    "amazon B>D": lambda: load("amazon-reviews").pair("B-D"),
    "made dense": make_dense,
}


def classifier(loss: str, C: float, seed: int) -> Any:
    if loss == "hinge":
        return LinearSVC(loss="hinge", C=C, tol=0.1, fit_intercept=False, random_state=seed)
    model = LogisticRegression(solver="liblinear", dual=True, C=C, tol=0.1, fit_intercept=False, random_state=seed)
    return OneVsRestClassifier(model)


def draw_copies(labels: Any, size: float, rng: np.random.Generator) -> Any:
    """Row numbers of a balanced draw, repeated where a class is short of rows."""
    classes = np.unique(labels)
    drawn = []
    for c in classes:
        rows = np.flatnonzero(labels == c)
        times, rest = divmod(int(np.ceil(size / len(classes))), len(rows))
        drawn += [np.tile(rows, times), rng.choice(rows, rest, replace=False)]
    return np.concatenate(drawn)


def choose_c(X: Any, y: Any, loss: str, seed: int) -> float:
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(y, y))
    accuracies = [
        np.mean([classifier(loss, C, seed).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]) for C in GRID
    ]
    return float(GRID[int(np.argmax(accuracies))])


def theirs(data: DomainPair, loss: str, n_members: int, seed: int, C: float) -> Run:
    X_source, y_source, X_target, y_target = data
    begin = perf_counter()
    chosen = choose_c(X_source, y_source, loss, seed)
    choosing = perf_counter() - begin
    stack = sp.vstack if sp.issparse(X_source) else np.concatenate
    rng = np.random.default_rng(seed)
    accuracies = []
    begin = perf_counter()
    for member in range(n_members):
        labels = classifier(loss, C, member).fit(X_source, y_source).predict(X_target)
        for k in range(1, N_ITER + 1):
            drawn = draw_copies(labels, k / N_ITER * len(labels), rng)
            X, y = stack([X_source, X_target[drawn]]), np.concatenate([y_source, labels[drawn]])
            labels = classifier(loss, C, member).fit(X, y).predict(X_target)
        accuracies.append(100 * np.mean(labels == y_target))
    seconds = choosing + (perf_counter() - begin) / n_members * N_MEMBERS
    return Run(seconds, float(np.mean(accuracies)), chosen)


def ours(data: DomainPair, loss: Any, seed: int, n_jobs: int = 1) -> Run:
    before = begin_peak()
    begin = perf_counter()
    model = AdREM(loss=loss, random_state=seed, n_jobs=n_jobs).fit(data.X_source, data.y_source, X_target=data.X_target)
    seconds = perf_counter() - begin
    taken = peak() - before
    return Run(seconds, 100 * float(np.mean(model.transduction_ == data.y_target)), model.C_, taken)


def compare(task: str, loss: Any, rounds: int, members: int, threads: int) -> None:
    data = TASKS[task]()
    AdREM(loss=loss, n_iter=1, n_estimators=1, C=1e-3).fit(data.X_source, data.y_source, X_target=data.X_target)

    runs = []
    for seed in range(rounds):
        run = ours(data, loss, seed, threads)
        if threads > 1:
            runs.append((run, ours(data, loss, seed)))
        else:
            runs.append((run, theirs(data, loss, members, seed, run.C)))
    ratio = median(b.seconds / a.seconds for a, b in runs)
    names = (f"{threads} jobs", "1 job") if threads > 1 else ("ours", "theirs")
    for name, side in zip(names, ([a for a, _ in runs], [b for _, b in runs]), strict=True):
        seconds, accuracy = median(r.seconds for r in side), median(r.accuracy for r in side)
        memory = "" if name == "theirs" else f"   {max(r.taken for r in side) / 1e6:.0f} MB"
        print(
            f"{task:15} {loss:9} {name:7}{seconds:9.2f} s {accuracy:7.2f} %   C {sorted({r.C for r in side})}{memory}"
        )
    print(f"{task:15} {loss:9} ratio {ratio:10.1f} x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"among {', '.join(TASKS)}; default: all")
    parser.add_argument("--loss", nargs="*", default=["hinge", "log_loss"], choices=("hinge", "log_loss"))
    parser.add_argument("--rounds", type=int, default=3, help="rounds, each with ours and theirs")
    parser.add_argument("--members", type=int, default=1, help="members of theirs that are timed, then scaled to 11")
    parser.add_argument("--threads", type=int, default=1, help="compare ours on so many threads with ours on one")
    arguments = parser.parse_args()
    unknown = set(arguments.tasks) - set(TASKS)
    if unknown:
        parser.error(f"unknown task {', '.join(unknown)}; known are {', '.join(TASKS)}")
    warnings.simplefilter("ignore")
    beside = "" if arguments.threads > 1 else f"; theirs: {arguments.members} member(s) timed and scaled"
    print(f"{N_MEMBERS} members, {N_ITER} iterations{beside}", flush=True)
    for task in arguments.tasks or TASKS:
        for loss in arguments.loss:
            compare(task, loss, arguments.rounds, arguments.members, arguments.threads)


if __name__ == "__main__":
    main()
