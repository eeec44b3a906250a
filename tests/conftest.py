"""Shared fixtures, and the marking of tests that need real data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sklearn
from clusters import Cluster, local_cluster
from commands import Command
from hypothesis import settings
from problems import make_blobs_shift
from sparks import start_spark

from adrem import AdREM, Committee, load
from adrem.datasets import DomainPair, load_digits_shift

# The same examples in every run, so that only code changes make a test fail.
settings.register_profile("adrem", derandomize=True, deadline=None)
settings.load_profile("adrem")
# Figures are drawn without a window, also in the examples of docstrings.
os.environ["MPLBACKEND"] = "agg"


def pytest_configure() -> None:
    """Make ADREM_DEVICE the default device of AdREM and Committee, as in `ADREM_DEVICE=cuda pytest tests/algorithm`."""
    device = os.environ.get("ADREM_DEVICE")
    if device is not None:
        for model_class in (AdREM, Committee):
            (model_class.__init__.__kwdefaults__ or {})["device"] = device
        assert AdREM().device == Committee().device == device


@pytest.hookimpl(tryfirst=True)  # before tests are selected by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests on real data as thorough, and skip them if the data are missing."""
    reason = "set ADREM_DATA to the folder of the paper's data sets to run the tests on real data"
    for item in items:
        if item.path.parent.name == "real":
            item.add_marker(pytest.mark.thorough)
            if "ADREM_DATA" not in os.environ:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use a temporary cache instead of the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADREM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def blobs() -> DomainPair:
    return make_blobs_shift()


@pytest.fixture
def two_blobs() -> DomainPair:
    return make_blobs_shift(n_classes=2)


@pytest.fixture
def descent_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable Newton's method, so that only coordinate descent is used."""
    monkeypatch.setattr("adrem.machines.newton.MOST_WORK", 0)


@pytest.fixture
def routing() -> Iterator[None]:
    """Enable metadata routing, as importing skada does, and restore the configuration."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def adrem(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line."""
    return Command(monkeypatch, capsys)


@pytest.fixture
def clean_desk() -> Iterator[None]:
    """Use matplotlib's default style, and close all figures before and after the test."""
    import matplotlib.pyplot as plt

    plt.close("all")
    with plt.style.context("default"):
        yield
    plt.close("all")


@pytest.fixture(scope="session")
def digits() -> DomainPair:
    return load_digits_shift()


@pytest.fixture(scope="session")
def digits_model() -> Any:
    """AdREM(class_prior="estimate", random_state=0) fitted to the digits in float32, loaded from a file.

    A new fit might differ by a label on another machine; pictures of a saved model are equal everywhere.
    """
    return load(Path(__file__).parent / "data" / "digits.adrem")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A local Dask cluster of two worker processes."""
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Spark session for all tests."""
    session = start_spark("local[2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()
