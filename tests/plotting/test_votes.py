"""Tests of `plot_votes`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pictures import assert_legible
from problems import fitted

from adrem import AdREM, Committee
from adrem.base.hooks import Agreement
from adrem.baselines import HardEM
from adrem.datasets import DomainPair
from adrem.plotting import plot_votes

pytestmark = pytest.mark.usefixtures("clean_desk")


def bars(ax: Any) -> list[float]:
    return [float(bar.get_height()) for bar in ax.patches]


def test_bars_count_rows_per_vote_number(digits_model: Any) -> None:
    ax: Any = plot_votes(digits_model)
    votes = np.rint(11 * digits_model.vote_share_.max(axis=1)).astype(int)
    counts = np.bincount(votes, minlength=12)[1:]
    assert bars(ax) == counts.tolist()
    assert [text.get_text() for text in ax.texts] == [f"{count:,}" if count else "" for count in counts]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [str(k) for k in range(1, 12)]
    first = int(np.flatnonzero(counts)[0])
    assert ax.get_xlim() == (first - 0.5, 10.5)
    share = round(100 * counts[-1] / counts.sum())
    assert ax.get_title(loc="left") == f"All 11 members agree on {share} % of the labels"


def test_bars_with_true_labels_show_accuracy(digits: DomainPair, digits_model: Any) -> None:
    ax: Any = plot_votes(digits_model, y_true=digits.y_target)
    right = digits_model.transduction_ == digits.y_target
    votes = np.rint(11 * digits_model.vote_share_.max(axis=1)).astype(int)
    for k in range(1, 12):
        own = right[votes == k]
        assert bars(ax)[k - 1] == pytest.approx(100 * own.mean() if len(own) else 0)
        assert ax.texts[k - 1].get_text() == (f"{100 * own.mean():.0f} %" if len(own) else "")
        assert ax.get_xticklabels()[k - 1].get_text() == (f"{k}\n{len(own)} rows" if len(own) else str(k))
    assert np.asarray(ax.lines[0].get_ydata())[0] == pytest.approx(100 * right.mean())
    assert ax.texts[-1].get_text() == f"all rows\n{100 * right.mean():.0f} %"
    agreed = right[votes == 11]
    assert ax.get_title(loc="left").endswith(f"; {100 * agreed.mean():.0f} % of these are right")
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > 100


def test_few_bars_keep_narrow_width(two_blobs: DomainPair) -> None:
    model = fitted(AdREM(C=0.1, n_estimators=7, n_iter=3, random_state=0), two_blobs)
    assert model.vote_share_.max(axis=1).min() > 5 / 7
    ax: Any = plot_votes(model)
    assert ax.get_xlim() == (1.5, 6.5)
    assert_legible(ax)


def test_many_members_are_binned_by_tenths(blobs: DomainPair) -> None:
    model = fitted(AdREM(C=0.1, n_estimators=25, n_iter=3, random_state=0), blobs)
    ax: Any = plot_votes(model)
    shares = model.vote_share_.max(axis=1)
    assert bars(ax)[-1] == np.count_nonzero(shares > 0.9)
    assert ax.get_xticklabels()[-1].get_text() == "to 100"
    assert ax.get_xlabel() == "share of the 25 members that agree (%)"
    assert f"agree on {round(100 * np.mean(shares > 0.99))} % of" in ax.get_title(loc="left")
    assert_legible(ax)


def test_votes_of_a_class_of_another_package_are_plotted(blobs: DomainPair) -> None:
    class Three(HardEM):
        def agreement(self) -> Agreement:
            return Agreement(3, "judges", np.resize([1.0, 2 / 3], len(self.transduction_)))

    ax: Any = plot_votes(fitted(Three(C=0.1), blobs))
    assert ax.get_xlabel() == "judges that agree, of 3"
    assert bars(ax) == [0, 22, 23]


def test_plot_votes_rejects_voteless_models_and_wrong_labels(blobs: DomainPair, digits_model: Any) -> None:
    for model in (HardEM(C=0.1), AdREM(C=0.1, n_estimators=1)):
        with pytest.raises(ValueError, match=r"is a single classifier .*: use AdREM with several n_estimators"):
            plot_votes(fitted(model, blobs))
    with pytest.raises(ValueError, match=r"shape \(45,\), but there are 899 rows: pass one label per row"):
        plot_votes(digits_model, y_true=blobs.y_target)


def test_bars_of_a_committee_count_kinds(blobs: DomainPair) -> None:
    model = fitted(Committee(["margin", "log loss", "source"], n_estimators=2, n_iter=2, random_state=0), blobs)
    ax: Any = plot_votes(model)
    votes = np.rint(3 * model.row_agreement_).astype(int)
    assert bars(ax) == np.bincount(votes, minlength=4)[1:].tolist()
    assert ax.get_xlabel() == "kinds that agree, of 3"
    assert ax.get_title(loc="left").startswith("All 3 kinds agree on ")
