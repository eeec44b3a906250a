"""Test of the page on networks that learn: its block that needs PyTorch runs as documented."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import ROOT, Reader, blocks_of

pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[deep]"')
pytestmark = pytest.mark.thorough


def test_blocks_run_as_documented(tmp_path: Path) -> None:
    page = ROOT / "docs/deep.md"
    blocks = [block for block in blocks_of(page) if block.remark == "needs PyTorch"]
    assert blocks
    reader = Reader(page, tmp_path)
    for block in blocks:
        reader.follow(block)
