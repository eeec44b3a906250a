"""The command line: ``adrem``."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from adrem.cli.interrupt import listening, stop

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of ``sys.argv``, or print how to install missing packages.

    Raises
    ------
    SystemExit
        Always: 0 on success, 1 after a failure, 2 after wrong use, 130 after Ctrl-C.

    Examples
    --------
    >>> import contextlib, sys
    >>> from unittest import mock
    >>> from adrem.cli import main
    >>> with mock.patch.object(sys, "argv", ["adrem", "--version"]), contextlib.suppress(SystemExit):
    ...     main()  # doctest: +ELLIPSIS
    adrem ...
    """
    _open_closed_streams()
    missing = [name for name in ("typer", "rich") if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"adrem: the command line needs {' and '.join(missing)}: pip install 'adrem[cli]'\n")
        raise SystemExit(1)
    try:
        with listening():
            from adrem.cli.app import run

            run()
    except KeyboardInterrupt:
        stop()


def _open_closed_streams() -> None:
    """Open standard streams that are closed, or the next file opened would get their file descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - stays open
