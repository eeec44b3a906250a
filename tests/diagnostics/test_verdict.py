"""The verdict follows from the evidence, and says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adrem.diagnostics import BeforeAfter, Evidence
from adrem.diagnostics.verdict import judge

GOOD = Evidence(BeforeAfter(0.8, 0.78), BeforeAfter(0.6, 0.7), 9.0, 0.95, BeforeAfter(0.2, 0.05))


def test_good_labels_are_taken() -> None:
    verdict = judge(GOOD, [], 10, [])
    assert verdict.choice == "adapted"
    assert "70.0 % of neighbours, 60.0 % before" in verdict.reasons[0]


def test_neighbours_that_drift_apart_speak_for_the_source() -> None:
    assert judge(replace(GOOD, neighbours=BeforeAfter(0.7, 0.69), neighbours_z=-0.5), [], 10, []).choice == "adapted"
    verdict = judge(replace(GOOD, neighbours=BeforeAfter(0.7, 0.69), neighbours_z=-2.0), [], 10, [])
    assert verdict.choice == "source"
    assert "69.0 %" in verdict.reasons[0]
    assert "adapting seems to have made them worse" in verdict.sentence


def test_labels_of_fewer_classes_agree_more_easily() -> None:
    apart = replace(GOOD, neighbours=BeforeAfter(0.9, 0.8), neighbours_z=-2.0)
    verdict = judge(apart, [], 10, ["versicolor"])
    assert verdict.choice == "unsure"
    assert "very few rows were labelled 'versicolor'" in verdict.reasons[0]
    assert judge(GOOD, [], 10, ["versicolor"]).choice == "adapted"


@pytest.mark.parametrize(
    ("evidence", "lost", "reason"),
    [
        (replace(GOOD, circular=BeforeAfter(0.8, 0.69)), [], "no longer agree"),
        (replace(GOOD, circular=None), [], "one label"),
        (replace(GOOD, agreement=0.8), [], "members disagree"),
        (replace(GOOD, off_prior=BeforeAfter(0.4, 0.3)), [], "class_prior"),
        (GOOD, ["rare"], "'rare'"),
    ],
)
def test_each_doubt_makes_the_verdict_unsure(evidence: Evidence, lost: list[str], reason: str) -> None:
    verdict = judge(evidence, lost, 10, [])
    assert verdict.choice == "unsure"
    assert len(verdict.reasons) == 1
    assert reason in verdict.reasons[0]


def test_without_a_change_the_labels_are_the_same() -> None:
    verdict = judge(GOOD, [], 0, [])
    assert (verdict.choice, verdict.same) == ("adapted", True)
    assert "changed no label" in verdict.sentence
    assert judge(GOOD, ["rare"], 0, []).choice == "unsure"


def test_a_loss_of_ten_points_is_not_more_than_ten_points() -> None:
    verdict = judge(replace(GOOD, circular=BeforeAfter(0.8, 0.7)), [], 5, [])
    assert verdict.choice == "adapted"
    assert "a loss this small is common" in verdict.reasons[1]


def test_what_is_not_known_is_no_reason() -> None:
    assert judge(Evidence(BeforeAfter(0.8, 0.8), None, 0.0, None, None), [], 1, []).choice == "adapted"
