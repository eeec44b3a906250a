"""Tests of scores by true labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, recall_score

from adrem.diagnostics.scores import contradiction, score_labels

CLASSES = ["a", "b", "c"]
RNG = np.random.RandomState(0)
TRUTH, BEFORE, AFTER = (RNG.choice(CLASSES, 60) for _ in range(3))


def test_scores_are_those_of_scikit_learn() -> None:
    scores = score_labels(BEFORE, AFTER, TRUTH, CLASSES)
    assert scores is not None
    assert scores.accuracy.adapted == np.mean(AFTER == TRUTH)
    assert scores.balanced_accuracy.source == pytest.approx(balanced_accuracy_score(TRUTH, BEFORE))
    recalls = [own.recall.adapted for own in scores.classes]
    np.testing.assert_allclose(recalls, recall_score(TRUTH, AFTER, average=None))
    assert [own.labelled for own in scores.classes] == confusion_matrix(TRUTH, AFTER).tolist()
    assert [own.labelled_by_source for own in scores.classes] == confusion_matrix(TRUTH, BEFORE).tolist()
    assert scores.lost == (np.mean(AFTER == TRUTH) < np.mean(BEFORE == TRUTH))


def test_blank_labels_are_unknown_and_not_errors() -> None:
    truth = np.array([None, "", " ", "a", "d", "b"], dtype=object)
    after = np.array(["a", "a", "a", "a", "a", "a"])
    scores = score_labels(after, after, truth, CLASSES)
    assert scores is not None
    assert (scores.rows, scores.unlabelled, scores.unknown) == (3, 3, {"d": 1})
    assert scores.accuracy.adapted == pytest.approx(1 / 3)
    assert json.loads(json.dumps(scores.to_dict(), allow_nan=False))["classes"][2]["recall"]["adapted"] is None
    assert score_labels(after, after, np.array([None] * 6), CLASSES) is None


def test_whole_numbers_have_one_form() -> None:
    scores = score_labels(np.array([1, 2]), np.array([1, 2]), np.array(["1.0", "02"]), [1, 2])
    assert scores is not None
    assert scores.accuracy.adapted == 0.5


def test_true_labels_may_contradict_the_verdict() -> None:
    right = score_labels(np.array(["a", "b"]), np.array(["a", "a"]), np.array(["a", "b"]), CLASSES)
    assert "the source alone is better: 100.0 %, adapted 50.0 %" in contradiction("adapted", right)
    assert contradiction("source", right) == contradiction("unsure", right) == contradiction("adapted", None) == ""
    wrong = score_labels(np.array(["a", "a"]), np.array(["a", "b"]), np.array(["a", "b"]), CLASSES)
    assert "the adapted ones are better" in contradiction("source", wrong)


def test_gains_at_the_cost_of_a_rare_class_are_told() -> None:
    truth, before = np.repeat(["a", "b"], [90, 10]), np.array(["a"] * 70 + ["b"] * 30)
    scores = score_labels(before, np.repeat(["a"], 100), truth, ["a", "b"])
    told = contradiction("adapted", scores)
    assert "the mean recall of the classes is 50.0 %, and 88.9 % by the source alone" in told
    assert contradiction("unsure", scores) == ""
    assert contradiction("adapted", score_labels(before, truth, truth, ["a", "b"])) == ""
