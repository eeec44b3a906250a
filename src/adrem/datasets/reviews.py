"""Blitzer's archive of Amazon reviews."""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer

from adrem.exceptions import DamagedDataError
from adrem.files.packed import read_members
from adrem.files.tables import Table

FILES = ("negative.review", "positive.review")


def read_reviews(content: bytes, name: str, domains: tuple[str, ...]) -> dict[str, Table]:
    """Read an archive with a folder per domain and a review per line, ``term:count ... #label#:positive``.

    All domains share the columns, one for every term, in alphabetical order.
    """
    lines = _read_lines(content, name, domains)
    reviews = [_read_review(line, name) for domain in domains for line in lines[domain]]
    vectorizer = DictVectorizer(dtype=np.float64)
    X = sp.csr_array(vectorizer.fit_transform(counts for counts, _ in reviews))
    y = np.array([label for _, label in reviews])
    ends = np.cumsum([0] + [len(lines[domain]) for domain in domains])
    names = vectorizer.feature_names_
    return {d: Table(X[a:b], y[a:b], names) for d, a, b in zip(domains, ends, ends[1:], strict=False)}


def _read_lines(content: bytes, name: str, domains: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the lines of each domain, in the order of the files' paths."""
    lines: dict[str, list[str]] = {domain: [] for domain in domains}
    for path, text in sorted(read_members(content, name, FILES).items()):
        domain = PurePosixPath(path).parent.name
        if domain in lines:
            # Not splitlines, which also splits at other characters that terms may contain.
            lines[domain] += text.decode("utf-8", "replace").rstrip("\n").split("\n")
    missing = [domain for domain in domains if not lines[domain]]
    if missing:
        raise DamagedDataError(
            f"{name} has no reviews of {', '.join(missing)}: it should have DOMAIN/positive.review and "
            "DOMAIN/negative.review for each domain."
        )
    return lines


def _read_review(line: str, name: str) -> tuple[dict[str, int], str]:
    *terms, mark = line.split(" ")
    field, _, label = mark.rpartition(":")
    try:
        counts = {term: int(count) for term, _, count in (entry.rpartition(":") for entry in terms)}
    except ValueError:
        counts = {}
    if field != "#label#" or not counts:
        raise DamagedDataError(f"{name} has a line that is not a review, `term:count ... #label#:...`: {line[:60]!r}.")
    return counts, label
