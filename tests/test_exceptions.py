"""Every error that the package raises is one of its own."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest

import adrem
from adrem import AdREM, Committee, exceptions
from adrem.base import DomainClassifier
from adrem.baselines import CORAL
from adrem.benchmark.figures import find_figure
from adrem.benchmark.protocols import find_pairs, find_protocols
from adrem.exceptions import AdremError, ParameterError

SOURCE = Path(adrem.__file__).parent
EVERYWHERE = {"NotImplementedError"}  # a method that a subclass implements
ALLOWED = {
    ("__init__.py", "AttributeError"),  # Python's protocol for the names of a module
    ("benchmark/peers.py", "RuntimeError"),  # a fault of the package itself
    ("files/atomic.py", "OSError"),  # the system's error, with its number and what to do
    ("runtime/progress.py", "KeyboardInterrupt"),  # Ctrl-C
}


def plain_errors(path: Path) -> Iterator[str]:
    """Yield the names of the built-in errors that a file creates or raises."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        found = node.func if isinstance(node, ast.Call) else node.exc if isinstance(node, ast.Raise) else None
        if isinstance(found, ast.Name):
            named = getattr(builtins, found.id, None)
            if isinstance(named, type) and issubclass(named, BaseException):
                yield found.id


def test_no_plain_error_is_raised() -> None:
    files = [path for path in sorted(SOURCE.rglob("*.py")) if "cli" not in path.relative_to(SOURCE).parts]
    found = {(path.relative_to(SOURCE).as_posix(), name) for path in files for name in plain_errors(path)}
    assert {(path, name) for path, name in found if name not in EVERYWHERE} == ALLOWED


def test_every_error_is_in_the_tree() -> None:
    own = [getattr(exceptions, name) for name in exceptions.__all__]
    errors = [error for error in own if not issubclass(error, Warning)]
    assert all(issubclass(error, AdremError) for error in errors)
    tree = str(exceptions.__doc__)
    page = (SOURCE.parents[1] / "docs/api/exceptions.md").read_text("utf-8")
    for error in own:
        assert error.__name__ in tree
        assert f"::: adrem.exceptions.{error.__name__}\n" in page
        if error is not AdremError:  # each fits a built-in error or warning
            assert any(base.__module__ == "builtins" for base in error.__mro__[1:-3])


def test_a_wrong_parameter_is_named() -> None:
    models: list[DomainClassifier] = [AdREM(n_iter=0), Committee(n_iter=0), CORAL(tol=0)]
    for model, name in zip(models, ("n_iter", "n_iter", "tol"), strict=True):
        for check in (model.validate_params, lambda model=model: model.fit([[0.0], [1.0]], [0, 1])):
            with pytest.raises(ParameterError, match=f"The '{name}' parameter of {type(model).__name__}") as caught:
                check()
            assert caught.value.parameter == name


def test_a_wrong_name_of_the_benchmark_is_a_parameter() -> None:
    for look_up in (
        lambda: find_protocols("nothing"),
        lambda: find_protocols("all", "nothing"),
        lambda: find_pairs(find_protocols("office-31"), ["A>Z"]),
        lambda: find_figure("nothing"),
    ):
        with pytest.raises(ParameterError, match="known are"):
            look_up()
