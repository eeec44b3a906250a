"""The methods of the benchmark by name, as `adrem.registry` declares them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adrem.benchmark.method import ImportedMethod, Method
from adrem.benchmark.peers import PREFIX, find_peer
from adrem.exceptions import ParameterError
from adrem.registry import DECLARED_METHODS, Benchmark, Declaration

__all__ = ["METHODS", "Method", "find_methods"]


def _method(declared: Declaration, place: Benchmark) -> Method:
    def make(seed: int) -> Any:
        return declared.make(random_state=seed)

    return Method(declared.name, declared.title, make, place.published, place.once, place.version)


METHODS = {
    name: _method(method, method.benchmark) for name, method in DECLARED_METHODS.items() if method.benchmark is not None
}


def find_methods(names: Iterable[str] | None = None) -> list[Method]:
    """Find methods by name.

    Parameters
    ----------
    names : iterable of str or str, default=None
        Names of built-in methods; ``package.module:Class`` for an estimator of your own, which is imported when it is
        first used; ``skada:NAME`` for a classifier of skada, which has ``label`` and no ``make``. One string may hold
        several names, separated by commas. ``"all"`` and None stand for all built-in methods.

    Returns
    -------
    list of Method
        The methods, in the order given.

    Raises
    ------
    ParameterError
        If there is no method of a name. The message lists the names.

    Examples
    --------
    >>> from adrem.benchmark import find_methods
    >>> [method.title for method in find_methods(["adrem-svm", "gfk"])]
    ['Ad-REM SVM', 'Geodesic flow kernel']
    """
    if names is None:
        names = "all"
    given = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    wanted = dict.fromkeys(name for one in given for name in (METHODS if one == "all" else [one]))
    unknown = [name for name in wanted if name not in METHODS and ":" not in name]
    if unknown:
        raise ParameterError(
            f"There is no method {', '.join(unknown)}; known are {', '.join(METHODS)}, 'all' of them, classifiers of "
            f"skada as {PREFIX}NAME, and classes of your own as package.module:Class.",
            "names",
        )
    return [_find(name) for name in wanted]


def _find(name: str) -> Method:
    if name in METHODS:
        return METHODS[name]
    return find_peer(name) if name.startswith(PREFIX) else ImportedMethod(name)
