"""Where data lies: the user's folder of data sets, and what the package keeps for itself."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def data_home(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the data sets: the one given, else ``ADREM_DATA``, else one in the user's cache folder."""
    chosen = folder if folder is not None else os.environ.get("ADREM_DATA")
    return Path(chosen).expanduser() if chosen else cache_home() / "data"


def cache_home() -> Path:
    """The folder of what can be made again: ``ADREM_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("ADREM_CACHE")
    return Path(chosen).expanduser() if chosen else user_cache_path("adrem")
