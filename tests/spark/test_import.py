"""Tests of the requirements for importing adrem.spark, and of the errors if they are missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)


def test_adrem_does_not_import_pyspark() -> None:
    code = "import adrem, sys\nadrem.AdREM\nprint('pyspark' in sys.modules)"
    assert run(code, **os.environ).stdout == "False\n"


def test_missing_pyspark_raises_install_hint() -> None:
    result = run("import sys\nsys.modules['pyspark'] = None\nimport adrem.spark", **os.environ)
    assert "ImportError: adrem.spark needs pyspark" in result.stderr
    assert 'pip install "adrem[spark]"' in result.stderr


def test_missing_jdk_raises_install_hint() -> None:
    pytest.importorskip("pyspark", reason='needs pyspark: pip install "adrem[spark]"')
    environment = {name: value for name, value in os.environ.items() if name not in ("PATH", "JAVA_HOME")}
    result = run("import adrem.spark", PATH="", **environment)
    assert "SparkError: adrem.spark" in result.stderr
    assert "install a JDK 17" in result.stderr
