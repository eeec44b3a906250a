"""The exit after Ctrl-C. It imports no package, because Ctrl-C may come while packages are imported."""

from __future__ import annotations

import sys
from typing import NoReturn


def stop() -> NoReturn:
    """Exit after Ctrl-C."""
    sys.stderr.write("adrem: Stopped.\n")
    raise SystemExit(130)
