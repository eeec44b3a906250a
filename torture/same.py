"""Reproducibility: the golden answers of tests/golden.py, also with the lowest and newest versions of dependencies."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from torture.outcomes import ANSWERED, Row

CHAPTER = "same"
ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / "build" / "torture-envs"
LOWEST = ROOT / ".github" / "oldest.txt"
TESTS = "tests/test_golden.py"
SHOWN = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
UNREACHABLE = re.compile("connection|timed out|temporary failure|no route", re.IGNORECASE)


def run(*, full: bool) -> list[Row]:
    """Compare the golden answers for any number of jobs, any backend, repeated runs, and other versions."""
    here = Path(sys.executable)
    rows = [
        _row(here, "golden answers: 1, 2 and 4 jobs, threads and processes, repeated, rows perturbed", TESTS),
        _with_versions("lowest", ["--constraint", str(LOWEST)]),
        _with_versions("newest", ["--upgrade"]),
    ]
    if full:
        rows.append(_row(here, "seeds 0 to 99, by 1 and 2 jobs, in threads and processes", TESTS, "-m", "nightly"))
    return rows


def _with_versions(which: str, options: list[str]) -> Row:
    what = f"golden answers with the {which} versions of the dependencies"
    try:
        python = _environment(which, options)
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.strip()
        if UNREACHABLE.search(complaint):
            return Row.of(CHAPTER, what, [], "not tried: pip reaches no index")
        return Row.of(CHAPTER, what, [("pip install", complaint.splitlines()[-1])])
    return _row(python, what, TESTS, "-k", "written_down")


def _environment(which: str, options: list[str]) -> Path:
    """The Python of an environment that is made once for the bounds as they are; `make clean` removes it."""
    bounds = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + LOWEST.read_bytes()).hexdigest()
    folder = ENVIRONMENTS / f"{which}-{bounds[:8]}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    complete = folder / "complete"
    if not complete.exists():
        _call(sys.executable, "-m", "venv", "--clear", str(folder))
        _call(str(python), "-m", "pip", "install", *options, "--editable", str(ROOT), "hypothesis", "pytest")
        complete.touch()
    return python


def _row(python: Path, what: str, *words: str) -> Row:
    """A row with the outcome of every test that the words choose."""
    command = [str(python), "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    outcomes = []
    for line in done.stdout.splitlines():
        kind, _, case = line.partition(f" {TESTS}::")
        if kind in ("PASSED", "FAILED", "ERROR"):
            name, _, why = case.partition(" - ")
            outcomes.append((name, ANSWERED if kind == "PASSED" else why or kind.lower()))
    if not outcomes:
        outcomes = [("pytest", (done.stdout + done.stderr).strip() or f"exit code {done.returncode}")]
    return Row.of(CHAPTER, what, outcomes, _versions(python))


def _versions(python: Path) -> str:
    code = f"from importlib.metadata import version; print(', '.join(f'{{n}} {{version(n)}}' for n in {SHOWN}))"
    return _call(str(python), "-c", code)


def _call(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
