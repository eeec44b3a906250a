from __future__ import annotations

import inspect

import pytest

from adrem import AdREM, Committee, baselines
from adrem.persistence.checks import lengths_of
from adrem.registry import (
    ARRAYS,
    COMMAND_LINE_METHODS,
    DECLARATIONS,
    DECLARED_METHODS,
    ESTIMATORS,
    ITERATIVE,
    LINEAR,
    VALUES,
    Declaration,
)


def test_registry_names_are_unique_and_complete() -> None:
    assert len(DECLARED_METHODS) == len(DECLARATIONS)
    expected = {AdREM, Committee, *(getattr(baselines, name) for name in baselines.__all__)}
    assert {estimator.load() for estimator in ESTIMATORS.values()} == expected
    assert len({id(declared.estimator) for declared in DECLARATIONS}) == len(ESTIMATORS)


@pytest.mark.parametrize("declared", DECLARATIONS, ids=lambda declared: declared.name)
def test_declared_parameters_exist_in_estimator(declared: Declaration) -> None:
    known = inspect.signature(declared.estimator.load()).parameters
    assert set(declared.params) <= set(known)
    assert declared.make(random_state=3).random_state == 3


def test_every_attribute_that_is_saved_is_described_once() -> None:
    saved = [estimator.saved.with_known() for estimator in ESTIMATORS.values() if estimator.saved is not None]
    arrays = {*LINEAR, *(name for own in saved for name in (*own.arrays, *own.optional))}
    values = {*ITERATIVE, *(name for own in saved for name in (*own.values, *own.added))}
    assert arrays == set(ARRAYS)
    assert values == set(VALUES)
    assert not arrays & values


def test_every_length_of_a_shape_is_known() -> None:
    model = AdREM(C=1.0, n_estimators=1).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    named = {length for array in ARRAYS.values() for length in array.shape if isinstance(length, str)}
    assert named == set(lengths_of(model))


def test_every_method_is_used() -> None:
    unused = [declared.name for declared in DECLARATIONS if not declared.on_command_line and not declared.benchmark]
    assert unused == []
    assert COMMAND_LINE_METHODS[:3] == ("committee", "adrem", "source")
