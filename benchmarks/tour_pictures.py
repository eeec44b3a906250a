"""Draw the pictures of the tour with the code that it shows: `python benchmarks/tour_pictures.py docs/pictures`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from pages import ROOT, Reader, blocks_of

NAMES = ("domains", "history", "votes", "shares")


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams["savefig.dpi"] = 110
    page = ROOT / "docs" / "tour.md"
    with TemporaryDirectory() as name:
        reader = Reader(page, Path(name))
        for block in blocks_of(page):
            reader.follow(block)
        for picture in NAMES:
            shutil.move(Path(name) / f"{picture}.png", Path(sys.argv[1]) / f"tour-{picture}.png")


if __name__ == "__main__":
    main()
