"""Two domains of the Amazon reviews as files with a text column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from adrem.datasets import load


def write_reviews(folder: Path) -> None:
    """Write books.csv, kitchen.csv and its copy more_kitchen.csv, with the words of every review in any order."""
    data = load("amazon-reviews")
    pair = data.pair("B", "K", preprocess=False)
    assert data.feature_names is not None
    names = np.asarray(data.feature_names)
    single = np.array(["_" not in name and name.isalnum() and len(name) > 1 for name in names])
    words = names[single]
    for names_of_files, X, y in (
        (("books.csv",), pair.X_source, pair.y_source),
        (("kitchen.csv", "more_kitchen.csv"), pair.X_target, pair.y_target),
    ):
        counts = X[:, np.flatnonzero(single)].tocsr()
        texts = []
        for k in range(counts.shape[0]):
            row = slice(counts.indptr[k], counts.indptr[k + 1])
            texts.append(" ".join(np.repeat(words[counts.indices[row]], counts.data[row].astype(int))))
        identifiers = [f"review-{k}" for k in range(len(texts))]
        for name in names_of_files:
            pl.DataFrame({"id": identifiers, "review": texts, "stars": y}).write_csv(folder / name)
