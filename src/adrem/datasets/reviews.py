"""Blitzer's Amazon reviews: the archive of counted terms, and the raw texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer

from adrem.exceptions import DamagedDataError
from adrem.files.labelled_rows import Table, check_table, guarded
from adrem.files.packed import decompress, read_members

FILES = ("negative.review", "positive.review")
TEXT = re.compile(r"<review_text>(.*?)</review_text>", re.DOTALL)


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


def read_review_texts(names: dict[str, tuple[str, str]]) -> Callable[[dict[str, bytes]], dict[str, Table]]:
    """Return a reader of raw reviews; `names` maps domains to their files of negative and of positive reviews.

    The rows count the words of the texts. A word is two or more letters or digits, in lower case.
    """

    def read(files: dict[str, bytes]) -> dict[str, Table]:
        texts = {file: _read_texts(files[file], file) for both in names.values() for file in both}
        vectorizer = CountVectorizer(dtype=np.float64)
        words = [text for file in texts for text in texts[file]]
        X = sp.csr_array(guarded(next(iter(texts)), "reviews", lambda: vectorizer.fit_transform(words)))
        columns = vectorizer.get_feature_names_out().tolist()
        tables, begin = {}, 0
        for domain, both in names.items():
            counts = [len(texts[file]) for file in both]
            end = begin + sum(counts)
            y = np.repeat(["negative", "positive"], counts)
            tables[domain] = check_table(Table(X[begin:end], y, columns), both[0])
            begin = end
        return tables

    return read


def _read_texts(content: bytes, name: str) -> list[str]:
    texts = TEXT.findall(decompress(content, name).decode("latin-1"))
    if not texts:
        raise DamagedDataError(f"{name} has no reviews between <review_text> tags.")
    return texts
