"""
# Methods side by side

All methods have the same `fit`. On digits through a poor camera, with the parameters they have by default:
"""

import matplotlib.pyplot as plt
import numpy as np

from adrem import AdREM, baselines
from adrem.datasets import load_digits_shift

X_source, y_source, X_target, y_target = load_digits_shift()
methods = [
    AdREM(random_state=0),
    AdREM(kernel="rbf", random_state=0),
    *(
        getattr(baselines, name)(random_state=0)
        for name in (
            "SourceOnly",
            "HardEM",
            "SoftEM",
            "CORAL",
            "SubspaceAlignment",
            "GFK",
            "TCA",
            "FLDA",
            "DASVM",
            "KMM",
        )
    ),
]
accuracies = {}
for method in methods:
    method.fit(X_source, y_source, X_target=X_target)
    name = type(method).__name__
    if isinstance(method, AdREM) and method.kernel == "rbf":
        name += ", kernel='rbf'"
    accuracies[name] = 100 * np.mean(method.transduction_ == y_target)

# %%
# One pair of domains is no verdict on a method: [Results](../results.md) has them all on real data.

names = sorted(accuracies, key=accuracies.__getitem__)
picture, axes = plt.subplots(figsize=(8, 4), layout="constrained")
bars = axes.barh(
    names, [accuracies[name] for name in names], color=["#0072B2" if "REM" in name else "#BBBBBB" for name in names]
)
axes.bar_label(bars, fmt="%.1f", padding=3)
axes.axvline(accuracies["SourceOnly"], color="black", linewidth=1, linestyle=":")
axes.set(xlabel="accuracy on the target (%)", xlim=(0, 100))
axes.spines[["top", "right"]].set_visible(False)
