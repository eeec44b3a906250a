"""Default settings reproduce the accuracies of the paper on its data."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from accuracy import member_labels

from adrem import AdREM
from adrem.datasets import load
from adrem.exceptions import LostClassWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{LostClassWarning.__module__}.{LostClassWarning.__name__}")


def run(name: str, pair: str, **params: Any) -> tuple[float, float]:
    """Mean accuracy of the members and accuracy of the vote, in percent."""
    X_source, y_source, X_target, y_target = load(name).pair(pair)
    model = AdREM(random_state=0, **params).fit(X_source, y_source, X_target=X_target)
    np.testing.assert_array_equal(model.predict(X_target), model.transduction_)
    one = [np.mean(labels == y_target) for labels in member_labels(model, X_target)]
    return 100 * float(np.mean(one)), 100 * float(np.mean(model.transduction_ == y_target))


def test_amazon_accuracy_with_all_features_equals_paper() -> None:
    means = np.mean([run("amazon-reviews", pair) for pair in load("amazon-reviews").pairs], axis=0)
    assert means[0] == pytest.approx(81.75, abs=0.4)
    assert means[1] == pytest.approx(82.7, abs=0.4)


def test_office_caltech_accuracy_with_resnet50_equals_paper() -> None:
    name = "office-caltech-resnet50"
    assert np.mean([run(name, pair)[1] for pair in load(name).pairs]) == pytest.approx(96.4, abs=0.3)


def test_office_caltech_accuracy_with_surf_equals_paper() -> None:
    name = "office-caltech-surf"
    assert np.mean([run(name, pair)[1] for pair in load(name).pairs]) == pytest.approx(47.6, abs=0.8)


def test_office_31_accuracy_with_resnet50_equals_paper() -> None:
    name = "office-31-resnet50"
    votes = {pair: run(name, pair)[1] for pair in load(name).pairs}
    assert votes["A-W"] == pytest.approx(89.4, abs=2.0)
    assert votes["D-A"] == pytest.approx(72.6, abs=2.0)
    assert np.mean(list(votes.values())) == pytest.approx(87.2, abs=0.7)


def test_logistic_regression_gains_by_adapting() -> None:
    X_source, y_source, X_target, y_target = load("office-caltech-resnet50").pair("D-W")
    model = AdREM(loss="log_loss", C=0.01, random_state=0)
    before = model.fit(X_source, y_source).score(X_target, y_target)
    adapted = model.fit(X_source, y_source, X_target=X_target)
    assert np.mean(adapted.transduction_ == y_target) > max(before, 0.98)


MEMORY = """
from pathlib import Path
from adrem import AdREM
from adrem.datasets import load
X_source, y_source, X_target, y_target = load("amazon-reviews").pair("B-D")
assert X_source.shape[1] == 473_856
AdREM(n_jobs=2, random_state=0).fit(X_source, y_source, X_target=X_target)
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20)
"""


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="only Linux reports the peak memory of this process without that of its parent",
)
def test_sparse_text_stays_sparse() -> None:
    """Loading, scaling and adapting in one process take little memory."""
    result = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert float(result.stdout) < 1.5
