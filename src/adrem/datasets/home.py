"""The folder of the data sets, and the cache folder."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def data_home(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the data sets: the given one, else ``ADREM_DATA``, else one in the cache folder."""
    chosen = folder if folder is not None else os.environ.get("ADREM_DATA")
    return Path(chosen).expanduser() if chosen else cache_home() / "data"


def cache_home() -> Path:
    """Return the cache folder: ``ADREM_CACHE``, else one in that of the user."""
    chosen = os.environ.get("ADREM_CACHE")
    return Path(chosen).expanduser() if chosen else user_cache_path("adrem")
