"""Explain a saved model by the names of its columns and words."""

from __future__ import annotations

from adrem.columns.bundle import Bundle
from adrem.diagnostics.contributions import ClassFeatures, class_features


def explain(bundle: Bundle, n: int = 10) -> list[ClassFeatures]:
    """Return the n features with the largest weights for each class, before and after adapting."""
    model = bundle.model
    return class_features(model.classes_.tolist(), feature_names(bundle), bundle.baseline.coef_[0], model.coef_, n)


def feature_names(bundle: Bundle) -> list[str]:
    """Return a name for every feature of the model."""
    if bundle.recipe is not None:
        return bundle.recipe.feature_names
    return [f"feature {k}" for k in range(bundle.model.n_features_in_)]
