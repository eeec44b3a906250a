"""
# Two domains on a map

Digits as they are, and digits through a poor camera, in two dimensions. The domains lie apart, and a classifier of one
has to be carried over to the other.
"""

from adrem import AdREM
from adrem.datasets import load_digits_shift
from adrem.plotting import plot_domains

X_source, y_source, X_target, y_target = load_digits_shift()
model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)

# %%
# Markers are the source's labels, and the labels that the target was given.

plot_domains(X_source, X_target, y_source=y_source, labels=model.transduction_)
