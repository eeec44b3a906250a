"""Files in svmlight's format."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from adrem.files.budget import Budget
from adrem.files.labelled_rows import Table, check_table, guarded

ENTRY_BYTES = 32  # an index and a value, while they are collected; an entry is some letters of text


def read_svmlight(content: bytes, name: str, budget: Budget | None = None) -> Table:
    """Read rows and labels; column indices are kept, so that column 0 is empty if they count from 1."""

    def read() -> Any:
        left = budget or Budget()
        left.draw(ENTRY_BYTES * content.count(b":"), "its entries")
        found = load_svmlight_file(io.BytesIO(content), zero_based=True)
        left.draw_features(found[0].shape[1])
        return found

    X, y = guarded(name, "an svmlight file", read)
    whole = np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53)
    return check_table(Table(sp.csr_array(X), y.astype(np.int64) if whole else y), name)


def align_columns(tables: dict[str, Table]) -> dict[str, Table]:
    """Give tables of svmlight files the same columns.

    A file tells neither the number of columns nor whether indices count from 0 or 1. They are taken to count from 1 if
    no file has a column 0.
    """
    width = max((table.X.shape[1] for table in tables.values()), default=0)
    first = 0 if any(np.any(table.X.indices == 0) for table in tables.values()) else 1
    aligned = {}
    for name, table in tables.items():
        X = table.X.copy()
        X.resize(X.shape[0], width)
        aligned[name] = table._replace(X=X[:, first:])
    return aligned
