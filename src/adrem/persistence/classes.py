"""Classes of saved models: those of the package by name, others by a module that the caller trusts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection
from typing import Any

from adrem.base.classifier import DomainClassifier
from adrem.exceptions import InvalidTypeError, UnreadableModelError
from adrem.registry import ESTIMATORS, ITERATIVE, KNOWN_ARRAYS, KNOWN_VALUES, LINEAR, Saved, find_estimator

# What the base classes set; a class of another package adds its own by `saved_attributes`.
INHERITED = (*LINEAR, *ITERATIVE)


def check_class(model: Any) -> None:
    """Refuse to save a model whose class `load` could not find again."""
    cls = type(model)
    declared = find_estimator(cls)
    if not isinstance(model, DomainClassifier):
        known = ", ".join(name for name, estimator in ESTIMATORS.items() if estimator.saved is not None)
        raise InvalidTypeError(
            f"{cls.__name__} can't be saved; these can: {known}, and subclasses of adrem.base.DomainClassifier."
        )
    if declared is None and getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is not cls:
        raise InvalidTypeError(
            f"{cls.__qualname__} can't be saved: load looks it up in {cls.__module__}, and it is not there. Define "
            "the class at the top level of a module."
        )


def check_attributes(model: Any, saved: Saved) -> None:
    """Refuse a model of another package with fitted attributes that are not in `saved_attributes`."""
    named = any(vars(base).get("saved_attributes") for base in type(model).__mro__)
    if named or packs_parts(type(model)) or find_estimator(type(model)) is not None:
        return
    known = {*saved.names, "n_features_in_", "feature_names_in_"}
    lost = [name for name in vars(model) if name.endswith("_") and not name.startswith("_") and name not in known]
    if lost:
        raise InvalidTypeError(
            f"{type(model).__name__} has fitted attributes that would not be saved: name them in the class, "
            f"saved_attributes = {tuple(lost)}."
        )


def packs_parts(cls: type[Any]) -> bool:
    """Return whether a model file of the class holds more than attributes, by its own `pack_parts`."""
    return cls.pack_parts is not DomainClassifier.pack_parts


def saved_of(cls: type[Any]) -> Saved:
    """Return the fitted attributes to save: as declared, else those of the bases and of `saved_attributes`.

    The arrays of a declared base are required of its subclasses too.
    """
    declared = find_estimator(cls)
    if declared is not None and declared.saved is not None:
        return declared.saved.with_known()
    required: tuple[str, ...] = ("classes_",)
    names = dict.fromkeys((*INHERITED, *KNOWN_ARRAYS, *KNOWN_VALUES))
    for base in cls.__mro__:
        names.update(dict.fromkeys(vars(base).get("saved_attributes", ())))
        declared = find_estimator(base)
        if declared is not None and declared.saved is not None:
            required = declared.saved.arrays
            names.update(dict.fromkeys(declared.saved.names))
    return Saved(required, tuple(name for name in names if name not in required), ())


def class_of(header: dict[str, Any], trusted_modules: Collection[str]) -> type[Any]:
    """Return the class that a file names. A module is imported only if `trusted_modules` has its exact name."""
    name = str(header.get("model"))[:80]
    if "module" not in header:
        estimator = ESTIMATORS.get(name)
        if estimator is None or estimator.saved is None:
            raise UnreadableModelError(f"The model file holds a {name!r}, unknown to this version of adrem.")
        return estimator.load()
    module = str(header["module"])[:200]
    if module not in trusted_modules:
        raise UnreadableModelError(
            f"The model file holds a {name!r} of the module {module!r}, which is imported only if you trust it: "
            f"adrem.load(path, trusted_modules=[{module!r}])."
        )
    try:
        found = vars(importlib.import_module(module)).get(name)
    except ImportError as error:
        raise UnreadableModelError(f"The model file needs the module {module!r}: {error}.") from error
    if not (isinstance(found, type) and issubclass(found, DomainClassifier) and found.__module__ == module):
        raise UnreadableModelError(f"The module {module!r} has no model {name!r}, which the model file holds.")
    return found
