"""Classifiers of skada in the benchmark, each in a process with limits of time and memory."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray

from adrem.benchmark.method import Method
from adrem.datasets import DomainPair
from adrem.exceptions import MethodFailedError, ParameterError
from adrem.files.archives import read_arrays, write_arrays
from adrem.files.labelled_rows import CSR_PARTS, checked_csr
from adrem.types import Matrix

PREFIX = "skada:"
TIME_LIMIT = 60.0  # seconds for fit and predict
MEMORY_LIMIT = 4 * 2**30  # bytes of address space
START_LIMIT = 300.0  # seconds for the process to start, on a busy machine too
PLAIN = "plain"
SERVE = "import sys; from adrem.benchmark.peers import serve; serve(float(sys.argv[1]), int(sys.argv[2]))"


@dataclass(frozen=True)
class Usage:
    """Seconds for fit and predict, and the peak memory of the process in bytes."""

    seconds: float
    peak_memory: int


@dataclass(frozen=True)
class Peer(Method):
    """A classifier of skada with its own defaults."""

    time_limit: float = TIME_LIMIT
    memory_limit: int = MEMORY_LIMIT

    def label(self, data: DomainPair, seed: int, X_held: Matrix | None = None) -> tuple[NDArray[Any], Any]:
        """Return labels for the target or for the held-out rows, and the time and memory that they took."""
        codes = np.unique(data.y_source, return_inverse=True)
        tables = {"X_source": data.X_source, "codes": codes[1], "X_target": data.X_target, "X_held": X_held}
        task = {"name": self.name.removeprefix(PREFIX), "seed": seed, **tables}
        labels, usage = _run_process(task, self.time_limit, self.memory_limit)
        return codes[0][labels], usage

    def parameters(self) -> dict[str, Any]:
        """Return the version of skada, and the limits."""
        return {"skada": _installed(), "time_limit": self.time_limit, "memory_limit": self.memory_limit}


def find_peer(name: str) -> Peer:
    """Find a classifier of skada by a name such as ``skada:OTMapping``."""
    if _installed() is None:
        raise ParameterError(f"{name} needs skada: pip install skada.", "names")
    known = known_peers()
    if name.removeprefix(PREFIX) not in known:
        raise ParameterError(f"skada {_installed()} has no classifier for {name}; it has {', '.join(known)}.", "names")
    # It draws at random by its own defaults: one run is what a user would get.
    return Peer(name, f"{name.removeprefix(PREFIX)} of skada", _refuse_to_make, once=True)


def known_peers() -> list[str]:
    """List what skada has for classification: its ready pipelines, and its classifiers."""
    with sklearn.config_context():  # importing skada turns on metadata routing for the whole process
        import skada

    names = set(skada.__all__)
    return sorted(name for name in names if f"{name}Adapter" in names or name.endswith("Classifier"))


def _refuse_to_make(_seed: int) -> Any:
    raise NotImplementedError("A classifier of skada is fitted in another process: call label(data, seed).")


def _installed() -> str | None:
    try:
        return version("skada")
    except PackageNotFoundError:
        return None


def _run_process(task: dict[str, Any], time_limit: float, memory_limit: int) -> tuple[NDArray[np.intp], Usage]:
    command = [sys.executable, "-c", SERVE, str(time_limit), str(memory_limit)]
    try:
        # The process ends itself; this limit is for one that can't.
        done = subprocess.run(  # noqa: S603 - our own code
            command, input=_pack(task), capture_output=True, timeout=START_LIMIT + time_limit, check=False
        )
    except subprocess.TimeoutExpired:
        raise MethodFailedError("timed out") from None
    if done.returncode == -getattr(signal, "SIGALRM", 0):
        raise MethodFailedError("timed out")
    if done.returncode < 0:
        raise MethodFailedError(f"was ended by signal {-done.returncode}")
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"The process for {task['name']} ended with {done.returncode}: {' '.join(last)}")
    outcome = _unpack(done.stdout)
    if "reason" in outcome:
        raise MethodFailedError(outcome["reason"])
    return outcome["labels"], Usage(outcome["seconds"], outcome["peak_memory"])


def _pack(values: Mapping[str, Any]) -> bytes:
    """Return tables, arrays and plain values as an archive of arrays, which can't run code when it is read."""
    arrays: dict[str, Any] = {}
    plain = {}
    for name, value in values.items():
        if sp.issparse(value):
            rows = sp.csr_array(value)
            arrays |= {f"{name}/{part}": np.asarray(getattr(rows, part)) for part in CSR_PARTS}
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            plain[name] = value
    arrays[PLAIN] = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    file = io.BytesIO()
    write_arrays(file, arrays, compressed=False)
    return file.getvalue()


def _unpack(content: bytes) -> dict[str, Any]:
    """Return what `_pack` packed; sparse tables are CSR."""
    arrays = read_arrays(io.BytesIO(content))
    values: dict[str, Any] = json.loads(bytes(arrays.pop(PLAIN)))
    tables = {name.partition("/")[0] for name in arrays if "/" in name}
    for name in tables:
        values[name] = checked_csr(*(arrays.pop(f"{name}/{part}") for part in CSR_PARTS))
    return values | arrays


def serve(time_limit: float, memory_limit: int) -> None:
    """Read a task from standard input, and write labels or the reason of the failure to standard output."""
    import skada  # noqa: F401 - so that importing it does not count

    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what skada prints is not part of the answer
    content = sys.stdin.buffer.read()
    _limit(time_limit, memory_limit)
    is_sparse = False
    try:
        task = _unpack(content)
        is_sparse = sp.issparse(task["X_source"])
        labels, usage = _label(**task)
        outcome: dict[str, Any] = {"labels": labels, **asdict(usage)}
    except MemoryError:
        outcome = {"reason": "out of memory"}
    except Exception as error:  # any failure is a result of the benchmark
        outcome = {"reason": _reason(error, is_sparse)}
    with answer:
        answer.write(_pack(outcome))


def _label(
    name: str, X_source: Any, codes: Any, X_target: Any, seed: int, X_held: Any
) -> tuple[NDArray[np.intp], Usage]:
    import skada

    np.random.seed(seed)  # noqa: NPY002 - skada draws from numpy's global state
    n_target = X_target.shape[0]
    rows = sp.csr_matrix(sp.vstack([X_source, X_target])) if sp.issparse(X_source) else np.vstack([X_source, X_target])
    y = np.concatenate([codes, np.full(n_target, -1)])
    domain = np.concatenate([np.ones(len(codes), dtype=int), np.full(n_target, -2)])
    begin = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(skada, name)()
        model.fit(rows, y, sample_domain=domain)
        scored = rows[len(codes) :] if X_held is None else X_held
        labels = np.asarray(model.predict(scored, sample_domain=np.full(scored.shape[0], -2)), dtype=np.intp)
    return labels, Usage(perf_counter() - begin, _peak_memory())


def _reason(error: Exception, is_sparse: bool) -> str:
    message = " ".join(str(error).split())
    if is_sparse and any(word in message.lower() for word in ("sparse", "dense", "toarray")):
        return "needs dense input"
    if "allocate" in message.lower():
        return "out of memory"
    return f"{type(error).__name__}: {message[:100]}".rstrip(": ")


def _limit(seconds: float, n_bytes: int) -> None:
    """Limit the time that this process may still take, and its memory."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def _peak_memory() -> int:
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
