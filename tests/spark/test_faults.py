"""Lost executors do not change the result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sparks import needs_spark

needs_spark()
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="finds the executor's process in /proc"),
]

TESTS = Path(__file__).parents[1]


def test_killed_executor_keeps_the_result(tmp_path: Path) -> None:
    script = TESTS / "spark" / "kill_executor.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(TESTS)])}
    result = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=False, env=environment
    )
    assert result.returncode == 0, result.stderr
    outcome = json.loads((tmp_path / "outcome.json").read_text())
    assert "spark.sparkContext.setCheckpointDir" in outcome["refusal"]
    assert outcome["lost"] >= 1
    assert outcome["labels"]
    assert outcome["history"]
    assert outcome["left"] == []
    # The order in which Spark sums gradients is not fixed, with or without a lost executor.
    assert outcome["difference"] <= 1e-6 * outcome["largest"]
