"""Texts that name parameters, and warnings that point at the line of the user's code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any, Self

PACKAGE = __name__.partition(".")[0]


class NamingText(str):
    """A text that names parameters, which may have other names elsewhere, such as options on the command line.

    Parameters
    ----------
    template : str
        The text, with a field such as ``{class_prior}`` for each parameter, and for each value.
    **values : object
        What is put into the other fields, as by `str.format`. It is never taken for the name of a parameter.

    Examples
    --------
    >>> from adrem.runtime.notices import NamingText
    >>> text = NamingText("No row is of class {label!r}: set {class_prior}.", label="class_prior")
    >>> text
    "No row is of class 'class_prior': set class_prior."
    >>> text.renamed({"class_prior": "--prior"})
    "No row is of class 'class_prior': set --prior."
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Self:
        text = super().__new__(cls, template.format_map(_Names(values)))
        text.template, text.values = template, values
        return text

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), self.values

    def renamed(self, names: Mapping[str, str]) -> str:
        """Return the text with other names for parameters; those without one keep theirs."""
        return self.template.format_map(_Names({**names, **self.values}))


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return name


def warn_user(message: str | Warning, category: type[Warning]) -> None:
    """Warn, with the first caller outside of the package as the place."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(names: dict[str, object]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == PACKAGE
