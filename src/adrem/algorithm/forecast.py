"""How much memory a fit takes, before any work."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from adrem.algorithm.fitting import FitSettings
from adrem.base.classifier import BYTES_PER_SCORE, DomainClassifier
from adrem.base.validation import Domains, read_domains
from adrem.runtime.memory import BLOCK_BYTES


def forecast_memory(settings: FitSettings, domains: Domains, *, copies_rows: bool) -> int:
    """Return about how many bytes a fit takes at most; `copies_rows` if the domains were cut out of one table."""
    forecast = settings.head.forecast(domains, settings.work(domains))
    if forecast.on_gpu:
        return forecast.machine
    n_scores = domains.X_target.shape[0] * len(domains.classes)
    votes = min(BLOCK_BYTES, BYTES_PER_SCORE * n_scores) + 24 * n_scores
    return int((2 if copies_rows else 1) * forecast.table + forecast.machine + votes)


class ForecastsMemory(DomainClassifier):
    """The method of `AdREM` that forecasts memory."""

    def _settings(self) -> FitSettings:
        """Return the settings of a fit."""
        raise NotImplementedError

    def fit_memory(self, X: Any, y: Any, *, sample_domain: ArrayLike | None = None, X_target: Any = None) -> int:
        """Return about how many bytes ``fit`` would take at most for these rows, besides the rows themselves.

        Nothing is trained. ``fit`` itself raises an error, before any work, if the free memory is not enough. The
        memory for neighbours is not included. With a GPU it is the memory of the GPU, if all members are trained at a
        time.

        Parameters
        ----------
        X, y, sample_domain, X_target : object
            As for ``fit``.

        Returns
        -------
        int
            A number of bytes.

        Examples
        --------
        >>> from adrem import AdREM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
        >>> AdREM().fit_memory(X_source, y_source, X_target=X_target) < 10**7
        True
        """
        self.validate_params()
        domains = read_domains(clone(self), X, y, sample_domain=sample_domain, X_target=X_target)
        return forecast_memory(self._settings(), domains, copies_rows=X_target is None)
