"""Labels for a new domain, from a classifier learnt in another."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adrem import base, datasets, diagnostics, exceptions, model_selection, plotting, preprocessing
    from adrem.algorithm.adapt import adapt
    from adrem.algorithm.estimator import AdREM
    from adrem.columns.tables import adapt_tables
    from adrem.committee import Committee
    from adrem.persistence.models import load, save
    from adrem.reports import report

    __version__: str

__all__ = [
    "AdREM",
    "Committee",
    "__version__",
    "adapt",
    "adapt_tables",
    "base",
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
    "AdREM": "algorithm.estimator",
    "Committee": "committee",
    "adapt": "algorithm.adapt",
    "adapt_tables": "columns.tables",
    "load": "persistence.models",
    "report": "reports",
    "save": "persistence.models",
}
_MODULES = {"base", "datasets", "diagnostics", "exceptions", "model_selection", "plotting", "preprocessing"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"adrem.{_HOMES[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"adrem.{name}")
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("adrem")
    if name == "AdREMCV":
        raise AttributeError("adrem.AdREMCV was replaced by adrem.Committee, whose kinds vote")
    raise AttributeError(f"module 'adrem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
