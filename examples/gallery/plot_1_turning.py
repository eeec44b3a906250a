"""
# A line that turns

The paper's first figure. The target is the source turned by eighty degrees. A classifier of the source cuts through it;
small, random, balanced draws of the target let the line turn, and the labels follow.
"""

import matplotlib.pyplot as plt
import numpy as np

from adrem import AdREM
from adrem.datasets import make_rotated_arcs

X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
model = AdREM(n_estimators=1, store_path=True, random_state=0)
model.fit(X_source, y_source, X_target=X_target)

# %%
# `store_path=True` keeps the classifier of every iteration. A classifier without intercept is a line through zero.

picture, panels = plt.subplots(1, 4, figsize=(10, 2.9), sharex=True, sharey=True, layout="constrained")
reach = np.array([-1.0, 1.0]) * np.abs(X_target).max()
for panel, k in zip(panels, (0, 5, 10, 20), strict=True):
    weights = model.coef_path_[0, k, 0]
    labels = model.classes_[(X_target @ weights > 0).astype(int)]
    panel.scatter(*X_source.T, s=12, facecolors="none", edgecolors="#999999", label="source")
    for c, colour, marker in ((0, "#0072B2", "o"), (1, "#D55E00", "^")):
        panel.scatter(*X_target[labels == model.classes_[c]].T, s=14, color=colour, marker=marker)
    along = np.array([-weights[1], weights[0]]) / np.linalg.norm(weights)
    panel.plot(*(along[:, None] * reach), color="black")
    panel.set(title=f"iteration {k}: {100 * np.mean(labels == y_target):.0f} % right", xticks=[], yticks=[])
    panel.set_aspect("equal")
