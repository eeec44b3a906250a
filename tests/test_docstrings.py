"""What the package says of itself: every public name has a docstring in numpydoc's form, with an example that runs.

The examples themselves are run by pytest's `--doctest-modules`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from doctest import DocTestFinder
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from numpydoc.validate import validate

import adrem
from adrem._report import Report

# Used from the command line, or in need of PySpark, which is not installed everywhere.
ELSEWHERE = {"benchmark", "cli", "spark"}
LEFT_OUT = {
    "GL01",  # the summary stands on the first line, which older versions of numpydoc do not want
    "ES01",  # where one line says all, there is no second
    "SA01",  # where nothing else comes near, nothing else is named
}


def public_modules() -> list[Any]:
    """The package and the modules in it that users import from."""
    names = [module.name for module in iter_modules(adrem.__path__)]
    return [adrem, *(import_module(f"adrem.{name}") for name in names if name[0] != "_" and name not in ELSEWHERE)]


def public_objects() -> Iterator[Any]:
    """All that is public, with the methods and properties of classes that are written in this package."""
    exported = [getattr(module, name) for module in public_modules() for name in module.__all__]
    for thing in [*exported, Report]:  # which users are given, and need not import
        if inspect.isclass(thing):
            yield from (member for name, member in inspect.getmembers_static(thing, is_ours) if name[0] != "_")
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield thing


def is_ours(member: Any) -> bool:
    """Whether a member of a class is a method or a property of this package, and not what a base of others brings."""
    kinds = (classmethod, staticmethod, property, cached_property)
    return (inspect.isfunction(member) or isinstance(member, kinds)) and home_of(member)[0].split(".")[0] == "adrem"


def home_of(thing: Any) -> tuple[str, str]:
    """The module that something is written in, and its name there."""
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, cached_property):
        thing = thing.func
    written = inspect.unwrap(thing)
    return written.__module__, written.__qualname__


HOMES = sorted({home_of(thing) for thing in public_objects()})


@cache
def names_with_examples(module: str) -> set[str]:
    """Names of a module whose docstrings have examples, as pytest finds and runs them."""
    return {test.name for test in DocTestFinder().find(import_module(module)) if test.examples}


def name_of(home: tuple[str, str]) -> str:
    return ".".join(home)


def test_the_walk_finds_what_is_public() -> None:
    names = set(map(name_of, HOMES))
    assert names >= {
        "adrem._adrem.AdREM",
        "adrem._adrem.adapt",
        "adrem._classifier.DomainClassifier.fit",
        "adrem._report.page.Report.save",
        "adrem.baselines.gfk.GFK",
        "adrem.datasets._dataset.DataSet.pairs",
        "adrem.exceptions.DownloadError",
        "adrem.preprocessing._DomainTransformer.transform",
    }
    assert not any("request" in name for name in names)


@pytest.mark.parametrize("home", HOMES, ids=name_of)
def test_docstrings_are_in_the_form_of_numpydoc(home: tuple[str, str]) -> None:
    assert [error for error in validate(name_of(home))["errors"] if error[0] not in LEFT_OUT] == []


@pytest.mark.parametrize("home", HOMES, ids=name_of)
def test_docstrings_have_an_example_that_is_run(home: tuple[str, str]) -> None:
    assert name_of(home) in names_with_examples(home[0])
