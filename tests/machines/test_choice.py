from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adrem import AdREM
from adrem.datasets import DomainPair
from adrem.machines import Work, make_machine
from adrem.machines._choice import choose_path, plan_machine
from adrem.machines._tables import Outline


def outline(n_rows: int, n_features: int) -> Outline:
    return Outline.of(table(n_rows, n_features))


def table(n_rows: int, n_features: int, dtype: type = np.float32) -> Any:
    """A table that takes no memory."""
    return np.broadcast_to(np.zeros((1, 1), dtype), (n_rows, n_features))


@pytest.mark.parametrize(
    ("shape", "loss", "expected"),
    [
        ((3612, 2048), "hinge", "gram: 3612 rows of 2048 entries, Gram matrix 52 MB; it pays up to 26976 rows"),
        ((3612, 2048), "log_loss", "gram: 3612 rows of 2048 entries, Gram matrix 52 MB; it pays up to 8592 rows"),
        ((200_000, 256), "hinge", "rows: 200000 rows of 256 entries; a Gram matrix pays up to 5472 rows"),
        (
            (20_000, 2048),
            "hinge",
            "rows: 20000 rows of 2048 entries; a Gram matrix would take 1.6 GB, memory_limit is 1.1 GB",
        ),
        ((300, 2), "hinge", "gram: 300 rows of 2 entries, Gram matrix 360 kB; it pays up to 2424 rows"),
    ],
)
def test_the_path_follows_from_shape_loss_and_limit(shape: tuple[int, int], loss: str, expected: str) -> None:
    assert str(choose_path(outline(*shape), 10, loss)) == expected


def test_two_classes_let_the_gram_matrix_pay_for_longer() -> None:
    assert choose_path(outline(3000, 20), 2, "hinge").name == "gram"
    assert choose_path(outline(3000, 20), 3, "hinge").name == "rows"


def test_sparse_rows_count_by_their_entries() -> None:
    columns = np.random.default_rng(0).integers(0, 50_000, 4000 * 200)
    text = sp.csr_array((np.ones(len(columns)), columns, np.arange(0, len(columns) + 1, 200)), shape=(4000, 50_000))
    assert (
        str(choose_path(Outline.of(text), 2, "hinge"))
        == "rows: 4000 rows of 200 entries; a Gram matrix pays up to 2400 rows"
    )
    assert choose_path(Outline.of(text[:1000], text[1000:2000]), 2, "hinge").name == "gram"


def test_a_path_asked_for_is_taken(blobs: DomainPair) -> None:
    models = {
        machine: AdREM(C=0.1, random_state=0, tol=1e-6, machine=machine).fit(
            blobs.X_source, blobs.y_source, X_target=blobs.X_target
        )
        for machine in ("auto", "gram", "rows")
    }
    assert models["auto"].machine_ == "gram: 105 rows of 5 entries, Gram matrix 88 kB; it pays up to 2460 rows"
    assert models["gram"].machine_ == "gram: asked for; 105 rows of 5 entries, Gram matrix 88 kB"
    assert models["rows"].machine_ == "rows: asked for; 105 rows of 5 entries"
    np.testing.assert_allclose(models["gram"].coef_, models["rows"].coef_, atol=1e-3)
    np.testing.assert_array_equal(models["gram"].transduction_, models["rows"].transduction_)


def test_a_gram_matrix_beyond_the_limit_is_refused_if_asked_for(blobs: DomainPair) -> None:
    model = AdREM(machine="gram", memory_limit=1000)
    with pytest.raises(ValueError, match=r"takes 88 kB, more than memory_limit \(1 kB\). Raise memory_limit, or"):
        model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    model.set_params(machine="auto").fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    assert model.machine_.startswith("rows: ")


def test_free_memory_only_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    before = choose_path(outline(3000, 500), 2, "hinge")
    monkeypatch.setattr("adrem._memory.available_memory", lambda: 1e6)
    assert choose_path(outline(3000, 500), 2, "hinge") == before
    with pytest.raises(
        MemoryError, match=r"takes about \d+ MB besides the data, and 1 MB are free: set machine='rows'"
    ):
        make_machine(table(3000, 500), 2, "hinge")


def test_all_work_that_is_asked_for_is_in_the_estimate() -> None:
    for works in (
        [Work(3), Work(3, 11), Work(3, 11, n_jobs=2), Work(3, 11, n_jobs=2, n_kept=200)],
        [Work(2), Work(20), Work(20, n_folds=3)],
    ):
        stated = [plan_machine(outline(200_000, 500), work, "hinge").memory for work in works]
        assert stated == sorted(set(stated))
    plain = plan_machine(outline(3000, 500), Work(2), "hinge")
    with_constant = plan_machine(outline(3000, 500), Work(2), "hinge", fit_intercept=True)
    assert with_constant.memory - plain.memory >= outline(3000, 500).n_bytes
    similarities = plan_machine(outline(3000, 500), Work(2), "hinge", has_kernel=True)
    assert plain.path.name == similarities.path.name == "gram"
    assert similarities.memory > plain.memory > 3000**2 * 4
