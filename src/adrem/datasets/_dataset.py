"""What a data set is: domains with rows and labels, how they are scaled, and where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import Matrix
from adrem.datasets._pair import DomainPair


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

    Examples
    --------
    >>> from adrem.datasets import load
    >>> domain = load("rotated-arcs")["source"]
    >>> domain
    <Domain source: 100 rows, 2 features>
    >>> int(domain.y.sum())  # half of them are of class 1
    50
    """

    name: str
    X: Matrix
    y: NDArray[Any] | None

    def __repr__(self) -> str:
        return f"<Domain {self.name}: {self.X.shape[0]} rows, {self.X.shape[1]} features>"


@dataclass(frozen=True)
class Provenance:
    """Where a data set comes from: whom to cite, where its owners publish it, and the checksums of the files read.

    Parameters
    ----------
    citation : str
        Whom to cite.
    homepage : str, default=""
        Where its owners publish it.
    terms : str, default=""
        What they ask of its users.
    files : dict of str to str, default={}
        The SHA-256 checksum of every file that was read, by its name.

    Examples
    --------
    >>> from adrem.datasets import load
    >>> load("digits-shift").provenance.files  # it comes with the package
    {}
    """

    citation: str
    homepage: str = ""
    terms: str = ""
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, repr=False, eq=False)
class DataSet:
    """Domains of the same features and classes, by their short names, such as ``A`` for amazon.

    ``data["A"]`` and ``data["amazon"]`` give a domain, ``data.pair("A-W")`` a source and a target that are ready to
    learn from.

    Parameters
    ----------
    name, title : str
        The name in the registry, and one for people.
    domains : dict of str to Domain
        ``name``, ``X`` and ``y`` of every domain, in the order of the paper's tables.
    preprocessing : transformer or None
        Not fitted; what is done to both domains of a pair before they are learnt from.
    provenance : Provenance
        Citation, homepage, terms, and the checksums of the files read.
    feature_names : list of str or None, default=None
        Names of the columns, where they are known.

    See Also
    --------
    load : A data set of the paper.
    load_folder : One of your own.

    Examples
    --------
    >>> from adrem.datasets import load
    >>> data = load("rotated-arcs")
    >>> data
    <DataSet rotated-arcs: rows {S: 100, T: 100}, 2 features, 2 classes>
    >>> data["T"]
    <Domain target: 100 rows, 2 features>
    >>> X_source, y_source, X_target, y_target = data.pair("S-T")
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
        raise KeyError(f"{self.name} has no domain {name!r}; it has {known}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self.domains)

    def __len__(self) -> int:
        return len(self.domains)

    def __repr__(self) -> str:
        rows = ", ".join(f"{key}: {d.X.shape[0]}" for key, d in self.domains.items())
        return f"<DataSet {self.name}: rows {{{rows}}}, {self.n_features} features, {len(self.classes)} classes>"

    @property
    def classes(self) -> NDArray[Any]:
        """All labels, in order.

        Examples
        --------
        >>> from adrem.datasets import load
        >>> load("rotated-arcs").classes.tolist()
        [0, 1]
        """
        labels = [domain.y for domain in self.domains.values() if domain.y is not None]
        return np.unique(np.concatenate(labels)) if labels else np.empty(0)

    @property
    def n_features(self) -> int:
        """The number of columns, the same in all domains.

        Examples
        --------
        >>> from adrem.datasets import load
        >>> load("rotated-arcs").n_features
        2
        """
        return int(next(iter(self.domains.values())).X.shape[1])

    @property
    def pairs(self) -> list[str]:
        """All pairs of a source and another target, such as ``A-W``.

        Examples
        --------
        >>> from adrem.datasets import load
        >>> load("rotated-arcs").pairs
        ['S-T', 'T-S']
        """
        return [f"{source}-{target}" for source, target in permutations(self.domains, 2)]

    def pair(self, source: str, target: str | None = None, *, preprocess: bool = True) -> DomainPair:
        """Take two domains as a source and a target.

        Parameters
        ----------
        source : str
            Name of the source, short or long, or of a pair.
        target : str, default=None
            Name of the target, unless ``source`` names a pair.
        preprocess : bool, default=True
            Whether to apply the preprocessing that goes with the data set, fitted on both domains.

        Returns
        -------
        DomainPair
            ``X_source, y_source, X_target, y_target``.

        Raises
        ------
        KeyError
            If there is no such domain or pair. The message says which there are.
        ValueError
            If the source has no labels.

        Examples
        --------
        >>> from adrem.datasets import load
        >>> data = load("rotated-arcs")
        >>> data.pair("S-T")
        <DomainPair of a source and a target: 100 x 2 and 100 x 2>
        >>> X_source, y_source, X_target, y_target = data.pair("target", "source")
        """
        first, second = (self[source], self[target]) if target is not None else self._split(source)
        if first.y is None:
            raise ValueError(f"{first.name} has no labels: it can be a target, not a source.")
        X_source, X_target = first.X, second.X
        if preprocess and self.preprocessing is not None:
            from adrem.preprocessing import transform_pair

            X_source, X_target = transform_pair(self.preprocessing, X_source, X_target, first.y)
        return DomainPair(X_source, first.y, X_target, second.y)

    def _split(self, pair: str) -> tuple[Domain, Domain]:
        for source, target in permutations(self.domains, 2):
            if pair in (f"{source}-{target}", f"{source}>{target}"):
                return self.domains[source], self.domains[target]
        raise KeyError(f"{self.name} has no pair {pair!r}; it has {', '.join(self.pairs)}.")

    @property
    def checksum(self) -> str:
        """A checksum of the rows and labels, whatever files they came in.

        Examples
        --------
        >>> from adrem.datasets import load
        >>> len(load("rotated-arcs").checksum)  # hexadecimal digits of SHA-256
        64
        """
        digest = hashlib.sha256()
        for domain in self.domains.values():
            digest.update(f"{domain.name} {domain.X.shape}".encode())
            for part in _parts(domain.X):
                digest.update(np.ascontiguousarray(part).data)
            if domain.y is not None:
                digest.update("\n".join(map(str, domain.y.tolist())).encode())
        return digest.hexdigest()


def _parts(X: Matrix) -> list[NDArray[Any]]:
    """The arrays of a table, in types that do not depend on how it was stored."""
    if sp.issparse(X):
        return [X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)]
    return [X.astype(np.float64)]
