"""Tests of `judge`: the verdict follows from the evidence and gives its reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adrem.diagnostics import BeforeAfter, Evidence
from adrem.diagnostics.verdict import judge

GOOD = Evidence(BeforeAfter(0.8, 0.78), BeforeAfter(0.6, 0.7), 9.0, 0.95, BeforeAfter(0.2, 0.05))


def test_good_evidence_gives_verdict_adapted() -> None:
    verdict = judge(GOOD, [], 10, [])
    assert verdict.choice == "adapted"
    assert "70.0 % of neighbours, 60.0 % before" in verdict.reasons[0]


def test_lower_neighbour_agreement_gives_verdict_source() -> None:
    assert judge(replace(GOOD, neighbours=BeforeAfter(0.7, 0.69), neighbours_z=-0.5), [], 10, []).choice == "adapted"
    verdict = judge(replace(GOOD, neighbours=BeforeAfter(0.7, 0.69), neighbours_z=-2.0), [], 10, [])
    assert verdict.choice == "source"
    assert "69.0 %" in verdict.reasons[0]
    assert "adapting seems to have made them worse" in verdict.sentence


def test_nearly_lost_class_gives_verdict_unsure() -> None:
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
def test_single_doubt_gives_verdict_unsure(evidence: Evidence, lost: list[str], reason: str) -> None:
    verdict = judge(evidence, lost, 10, [])
    assert verdict.choice == "unsure"
    assert len(verdict.reasons) == 1
    assert reason in verdict.reasons[0]


def test_verdict_says_if_no_label_changed() -> None:
    verdict = judge(GOOD, [], 0, [])
    assert (verdict.choice, verdict.same) == ("adapted", True)
    assert "changed no label" in verdict.sentence
    assert judge(GOOD, ["rare"], 0, []).choice == "unsure"


def test_circular_loss_of_ten_points_is_tolerated() -> None:
    verdict = judge(replace(GOOD, circular=BeforeAfter(0.8, 0.7)), [], 5, [])
    assert verdict.choice == "adapted"
    assert "a loss this small is common" in verdict.reasons[1]


def test_missing_evidence_is_not_a_doubt() -> None:
    assert judge(Evidence(BeforeAfter(0.8, 0.8), None, 0.0, None, None), [], 1, []).choice == "adapted"
