"""Tests that the documentation pages match the stored results and the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import active
import deep_page
import few_labels
import field
import house_picture
import label_shift
import labelled_estimate
import office_photos
import options
import own_files
import own_tables
import photo_scaling
import pytest
from csv_files import read_csv
from results_page import make_page

from adrem.diagnostics import accuracy, verdict
from torture.outcomes import as_page, split_page
from torture.outcomes import read_csv as read_torture

DOCS = Path(__file__).parents[1] / "docs"
SOURCE = DOCS.parent / "src" / "adrem"


def read(name: str) -> list[dict[str, str]]:
    return read_csv(DOCS / "results" / f"{name}.csv")


def test_results_page_is_up_to_date() -> None:
    assert (DOCS / "results.md").read_text("utf-8") == make_page()


def test_readme_field_table_is_up_to_date() -> None:
    assert "\n".join(field.summarize(read("field"))) in (DOCS.parent / "README.md").read_text("utf-8")


def test_readme_links_exist() -> None:
    for page in (DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_tables_of_own_files_are_up_to_date() -> None:
    rows = own_tables.leave_one_out(own_files.read_rows(own_files.OUT))
    diagnosis, estimate = ((DOCS / f"{name}.md").read_text("utf-8") for name in ("diagnosis", "estimate"))
    assert own_tables.show_verdicts(rows) in diagnosis
    assert own_tables.show_losses(rows) in diagnosis
    assert own_tables.show_pairs(rows) in diagnosis
    assert own_tables.show_rules(rows) in diagnosis
    assert own_tables.show_estimates(rows) in estimate
    assert own_tables.show_rivals(rows) in estimate


def test_tables_of_photos_are_up_to_date() -> None:
    page = (DOCS / "features.md").read_text("utf-8")
    assert photo_scaling.summarize(read("photo_scaling")) in page
    assert office_photos.summarize(read("office_photos")) in page


def test_tables_of_networks_that_learn_are_up_to_date() -> None:
    page = (DOCS / "deep.md").read_text("utf-8")
    assert deep_page.show_pairs(read("deep"), read("deep-rounds")) in page
    assert deep_page.show_methods(read("deep")) in page


def test_constants_of_verdict_and_interval_are_those_that_were_chosen() -> None:
    shown = own_tables.to_choose_on(own_files.read_rows(own_files.OUT))
    assert own_tables.best_threshold(shown) == pytest.approx(verdict.ONE_SIDED, abs=0.1)
    assert own_tables.width_of(shown) == pytest.approx(accuracy.WIDTH, abs=0.1)


def test_beyond_paper_tables_are_up_to_date() -> None:
    assert "\n".join(options.summarize(read("options"))) in (DOCS / "beyond.md").read_text("utf-8")
    assert "\n".join(label_shift.summarize(read("label_shift"))) in (DOCS / "label-shift.md").read_text("utf-8")


def test_table_of_few_labels_is_up_to_date() -> None:
    assert "\n".join(few_labels.summarize(read("few_labels"))) in (DOCS / "few-labels.md").read_text("utf-8")


def test_tables_of_rows_to_label_and_of_the_estimate_from_labels_are_up_to_date() -> None:
    estimate, found = (DOCS / "estimate.md").read_text("utf-8"), read("labelled_estimate")
    assert "\n".join(labelled_estimate.summarize(found)) in estimate
    assert "\n".join(labelled_estimate.by_data(found)) in estimate
    assert "\n".join(active.summarize(read("active"))) in (DOCS / "few-labels.md").read_text("utf-8")


def test_robustness_tables_are_up_to_date() -> None:
    rows = read_torture((DOCS / "results" / "torture.csv").read_text("utf-8"))
    assert split_page((DOCS / "robustness.md").read_text("utf-8"))[1] == as_page(rows)
    assert [row.what for row in rows if row.is_about_us and row.failed] == []


def test_design_page_lists_every_package() -> None:
    page = (DOCS / "design.md").read_text("utf-8")
    for name in house_picture.packages():
        # Parsed, not imported: some packages need optional packages.
        [source] = [*SOURCE.glob(f"{name}.py"), *SOURCE.glob(f"{name}/__init__.py")]
        doc = (ast.get_docstring(ast.parse(source.read_text("utf-8"))) or "").splitlines()[0].replace("``", "`")
        assert f"| `{name}` | {doc} |" in page
