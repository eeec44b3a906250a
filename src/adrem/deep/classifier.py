"""What `DeepAdREM` and the methods that it is compared with share: their parameters, and how a fit runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from adrem.base.constraints import AT_LEAST_ONE, POSITIVE, check_params
from adrem.deep.checkpoints import Folder, mark_of
from adrem.deep.images import read_rows, views_of
from adrem.deep.losses import ALIGNMENTS, Alignment
from adrem.deep.network import Network, label, make_network, own_encoder
from adrem.deep.reading import Domains, read_both
from adrem.deep.training import Pair, Settings, Trainer, seeded
from adrem.exceptions import InvalidTypeError, ParameterError
from adrem.machines.devices import find_device
from adrem.runtime.seeds import integer_seed

START = 2**31 - 1  # in place of the number of a step: the first weights
MARGIN = 8 / 7  # of the side of the images that are kept over that of a crop
SHARED: dict[str, list[Any]] = {
    "encoder": [StrOptions({"resnet50"}), torch.nn.Module],
    "batch_size": [Interval(Integral, 2, None, closed="left")],
    "lr": [POSITIVE],
    "encoder_lr": [Interval(Real, 0, None, closed="left")],
    "weight_decay": [Interval(Real, 0, None, closed="left")],
    "width": [AT_LEAST_ONE],
    "frozen_norm": ["boolean"],
    "augment": [None, callable],
    "size": [Interval(Integral, 8, 2048, closed="both")],
    "precision": [StrOptions({"auto", "bfloat16", "float32"})],
    "device": [StrOptions({"cpu", "cuda", "auto"})],
    "checkpoint": [None, str, os.PathLike],
    "checkpoint_every": [AT_LEAST_ONE],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
}
UNMARKED = ("encoder", "augment", "alignment", "head", "device", "checkpoint", "verbose")


class DeepClassifier(ClassifierMixin, BaseEstimator):
    """A network that learns from a labelled source and an unlabelled target."""

    classes_: NDArray[Any]
    network_: Network
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = SHARED

    def fit(self, X: Any, y: Any, *, sample_domain: ArrayLike | None = None, X_target: Any = None) -> Self:
        """Train the network on a labelled source and a target without labels.

        Parameters
        ----------
        X : list of images, ndarray or tensor
            The rows of the source, or of both domains. Images are paths, arrays or images of Pillow; or all rows are
            one array: bytes of shape (n, height, width, 3) are images, and others go to the encoder as they are.
        y : array-like of shape (n_rows,)
            Their labels. Those of target rows are not read.
        sample_domain : array-like of shape (n_rows,), default=None
            0 or more for the rows of X that belong to the source, negative for those of the target.
        X_target : list of images, ndarray or tensor, default=None
            The rows of the target, if X has those of the source only.

        Returns
        -------
        Self
            The model itself, fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from torch import nn
        >>> from adrem.deep import DeepPeer
        >>> rng = np.random.default_rng(0)
        >>> y = np.tile([0, 1], 50)
        >>> X = rng.normal(3 * y[:, None], 1, size=(100, 2))
        >>> model = DeepPeer(nn.Sequential(nn.Linear(2, 8), nn.ReLU()), "dann", steps=50, device="cpu", random_state=0)
        >>> model.fit(X, y, X_target=X + 1).transduction_.shape
        (100,)
        """
        self._check_params()
        domains = read_both(X, y, sample_domain, X_target, self._side())
        device = choose_device(self.device)
        trainer = self._make_trainer(domains, device, integer_seed(self.random_state))
        trainer.resume()
        self.classes_ = domains.classes
        self._train(trainer, domains)
        self.network_, self.training_log_ = trainer.network.eval(), trainer.log
        return self

    def _train(self, trainer: Trainer, domains: Domains) -> None:
        raise NotImplementedError

    def _shares(self, rows: Any) -> NDArray[np.float64]:
        """Return shares of the classes for rows as tensors."""
        raise NotImplementedError

    def _n_steps(self) -> int:
        raise NotImplementedError

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return shares of the classes, which sum to one.

        Parameters
        ----------
        X : list of images, ndarray or tensor
            Rows of the target domain.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The shares, in the order of ``classes_``.

        Examples
        --------
        >>> from adrem.deep import DeepAdREM
        >>> model = DeepAdREM().fit(photos, labels, X_target=snapshots)  # doctest: +SKIP
        >>> model.predict_proba(snapshots[:5]).shape  # doctest: +SKIP
        (5, 31)
        """
        check_is_fitted(self, "network_")
        return self._shares(read_rows(X, "X", self._side()))

    def predict(self, X: Any) -> NDArray[Any]:
        """Label rows of the target domain.

        Parameters
        ----------
        X : list of images, ndarray or tensor
            Rows of the target domain.

        Returns
        -------
        ndarray of shape (n_rows,)
            A label for every row.

        Examples
        --------
        >>> from adrem.deep import DeepAdREM
        >>> model = DeepAdREM().fit(photos, labels, X_target=snapshots)  # doctest: +SKIP
        >>> model.predict(snapshots[:2]).tolist()  # doctest: +SKIP
        ['mug', 'phone']
        """
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def _side(self) -> int:
        """Return the side to which images are scaled when they are read: crops are made of it later."""
        return int(self.size * MARGIN)

    def _check_params(self) -> None:
        check_params(self)
        if self.checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ParameterError(
                "A fit with a checkpoint needs an integer as random_state, to go on as it began.", "random_state"
            )

    def _make_alignment(self, given: Any, n_classes: int) -> Alignment | None:
        if given is None:
            return None
        make: Callable[..., Any] = ALIGNMENTS[given] if isinstance(given, str) else given
        alignment = make(self.width, n_classes)
        if not isinstance(alignment, Alignment):
            raise InvalidTypeError(f"{given!r} is no subclass of adrem.deep.Alignment.")
        return alignment

    def _make_trainer(self, domains: Domains, device: Any, seed: int) -> Trainer:
        n_classes = len(domains.classes)
        self.views_ = views_of(encoder := own_encoder(self.encoder), self.size, self.augment)
        settings = Settings(
            self._n_steps(), self.batch_size, self.lr, self.encoder_lr, self.weight_decay, self.frozen_norm,
            self.precision, self.checkpoint_every, seed,
        )  # fmt: skip
        with seeded(seed, START, device):
            network = make_network(encoder, self.views_, domains.source[:1], self.width, n_classes)
            alignment = self._make_alignment(getattr(self, "alignment", None), n_classes)
        folder = Folder(None, "")
        if self.checkpoint is not None:
            folder = Folder(Path(self.checkpoint), self._mark(domains))
        labels = torch.from_numpy(domains.labels).to(device)
        pair = Pair(domains.source.to(device), labels, domains.target.to(device), n_classes)
        return Trainer(network, self.views_, pair, alignment, settings, folder)

    def _mark(self, domains: Domains) -> str:
        params = {name: value for name, value in self.get_params(deep=False).items() if name not in UNMARKED}
        kinds = {name: repr(getattr(self, name, None)) for name in ("alignment", "head")}
        return mark_of([domains.source.numpy(), domains.labels, domains.target.numpy()], {**params, **kinds})

    def _network_shares(self, rows: Any) -> Any:
        return label(self.network_, self.views_, rows, self.precision)


def choose_device(name: str) -> Any:
    """Return PyTorch's device: with "auto" a GPU if there is one."""
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    return find_device("cuda")
