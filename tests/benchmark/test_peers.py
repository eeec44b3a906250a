from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adrem.benchmark.methods import find_methods
from adrem.benchmark.peers import Peer, find_peer, known_peers
from adrem.datasets import DomainPair
from adrem.exceptions import MethodFailedError

pytestmark = pytest.mark.thorough


def limited(name: str, **limits: Any) -> Peer:
    return replace(find_peer(name), **limits)


@pytest.mark.parametrize("name", ["CORAL", "OTMapping", "JDOTClassifier", "KLIEPReweight"])
def test_peer_labels_the_target(name: str, blobs: DomainPair) -> None:
    labels, report = find_peer(f"skada:{name}").label(blobs._replace(y_target=None), 0)
    assert np.mean(labels == blobs.y_target) > 0.5
    assert set(labels) <= set(blobs.y_source)
    assert report.seconds > 0
    assert report.peak_memory > 10**7


def test_peer_failure_raises_method_failed_error(blobs: DomainPair) -> None:
    sparse = blobs._replace(X_source=sp.csr_array(blobs.X_source), X_target=sp.csr_array(blobs.X_target))
    with pytest.raises(MethodFailedError, match=r"^needs dense input$"):
        find_peer("skada:CORAL").label(sparse, 0)


def test_peer_is_stopped_at_time_limit(blobs: DomainPair) -> None:
    with pytest.raises(MethodFailedError, match=r"^timed out$"):
        limited("skada:OTMapping", time_limit=0.0).label(blobs, 0)


def test_peer_is_stopped_at_memory_limit() -> None:
    rows = np.random.RandomState(0).standard_normal((9000, 3))
    data = DomainPair(rows, np.arange(9000) % 2, rows, np.arange(9000) % 2)
    with pytest.raises(MethodFailedError, match="out of memory"):
        limited("skada:OTMapping", memory_limit=2**30, time_limit=120.0).label(data, 0)


def test_find_methods_checks_peer_names() -> None:
    assert {"CORAL", "OTMapping", "DASVMClassifier", "JDOTClassifier"} <= set(known_peers())
    assert "JDOTRegressor" not in known_peers()
    [peer] = find_methods(["skada:OTMapping"])
    assert peer.name == "skada:OTMapping"
    assert peer.parameters()["time_limit"] == 60.0
    with pytest.raises(ValueError, match=r"skada .* has no classifier for skada:Magic; it has CORAL, "):
        find_methods(["skada:Magic"])


def test_find_methods_keeps_scikit_learn_config() -> None:
    command = (
        "import sklearn; before = sklearn.get_config()\n"
        "from adrem.benchmark.methods import find_methods; find_methods(['skada:CORAL'])\n"
        "assert sklearn.get_config() == before"
    )
    subprocess.run([sys.executable, "-c", command], check=True)
