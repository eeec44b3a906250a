from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from adrem.runtime.ctrl_c import starting_workers

BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows can't keep signals from processes")
def test_ctrl_c_reaches_no_worker() -> None:
    def blocked() -> str:
        return subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True).stdout

    found = []
    with pytest.raises(KeyboardInterrupt), starting_workers():  # noqa: PT012 - it is raised at the end of the context
        signal.raise_signal(signal.SIGINT)
        found.append(blocked())
    assert [*found, blocked()] == ["True\n", "False\n"]
