"""Benchmark commands reproduce tables and curves of the paper."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import Command

from adrem.benchmark import curves, figures
from adrem.benchmark.published import published_curve
from adrem.benchmark.store import Result

AMAZON = "amazon-reviews"


def read(text: str) -> dict[tuple[str, str], dict[str, str]]:
    return {(row["method"], row["pair"]): row for row in csv.DictReader(io.StringIO(text))}


def test_office_31_source_accuracy_equals_paper(adrem: Command, tmp_path: Path) -> None:
    words = ("--methods", "source-svm", "--features", "resnet50", "--repeats", "1", "--format", "csv")
    code, out, _ = adrem("bench", "run", "office-31", *words, "--jobs", "1", "--cache", tmp_path)
    rows = read(out)
    assert code == 0
    assert float(rows["source-svm", "avg"]["accuracy"]) == pytest.approx(77.5, abs=1.0)
    assert rows["source-svm", "A-W"]["published"] == "73.8"
    assert rows["source-svm", "D-A"]["published"] == "60.3"


def test_standard_protocol_gains_by_adapting(adrem: Command, tmp_path: Path) -> None:
    words = ("--methods", "source-svm,adrem-svm", "--features", "resnet50", "--repeats", "1", "--format", "csv")
    _, out, _ = adrem("bench", "run", "office-caltech-standard", *words, "--jobs", "2", "--cache", tmp_path)
    rows = read(out)
    assert float(rows["source-svm", "avg"]["accuracy"]) == pytest.approx(90.5, abs=1.5)
    assert float(rows["adrem-svm", "avg"]["accuracy"]) == pytest.approx(96.0, abs=1.0)


def test_killed_run_resumes(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "adrem",
        "bench",
        "run",
        "amazon-standard",
        "--features",
        "400",
        "--pairs",
        "E-K,K-D",
    ]
    words += ["--methods", "source-svm,adrem-svm", "--repeats", "3", "--jobs", "2", "--format", "csv", "--cache"]
    whole = subprocess.run([*words, str(tmp_path / "whole")], capture_output=True, text=True, check=True).stdout
    for seconds in (2.0, 4.0, 6.0, 8.0):
        with subprocess.Popen(
            [*words, str(tmp_path / "killed")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(seconds)
            os.kill(process.pid, signal.SIGKILL)
    again = subprocess.run([*words, str(tmp_path / "killed")], capture_output=True, text=True, check=True)
    assert again.stdout == whole


def test_ensemble_size_curve_equals_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "POOL", 55)
    monkeypatch.setattr(curves, "SIZES", tuple(range(1, 53, 2)))
    monkeypatch.setattr(curves, "RESAMPLES", 50)
    cells = [cell for cell in curves.ensemble_cells(None)[0] if cell.features == AMAZON]
    results = {cell: Result(*curves.run_ensemble_cell(cell, None), "") for cell in cells}
    sizes, mean, _ = figures.ensemble_series(results, AMAZON)
    ours, paper = (
        dict(zip(sizes, mean, strict=True)),
        {p.x: p.accuracy for p in published_curve("ensemble-size", AMAZON)},
    )
    for size in (1, 3, 5, 11, 21, 51):
        assert ours[size] == pytest.approx(paper[size], abs=0.4)


def test_iteration_curve_equals_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "MEMBERS", 3)
    wanted = (5, 10, 20, 50)
    cells = [c for c in curves.iteration_cells(None)[0] if c.features == AMAZON and c.repetition in wanted]
    results = {cell: Result(*curves.run_iteration_cell(cell, None), "") for cell in cells}
    numbers, mean, _ = figures.iteration_series(results, AMAZON)
    paper = {p.x: p.accuracy for p in published_curve("iterations", AMAZON)}
    np.testing.assert_allclose(mean, [paper[n] for n in numbers], atol=0.6)
