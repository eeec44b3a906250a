from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adrem.machines.cost_model import choose_path
from adrem.machines.losses import LOSSES
from adrem.machines.tables import Outline


def outline(n_rows: int, n_features: int) -> Outline:
    """The outline of a table, without allocating the table."""
    table: Any = np.broadcast_to(np.zeros((1, 1), np.float32), (n_rows, n_features))
    return Outline.of(table)


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
def test_path_depends_on_shape_loss_and_limit(shape: tuple[int, int], loss: str, expected: str) -> None:
    assert str(choose_path(outline(*shape), 10, LOSSES[loss].costs)) == expected


def test_gram_path_reaches_further_for_two_classes() -> None:
    assert choose_path(outline(3000, 20), 2, LOSSES["hinge"].costs).name == "gram"
    assert choose_path(outline(3000, 20), 3, LOSSES["hinge"].costs).name == "rows"


def test_sparse_rows_count_their_entries() -> None:
    columns = np.random.default_rng(0).integers(0, 50_000, 4000 * 200)
    text = sp.csr_array((np.ones(len(columns)), columns, np.arange(0, len(columns) + 1, 200)), shape=(4000, 50_000))
    assert (
        str(choose_path(Outline.of(text), 2, LOSSES["hinge"].costs))
        == "rows: 4000 rows of 200 entries; a Gram matrix pays up to 2400 rows"
    )
    assert choose_path(Outline.of(text[:1000], text[1000:2000]), 2, LOSSES["hinge"].costs).name == "gram"
