"""Labels for a new domain, from a classifier learnt in another."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adrem import datasets, diagnostics, exceptions, model_selection, plotting, preprocessing
    from adrem._adrem import AdREM, adapt
    from adrem._persistence import load, save
    from adrem._report import report
    from adrem.model_selection import AdREMCV

    __version__: str

__all__ = [
    "AdREM",
    "AdREMCV",
    "__version__",
    "adapt",
    "datasets",
    "diagnostics",
    "exceptions",
    "load",
    "model_selection",
    "plotting",
    "preprocessing",
    "report",
    "save",
]

# Nothing heavy is imported until it is used (PEP 562).
_HOMES = {
    "AdREM": "_adrem",
    "AdREMCV": "model_selection",
    "adapt": "_adrem",
    "load": "_persistence",
    "report": "_report",
    "save": "_persistence",
}
_MODULES = {"datasets", "diagnostics", "exceptions", "model_selection", "plotting", "preprocessing"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"adrem.{_HOMES[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"adrem.{name}")
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("adrem")
    raise AttributeError(f"module 'adrem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
