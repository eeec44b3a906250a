"""The installed Chromium, controlled by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Screenshots are kept here for inspection.
ARTEFACTS = Path(__file__).parents[1] / "build" / "screenshots"


def find_chromium() -> str | None:
    """The path of an installed Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Open a headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # In a container the Chromium sandbox lacks permissions; the pages are our own and offline.
        browser = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()
