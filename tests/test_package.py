"""Tests of the exported names and of the modules that importing loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adrem


def test_every_exported_name_exists() -> None:
    for name in adrem.__all__:
        assert getattr(adrem, name) is not None
    assert dir(adrem) == adrem.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = adrem.nothing


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import adrem", ["sklearn", "numba", "scipy", "pandas", "rich"]),
        ("from adrem import AdREM; import adrem.datasets", ["numba", "matplotlib"]),
        ("import adrem; adrem.plotting.plot_votes", ["numba", "matplotlib"]),
    ],
)
def test_heavy_modules_are_imported_lazily(code: str, absent: list[str]) -> None:
    script = f"{code}\nimport sys\nprint([name for name in {absent} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_what_was_replaced_names_its_replacement() -> None:
    with pytest.raises(AttributeError, match=r"adrem\.AdREMCV was replaced by adrem\.Committee"):
        _ = adrem.AdREMCV
