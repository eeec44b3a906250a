"""Tests of the documentation pages with blocks that need real data."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pytest
from pages import ROOT, Reader, blocks_of
from reviews import write_reviews

mpl.use("Agg")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PREPARATIONS = {"README.md": write_reviews, "files.md": write_reviews}


def needs_data(page: Path) -> bool:
    return any(block.remark == "needs ADREM_DATA" for block in blocks_of(page))


@pytest.mark.parametrize("page", [page for page in PAGES if needs_data(page)], ids=lambda page: page.name)
def test_blocks_needing_data_run_as_documented(page: Path, tmp_path: Path) -> None:
    if page.name in PREPARATIONS:
        PREPARATIONS[page.name](tmp_path)
    reader = Reader(page, tmp_path)
    for block in blocks_of(page):
        reader.follow(block)
