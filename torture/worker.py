"""Run cases in separate processes, so that a crash or a hang is an outcome like any other."""

from __future__ import annotations

import json
import os
import resource
import selectors
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from time import perf_counter
from typing import Any

from torture.outcomes import Outcome
from torture.scale import part_of

LIMIT = 60.0  # seconds for a case
STARTS = 300.0  # seconds for a process to be ready: it may have to compile
READY = "ready"


def run_cases(module: str, who: str, names: Iterable[str], processes: int = 2) -> list[tuple[str, str]]:
    """The outcome of every case: what ``module.outcome_of(who, name)`` returns, or that it crashed or hung."""
    names = part_of(list(names))
    parts = [names[k::processes] for k in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        results = pool.map(lambda part: list(_run_part(module, who, part)), parts)
    found = dict(pair for part in results for pair in part)
    return [(name, found[name]) for name in names]


def _run_part(module: str, who: str, names: list[str]) -> Iterator[tuple[str, str]]:
    process = None
    try:
        for name in names:
            if process is None:
                process = _start(module, who)
            yield name, (outcome := _ask(process, name))
            if outcome.startswith(("crash", "hang")):
                process.kill()
                process.wait()
                process = None
    finally:
        if process is not None:
            process.kill()
            process.wait()


def _start(module: str, who: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "torture.worker", module, who]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=alone
    )
    first = _answer(process, STARTS)
    if first != READY:
        raise RuntimeError(f"{' '.join(command)} did not start: {first}")
    return process


def _ask(process: subprocess.Popen[bytes], name: str) -> str:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(name).encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        return "crash before the case"
    return _answer(process, LIMIT)


def _answer(process: subprocess.Popen[bytes], limit: float) -> str:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(limit):
            return f"hang of more than {limit:.0f} seconds"
    line = process.stdout.readline()
    return Outcome(*json.loads(line)) if line else f"crash of the process, exit code {process.wait()}"


def serve(outcome_of: Callable[[str], str]) -> None:
    """Answer each line of standard input, a case's name, with its outcome."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr  # what a case prints is no answer
    answers.write(json.dumps([READY]) + "\n")
    answers.flush()
    for line in sys.stdin:
        begin = perf_counter()
        outcome = outcome_of(json.loads(line))
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        answers.write(json.dumps([outcome, perf_counter() - begin, megabytes]) + "\n")
        answers.flush()


if __name__ == "__main__":
    chapter: Any = import_module(sys.argv[1])
    serve(chapter.serving(sys.argv[2]))
