"""The pages say what the files say."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from results_page import make_page
from verdict import summarize

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_results_is_made_from_the_results() -> None:
    assert (DOCS / "results.md").read_text("utf-8") == make_page()


def test_every_link_between_the_pages_leads_somewhere() -> None:
    for page in (DOCS.parent / "README.md", *DOCS.glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_examples_of_the_data_page_run() -> None:
    text = (DOCS / "data.md").read_text("utf-8")
    block = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[-1]
    printed: list[float] = []
    exec(block, {"print": printed.append})  # noqa: S102 - our own text
    assert printed[0] > 0.85


def test_the_example_of_the_page_of_baselines_prints_what_it_says() -> None:
    text = (DOCS / "baselines.md").read_text("utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    printed: list[float] = []
    exec(block, {"print": lambda _, accuracy: printed.append(accuracy)})  # noqa: S102 - our own text
    [said] = re.findall(r"prints (.*?)\.\n", text)
    assert [f"{accuracy:.2f}" for accuracy in printed] == re.findall(r"0\.\d\d", said)


def test_the_table_of_verdicts_is_made_from_the_verdicts() -> None:
    with (DOCS / "results" / "verdict.csv").open(encoding="utf-8", newline="") as file:
        rows = [{**row, "gain": float(row["gain"])} for row in csv.DictReader(file)]
    assert "\n".join(summarize(rows)) in (DOCS / "diagnosis.md").read_text("utf-8")


def test_the_example_of_the_page_on_trust_prints_what_it_says() -> None:
    text = (DOCS / "diagnosis.md").read_text("utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    printed: list[str] = []
    exec(block, {"print": lambda value: printed.append(str(value))})  # noqa: S102 - our own text
    said = re.findall(r"print\(.*\)  # (.*)", block)
    assert len(printed) == len(said) == 4
    for value, comment in zip(printed, said, strict=True):
        assert comment.startswith(value)


def test_the_example_of_the_page_beyond_the_paper_prints_what_it_says() -> None:
    text = (DOCS / "beyond.md").read_text("utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    printed: list[float] = []
    exec(block, {"print": printed.append})  # noqa: S102 - our own text
    assert printed == [float(re.findall(r"# (.*)", block)[0])]
