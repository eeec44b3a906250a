"""Take the screenshot of the HTML page for the README, with Chromium.

python benchmarks/page_picture.py [PICTURE]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1120, 1180


def main(picture: Path) -> None:
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page = Path(folder) / "page.html"
        subprocess.run([sys.executable, "-m", "adrem", "demo", "-o", str(page)], check=True)
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        view.goto(page.as_uri())
        view.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("page.png"))
