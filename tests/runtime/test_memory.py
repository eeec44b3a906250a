from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from adrem import AdREM
from adrem.algorithm.neighbors import nearest
from adrem.baselines import CORAL, FLDA, KMM, SCL, TCA, SubspaceAlignment
from adrem.datasets import DomainPair
from adrem.machines.tables import stack
from adrem.preprocessing import DomainStandardScaler
from adrem.runtime import memory as _memory
from adrem.runtime.memory import available_memory, by_blocks, bytes_of, check_room, size_of

pytestmark = pytest.mark.thorough


def test_available_memory_respects_machine_and_cgroup_v2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    assert available_memory() == float("inf")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:  2000 kB\n")
    assert available_memory() == 2000 * 1024
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 50\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() == 2000 * 1024
    (tmp_path / "memory.max").write_text("1000\n")
    assert available_memory() == 150
    (tmp_path / "memory.max").write_text("800\n")
    assert available_memory() == 0


def test_available_memory_respects_cgroup_v1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("1000\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("700\n")
    (tmp_path / "memory" / "memory.stat").write_text("total_inactive_file 100\n")
    assert available_memory() == 400


LIMITED = """
import resource, sys
from adrem.runtime.memory import available_memory
name = sys.argv[1]
before = available_memory()
place = {"RLIMIT_AS": 0, "RLIMIT_DATA": 5}[name]
taken = int(open("/proc/self/statm").read().split()[place]) * resource.getpagesize()
resource.setrlimit(getattr(resource, name), (taken + 10**8, resource.RLIM_INFINITY))
print(before, available_memory())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are read from /proc")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_available_memory_respects_process_limits(limit: str) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, limit], capture_output=True, text=True, check=True)
    before, after = map(float, done.stdout.split())
    assert before > 2e8
    assert 0.9e8 < after <= 1e8


def test_check_room_error_names_both_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "available_memory", lambda: 8.1e9)
    check_room(8.1e9, "It", "do less")
    with pytest.raises(
        MemoryError, match=r"^It takes about 12\.3 GB besides the data, and 8\.1 GB are free: do less\.$"
    ):
        check_room(12.3e9, "It", "do less")


@pytest.mark.parametrize(("n_bytes", "text"), [(12, "12 bytes"), (4000, "4 kB"), (2e6, "2 MB"), (1.26e12, "1260.0 GB")])
def test_size_of_formats_bytes_with_units(n_bytes: float, text: str) -> None:
    assert size_of(n_bytes) == text


def test_bytes_of_counts_dense_and_sparse_tables() -> None:
    rows = np.zeros((3, 4), dtype=np.float32)
    assert bytes_of(rows) == 48
    rows[0, :2] = 1
    assert bytes_of(sp.csr_array(rows)) == 2 * 4 + 2 * 4 + 4 * 4


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_by_blocks_splits_large_tables_only(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = make(np.arange(10.0).reshape(5, 2))
    sizes: list[int] = []

    def total(part: Any) -> NDArray[Any]:
        sizes.append(part.shape[0])
        return np.asarray(part.sum(axis=1))

    assert by_blocks(total, rows, 100).tolist() == [1.0, 5.0, 9.0, 13.0, 17.0]
    monkeypatch.setattr(_memory, "BLOCK_BYTES", 200)
    assert by_blocks(total, rows, 100).tolist() == [1.0, 5.0, 9.0, 13.0, 17.0]
    assert by_blocks(total, rows[:0], 100).tolist() == []
    by_blocks(total, rows, 1000)  # a row exceeds the block size: one row per block
    assert sizes == [5, 2, 2, 1, 0, 1, 1, 1, 1, 1]


def rows_of(n_rows: int, n_features: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


def peak_of(work: Callable[[], object]) -> int:
    """Peak memory of a function in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fit(model: Any, source: Any, target: Any) -> Any:
    return model.fit(source, np.arange(source.shape[0]) % 2, X_target=target)


NARROW, WIDE = rows_of(200, 3), rows_of(200, 400)
SPARSE = sp.random_array((200, 10_000), density=1e-3, format="csr", rng=0)
KERNEL = rbf_kernel(np.concatenate([NARROW, NARROW]))
REFUSED: dict[str, tuple[float, Callable[[], object], str]] = {
    "a copy": (1e3, lambda: stack([NARROW, NARROW]), r"A copy of the rows takes about 10 kB .* give fewer rows"),
    "KMM": (
        1e6,
        lambda: fit(KMM(C=1.0), NARROW, NARROW),
        r"The kernel matrix of 200 source .* 3 MB .* ImportanceWeighting",
    ),
    "CORAL": (1e6, lambda: fit(CORAL(C=1.0), NARROW, NARROW), r"CORAL's Gram matrix of 200 rows .* 1 MB"),
    "TCA": (5e5, lambda: fit(TCA(C=1.0), NARROW[:75], NARROW[:75]), r"TCA with 3 components of 150 rows .* 900 kB"),
    "similarity": (5e5, lambda: fit(TCA(C=1.0, form="similarity"), NARROW, NARROW), r"960 kB .* set form='mapping'"),
    "span": (
        1e6,
        lambda: fit(SubspaceAlignment(C=1.0), SPARSE, SPARSE),
        r"coordinate table of 400 rows.* 8 MB .*TopFeatures",
    ),
    "SCL": (1e6, lambda: fit(SCL(C=1.0), SPARSE, SPARSE), r"The coordinate table of 400 rows"),
    "FLDA": (
        1e6,
        lambda: fit(FLDA("squared", C=1.0), WIDE, WIDE),
        r"200 x 200 matrix takes .* 1 MB .* set loss='log_loss'",
    ),
    "neighbours": (1e6, lambda: nearest(NARROW, 5), r"neighbours of 200 rows takes about 2 MB .* neighbors=None"),
    "similarities": (
        1e6,
        lambda: fit(AdREM(C=1.0, kernel="precomputed"), KERNEL[:200], KERNEL[200:]),
        r"A copy of the similarities takes about 1 MB",
    ),
    "domains": (
        1e6,
        lambda: DomainStandardScaler(with_mean=False).fit(SPARSE, sample_domain=np.arange(200)),
        r"10000 features in 200 domains takes about 64 MB .* JointStdScaler",
    ),
}


@pytest.mark.filterwarnings("ignore")  # random labels
@pytest.mark.parametrize("name", REFUSED)
def test_quadratic_work_is_rejected_before_allocation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    free, work, message = REFUSED[name]
    work()  # succeeds with enough memory, and imports everything
    monkeypatch.setattr(_memory, "available_memory", lambda: free)

    def refused() -> None:
        with pytest.raises(MemoryError, match=message):
            work()

    assert peak_of(refused) < 3 * free + 1e5


def texts(n_rows: int) -> Any:
    return sp.random_array((n_rows, 50_000), density=1e-3, format="csr", rng=0, dtype=np.float32)


PLANS: dict[str, tuple[Any, int, dict[str, Any]]] = {
    "rows": (rows_of(8000, 20).astype(np.float32), 2, {"machine": "rows"}),
    "rows, two threads": (rows_of(8000, 20), 3, {"machine": "rows", "n_jobs": 2}),
    "rows, C chosen": (rows_of(4000, 20), 5, {"machine": "rows", "C": [1e-4, 1e-3], "loss": "log_loss"}),
    "rows, intercept": (rows_of(4000, 200), 2, {"machine": "rows", "fit_intercept": True}),
    "text": (texts(4000), 2, {"machine": "rows"}),
    "text, intercept": (texts(4000), 2, {"machine": "rows", "fit_intercept": True}),
    "text, paths": (texts(1000), 2, {"machine": "rows", "store_path": True}),
    "gram": (rows_of(2000, 500).astype(np.float32), 3, {"machine": "gram"}),
    "gram of text": (texts(2000), 2, {"machine": "gram"}),
    "rbf": (rows_of(2000, 5), 2, {"kernel": "rbf"}),
    "rbf of text": (texts(1000), 2, {"kernel": "rbf"}),
}


@pytest.mark.filterwarnings("ignore")  # random labels
@pytest.mark.parametrize("name", PLANS)
def test_fit_stays_within_stated_memory(name: str) -> None:
    rows, n_classes, params = PLANS[name]
    n = rows.shape[0] // 2
    labels = np.arange(n) % n_classes
    model = AdREM(**{"C": 1e-3, "n_iter": 2, "random_state": 0, **params})
    model.fit(rows[:100], labels[:100], X_target=rows[100:200])  # imports and compiles
    source, target = rows[:n], rows[n:]
    stated = model.fit_memory(source, labels, X_target=target)
    taken = peak_of(lambda: model.fit(source, labels, X_target=target))
    assert taken <= stated
    assert stated <= 4 * taken


def test_fit_memory_counts_copy_of_single_table(two_blobs: DomainPair) -> None:
    model = AdREM(C=1.0)
    both = np.concatenate([two_blobs.X_source, two_blobs.X_target])
    domain = np.repeat([1, -2], [len(two_blobs.X_source), len(two_blobs.X_target)])
    labels = np.concatenate([two_blobs.y_source, two_blobs.y_target])
    apart = model.fit_memory(two_blobs.X_source, two_blobs.y_source, X_target=two_blobs.X_target)
    assert model.fit_memory(both, labels, sample_domain=domain) == apart + both.nbytes
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    "model",
    [
        AdREM(C=1.0, n_estimators=3, n_iter=3, random_state=0),
        AdREM(C=1.0, n_estimators=3, n_iter=3, random_state=0, kernel="rbf"),
        CORAL(C=1.0),
        CORAL(C=1.0, form="similarity"),
        SubspaceAlignment(form="nearest"),
    ],
    ids=["AdREM", "rbf", "mapping", "similarity", "nearest"],
)
def test_predictions_are_independent_of_block_size(
    model: Any, blobs: DomainPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = ("predict", "decision_function", "predict_proba")

    def said() -> list[NDArray[Any]]:
        model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
        return [model.transduction_, *(getattr(model, name)(blobs.X_target) for name in methods)]

    whole = said()
    monkeypatch.setattr(_memory, "BLOCK_BYTES", 64 * 3 * 7)  # blocks of seven rows, with three classes
    by_sevens = said()
    np.testing.assert_array_equal(by_sevens[0], by_sevens[1])
    for one, other in zip(whole[:2], by_sevens[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(whole[2:], by_sevens[2:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
