"""What encoders of texts and of images share: their weights, the cache, and the loop over many items."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from adrem.base.constraints import check_params
from adrem.datasets.home import cache_home
from adrem.exceptions import EncoderNotFoundError
from adrem.features.catalog import Kind
from adrem.features.store import Entry, FeatureStore, opened
from adrem.features.weights import Weights, find_weights, model_name
from adrem.runtime.progress import progress

# Raised when the same content gets other features: then no cache of an earlier version is used.
VERSION = 1
# The parameters that both encoders have.
COMMON: dict[str, list[Any]] = {
    "model": [str, os.PathLike],
    "batch_size": [Interval(Integral, 1, None, closed="left")],
    "device": [StrOptions({"cpu", "cuda"})],
    "cache": [None, str, os.PathLike, Options(bool, {False})],
    "verbose": ["verbose"],
}
BLOCK = 1024  # items whose keys and features are held at a time


@dataclass(frozen=True)
class Encoded:
    """The features of items.

    Parameters
    ----------
    features : ndarray of shape (n_items, n_features)
        The features; NaN for an item that can't be read.
    cut : ndarray of bool of shape (n_items,)
        Which items were read in part.
    unreadable : dict of int to str
        Why an item can't be read, by its position.
    """

    features: NDArray[np.float32]
    cut: NDArray[np.bool_]
    unreadable: dict[int, str]


class Encoder(TransformerMixin, BaseEstimator):
    """Base class of encoders. Subclasses say what an item is, and run the network on some of them."""

    kind: ClassVar[Kind]
    noun: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    model: Any
    cache: Any
    verbose: int

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - as all transformers
        """Find the network. Nothing is learned from the items.

        Parameters
        ----------
        X : sequence
            The items; they are only checked.
        y : object, default=None
            Ignored.

        Returns
        -------
        Self
            The encoder.
        """
        check_params(self)
        self._check_items(X)
        weights = self._find_weights()
        self._open(weights)
        self.checksum_ = weights.checksum
        self.n_features_out_ = self._n_features()
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the features of items.

        Parameters
        ----------
        X : sequence
            The items.

        Returns
        -------
        ndarray of shape (n_items, n_features_out_)
            Their features.

        Raises
        ------
        InvalidDataError
            If an item can't be read. `encode` tells which, and returns the features of the others.
        """
        encoded = self.encode(X)
        self.check_readable(encoded)
        return encoded.features

    def encode(self, X: Any) -> Encoded:
        """Return the features of items, which were cut, and which can't be read.

        Parameters
        ----------
        X : sequence
            The items.

        Returns
        -------
        Encoded
            The features, and what is to be said of single items.
        """
        check_is_fitted(self)
        items = self._check_items(X)
        self.ensure_open()
        found = Encoded(np.full((len(items), self.n_features_out_), np.nan, np.float32), np.zeros(len(items), bool), {})
        with (
            opened(self._cache_file(), self.n_features_out_) as store,
            progress(len(items), f"Encoding {self.noun}s", self.verbose, unit=self.noun) as tick,
        ):
            for first in range(0, len(items), BLOCK):
                self._encode_block(items[first : first + BLOCK], first, found, store, tick)
        return replace(found, unreadable=dict(sorted(found.unreadable.items())))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002 - as all transformers
        """Return a name for each feature: that of the model, and a number.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        return np.array([f"{self.model_name}_{k}" for k in range(self.n_features_out_)], dtype=object)

    def _encode_block(self, items: Sequence[Any], first: int, found: Encoded, store: Any, tick: Any) -> None:
        """Encode a block of items: what is known is looked up, and the same content is encoded once."""
        keys = list(self._keys(items))
        answers = self._answers(items, keys, store, tick)
        for place, key in enumerate(keys, first):
            answer = key if isinstance(key, str) else answers[key]
            if isinstance(answer, str):
                found.unreadable[place] = answer
            else:
                found.features[place], found.cut[place] = answer

    def _answers(
        self, items: Sequence[Any], keys: list[bytes | str], store: FeatureStore, tick: Any
    ) -> dict[bytes, Entry | str]:
        """Return the features of each content, or why it can't be read; new ones are kept as soon as they are there."""
        answers: dict[bytes, Entry | str] = {**store.get(key for key in keys if isinstance(key, bytes))}
        new = {key: place for place, key in enumerate(keys) if isinstance(key, bytes) and key not in answers}
        tick(len(items) - len(new))
        for part in self._run([items[place] for place in new.values()], list(new)):
            store.put({key: answer for key, answer in part.items() if isinstance(answer, Entry)})
            answers |= part
            tick(len(part))
        return answers

    def ensure_open(self) -> None:
        """Open the network if it is not open, as after reading the encoder from a file."""
        if getattr(self, "_network", None) is not None:
            return
        weights = self._find_weights()
        if weights.checksum != self.checksum_:
            where = f"The model {weights.name} in {weights.network.parent}" if weights.files else weights.name
            raise EncoderNotFoundError(
                f"{where} is not the one that this encoder was fitted with: its checksum differs. Get that one, or fit "
                "again."
            )
        self._open(weights)

        if self._n_features() != self.n_features_out_:
            raise EncoderNotFoundError(f"{weights.name} was fitted with other settings: fit again.")

    def set_params(self, **params: Any) -> Self:
        """Set parameters. The network is opened again, as it may be another one.

        Parameters
        ----------
        **params : dict
            The parameters.

        Returns
        -------
        Self
            The encoder.
        """
        if not {*params} <= {"cache", "verbose"}:
            self.__dict__.pop("_network", None)
        super().set_params(**params)
        return self

    def _find_weights(self) -> Weights:
        return find_weights(self.model, self.kind)

    def _cache_file(self) -> Path | None:
        if self.cache is False:
            return None
        folder = cache_home() / "features" if self.cache is None else Path(self.cache).expanduser()
        settings = json.dumps([VERSION, self.checksum_, self._settings()])
        key = hashlib.sha256(settings.encode()).hexdigest()[:16]
        return folder / f"{self.model_name.replace(':', '-')}-{key}.sqlite"

    @property
    def model_name(self) -> str:
        """The name of the model, for one given by its path that of its folder or file."""
        return model_name(self.model)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the network out of copies: it is opened again when it is needed."""
        state = dict(super().__getstate__())
        state.pop("_network", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    def _check_items(self, X: Any) -> Sequence[Any]:
        raise NotImplementedError

    def check_readable(self, encoded: Encoded) -> None:
        """Raise an error if an item can't be read."""

    def _settings(self) -> list[Any]:
        """Return what the features depend on besides the weights."""
        raise NotImplementedError

    def _open(self, weights: Weights) -> None:
        """Open the network as `_network`."""
        raise NotImplementedError

    def _n_features(self) -> int:
        raise NotImplementedError

    def _keys(self, items: Sequence[Any]) -> Iterable[bytes | str]:
        """Yield a key of the content of each item, or why it can't be read."""
        raise NotImplementedError

    def _run(self, items: list[Any], keys: list[bytes]) -> Iterator[dict[bytes, Entry | str]]:
        """Yield the features of items in parts, or why one can't be read."""
        raise NotImplementedError
