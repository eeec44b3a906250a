"""A method of the benchmark, built in or imported."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from adrem.datasets import DomainPair
from adrem.exceptions import ParameterError
from adrem.registry import import_class
from adrem.types import Matrix


@dataclass(frozen=True)
class Method:
    """A method that labels a target.

    Parameters
    ----------
    name : str
        Name to find it by.
    title : str
        Name to show.
    make : callable
        Returns its estimator for a seed, with ``fit(X, y, X_target=...)`` and ``transduction_``. Tables with
        held-out rows need ``predict`` instead.
    published : tuple of str, default=()
        Names of the method in published tables.
    once : bool, default=False
        Whether the seed only draws the folds that choose C. Where a table takes all rows, one repetition is then
        enough.
    version : int, default=1
        Raised when a change of the package changes the method's results, so that stored results are computed again.

    See Also
    --------
    find_methods : Find methods of the benchmark by name.
    """

    name: str
    title: str
    make: Callable[[int], Any]
    published: tuple[str, ...] = ()
    once: bool = False
    version: int = 1

    def label(self, data: DomainPair, seed: int, X_held: Matrix | None = None) -> tuple[NDArray[Any], Any]:
        """Return labels and the fitted estimator; target labels are not read.

        Parameters
        ----------
        data : DomainPair
            The source and the target to fit to.
        seed : int
            The seed of the estimator.
        X_held : {ndarray, CSR array}, default=None
            Other rows of the target's domain, to label instead of the target.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            Labels of the target, or of the held-out rows.
        model : estimator
            The fitted estimator; for methods of skada, the time and memory that they took.
        """
        model = self.make(seed).fit(data.X_source, data.y_source, X_target=data.X_target)
        return (model.transduction_ if X_held is None else model.predict(X_held)), model

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the labels depend on, except the seed, as JSON has them."""
        params = self.make(0).get_params(deep=False)
        wanted = params.keys() - {"random_state", "n_jobs", "verbose"}
        return {key: [*params[key]] if isinstance(params[key], tuple) else params[key] for key in sorted(wanted)}


class ImportedMethod(Method):
    """An estimator of another package, named ``package.module:Class`` and imported when it is first used."""

    def __init__(self, name: str) -> None:
        super().__init__(name, name.partition(":")[2], self._make)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters, and a checksum of the code: after a change stored results are computed again."""
        code = inspect.getsource(self._import())
        return {**super().parameters(), "code": hashlib.sha256(code.encode()).hexdigest()}

    def _make(self, seed: int) -> Any:
        model = self._import()()
        return model.set_params(random_state=seed) if "random_state" in model.get_params() else model

    def _import(self) -> type[Any]:
        try:
            return import_class(self.name)
        except ImportError as error:
            raise ParameterError(
                f"The method {self.name} can't be imported: {error} Install its package, or name its folder in "
                "PYTHONPATH.",
                "names",
            ) from error
