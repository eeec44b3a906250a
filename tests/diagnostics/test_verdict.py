"""Tests of `judge`: the verdict follows from the evidence and gives its reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adrem.cli.parameters import verdict_with_options
from adrem.diagnostics import BeforeAfter, Evidence
from adrem.diagnostics.verdict import judge

GOOD = Evidence(BeforeAfter(0.6, 0.7), 9.0, 0.0, BeforeAfter(0.6, 0.5), 0.8, 0.2, 0.95)


def test_good_evidence_gives_verdict_adapted() -> None:
    verdict = judge(GOOD, [], 10, [])
    assert verdict.choice == "adapted"
    assert "70.0 % of neighbours, 60.0 % before" in verdict.reasons[0]


def test_lower_neighbour_agreement_gives_verdict_source() -> None:
    verdict = judge(replace(GOOD, neighbours=BeforeAfter(0.7, 0.69), neighbours_z=-2.0), [], 10, [])
    assert verdict.choice == "source"
    assert "69.0 %" in verdict.reasons[0]
    assert "adapting seems to have made them worse" in verdict.sentence


def test_nearly_lost_class_gives_verdict_unsure() -> None:
    apart = replace(GOOD, neighbours=BeforeAfter(0.9, 0.8), neighbours_z=-2.0)
    verdict = judge(apart, [], 10, ["versicolor"])
    assert verdict.choice == "unsure"
    assert "very few rows were labelled 'versicolor'" in verdict.reasons[0]
    [told] = verdict_with_options(verdict).reasons
    assert "set --prior; if there are more" in told
    assert told.endswith("the labels before are in the column 'source_label'.")
    assert judge(GOOD, [], 10, ["versicolor"]).choice == "adapted"
    assert "labelled 0, 1, 2, 3, 4 and 3 more: with" in judge(apart, [], 10, [*range(8)]).reasons[0]


def test_one_sided_changes_give_verdict_source() -> None:
    verdict = judge(replace(GOOD, one_sided=0.9), [], 10, [])
    assert verdict.choice == "source"
    assert "90.0 % of the changes only bring the two classes closer to equal shares" in verdict.reasons[1]
    assert "set class_prior" in verdict.reasons[1]
    assert judge(replace(GOOD, one_sided=0.6), [], 10, []).choice == "adapted"


def test_changes_that_half_of_the_families_oppose_give_verdict_source() -> None:
    verdict = judge(replace(GOOD, opposed=0.5), [], 10, [])
    assert verdict.choice == "source"
    assert "prefer the label of the source alone" in verdict.reasons[1]
    assert judge(replace(GOOD, opposed=1 / 3), [], 10, []).choice == "adapted"
    assert judge(replace(GOOD, opposed=0.5), ["lost"], 10, []).choice == "unsure"


def test_one_class_before_adapting_gives_verdict_adapted() -> None:
    collapsed = replace(GOOD, neighbours_z=-8.0, one_sided=1.0, largest_share=BeforeAfter(0.99, 0.6))
    verdict = judge(collapsed, [], 10, ["ill"])
    assert verdict.choice == "adapted"
    assert "gives 99.0 % of the rows the same label" in verdict.reasons[1]
    assert judge(replace(collapsed, skill=0.0), [], 10, ["ill"]).choice == "unsure"


@pytest.mark.parametrize(
    ("evidence", "lost", "reason"),
    [
        (replace(GOOD, neighbours_z=0.5), [], "as often as"),
        (replace(GOOD, skill=0.1), [], "hardly better than always giving the most common label"),
        (replace(GOOD, largest_share=BeforeAfter(0.9, 0.96)), [], "96.0 % of the target rows have the same label"),
        (GOOD, ["rare"], "'rare'"),
    ],
)
def test_single_doubt_gives_verdict_unsure(evidence: Evidence, lost: list[str], reason: str) -> None:
    verdict = judge(evidence, lost, 10, [])
    assert verdict.choice == "unsure"
    assert len(verdict.reasons) == 1
    assert reason in verdict.reasons[0]


def test_class_as_common_as_in_the_source_is_no_doubt() -> None:
    rare = replace(GOOD, largest_share=BeforeAfter(0.96, 0.97), nearly_all=0.985)
    assert judge(rare, [], 10, []).choice == "adapted"
    assert judge(replace(rare, largest_share=BeforeAfter(0.96, 0.99)), [], 10, []).choice == "unsure"


def test_verdict_says_if_no_label_changed() -> None:
    verdict = judge(GOOD, [], 0, [])
    assert (verdict.choice, verdict.same) == ("adapted", True)
    assert "changed no label" in verdict.sentence
    assert judge(replace(GOOD, skill=0.0), [], 0, []).choice == "unsure"


def test_missing_evidence_is_not_a_doubt() -> None:
    unknown = replace(GOOD, neighbours=None, neighbours_z=0.0, skill=float("nan"), agreement=None)
    assert judge(unknown, [], 1, []).choice == "adapted"
