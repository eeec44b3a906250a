"""The deep methods that the paper names, trained as `DeepAdREM` is."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from adrem.base.constraints import AT_LEAST_ONE
from adrem.deep.classifier import SHARED, DeepClassifier
from adrem.deep.losses import ALIGNMENTS
from adrem.deep.network import Precision, label
from adrem.deep.reading import Domains
from adrem.deep.training import Trainer
from adrem.runtime.progress import progress


class DeepPeer(DeepClassifier):
    """A network that is trained on the source, and on a loss that aligns both domains.

    Parameters
    ----------
    encoder : {"resnet50"} or torch.nn.Module, default="resnet50"
        As for `DeepAdREM`.
    alignment : {"ddc", "dan", "coral", "dann", "cdan", "jan", "mcc"}, subclass of Alignment or None, default=None
        The loss; None trains on the source only.
    steps : int, default=1200
        Number of steps; the network of the last one is taken.
    batch_size, lr, encoder_lr, weight_decay, width, frozen_norm, augment, size, precision : optional
        As for `DeepAdREM`.
    device, checkpoint, checkpoint_every, verbose, random_state : optional
        As for `DeepAdREM`.

    Attributes
    ----------
    network_, classes_, transduction_, training_log_
        As for `DeepAdREM`.
    seconds_ : float
        Time of the training.

    See Also
    --------
    DeepAdREM : Ad-REM with a network that learns.

    Examples
    --------
    >>> from adrem.deep import DeepPeer
    >>> model = DeepPeer("resnet50", "mcc").fit(photos, labels, X_target=snapshots)  # doctest: +SKIP
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        "alignment": [StrOptions(set(ALIGNMENTS)), None, callable],
        "steps": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        encoder: Any = "resnet50",
        alignment: Any = None,
        *,
        steps: int = 1200,
        batch_size: int = 32,
        lr: float = 0.01,
        encoder_lr: float = 0.1,
        weight_decay: float = 1e-3,
        width: int = 256,
        frozen_norm: bool = False,
        augment: Any = None,
        size: int = 224,
        precision: Precision = "auto",
        device: str = "auto",
        checkpoint: Any = None,
        checkpoint_every: int = 300,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.encoder = encoder
        self.alignment = alignment
        self.steps = steps
        self.batch_size = batch_size
        self.lr = lr
        self.encoder_lr = encoder_lr
        self.weight_decay = weight_decay
        self.width = width
        self.frozen_norm = frozen_norm
        self.augment = augment
        self.size = size
        self.precision = precision
        self.device = device
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.verbose = verbose
        self.random_state = random_state

    def _n_steps(self) -> int:
        return self.steps

    def _train(self, trainer: Trainer, domains: Domains) -> None:
        begin = perf_counter()
        with progress(self.steps - trainer.step, "Training", self.verbose) as ticker:
            trainer.run(self.steps, None, ticker)
        shares = label(trainer.network, self.views_, trainer.pair.target, self.precision).shares.numpy()
        self.seconds_ = perf_counter() - begin
        self.transduction_ = domains.classes[shares.argmax(axis=1)]

    def _shares(self, rows: Any) -> NDArray[np.float64]:
        return np.asarray(self._network_shares(rows).shares.numpy(), np.float64)
