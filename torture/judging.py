"""Judge the outcome of a call: a correct answer, or a refusal before any work that says what to do."""

from __future__ import annotations

import hashlib
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from torture.outcomes import ANSWERED, REFUSED

CLEAN = (ValueError, TypeError, OSError, MemoryError)
# Where input is read. An error from elsewhere came after work had begun.
DOORS = (
    "algorithm/estimator", "base/classifier", "base/entries", "base/parameters", "base/reading", "base/validation",
    "baselines/base", "baselines/spl", "baselines/subspaces", "baselines/tca", "machines/choice",
    "machines/forecast", "machines/gram", "machines/host", "machines/precision", "model_selection/search",
    "preprocessing/scalers", "preprocessing/selection", "preprocessing/transformer", "runtime/memory",
)  # fmt: skip
SHORTEST = 20  # letters of a message that could say anything


def judge(call: Callable[[], str | None], inputs: Any, *, ours: bool = True) -> str:
    """The outcome of a call that returns None for a right answer, else what is wrong with it."""
    before = fingerprint(inputs)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            outcome = call() or ANSWERED
        except CLEAN as error:
            outcome = _refusal(error) if ours else REFUSED
        except Exception as error:  # whatever it is, it is the outcome
            outcome = f"raised {type(error).__name__}: {_first_line(error)}"
    if fingerprint(inputs) != before:
        return "changed its input"
    stray = next((item for item in said if issubclass(item.category, RuntimeWarning)), None)
    if ours and stray is not None and outcome == ANSWERED:
        return f"stray {stray.category.__name__}: {str(stray.message).splitlines()[0]}"
    return outcome


def _refusal(error: Exception) -> str:
    frames = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    own = [
        f"{path.parent.name}/{path.stem}" for path in frames if "adrem" in path.parts and "torture" not in path.parts
    ]
    if own and own[-1] not in DOORS:
        return f"refused late, in {own[-1]}: {_first_line(error)}"
    return REFUSED if len(str(error)) >= SHORTEST else f"refused without a reason: {type(error).__name__} {error}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]


def fingerprint(value: Any) -> str:
    """A digest of all that a caller could see change."""
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, (list, tuple)):
        digest.update(f"{type(value).__name__} {len(value)}".encode())
        for item in value:
            _feed(digest, item)
    elif sp.issparse(value):
        parts = {name: part for name, part in sorted(vars(value).items()) if isinstance(part, np.ndarray)}
        _feed(digest, [value.format, value.shape, *parts.items()])
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype} {value.shape} {value.flags.writeable}".encode() + value.tobytes())
    elif isinstance(value, np.ndarray):
        digest.update(str(value.tolist()).encode())
    elif isinstance(value, (pd.DataFrame, pd.Series)):
        digest.update(pd.util.hash_pandas_object(value).to_numpy().tobytes() + str(value.dtypes).encode())
    else:
        digest.update(repr(value).encode())
