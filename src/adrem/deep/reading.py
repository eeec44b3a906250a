"""The arguments of `fit`: rows of both domains, given in one of two ways."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from adrem.base.reading import encode, read_domain, read_labels, source_by_domain
from adrem.base.tensors import as_array
from adrem.deep.images import read_rows
from adrem.exceptions import InvalidDataError

FEWEST = 2  # rows of a domain, for normalization by batches


class Domains(NamedTuple):
    """Rows of both domains as tensors on the CPU, the source's labels as positions in the classes."""

    source: Any
    labels: NDArray[np.intp]
    target: Any
    classes: NDArray[Any]


def read_both(X: Any, y: Any, sample_domain: Any, X_target: Any, side: int) -> Domains:
    """Validate the arguments of `fit`."""
    if (X_target is None) == (sample_domain is None):
        raise InvalidDataError(
            "Pass the source as X and y with X_target, or both domains in X with sample_domain: one of the two."
        )
    y = read_labels(as_array(y), len(X))
    if X_target is None:
        is_source = source_by_domain(read_domain(as_array(sample_domain), len(X)))
        rows = read_rows(X, "X", side)
        source, target, y = rows[torch.from_numpy(is_source)], rows[torch.from_numpy(~is_source)], y[is_source]
    else:
        source, target = read_rows(X, "X", side), read_rows(X_target, "X_target", side)
    classes, labels = encode(y)
    _check(source, target, classes)
    return Domains(source, labels.astype(np.int64), target, classes)


def _check(source: Any, target: Any, classes: NDArray[Any]) -> None:
    if source.shape[1:] != target.shape[1:] or source.dtype != target.dtype:
        raise InvalidDataError(
            f"Rows of the source have shape {tuple(source.shape[1:])} ({source.dtype}), those of the target "
            f"{tuple(target.shape[1:])} ({target.dtype}): both domains need the same."
        )
    if min(len(source), len(target)) < FEWEST:
        raise InvalidDataError(f"Each domain needs {FEWEST} rows or more; there are {len(source)} and {len(target)}.")
    if len(classes) < FEWEST:
        raise InvalidDataError("The source has one class only: a classifier needs labelled rows of at least two.")
