"""Fuzz `fit`, `predict`, the loaders and the command line with a coverage-guided fuzzer (atheris).

Every input has a limit of memory and a clock: more of either is a failure, as a crash is. Half of the changes keep the
form of the file (`torture.mutators`).
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from torture.mutators import mutated
from torture.outcomes import ANSWERED, Outcome, Row
from torture.scale import is_quick

SECONDS = {False: 10, True: 300}
QUICK = 300  # inputs, the same ones each time
PER_INPUT = 20.0  # seconds for one, on a busy machine
MOST_MEMORY = 1_500_000_000  # bytes that all inputs together may add to the process
STARTS = 240  # seconds more, for what has to be loaded and compiled
CLEAN = (ValueError, TypeError, OSError, MemoryError)


def _fit(content: bytes, _: Path) -> None:
    """Rows, labels and options made of the bytes: an answer has to be right, as in torture.inputs."""
    from torture.inputs import SEPARATOR, WAYS, _wrong
    from torture.judging import judge
    from torture.outcomes import GOOD

    source = np.frombuffer(content + bytes(64), np.uint8)
    way = sorted(WAYS)[source[0] % len(WAYS)]
    n_rows, n_features = 2 + int(source[1]) % 20, 1 + int(source[2]) % 8
    kind = (np.float64, np.float32, np.float16, np.int8)[source[3] % 4]
    numbers = np.frombuffer((content[4:] or b"1").ljust(8, b"1") * 200, np.uint8)
    values = np.resize(numbers, 8 * (n_rows + 5) * n_features).view(kind)[: (n_rows + 5) * n_features]
    X = values.reshape(-1, n_features)
    given = {"X": X[:n_rows], "y": source[np.arange(n_rows) % 60] % 4, "X_target": X[n_rows:], "X_new": X[n_rows:]}
    with np.errstate(all="ignore"):
        outcome = judge(lambda: _wrong(way, {}, given, None), given)
    if outcome not in GOOD:
        raise AssertionError(f"{way}{SEPARATOR}{outcome}")


def _load_model(content: bytes, folder: Path) -> None:
    from adrem import load

    path = folder / "model.adrem"
    path.write_bytes(content)
    load(path)


def _read(ending: str) -> Callable[[bytes, Path], None]:
    def read(content: bytes, folder: Path) -> None:
        from adrem.columns import read_file

        path = folder / f"table{ending}"
        path.write_bytes(content)
        read_file(str(path))

    return read


def _command(content: bytes, folder: Path) -> None:
    """Words of the command line: those that it knows, in any order, and others."""
    from torture.files import _csv, command

    (folder / "table.csv").write_bytes(_csv())
    known = [
        "adapt", "predict", "explain", "datasets", "list", "bench", "show", str(folder / "table.csv"), "--label",
        "label", "-o", str(folder / "out.csv"), "--force", "--members", "1", "--iterations", "2", "--C", "1.0",
        "--json", "--prior", "--id", "--keep", "text", "--drop", "length", "--method", "source", "--estimate",
        "--help", "-1", "--text", "", "--report", str(folder / "page.html"), "--save", str(folder / "model.adrem"),
        "--config",
    ]  # fmt: skip
    words = [known[byte] if byte < len(known) else chr(byte) * (byte % 5) for byte in content[:12]]
    command(words)


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "fit and predict": _fit,
    "model files": _load_model,
    "tables of unknown format": _read(""),
    "csv files": _read(".csv"),
    "json lines": _read(".jsonl"),
    "parquet files": _read(".parquet"),
    "npz files": _read(".npz"),
    "svmlight files": _read(".svmlight"),
    "the command line": _command,
}


def seeds_of(target: str) -> list[bytes]:
    """Good bytes to begin with."""
    from torture.files import GOOD
    from torture.models import good_model

    if target == "model files":
        with tempfile.TemporaryDirectory() as folder:
            good_model(Path(folder) / "model")
            return [(Path(folder) / "model").read_bytes()]
    forms = {
        "tables of unknown format": tuple(form for form in GOOD if form not in ("sqlite", "toml")),
        "csv files": ("csv",),
        "json lines": ("jsonl",),
        "parquet files": ("parquet",),
        "npz files": ("npz", "CSR npz"),
        "svmlight files": ("svmlight",),
    }.get(target, ())
    return [GOOD[form]() for form in forms] or [bytes(range(64)), np.arange(40.0).tobytes()]


def fuzz(target: str, corpus: str, limits: list[str]) -> None:
    """The life of the fuzzer's process."""
    import atheris

    with atheris.instrument_imports(include=["adrem", "zipfile", "numpy.lib"]):
        for module in ("adrem.algorithm.estimator", "adrem.persistence.models", "adrem.columns", "adrem.cli.app"):
            import_module(module)
    warnings.simplefilter("ignore")
    folder = Path(corpus).parent

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def one(content: bytes) -> None:
        begin = time.monotonic()
        with contextlib.suppress(*CLEAN):
            TARGETS[target](content, folder)
        taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        if taken > MOST_MEMORY:
            raise RuntimeError(f"took {taken / 1e6:.0f} MB")
        if time.monotonic() - begin > PER_INPUT:
            raise RuntimeError(f"took {time.monotonic() - begin:.0f} seconds")

    def change(content: bytes, most: int, seed: int) -> bytes:
        formed = mutated(target, content, seed) if seed % 2 else None
        return atheris.Mutate(content, most) if formed is None else formed[:most]

    os.chdir(folder)
    options = [*limits, "-timeout=60", "-rss_limit_mb=4096", "-max_len=65536", "-print_final_stats=1", corpus]
    atheris.Setup([sys.argv[0], *options], one, custom_mutator=change)
    atheris.Fuzz()


