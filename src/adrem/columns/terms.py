"""The words of text columns as counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

WORD = r"(?u)\b\w+\b"
NGRAM_RANGE = (1, 2)  # words and pairs of words, as in the paper's reviews
MANY_TERMS = 2_000_000  # above this number, terms of a single row are dropped

Texts = list[str | None]


def _vectorizer(**params: Any) -> CountVectorizer:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(ngram_range=NGRAM_RANGE, token_pattern=WORD, dtype=np.float64, **params)


def learn_terms(texts: Texts) -> tuple[list[str], sp.csr_array]:
    """Return the words and pairs of words of some texts, and their counts (texts x terms)."""
    vectorizer = _vectorizer()
    try:
        counts = sp.csr_array(vectorizer.fit_transform([text or "" for text in texts]))
    except ValueError:  # no word anywhere
        return [], sp.csr_array((len(texts), 0))
    names = vectorizer.get_feature_names_out()
    if len(names) > MANY_TERMS:
        kept = np.flatnonzero(np.bincount(counts.indices, minlength=len(names)) > 1)
        names, counts = names[kept], sp.csr_array(counts[:, kept])
    return names.tolist(), counts


def count_terms(texts: Texts, terms: list[str]) -> sp.csr_array:
    """Count known terms."""
    if not terms:
        return sp.csr_array((len(texts), 0))
    return sp.csr_array(_vectorizer(vocabulary=terms).transform([text or "" for text in texts]))
