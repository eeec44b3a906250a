"""Tests of `adrem bench run --cluster` on real data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from clusters import Cluster
from commands import Command

pytestmark = pytest.mark.thorough

CHOSEN = ("bench", "run", "amazon-standard", "--features", "400", "--pairs", "K-D,B-E", "--repeats", "2")
METHODS = ("--methods", "source-svm,adrem-svm", "--format", "csv")


def test_cluster_run_equals_local_run(adrem: Command, cluster: Cluster, tmp_path: Path) -> None:
    there = adrem(*CHOSEN, *METHODS, "--cache", tmp_path / "there", "--cluster", cluster.address)
    assert there.code == 0, there.err
    assert "8 cells, 0 of them finished before" in there.err
    here = adrem(*CHOSEN, *METHODS, "--cache", tmp_path / "here", "--jobs", "1")
    assert there.out == here.out
    again = adrem(*CHOSEN, *METHODS, "--cache", tmp_path / "there", "--cluster", "tcp://127.0.0.1:1")
    assert again.out == here.out
    assert "8 of them finished before" in again.err


def test_cluster_workers_without_data_are_reported(adrem: Command, cluster: Cluster, tmp_path: Path) -> None:
    try:
        cluster.client.run(_look_for_data_in, str(tmp_path))
        code, out, err = adrem(*CHOSEN, *METHODS, "--cache", tmp_path / "there", "--cluster", cluster.address)
    finally:
        cluster.client.run(_look_for_data_in, os.environ["ADREM_DATA"])
    assert (code, out) == (1, "")
    assert "has no files of amazon-400: set ADREM_DATA where the worker is started" in err


def _look_for_data_in(home: str) -> None:
    """Set another data folder on a worker."""
    from adrem.benchmark.cells import load_cached

    os.environ["ADREM_DATA"] = home
    load_cached.cache_clear()


def test_jobs_with_cluster_is_a_usage_error(adrem: Command) -> None:
    code, _, err = adrem(*CHOSEN, "--jobs", "2", "--cluster", "tcp://127.0.0.1:1")
    assert code == 2
    assert "omit --jobs" in err
