"""
# Votes, and what they are worth

Eleven members vote on every label. How often are they right, where so many agree?
"""

from adrem import AdREM
from adrem.datasets import load_digits_shift
from adrem.plotting import plot_votes

X_source, y_source, X_target, y_target = load_digits_shift()
model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
plot_votes(model, y_true=y_target)

# %%
# The rows on the left are worth a look by hand. `adrem.diagnostics.diagnose` lists them, the most doubtful first:

from adrem.diagnostics import diagnose

doubtful = [row.row for row in diagnose(model, X_source, y_source, X_target).uncertain[:5]]
print(doubtful, (model.transduction_[doubtful] == y_target[doubtful]).tolist())
