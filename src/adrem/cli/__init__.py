"""The command line: ``adrem``."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say how to install what it needs.

    The words are those of ``sys.argv``.

    Raises
    ------
    SystemExit
        When it is done: 0, 1 where something could not be done, 2 after wrong use, 130 after Ctrl-C.

    Examples
    --------
    >>> import contextlib, sys
    >>> from unittest import mock
    >>> from adrem.cli import main
    >>> with mock.patch.object(sys, "argv", ["adrem", "--version"]), contextlib.suppress(SystemExit):
    ...     main()  # doctest: +ELLIPSIS
    adrem ...
    """
    _open_what_is_closed()
    missing = [name for name in ("typer", "rich") if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"adrem: the command line needs {' and '.join(missing)}: pip install 'adrem[cli]'\n")
        raise SystemExit(1)
    try:
        from adrem.cli._app import run

        run()
    except KeyboardInterrupt:
        stop()


def stop() -> NoReturn:
    """End after Ctrl-C."""
    sys.stderr.write("adrem: Stopped.\n")
    raise SystemExit(130)


def _open_what_is_closed() -> None:
    """Open the standard streams that the process was started without: else the next file would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end
