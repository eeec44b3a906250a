"""Tests of the answer to texts in place of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from adrem import adapt
from adrem.exceptions import InvalidDataError


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda texts: np.array(texts, dtype=object)])
def test_texts_are_answered_with_the_way_to_rows(make: Any) -> None:
    with pytest.raises(InvalidDataError, match=r"X holds texts.*CountVectorizer"):
        adapt(make(["a b", "c d"]), [0, 1], make(["a c"]))
    with pytest.raises(InvalidDataError, match="X_target holds texts"):
        adapt([[1.0], [2.0]], [0, 1], make(["a c"]))


@pytest.mark.parametrize("make", [lambda rows: np.array(rows, dtype=object), pd.DataFrame])
def test_columns_of_strings_are_answered_with_the_way_to_numbers(make: Any) -> None:
    rows = [[1.0, "red"], [2.0, "blue"]]
    with pytest.raises(InvalidDataError, match=r"X has columns of strings: .*'red'.*adrem adapt.*ColumnTransformer"):
        adapt(make(rows), [0, 1], make(rows))


def test_long_texts_do_not_fill_the_answer() -> None:
    frame = pd.DataFrame({"review": ["a word " * 500, "b"]})
    with pytest.raises(InvalidDataError, match="CountVectorizer for texts") as caught:
        adapt(frame, [0, 1], frame)
    assert len(str(caught.value)) < 500
