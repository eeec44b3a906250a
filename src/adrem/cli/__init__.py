"""The command line: ``adrem``."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    missing = [name for name in ("typer", "rich") if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"adrem: the command line needs {' and '.join(missing)}: pip install 'adrem[cli]'\n")
        raise SystemExit(1)
    from adrem.cli._app import run

    run()
