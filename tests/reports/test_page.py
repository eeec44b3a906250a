"""Tests of the report page in a browser: mouse, keyboard, narrow screens and hostile data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browser import ARTEFACTS, find_chromium, open_browser
from problems import make_blobs_shift

import adrem
from adrem import AdREM, Committee, baselines
from adrem.datasets import DomainPair

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

needs_browser = pytest.mark.skipif(find_chromium() is None, reason="needs Chromium: apt-get install chromium")
HOSTILE = "<script>window.harmed = 1</script><img src=x onerror=window.harmed=1>\"'&"


def make_report(data: DomainPair, model: Any = None) -> adrem.reports.Report:
    fitted = (model or AdREM(random_state=0)).fit(data.X_source, data.y_source, X_target=data.X_target)
    return adrem.report(fitted, *data[:3])


@pytest.fixture(scope="module")
def report() -> adrem.reports.Report:
    return make_report(make_blobs_shift())


@pytest.fixture(scope="module")
def hostile() -> adrem.reports.Report:
    """A report with labels, columns and rows that contain HTML markup."""
    data = make_blobs_shift(n_classes=2)
    labels = np.array([HOSTILE, "</style></title><b>"])[data.y_source]
    model = AdREM(random_state=0).fit(data.X_source, labels, X_target=data.X_target)
    n_features = data.X_source.shape[1]
    return adrem.report(
        model,
        data.X_source,
        labels,
        data.X_target,
        title=HOSTILE,
        feature_names=[f"{HOSTILE}{k}" for k in range(n_features)],
        source_rows=[HOSTILE] * len(labels),
        target_rows=[HOSTILE] * len(data.X_target),
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


class Visit:
    """An open page with its console errors and requests."""

    def __init__(self, browser: Browser, path: Path, width: int = 1280, scheme: Any = "light") -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())


def visit(
    browser: Browser, report: adrem.reports.Report, folder: Path, width: int = 1280, scheme: str = "light"
) -> Visit:
    report.save(folder / "page.html")
    return Visit(browser, folder / "page.html", width, scheme)


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_opens_without_errors_or_requests(
    browser: Browser, report: adrem.reports.Report, tmp_path: Path, width: int, scheme: str
) -> None:
    seen = visit(browser, report, tmp_path, width, scheme)
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    seen.page.screenshot(path=ARTEFACTS / f"page-{width}-{scheme}.png", full_page=True)
    assert seen.complaints == []
    assert seen.requests == [(tmp_path / "page.html").as_uri()]
    # No horizontal overflow: the page is as wide as its window.
    seen.page.evaluate("document.querySelectorAll('details').forEach(own => { own.open = true; })")
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width
    # Nor inside the page: no column has to be scrolled to.
    tables = "[...document.querySelectorAll('.wide')].filter(own => own.scrollWidth > own.clientWidth).length"
    assert seen.page.evaluate(tables) == 0
    back = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(246, 247, 249)" if scheme == "light" else "rgb(16, 20, 26)")


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_page_of_a_committee_fits_its_window(browser: Browser, tmp_path: Path, width: int) -> None:
    model = Committee(n_estimators=2, n_iter=4, random_state=0)
    seen = visit(browser, make_report(make_blobs_shift(), model), tmp_path, width)
    assert seen.page.locator("caption", has_text="Kinds that vote").count() == 1
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["report", "hostile"])
def test_page_passes_accessibility_checks(
    browser: Browser, tmp_path: Path, scheme: str, which: str, request: pytest.FixtureRequest
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for width in (1280, 390):
        seen = visit(browser, request.getfixturevalue(which), tmp_path, width, scheme)
        found = Axe().run(seen.page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []


@needs_browser
def test_charts_have_tooltips(browser: Browser, report: adrem.reports.Report, tmp_path: Path) -> None:
    page = visit(browser, report, tmp_path).page
    plots = page.locator("[data-plot]")
    assert plots.count() == 6
    tip = page.locator("#tip")
    assert tip.is_hidden()
    for k in range(plots.count()):
        plot = plots.nth(k)
        box = plot.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 150
        plot.scroll_into_view_if_needed()
        mark = plot.locator("[data-tip]").nth(1)
        spot = mark.bounding_box()
        assert spot is not None
        page.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
        assert tip.is_visible()
        tips = plot.locator("[data-tip]").evaluate_all("marks => marks.map(mark => mark.dataset.tip)")
        assert tip.inner_text() in tips
        place = tip.bounding_box()
        assert place is not None
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 1280
    page.mouse.move(2, 2)
    assert tip.is_hidden()


@needs_browser
def test_keyboard_steps_through_a_chart(browser: Browser, report: adrem.reports.Report, tmp_path: Path) -> None:
    page = visit(browser, report, tmp_path).page
    plot = page.locator("[data-plot]").nth(2)
    plot.focus()
    said = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        said.append(page.locator("#spoken").inner_text())
        assert page.locator("#tip").is_visible()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#spoken").inner_text() == said[1]
    assert [text.split(":")[0] for text in said] == [f"labels changed, iteration {k}" for k in range(3)]
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


@needs_browser
def test_legend_button_highlights_its_class(browser: Browser, report: adrem.reports.Report, tmp_path: Path) -> None:
    page = visit(browser, report, tmp_path).page
    rows = page.locator("[data-class]")
    button = page.locator("[data-pick]").first
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    picked = button.get_attribute("data-pick")
    faded = rows.evaluate_all("rows => rows.map(row => [row.dataset.class, row.classList.contains('faded')])")
    assert all(is_faded == (of != picked) for of, is_faded in faded)
    button.press("Enter")
    assert page.locator(".faded").count() == 0


@needs_browser
def test_browser_shows_hostile_text_as_text(browser: Browser, hostile: adrem.reports.Report, tmp_path: Path) -> None:
    seen = visit(browser, hostile, tmp_path)
    assert seen.page.evaluate("window.harmed") is None
    assert seen.complaints == []
    assert len(seen.requests) == 1
    assert seen.page.locator("script:not([type='application/json'])").count() == 1
    assert seen.page.locator("img").count() == 0
    assert seen.page.title() == " ".join(HOSTILE.split())
    assert seen.page.locator("h1").inner_text() == HOSTILE
    mark = seen.page.locator("[data-plot] [data-tip]").first
    mark.scroll_into_view_if_needed()
    spot = mark.bounding_box()
    assert spot is not None
    seen.page.mouse.move(spot["x"] + 3, spot["y"] + 3)
    assert HOSTILE in seen.page.locator("#tip").inner_text()
    assert seen.page.locator("#tip *").count() == 0


def test_file_escapes_hostile_text(hostile: adrem.reports.Report) -> None:
    assert hostile.html.count("<script>") == 1
    assert "<img" not in hostile.html
    assert "</style></title>" not in hostile.html


@needs_browser
def test_page_can_be_printed(browser: Browser, report: adrem.reports.Report, tmp_path: Path) -> None:
    seen = visit(browser, report, tmp_path)
    paper = seen.page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert paper.startswith(b"%PDF")
    assert seen.complaints == []


@needs_browser
def test_notebook_shows_page_in_iframe(browser: Browser, report: adrem.reports.Report, tmp_path: Path) -> None:
    cell = f"<!doctype html><title>notebook</title><h1>cell</h1>{report._repr_html_()}"
    (tmp_path / "notebook.html").write_text(cell, "utf-8")
    seen = Visit(browser, tmp_path / "notebook.html")
    inside = seen.page.frame_locator("iframe")
    assert inside.locator("h2").count() == 6
    inside.locator("[data-plot]").first.hover()
    assert inside.locator("#tip").is_visible()
    assert seen.complaints == []


@pytest.mark.parametrize("model", [baselines.SourceOnly(), baselines.CORAL(form="similarity"), AdREM(n_estimators=1)])
def test_report_supports_any_model(model: object) -> None:
    page = make_report(make_blobs_shift(n_classes=2), model)
    assert page.html.count("<h2") == 6
    assert page.diagnosis.method in page.html


def test_report_supports_many_classes() -> None:
    rng = np.random.RandomState(0)
    y = np.arange(300) % 60
    X = rng.normal(size=(300, 60))
    X[np.arange(300), y] += 6.0
    model = AdREM(C=0.1, n_estimators=3, n_iter=3, random_state=0).fit(X, y, X_target=X + 0.3)
    page = adrem.report(model, X, y, X + 0.3)
    assert "And 20 more classes." in page.html
    assert "50 classes are grey" in page.html


def test_report_is_deterministic(report: adrem.reports.Report) -> None:
    assert make_report(make_blobs_shift()).html == report.html


def test_report_is_saved_completely(report: adrem.reports.Report, tmp_path: Path) -> None:
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == report.html
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert repr(report).startswith("Report(")
    with pytest.raises(FileNotFoundError):
        report.save(tmp_path / "nowhere" / "page.html")


def test_report_rejects_wrong_number_of_descriptions() -> None:
    data = make_blobs_shift(n_classes=2)
    model = AdREM(C=1.0, random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
    with pytest.raises(ValueError, match="target_rows describes 1 rows"):
        adrem.report(model, *data[:3], target_rows=["one"])
