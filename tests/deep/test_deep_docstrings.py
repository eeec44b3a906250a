"""Tests of the docstrings of `adrem.deep`, as in test_docstrings.py; the examples need PyTorch."""

from __future__ import annotations

from doctest import DocTestFinder, DocTestRunner
from importlib import import_module

import pytest
from docstrings import Home, exported_by, faults_of, homes_of, name_of, needs_example
from pages import ROOT

pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[deep]"')
pytest.importorskip("safetensors")
pytestmark = pytest.mark.thorough


def homes() -> list[Home]:
    return homes_of([thing for thing in exported_by("adrem.deep") if callable(thing)])


def test_docstrings_follow_numpydoc() -> None:
    faults = {name_of(home): faults_of(home) for home in homes()}
    assert {name: found for name, found in faults.items() if found} == {}


def test_docstrings_have_examples_that_run() -> None:
    tests = [
        test for module in sorted({home[0] for home in homes()}) for test in DocTestFinder().find(import_module(module))
    ]
    named = {test.name for test in tests if test.examples}
    assert [home for home in homes() if needs_example(home) and name_of(home) not in named] == []
    complaints: list[str] = []
    runner = DocTestRunner()
    for test in tests:
        runner.run(test, out=complaints.append)
    assert "".join(complaints) == ""


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs/api/deep.md").read_text("utf-8")
    found = import_module("adrem.deep")
    assert [n for n in found.__all__ if callable(getattr(found, n)) and f"::: adrem.deep.{n}\n" not in page] == []
