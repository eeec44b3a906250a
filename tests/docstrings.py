"""Find the public names of the package, where they are defined, and the faults of their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules
from typing import Any

from numpydoc.validate import validate
from pages import ROOT

import adrem

LEFT_OUT = {
    "EX01",  # examples have a separate test
    "GL01",  # the summary is on the first line, which older versions of numpydoc reject
    "ES01",  # an extended summary is optional
    "SA01",  # a section "See Also" is optional
}

# The module that defines an object, and its qualified name there.
Home = tuple[str, str]


def public_modules() -> list[str]:
    """The package, its public modules, each of which has an API page, and the command line."""
    pages = {page.stem for page in (ROOT / "docs" / "api").glob("*.md")} | {"cli"}
    return ["adrem", *(f"adrem.{module.name}" for module in iter_modules(adrem.__path__) if module.name in pages)]


def exported_by(module: str) -> list[Any]:
    """All public names of a module."""
    found = import_module(module)
    return [getattr(found, name) for name in found.__all__]


def homes_of(things: Iterable[Any]) -> list[Home]:
    """Where classes and functions, and the methods and properties of the classes, are defined."""
    return sorted({home_of(part) for thing in things for part in parts_of(thing)})


def parts_of(thing: Any) -> Iterator[Any]:
    """A class or a function, and the public members of a class that this package defines."""
    if inspect.isclass(thing):
        members = inspect.getmembers_static(thing, is_ours)
        yield from (
            member
            for name, member in members
            if name[0] != "_" and not is_one_line(member) and not inherits_docstring(thing, name, member)
        )
    if inspect.isroutine(thing) or (inspect.isclass(thing) and not is_one_line(thing)):
        yield thing


def is_one_line(member: Any) -> bool:
    """Whether one docstring line suffices: for a getter, a setter or a property."""
    return bool(member.__doc__) and "\n" not in member.__doc__ and member.__doc__.endswith(".")


def inherits_docstring(cls: type, name: str, member: Any) -> bool:
    """Whether a method without a docstring overrides a method with one."""
    overridden = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
    return not member.__doc__ and any(own.__doc__ for own in overridden)


def is_ours(member: Any) -> bool:
    """Whether a class member is a method or property of this package, not inherited from another package."""
    kinds = (classmethod, staticmethod, property, cached_property)
    return (inspect.isfunction(member) or isinstance(member, kinds)) and home_of(member)[0].split(".")[0] == "adrem"


def home_of(thing: Any) -> Home:
    """The module that defines an object, and its qualified name there."""
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, cached_property):
        thing = thing.func
    written = inspect.unwrap(thing)
    return written.__module__, written.__qualname__


def name_of(home: Home) -> str:
    return ".".join(home)


def faults_of(home: Home) -> list[tuple[str, str]]:
    """The faults that numpydoc finds in a docstring."""
    return [error for error in validate(name_of(home))["errors"] if error[0] not in LEFT_OUT]


def needs_example(home: Home) -> bool:
    """Whether it is a function or a class that users instantiate: not a method, a result or an exception."""
    thing = attrgetter(home[1])(import_module(home[0]))
    is_error = inspect.isclass(thing) and issubclass(thing, Exception)
    return "." not in home[1] and not (is_error or is_dataclass(thing) or hasattr(thing, "_fields"))
