"""A data set: domains with rows and labels, their preprocessing, and where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.datasets.pair import DomainPair
from adrem.exceptions import InvalidDataError, UnknownNameError
from adrem.preprocessing import transform_pair
from adrem.types import Matrix


class Domain(NamedTuple):
    """Rows and labels of one domain.

    Parameters
    ----------
    name : str
        The name of the domain.
    X : {ndarray, CSR array} of shape (n_rows, n_features)
        The rows.
    y : ndarray of shape (n_rows,) or None
        Their labels. A domain of your own may have none.
    """

    name: str
    X: Matrix
    y: NDArray[Any] | None

    def __repr__(self) -> str:
        return f"<Domain {self.name}: {self.X.shape[0]} rows, {self.X.shape[1]} features>"


@dataclass(frozen=True)
class Provenance:
    """The origin of a data set: citation, homepage, terms, and the checksums of its files.

    Parameters
    ----------
    citation : str
        The paper to cite.
    homepage : str, default=""
        Where it is published.
    terms : str, default=""
        The terms of use.
    files : dict of str to str, default={}
        The SHA-256 checksum of every file read, by name.
    """

    citation: str
    homepage: str = ""
    terms: str = ""
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, repr=False, eq=False)
class DataSet:
    """Domains of the same features and classes, by their short names, such as ``A`` for amazon.

    ``data["A"]`` and ``data["amazon"]`` give a domain, ``data.pair("A-W")`` a source and a target.

    Parameters
    ----------
    name, title : str
        The name in the registry, and a readable title.
    domains : dict of str to Domain
        ``name``, ``X`` and ``y`` of every domain, in the order of the paper's tables.
    preprocessing : transformer or None
        Unfitted; fitted and applied to both domains of a pair.
    provenance : Provenance
        Citation, homepage, terms, and the checksums of the files read.
    feature_names : list of str or None, default=None
        Names of the columns, if known.

    See Also
    --------
    load : Load a data set of the paper.
    load_folder : Load a folder of your own.
    """

    name: str
    title: str
    domains: dict[str, Domain]
    preprocessing: Any
    provenance: Provenance
    feature_names: list[str] | None = None

    def __getitem__(self, name: str) -> Domain:
        for key, domain in self.domains.items():
            if name in (key, domain.name):
                return domain
        known = ", ".join(f"{key} ({d.name})" if key != d.name else key for key, d in self.domains.items())
        raise UnknownNameError(f"{self.name} has no domain {name!r}; it has {known}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self.domains)

    def __len__(self) -> int:
        return len(self.domains)

    def __repr__(self) -> str:
        rows = ", ".join(f"{key}: {d.X.shape[0]}" for key, d in self.domains.items())
        return f"<DataSet {self.name}: rows {{{rows}}}, {self.n_features} features, {len(self.classes)} classes>"

    @property
    def classes(self) -> NDArray[Any]:
        """The sorted labels of all domains."""
        labels = [domain.y for domain in self.domains.values() if domain.y is not None]
        return np.unique(np.concatenate(labels)) if labels else np.empty(0)

    @property
    def n_features(self) -> int:
        """The number of columns, the same in all domains."""
        return int(next(iter(self.domains.values())).X.shape[1])

    @property
    def pairs(self) -> list[str]:
        """All ordered pairs of different domains, such as ``A-W``."""
        return [f"{source}-{target}" for source, target in permutations(self.domains, 2)]

    def pair(self, source: str, target: str | None = None, *, preprocess: bool = True) -> DomainPair:
        """Return two domains as a source and a target.

        Parameters
        ----------
        source : str
            Short or long name of the source, or name of a pair.
        target : str, default=None
            Short or long name of the target, unless ``source`` names a pair.
        preprocess : bool, default=True
            Whether to apply the preprocessing of the data set, fitted on both domains.

        Returns
        -------
        DomainPair
            ``X_source, y_source, X_target, y_target``.

        Raises
        ------
        UnknownNameError
            If there is no such domain or pair. The message lists them.
        InvalidDataError
            If the source has no labels.
        """
        first, second = (self[source], self[target]) if target is not None else self._split(source)
        if first.y is None:
            raise InvalidDataError(f"{first.name} has no labels: it can be a target, not a source.")
        X_source, X_target = first.X, second.X
        if preprocess and self.preprocessing is not None:
            X_source, X_target = transform_pair(self.preprocessing, X_source, X_target, first.y)
        return DomainPair(X_source, first.y, X_target, second.y)

    def _split(self, pair: str) -> tuple[Domain, Domain]:
        for source, target in permutations(self.domains, 2):
            if pair in (f"{source}-{target}", f"{source}>{target}"):
                return self.domains[source], self.domains[target]
        raise UnknownNameError(f"{self.name} has no pair {pair!r}; it has {', '.join(self.pairs)}.")

    @property
    def checksum(self) -> str:
        """A checksum of the rows and labels, independent of the files."""
        digest = hashlib.sha256()
        for domain in self.domains.values():
            digest.update(f"{domain.name} {domain.X.shape}".encode())
            for part in _parts(domain.X):
                digest.update(np.ascontiguousarray(part).data)
            if domain.y is not None:
                digest.update("\n".join(map(str, domain.y.tolist())).encode())
        return digest.hexdigest()


def _parts(X: Matrix) -> list[NDArray[Any]]:
    """Return the arrays of a table in fixed types, so that checksums do not depend on how it was stored."""
    if sp.issparse(X):
        return [X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)]
    return [X.astype(np.float64)]
