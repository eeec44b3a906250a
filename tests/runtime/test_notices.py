from __future__ import annotations

import copy
import json
import pickle
import warnings
from typing import Literal

import pytest
from sklearn.exceptions import ConvergenceWarning

from adrem.cli.parameters import verdict_with_options, warning_with_options
from adrem.diagnostics import Verdict
from adrem.runtime.notices import NamingText, warn_user

OPTIONS = {"class_prior": "--prior", "named": "--no"}


def test_only_parameters_get_other_names() -> None:
    text = NamingText("No {named!r}: set {class_prior} or {tol}.", named="class_prior {tol}")
    assert text == "No 'class_prior {tol}': set class_prior or tol."
    assert text.renamed(OPTIONS) == "No 'class_prior {tol}': set --prior or tol."
    assert json.loads(json.dumps(text)) == text
    sent = pickle.loads(pickle.dumps(text))  # noqa: S301 - our own
    for again in (sent, copy.deepcopy(text), copy.copy(text)):
        assert again == text
        assert again.renamed(OPTIONS) == text.renamed(OPTIONS)


def test_a_warning_keeps_its_text_and_the_command_line_its_options() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user(NamingText("Give a smaller {C} (it was {chosen:g}).", chosen=2.0), ConvergenceWarning)
        warn_user("C was large.", UserWarning)
        warn_user(ImportWarning("set", "C"), ImportWarning)
    assert [str(one.message) for one in caught] == ["Give a smaller C (it was 2).", "C was large.", "('set', 'C')"]
    told = [warning_with_options(one.message) for one in caught]
    assert told == ["Give a smaller --C (it was 2).", "C was large.", "('set', 'C')"]


@pytest.mark.parametrize("choice", ["adapted", "unsure"])
def test_verdict_names_options(choice: Literal["adapted", "unsure"]) -> None:
    verdict = Verdict(choice, [NamingText("Set {class_prior}."), "class_prior"])
    assert verdict_with_options(verdict) == Verdict(choice, ["Set --prior.", "class_prior"])
