"""
# How a fit went

A label that was wrong in the beginning may turn right as more of the target joins in. In the end few labels change.
"""

from adrem import AdREM
from adrem.datasets import load_digits_shift
from adrem.plotting import plot_history

X_source, y_source, X_target, y_target = load_digits_shift()
model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
plot_history(model)

# %%
# The loss with balanced classes, which the draws stand for, falls as the labels settle.

plot_history(model, what="balanced_loss")
