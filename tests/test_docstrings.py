"""Tests of the docstrings: every public name has one in numpydoc's format,
and every class and function has an example that runs.

The examples themselves are run by pytest's `--doctest-modules`.
"""

from __future__ import annotations

from doctest import DocTestFinder
from functools import cache
from importlib import import_module

import pytest
from docstrings import Home, exported_by, faults_of, homes_of, name_of, needs_example, public_modules
from pages import ROOT

import adrem
from adrem.reports import Report

# PySpark and PyTorch are optional: spark/test_spark_docstrings.py and deep/test_deep_docstrings.py have their tests.
MODULES = [module for module in public_modules() if module not in ("adrem.spark", "adrem.deep")]
EXPORTED = [thing for module in MODULES for thing in exported_by(module)]
HOMES = homes_of([*EXPORTED, Report])  # users get a Report without importing its class


@cache
def names_with_examples(module: str) -> set[str]:
    """Names of a module whose docstrings have examples, as pytest finds and runs them."""
    return {test.name for test in DocTestFinder().find(import_module(module)) if test.examples}


def test_public_names_are_found() -> None:
    names = set(map(name_of, HOMES))
    assert names >= {
        "adrem.algorithm.estimator.AdREM",
        "adrem.algorithm.adapt.adapt",
        "adrem.base.classifier.DomainClassifier.fit",
        "adrem.base.hooks.DomainHooks.fit_domains",
        "adrem.reports.page.Report.save",
        "adrem.baselines.gfk.GFK",
        "adrem.benchmark.protocols.Protocol.make_pair",
        "adrem.cli.main",
        "adrem.datasets.dataset.DataSet.pair",
        "adrem.preprocessing.transformer.DomainTransformer.transform",
    }
    assert not any("request" in name for name in names)


@pytest.mark.parametrize("home", HOMES, ids=name_of)
def test_docstrings_follow_numpydoc(home: Home) -> None:
    assert faults_of(home) == []


@pytest.mark.parametrize("home", [home for home in HOMES if needs_example(home)], ids=name_of)
def test_docstrings_have_examples(home: Home) -> None:
    assert name_of(home) in names_with_examples(home[0])


@pytest.mark.parametrize("module", [module for module in MODULES if module != "adrem.cli"])  # has its own help
def test_every_public_name_is_documented(module: str) -> None:
    page = (ROOT / "docs" / "api" / f"{module.rpartition('.')[2]}.md").read_text("utf-8")
    found = import_module(module)
    names = set(found.__all__) - (set(adrem.__all__) if module != "adrem" else set())
    assert [n for n in names if callable(getattr(found, n)) and f"::: {module}.{n}\n" not in page] == []
