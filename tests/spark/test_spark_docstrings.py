"""Tests of the docstrings of `adrem.spark`, as in test_docstrings.py; the examples need a Spark session."""

from __future__ import annotations

from doctest import DocTest, DocTestFinder, DocTestRunner
from importlib import import_module
from operator import attrgetter
from typing import Any

import pytest
from docstrings import Home, exported_by, faults_of, homes_of, name_of
from sparks import FAULTS_OF_PYSPARK, needs_spark

needs_spark()
pytestmark = [pytest.mark.thorough, FAULTS_OF_PYSPARK]
HOMES = homes_of(exported_by("adrem.spark"))


def example_of(home: Home) -> DocTest:
    """The example of one docstring; doctest does not find it by module, as the classes state another module."""
    module, name = home
    thing = attrgetter(name)(import_module(module))
    (found,) = DocTestFinder(recurse=False).find(thing, name_of(home), module=False, globs={})
    return found


def test_public_names_are_found() -> None:
    assert set(map(name_of, HOMES)) == {
        "adrem.spark.AdREM",
        "adrem.spark.AdREMModel",
    }


@pytest.mark.parametrize("home", HOMES, ids=name_of)
def test_docstrings_follow_numpydoc(home: Home) -> None:
    assert faults_of(home) == []


@pytest.mark.parametrize("home", HOMES, ids=name_of)
def test_docstring_examples_run(home: Home, spark: Any) -> None:  # noqa: ARG001 - the examples use it
    example = example_of(home)
    assert example.examples
    complaints: list[str] = []
    DocTestRunner().run(example, out=complaints.append)
    assert "".join(complaints) == ""
