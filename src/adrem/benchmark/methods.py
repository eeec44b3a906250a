"""The methods of the benchmark, by name; `protocols.METHODS` says which of them the tables have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from adrem._adrem import AdREM
from adrem.baselines import (
    CORAL,
    DASVM,
    FLDA,
    GFK,
    KMM,
    SCL,
    TCA,
    HardEM,
    ImportanceWeighting,
    SoftEM,
    SourceOnly,
    SubspaceAlignment,
)
from adrem.datasets import DomainPair


@dataclass(frozen=True)
class Method:
    """A way to label a target.

    Parameters
    ----------
    name : str
        The name by which it is found.
    title : str
        A name for people.
    make : callable
        Gives its estimator for a seed. This has ``fit(X, y, X_target=...)`` and ``transduction_``.
    published : tuple of str, default=()
        Names under which others print it.
    once : bool, default=False
        Whether the seed does nothing but draw the folds that choose C: on a table that takes all rows, one repetition
        then tells enough.
    version : int, default=1
        Goes up when a change of the package changes the method's results, so that stored ones are not taken for new
        ones.

    See Also
    --------
    find_methods : Those of the benchmark.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.benchmark import Method
    >>> method = Method("single", "Ad-REM, one member", lambda seed: AdREM(n_estimators=1, random_state=seed))
    >>> method.make(3)
    AdREM(n_estimators=1, random_state=3)
    """

    name: str
    title: str
    make: Callable[[int], Any]
    published: tuple[str, ...] = ()
    once: bool = False
    version: int = 1

    def label(self, data: DomainPair, seed: int) -> tuple[NDArray[Any], Any]:
        """Label the target of a pair, whose own labels are not looked at.

        Parameters
        ----------
        data : DomainPair
            Rows of both domains, and labels of the source.
        seed : int
            The seed, which is the number of the repetition in the benchmark.

        Returns
        -------
        labels : ndarray of shape (n_target,)
            Labels for the target.
        model : estimator
            What was fitted.

        Examples
        --------
        >>> from adrem.benchmark import find_methods
        >>> from adrem.datasets import make_rotated_arcs
        >>> pair = make_rotated_arcs(random_state=0)
        >>> for method in find_methods(["source-svm", "adrem-svm"]):
        ...     labels, model = method.label(pair, seed=0)
        ...     print(f"{method.title}: {(labels == pair.y_target).mean():.2f}")
        Source SVM: 0.63
        Ad-REM SVM: 1.00
        """
        model = self.make(seed).fit(data.X_source, data.y_source, X_target=data.X_target)
        return model.transduction_, model

    def parameters(self) -> dict[str, Any]:
        """Tell all parameters of the estimator that decide on its labels, but the seed, which is the repetition's.

        Returns
        -------
        dict
            The parameters by name.

        Examples
        --------
        >>> from adrem.benchmark import find_methods
        >>> parameters = find_methods(["adrem-lr"])[0].parameters()
        >>> parameters["loss"], parameters["n_iter"]
        ('log_loss', 20)
        """
        params = self.make(0).get_params(deep=False)
        return {key: value for key, value in params.items() if key not in ("random_state", "n_jobs", "verbose")}


def _baseline(
    name: str,
    title: str,
    estimator: Callable[..., Any],
    published: tuple[str, ...] = (),
    version: int = 1,
    **params: Any,
) -> Method:
    return Method(name, title, lambda seed: estimator(random_state=seed, **params), published, True, version)


def _both_forms(name: str, title: str, estimator: Callable[..., Any], **params: Any) -> list[Method]:
    """A method as its paper has it, and as its authors' program does, on similarities; both were published as one."""
    published, program = (name.upper(),), f"{title} on similarities"
    return [
        _baseline(name, title, estimator, published),
        _baseline(f"{name}-similarity", program, estimator, published, form="similarity", **params),
    ]


METHODS = {
    method.name: method
    for method in (
        Method("source-svm", "Source SVM", lambda seed: SourceOnly(random_state=seed), ("NA", "Source")),
        Method("source-lr", "Source LR", lambda seed: SourceOnly("log_loss", random_state=seed)),
        Method("adrem-svm", "Ad-REM SVM", lambda seed: AdREM(random_state=seed), ("Ad-REM",)),
        Method("adrem-lr", "Ad-REM LR", lambda seed: AdREM("log_loss", random_state=seed)),
        _baseline("hard-em", "Hard EM, SVM", HardEM),
        _baseline("soft-em", "Soft EM, LR, temperature 1/2", SoftEM, version=2),
        *_both_forms("coral", "CORAL", CORAL),
        # Their program has 80 dimensions, where their paper chooses.
        *_both_forms("sa", "Subspace Alignment", SubspaceAlignment, n_components=80),
        *_both_forms("gfk", "Geodesic flow kernel", GFK),
        _baseline("tca", "Transfer component analysis", TCA, ("TCA",)),
        _baseline("flda-l", "Feature-level adaptation, logistic", FLDA, ("FLDA-L",)),
        _baseline("flda-q", "Feature-level adaptation, squared", FLDA, ("FLDA-Q",), loss="squared"),
        _baseline("dasvm", "DASVM", DASVM, ("DASVM",), version=2),
        _baseline("scl", "Structural correspondence learning", SCL, ("SCL",), version=2),
        _baseline("iw", "Importance weighting", ImportanceWeighting, version=2),
        _baseline("kmm", "Kernel mean matching", KMM, ("KMM",), version=2),
    )
}


def find_methods(names: Iterable[str] | None = None) -> list[Method]:
    """Find methods by name.

    Parameters
    ----------
    names : iterable of str or str, default=None
        Names of ours, and classifiers of skada as ``skada:NAME``, which have ``label`` and no ``make``. One text may
        hold several, with commas between. ``"all"`` stands for all of ours, and so does None.

    Returns
    -------
    list of Method
        The methods, in the order given.

    Raises
    ------
    ValueError
        If there is no method of a name. The message says which there are.

    Examples
    --------
    >>> from adrem.benchmark import find_methods
    >>> [method.title for method in find_methods(["adrem-svm", "gfk"])]
    ['Ad-REM SVM', 'Geodesic flow kernel']
    """
    from adrem.benchmark.peers import PREFIX, find_peer

    if names is None:
        names = "all"
    given = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    wanted = [name for one in given for name in (METHODS if one == "all" else [one])]
    unknown = [name for name in wanted if name not in METHODS and not name.startswith(PREFIX)]
    if unknown:
        raise ValueError(
            f"There is no method {', '.join(unknown)}; known are {', '.join(METHODS)}, all of them by 'all', and "
            f"classifiers of skada by {PREFIX}NAME."
        )
    return [METHODS[name] if name in METHODS else find_peer(name) for name in dict.fromkeys(wanted)]
