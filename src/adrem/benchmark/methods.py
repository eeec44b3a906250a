"""The methods of the benchmark, by name; `protocols.METHODS` says which of them the tables have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from adrem._adrem import AdREM
from adrem.baselines import CORAL, GFK, TCA, SubspaceAlignment
from adrem.datasets import DomainPair


@dataclass(frozen=True)
class Method:
    """A way to label a target: `make` gives its estimator for a seed.

    `version` goes up when a change of the package changes the method's results, so that stored ones are not taken for
    new ones. `published` lists the names under which others print it.
    """

    name: str
    title: str
    make: Callable[[int], Any]
    published: tuple[str, ...] = ()
    adapts: bool = True
    version: int = 1

    def label(self, data: DomainPair, seed: int) -> tuple[NDArray[Any], Any]:
        """Labels for the target, and the fitted estimator. The target's labels are not looked at."""
        model = self.make(seed)
        if not self.adapts:
            return model.fit(data.X_source, data.y_source).predict(data.X_target), model
        model.fit(data.X_source, data.y_source, X_target=data.X_target)
        return model.transduction_, model

    def parameters(self) -> dict[str, Any]:
        """All parameters of the estimator but its seed, which is the repetition's."""
        params = self.make(0).get_params(deep=False)
        return {key: value for key, value in params.items() if key not in ("random_state", "n_jobs", "verbose")}


def _both_forms(name: str, title: str, estimator: Any, published: tuple[str, ...]) -> list[Method]:
    """A method as its paper has it, and on similarities, as its authors' program does; both were published as one."""
    return [
        Method(name, title, lambda seed: estimator(random_state=seed), published),
        Method(
            f"{name}-similarity",
            f"{title} on similarities",
            lambda seed: estimator(form="similarity", random_state=seed),
            published,
        ),
    ]


METHODS = {
    method.name: method
    for method in (
        Method("source-svm", "Source SVM", lambda seed: AdREM(random_state=seed), ("NA", "Source"), adapts=False),
        Method("source-lr", "Source LR", lambda seed: AdREM("log_loss", random_state=seed), adapts=False),
        Method("adrem-svm", "Ad-REM SVM", lambda seed: AdREM(random_state=seed), ("Ad-REM",)),
        Method("adrem-lr", "Ad-REM LR", lambda seed: AdREM("log_loss", random_state=seed)),
        *_both_forms("coral", "CORAL", CORAL, ("CORAL",)),
        *_both_forms("sa", "Subspace Alignment", SubspaceAlignment, ("SA",)),
        *_both_forms("gfk", "Geodesic flow kernel", GFK, ("GFK",)),
        Method("tca", "Transfer component analysis", lambda seed: TCA(random_state=seed), ("TCA",)),
    )
}


def find_methods(names: Iterable[str] | None = None) -> list[Method]:
    """Methods by name, in the order given; all of them by default."""
    wanted = list(METHODS) if names is None else [name.strip() for name in names]
    unknown = [name for name in wanted if name not in METHODS]
    if unknown:
        raise ValueError(f"There is no method {', '.join(unknown)}; known are {', '.join(METHODS)}.")
    return [METHODS[name] for name in dict.fromkeys(wanted)]
