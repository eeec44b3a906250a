"""What a saved model has learnt, by the names of its columns and words."""

from __future__ import annotations

from adrem._persistence import Bundle
from adrem.diagnostics._voices import Voice, voices


def explain(bundle: Bundle, n: int = 10) -> list[Voice]:
    """The n features that speak most for each class, before and after adapting."""
    model = bundle.model
    return voices(model.classes_.tolist(), feature_names(bundle), bundle.source_coef, model.coef_, n)


def feature_names(bundle: Bundle) -> list[str]:
    """A name for every feature of the model."""
    if bundle.recipe is not None:
        return bundle.recipe.feature_names
    return [f"feature {k}" for k in range(bundle.model.n_features_in_)]
