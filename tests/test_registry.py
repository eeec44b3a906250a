from __future__ import annotations

import inspect

import pytest

from adrem import AdREM, AdREMCV, baselines
from adrem.registry import COMMAND_LINE_METHODS, DECLARATIONS, ESTIMATORS, METHODS, Declaration


def test_registry_names_are_unique_and_complete() -> None:
    assert len(METHODS) == len(DECLARATIONS)
    expected = {AdREM, AdREMCV, *(getattr(baselines, name) for name in baselines.__all__)}
    assert {estimator.load() for estimator in ESTIMATORS.values()} == expected
    assert len({id(declared.estimator) for declared in DECLARATIONS}) == len(ESTIMATORS)


@pytest.mark.parametrize("declared", DECLARATIONS, ids=lambda declared: declared.name)
def test_declared_parameters_exist_in_estimator(declared: Declaration) -> None:
    known = inspect.signature(declared.estimator.load()).parameters
    assert set(declared.params) <= set(known)
    assert declared.make(random_state=3).random_state == 3


def test_every_method_is_used() -> None:
    unused = [declared.name for declared in DECLARATIONS if not declared.on_command_line and not declared.benchmark]
    assert unused == []
    assert COMMAND_LINE_METHODS[:3] == ("adrem", "auto", "source")
