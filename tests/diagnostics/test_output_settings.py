"""scikit-learn's setting of what transformers return is for those of the user, and changes nothing in here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sklearn

from adrem import Committee
from adrem.baselines import SourceOnly
from adrem.columns import make_pair, read_file
from adrem.diagnostics import diagnose


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_frames_as_output_of_transformers_change_nothing(form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None]
    np.savez(tmp_path / "a.npz", x=X, y=y)
    with sklearn.config_context(transform_output=form):
        model = SourceOnly(C=1.0).fit(X, y, X_target=X + 0.2)
        assert diagnose(model, X, y, X + 0.2).n_target == 40
        committee = Committee(n_iter=1, n_estimators=1, random_state=0).fit(X, y, X_target=X + 0.2)
        assert isinstance(committee.predict_proba(X), np.ndarray)
        pair = make_pair(*[read_file(str(tmp_path / "a.npz"))] * 2)
    assert isinstance(pair.X_source, np.ndarray)
