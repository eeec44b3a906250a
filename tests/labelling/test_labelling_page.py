"""The labelling page in a real browser: 30 answers by keyboard, a kill in the middle, adapt again, export."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from browser import ARTEFACTS, find_chromium, open_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(find_chromium() is None, reason="needs Chromium: apt-get install chromium"),
]
MARKUP = "<img src=x onerror=window.harmed=1>"
KINDS = np.array(["complaint", "praise", "question"])
WORDS = (["awful", "broken", "late", "poor"], ["great", "lovely", "superb", "fine"], ["how", "when", "where", "why"])
OWN = {"old": ["plot", "author"], "new": ["knife", "pan"]}


def messages(name: str, n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        words = [*rng.choice(WORDS[k % 3], 3), *rng.choice(OWN[name], 2), f"number {rng.integers(1000)}", MARKUP]
        rows.append({"id": f"{name}-{k}", "message": " ".join(words), "stars": int(rng.integers(1, 6))})
    return pl.DataFrame(rows).with_columns(kind=pl.Series(KINDS[np.arange(n) % 3]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    messages("old", 150, 0).write_csv(tmp_path / "old.csv")
    messages("new", 240, 1).drop("kind").write_csv(tmp_path / "new.csv")
    return tmp_path


@contextmanager
def labelling(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run adrem label, and give the process and the address of the page."""
    words = "label old.csv new.csv --label kind --id id --text message --method adrem --members 3 --no-browser"
    command = [sys.executable, "-m", "adrem", *words.split()]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ}) as process:
        try:
            assert process.stderr is not None
            lines = []
            for line in process.stderr:
                lines.append(line)
                found = re.search(r"http://\S+", line)
                if found:
                    break
            else:
                raise AssertionError("".join(lines))
            yield process, found.group()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def press(page: Page, key: str) -> None:
    """Press a key, and wait for the next row."""
    from playwright.sync_api import expect

    before = page.locator("#name").inner_text()
    page.keyboard.press(key)
    expect(page.locator("#name")).not_to_have_text(before)


def label_rows(page: Page, n: int) -> None:
    """Give the true labels of some rows by their keys."""
    for _ in range(n):
        kind = int(page.locator("#name").inner_text().split("-")[1]) % 3
        press(page, str(kind + 1))


def ready(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#labels button").first.wait_for()


def test_thirty_answers_a_kill_and_an_export(browser: Browser, folder: Path) -> None:
    from playwright.sync_api import expect

    page = browser.new_page()
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    with labelling(folder) as (process, address):
        ready(page, address)
        label_rows(page, 17)
        first = page.locator("#name").inner_text()
        press(page, "u")
        press(page, "ArrowLeft")
        press(page, "ArrowRight")
        assert page.locator("#name").inner_text() != first
        label_rows(page, 1)
        assert page.locator("#answered").inner_text() == "17"
        process.send_signal(signal.SIGKILL)
        process.wait()
        page.keyboard.press("1")
        expect(page.locator("#status")).to_contain_text("can't be reached")
    errors.clear()  # of the server that is gone
    with labelling(folder) as (process, again):
        assert again != address
        ready(page, again)
        assert page.locator("#answered").inner_text() == "17"
        label_rows(page, 13)
        assert page.locator("#answered").inner_text() == "30"
        assert "10 random rows" in page.locator("#estimate").inner_text()
        page.keyboard.press("a")
        expect(page.locator("#work")).to_contain_text("Adapted", timeout=60_000)
        assert page.locator("#learnt").inner_text() == "20 labels"
        for name, least in (
            ("labelled.csv", 500),
            ("labels.csv", 3000),
            ("model.adrem", 3000),
            ("report.html", 30_000),
        ):
            with page.expect_download() as download:
                page.locator(f"a[href='export/{name}']").click()
            assert download.value.path().stat().st_size > least
            assert (folder / "new-labels" / name).stat().st_size > least
    assert errors == []
    assert all(url.startswith("http://127.0.0.1:") for url in requests)
    assert page.evaluate("window.harmed") is None
    given = pl.read_csv(folder / "new-labels" / "labelled.csv")
    every = pl.read_csv(folder / "new-labels" / "labels.csv")
    kept = given.join(every, on="id", how="left")
    assert (kept["kind"] == kept["label"]).all()
    assert (kept["confidence"] == 1.0).all()
    assert given.height == 30
    assert (given["kind"].to_numpy() == KINDS[[int(name.split("-")[1]) % 3 for name in given["id"]]]).all()
    assert (given["chosen"] == "random").sum() == 10
    words = "adapt old.csv new.csv --label kind --id id --text message --method adrem --members 3 -o out.csv --known"
    known = str(folder / "new-labels" / "labelled.csv")
    subprocess.run([sys.executable, "-m", "adrem", *words.split(), known], cwd=folder, check=True, capture_output=True)
    page.close()


def test_while_a_model_is_adapted_the_row_stays_and_few_requests_are_sent(browser: Browser, folder: Path) -> None:
    """The replies of the server say for long that it adapts, and then have another guess for the same row."""
    from playwright.sync_api import Route, expect

    is_running = True

    def change(route: Route) -> None:
        reply = route.fetch()
        found = reply.json()
        found["work"]["running"] = is_running
        if not is_running:
            found["row"]["order"].reverse()
        route.fulfill(response=reply, json=found)

    page, polled = browser.new_page(), []
    page.on("request", lambda request: polled.append(request.url) if "state?row" in request.url else None)
    with labelling(folder) as (_, address):
        ready(page, address)
        page.route(re.compile("/(answer|state)"), change)
        label_rows(page, 12)
        name, guess = (page.locator(own).inner_text() for own in ("#name", "#guess"))
        page.evaluate("document.getElementById('wanted').value = 'typed'")
        page.locator("#labels button").first.focus()
        polled.clear()
        page.wait_for_timeout(3500)
        assert 2 <= len(polled) <= 4
        is_running = False
        expect(page.locator("#progress")).to_be_hidden()
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_timeout(300)
        assert [page.locator(own).inner_text() for own in ("#name", "#guess")] == [name, guess]
        assert page.locator("#wanted").input_value() == "typed"
        expect(page.locator("#labels button").first).to_be_focused()
        page.unroute_all()
    page.close()


def test_two_windows_lose_no_answer(browser: Browser, folder: Path) -> None:
    from playwright.sync_api import expect

    with labelling(folder) as (_, address):
        one, other = browser.new_page(), browser.new_page()
        for page in (one, other):
            ready(page, address)
        press(one, "1")
        press(other, "2")
        assert "another window" in other.locator("#status").inner_text()
        press(other, "3")
        one.keyboard.press("0")
        expect(one.locator("#answered")).to_have_text("2")
    entries = [json.loads(line) for line in (folder / "new-labels" / "answers.jsonl").read_text().splitlines()[1:]]
    assert [entry["label"] for entry in entries] == ["complaint", "praise", "question", None]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_passes_accessibility_checks_and_fits_its_window(browser: Browser, folder: Path, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    with labelling(folder) as (_, address):
        for width, height in ((1280, 900), (390, 844)):
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                bypass_csp=True,  # the checks are a script
            )
            page = context.new_page()
            ready(page, address)
            label_rows(page, 6)
            press(page, "ArrowLeft")
            time.sleep(0.1)
            page.screenshot(path=ARTEFACTS / f"label-{width}-{scheme}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") == width
            found = Axe().run(page).response["violations"]
            assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []
            sizes = page.locator("button:visible").evaluate_all(
                "all => all.map(own => own.getBoundingClientRect().height)"
            )
            assert min(sizes) >= 44
            context.close()
