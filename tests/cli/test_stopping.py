"""Tests of Ctrl-C on the command line."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from adrem.cli.interrupt import listening, was_pressed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT can't be sent on Windows")
SECONDS = 60.0


def test_ctrl_c_in_a_function_that_compiled_code_calls_is_not_lost() -> None:
    def press() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))  # Python looks for signals here

    callback = ctypes.CFUNCTYPE(None)(press)
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), listening():  # noqa: PT012 - it may be raised in any line
        callback()
        time.sleep(SECONDS)
    assert was_pressed()
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


def test_other_errors_that_python_drops_are_still_told() -> None:
    told: list[object] = []
    before, sys.unraisablehook = sys.unraisablehook, told.append
    try:
        with listening():
            ctypes.CFUNCTYPE(None)(lambda: int("no number"))()
    finally:
        sys.unraisablehook = before
    assert len(told) == 1
    assert not was_pressed()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables that take some seconds to adapt."""
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    for shift, name in enumerate(("old", "new")):
        X = rng.normal(size=(1500, 40)) + 0.3 * shift
        y = (X[:, :3].sum(axis=1) > 0).astype(int) + (X[:, 5] > 1)
        header = ",".join([*(f"x{k}" for k in range(40)), "kind"])
        np.savetxt(
            folder / f"{name}.csv", np.column_stack([X, y]), "%.4f" + ",%.4f" * 39 + ",%d", header=header, comments=""
        )
    return folder


def stopped_after(seconds: float, command: list[str], folder: Path) -> tuple[int, str]:
    """Press Ctrl-C some time after a command has begun; return its exit code, and what it has said."""
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        time.sleep(seconds)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    return process.returncode, said


@pytest.mark.thorough
@pytest.mark.parametrize("part", np.linspace(0.35, 0.95, 7).round(2).tolist())
def test_ctrl_c_ends_an_adaptation_in_threads(tables: Path, tmp_path: Path, part: float) -> None:
    words = "adapt old.csv new.csv --label kind --jobs 2 --force"
    command = [sys.executable, "-m", "adrem", *words.split()]
    begin = time.monotonic()
    if not (tables / "seconds").exists():  # an undisturbed run, which also compiles
        subprocess.run([*command, "-o", str(tables / "whole.csv")], cwd=tables, check=True, capture_output=True)
        begin = time.monotonic()
        subprocess.run([*command, "-o", str(tables / "whole.csv")], cwd=tables, check=True, capture_output=True)
        (tables / "seconds").write_text(str(time.monotonic() - begin))
    labels, seconds = tmp_path / "labels.csv", part * float((tables / "seconds").read_text())
    code, said = stopped_after(seconds, [*command, "-o", str(labels)], tables)
    while code == 0:  # it had ended before, since the machine is less busy now
        labels.unlink()
        seconds *= 0.8
        code, said = stopped_after(seconds, [*command, "-o", str(labels)], tables)
    assert code == 130, said
    assert said.endswith("adrem: Stopped.\n")
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    assert not labels.exists()