def _outcome(target: str, limits: list[str], seconds: int) -> tuple[int, Outcome]:
    """How many inputs were tried, and what became of them."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for k, content in enumerate(seeds_of(target)):
            (corpus / f"seed{k}").write_bytes(content)
        command = [sys.executable, "-m", "torture.fuzz", target, str(corpus), *limits]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "ADREM_DATA": folder,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, check=False,
            timeout=seconds + STARTS,
        )  # fmt: skip
    runs = re.findall(r"Done (\d+) runs|#(\d+)\s", done.stderr)
    n_runs = int(next(number for number in runs[-1] if number)) if runs else 0
    taken = slowest_of(done.stderr), peak_of(done.stderr)
    if done.returncode == 0 and n_runs:
        return n_runs, Outcome(ANSWERED, *taken)
    wrong = [
        line for line in done.stderr.splitlines() if re.match(r"\w*(Error|Exception|Exit|Panic)\w*:|==\d+==", line)
    ]
    return n_runs, Outcome(" ".join(wrong[:2]) or done.stderr[-300:], *taken)


def peak_of(said: str) -> int:
    """The megabytes that the fuzzer says its process took at most."""
    return max([0, *map(int, re.findall(r"rss: (\d+)Mb", said))])


def slowest_of(said: str) -> float:
    """The seconds that the fuzzer says its slowest input took."""
    return max([0.0, *map(float, re.findall(r"slowest_unit_time_sec: *(\d+)", said))])


def run(*, full: bool) -> list[Row]:
    if find_spec("atheris") is None:
        return [Row("fuzzing", "atheris", note="not installed: pip install 'adrem[torture]'")]
    seconds, limits = SECONDS[full], [f"-max_total_time={SECONDS[full]}"]
    if is_quick():
        limits = [f"-runs={QUICK}", "-seed=1"]
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(TARGETS, pool.map(lambda target: _outcome(target, limits, seconds), TARGETS), strict=True))
    note = f"{QUICK} inputs" if is_quick() else f"{seconds} seconds in all"
    table = []
    for target, (n_runs, outcome) in found.items():
        row = Row("fuzzing", target, survived=n_runs, note=note)
        row.seconds, row.megabytes = outcome.seconds, round(outcome.megabytes)
        if outcome != ANSWERED:
            row.failed, row.failures = 1, [outcome]
        table.append(row)
    return table


if __name__ == "__main__":
    fuzz(sys.argv[1], sys.argv[2], sys.argv[3:])
