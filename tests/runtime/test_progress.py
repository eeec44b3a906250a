from __future__ import annotations

import pickle
import sys
from typing import Any

import pytest
from terminals import Terminal

from adrem import AdREM
from adrem.datasets import DomainPair
from adrem.runtime.progress import Ticker, progress


@pytest.mark.parametrize("rich_is_there", [True, False])
def test_terminal_shows_a_progress_bar(rich_is_there: bool, blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    if not rich_is_there:
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    model = AdREM(C=0.1, n_iter=3, n_estimators=2, verbose=1, random_state=0)
    model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    assert "6/6" in terminal.getvalue()
    assert "Ad-REM" in terminal.getvalue()


def test_pipe_shows_no_progress(blobs: DomainPair, capfd: Any) -> None:
    for verbose in (0, 1):
        with progress(3, "work", verbose) as advance:
            advance()
        model = AdREM(C=0.1, n_iter=2, n_estimators=2, verbose=verbose)
        model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    assert capfd.readouterr() == ("", "")


def test_pickled_ticker_is_silent() -> None:
    shown: list[int] = []
    ticker = Ticker(shown.append)
    ticker()
    pickle.loads(pickle.dumps(ticker))()  # noqa: S301 - made here
    assert shown == [1]


def test_ticker_raises_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), progress(3, "work", 0) as advance:
        1 // 0  # noqa: B018 - any error
    with pytest.raises(KeyboardInterrupt):
        advance()
