"""Small problems with stored reference answers; `python tests/golden.py` writes them to data/golden.json.

The rows are integers divided by eight, drawn by numpy's frozen `RandomState`: they and the products of any two of them
are bitwise equal on every machine and with every version.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import clone

from adrem import AdREM, baselines

HOME = Path(__file__).parent / "data" / "golden.json"
N_SOURCE, N_TARGET, N_FEATURES = 60, 45, 6
# With this seed the models differ in their labels, and no label is close to a tie.
USUAL_SEED = 13
# Number of rows whose decision values are stored; labels are stored for all rows.
N_SHOWN, DIGITS = 5, 6
SEEDS = range(100)
# Relative perturbation for the test of stable labels, far larger than differences between machines and versions.
MOVED = 1e-9
SMALL: dict[str, Any] = {"n_estimators": 5, "n_iter": 6, "random_state": 0}


@dataclass(frozen=True)
class Problem:
    """A model and its table: the rows of one or two sources, followed by those of the target."""

    model: Any
    n_classes: int = 3
    n_sources: int = 1
    sparse: bool = False


class Answer(NamedTuple):
    """The labels and decision values of a fitted model for the target, and its history."""

    labels: NDArray[np.intp]
    decision: NDArray[np.float64]
    history: list[dict[str, Any]]

    @property
    def text(self) -> str:
        """The labels, one digit each."""
        return "".join(map(str, self.labels.tolist()))

    @property
    def digest(self) -> str:
        """A hash that is equal for bitwise equal answers."""
        parts = (self.labels.tolist(), self.decision.tolist(), self.history)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    @property
    def margins(self) -> NDArray[np.float64]:
        """Difference between the highest and second highest decision value of each row."""
        if self.decision.ndim == 1:
            return np.abs(self.decision)
        ordered = np.sort(self.decision, axis=1)
        return np.asarray(ordered[:, -1] - ordered[:, -2])


PROBLEMS = {
    "hinge, Gram matrix": Problem(AdREM(machine="gram", **SMALL)),
    "hinge, rows": Problem(AdREM(machine="rows", **SMALL)),
    "hinge, two classes": Problem(AdREM(**SMALL), n_classes=2),
    "hinge, sparse rows": Problem(AdREM(machine="rows", **SMALL), sparse=True),
    "hinge, sparse Gram matrix": Problem(AdREM(machine="gram", **SMALL), sparse=True),
    "log_loss, Gram matrix": Problem(AdREM(loss="log_loss", machine="gram", **SMALL)),
    "log_loss, rows": Problem(AdREM(loss="log_loss", machine="rows", **SMALL)),
    "intercept": Problem(AdREM(fit_intercept=True, **SMALL)),
    "rbf": Problem(AdREM(kernel="rbf", **SMALL)),
    "estimated shares": Problem(AdREM(class_prior="estimate", **SMALL)),
    "neighbors": Problem(AdREM(neighbors=5, **SMALL)),
    "refine": Problem(AdREM(refine=10, **SMALL)),
    "two sources": Problem(AdREM(**SMALL), n_sources=2),
    **{name: Problem(getattr(baselines, name)(random_state=0)) for name in baselines.__all__},
}
# Problems that are solved with the seeds 0 to 99: both machines, both losses.
MANY_SEEDS = ("hinge, Gram matrix", "hinge, sparse rows", "log_loss, Gram matrix", "log_loss, rows")


def make_table(problem: Problem, seed: int, moved: float) -> tuple[Any, NDArray[np.intp], NDArray[np.intp]]:
    """Rows, labels (-1 for the target) and domains; every value of the rows is perturbed by this relative amount."""
    rng = RandomState(seed)
    classes = np.concatenate([np.arange(n) % problem.n_classes for n in (N_SOURCE, N_TARGET)])
    domain = np.concatenate([np.minimum(np.arange(N_SOURCE) // 3 % 4, problem.n_sources - 1), np.full(N_TARGET, -1)])
    means = rng.randint(-11, 12, (problem.n_classes, N_FEATURES))
    shift = rng.randint(-6, 7, N_FEATURES)
    noise = rng.randint(-5, 6, (3, len(classes), N_FEATURES)).sum(axis=0)
    X = (means[classes] + noise + np.where(domain < 0, 1, 0)[:, None] * shift) / 8
    X *= 1 + moved * rng.uniform(-1, 1, X.shape)
    return (sp.csr_array(X) if problem.sparse else X), np.where(domain < 0, -1, classes), domain


def answer(name: str, *, seed: int | None = None, n_jobs: int | None = None, moved: float = 0.0) -> Answer:
    """Solve a problem with a seed for rows and draws, a number of jobs and slightly perturbed rows."""
    problem = PROBLEMS[name]
    X, y, domain = make_table(problem, USUAL_SEED if seed is None else seed, moved)
    model = clone(problem.model)
    if seed is not None:
        model.set_params(random_state=seed)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    model.fit(X, y, sample_domain=domain)
    return Answer(model.transduction_, model.decision_function(X[domain < 0]), getattr(model, "history_", []))


def _firm_labels(name: str, seed: int) -> str:
    """The labels of a seed, or "" if a small perturbation changes them."""
    found = answer(name, seed=seed)
    return found.text if found.text == answer(name, seed=seed, moved=MOVED).text else ""


def write() -> None:
    """Write the current answers as the reference for later versions."""
    answers = {}
    for name in PROBLEMS:
        found = answer(name)
        answers[name] = {"labels": found.text, "decision": np.round(found.decision[:N_SHOWN], DIGITS).ravel().tolist()}
    seeds = {name: [_firm_labels(name, seed) for seed in SEEDS] for name in MANY_SEEDS}
    text = json.dumps({"problems": answers, "seeds": seeds}, indent=1)
    text = re.sub(r"(?<=\[)\n\s+(?=-?\d)|(?<=\d)\n\s+(?=\])", "", text)
    HOME.write_text(re.sub(r"(?<=,)\n\s+(?=-?\d)", " ", text) + "\n")  # several numbers per line


def read() -> Any:
    """Read the reference answers."""
    return json.loads(HOME.read_text())


if __name__ == "__main__":
    write()
