"""The machine's own Chromium, through Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Screenshots are kept here, to be looked at.
ARTEFACTS = Path(__file__).parents[1] / "build" / "screenshots"


def find_chromium() -> str | None:
    """Where a Chromium is, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # Inside a container Chromium's sandbox has no rights of its own; the pages are ours, and off the network.
        browser = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()
