"""Tests of the command demo."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Command

pytestmark = pytest.mark.thorough


def test_demo_writes_a_report_page(adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = adrem("demo")
    assert code == 0
    assert "     all       56.6 %    88.5 %" in out
    page = tmp_path / "adrem-demo.html"
    assert f"Page: {page}" in out
    first = page.read_text("utf-8")
    assert "Digits through another camera" in first
    # It replaces its own page, but no other file.
    assert adrem("demo").code == 0
    assert page.read_text("utf-8") == first
    page.write_text("precious")
    code, _, err = adrem("demo")
    assert (code, "exists: --force replaces it" in " ".join(err.split())) == (2, True)
    assert page.read_text() == "precious"
    code, _, err = adrem("demo", "-o", "nowhere/page.html")
    assert (code, "There is no folder nowhere" in " ".join(err.split())) == (2, True)
