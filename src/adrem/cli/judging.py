"""Whether to estimate the accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adrem.exceptions import InvalidDataError

if TYPE_CHECKING:
    from adrem.columns import Pair


def wants_estimate(pair: Pair, asked: bool | None, for_report: bool) -> bool:
    """Return whether to estimate the accuracy; raise if it was asked for and there are too few rows."""
    from adrem.diagnostics.accuracy import check_rows

    if asked or (asked is None and for_report):
        try:
            check_rows(pair.y_source, pair.X_target.shape[0])
        except InvalidDataError:
            if asked:
                raise
            return False
        return True
    return False
