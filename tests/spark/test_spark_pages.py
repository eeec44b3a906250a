"""Test of the page on Spark, in a separate process, since a process can have only one Spark session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks_of, comments_of
from sparks import needs_spark

needs_spark()
pytestmark = pytest.mark.thorough


def test_spark_block_runs_as_documented(tmp_path: Path) -> None:
    [block] = [block for block in blocks_of(ROOT / "docs" / "scale.md") if block.remark == "needs Spark"]
    lines = enumerate(block.text.splitlines(), start=1)
    said = [comments_of(block.text)[number] for number, line in lines if line.startswith("print(")]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    result = subprocess.run(
        [sys.executable, "-c", block.text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == said
    assert [path for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()] == []
