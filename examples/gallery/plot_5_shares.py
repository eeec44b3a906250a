"""
# Classes that are not equally common

The draws give every class the same share. Where the target has few rows of some classes, `AdREM()` warns, and the
shares are better estimated: `class_prior="estimate"`.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from adrem import AdREM
from adrem.datasets import load_digits_shift
from adrem.plotting import plot_class_shares

X_source, y_source, X_target, y_target = load_digits_shift()
rare = np.isin(y_target, (1, 8, 9)) & (np.arange(len(y_target)) % 5 > 0)  # four of five are not there
X_target, y_target = X_target[~rare], y_target[~rare]

picture, panels = plt.subplots(1, 2, figsize=(11, 4), sharex=True, layout="constrained")
priors: dict[str, Any] = {"equal shares": np.full(10, 0.1), "class_prior='estimate'": "estimate"}
for panel, (name, prior) in zip(panels, priors.items(), strict=True):
    model = AdREM(class_prior=prior, random_state=0).fit(X_source, y_source, X_target=X_target)
    plot_class_shares(model, y_source=y_source, ax=panel)
    accuracy = 100 * np.mean(model.transduction_ == y_target)
    panel.set_xlabel(f"share of the rows (%)\n{name}: {accuracy:.1f} % right")
