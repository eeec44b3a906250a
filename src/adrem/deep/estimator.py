"""Ad-REM with a network that learns, as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from adrem.base.constraints import AT_LEAST_ONE
from adrem.deep.classifier import SHARED, DeepClassifier
from adrem.deep.heads import HEADS, make_head, shares_of
from adrem.deep.losses import ALIGNMENTS
from adrem.deep.network import Precision
from adrem.deep.reading import Domains
from adrem.deep.rounds import Alternation, Plan, mixed
from adrem.deep.training import Trainer
from adrem.runtime.progress import progress

NAMES = ("head", "rounds", "steps", "draws", "growing", "network_weight", "tol")


class DeepAdREM(DeepClassifier):
    """Ad-REM on the features of a network that learns from its labels.

    A head, by default `adrem.Committee`, labels the target on the features of the network. The network then learns
    from the source and from random, class-balanced and growing draws of the target with these labels. Then the head
    labels again, on the new features. A network that labels for itself believes what it has just learnt; the head is
    trained anew each time.

    Parameters
    ----------
    encoder : {"resnet50"} or torch.nn.Module, default="resnet50"
        The network that gives the features. A module is copied, not changed. It gets images with three channels as
        torchvision normalizes them, or as its own method ``prepare`` makes them of pixels from 0 to 255; other rows as
        they are, as float32.
    head : {"committee", "adrem", "network"}, classifier or pipeline, default="committee"
        What labels the target: a committee, the paper's Ad-REM on scaled features, a classifier of the package, a
        pipeline that ends with one. "network" has no head: the network labels the target itself.
    rounds : int, default=4
        Number of times that the network is trained.
    steps : int, default=300
        Steps of a round.
    draws : {"balanced", "plain"}, default="balanced"
        Whether all classes are drawn equally often from the target, by its labels, or rows whatever their class.
    growing : bool, default=True
        Whether the draws grow from round to round, up to all rows in the last; otherwise all are always drawn from.
    network_weight : float, default=0.5
        How much the network's own probabilities count beside the head's, once the network has been trained: from 0 to
        1, where the head does not count.
    alignment : str, subclass of Alignment or None, default=None
        A loss between the domains that is added, as for `DeepPeer`.
    tol : float, default=0.001
        The rounds end if no larger share of the labels has changed in one.
    batch_size : int, default=32
        Rows of each domain in a step.
    lr : float, default=0.01
        Learning rate at the start; it decays as (1 + 10 p)^-0.75, with p from 0 to 1 over all rounds.
    encoder_lr : float, default=0.1
        Learning rate of the encoder, as a multiple of that of the new layers.
    weight_decay : float, default=1e-3
        Weight decay.
    width : int, default=256
        Units of the layer between the encoder and the scores of the classes.
    frozen_norm : bool, default=False
        Whether the means and scales of the encoder's batch normalization stay as they are.
    augment : callable, default=None
        Makes a batch of rows, a tensor, to one to train on. By default random crops of images, every other one
        mirrored, and other rows as they are.
    size : int, default=224
        Side of the images that go into the network.
    precision : {"auto", "bfloat16", "float32"}, default="auto"
        Numbers in which the network computes; weights have 32 bits. "auto" takes 16 bits on a GPU.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where the network is trained, and the head: "auto" takes a GPU if there is one.
    checkpoint : path-like, default=None
        A folder for checkpoints, with the log of the training as ``training.csv``. A fit with the same rows and
        parameters goes on from the last one. It needs an integer as ``random_state``.
    checkpoint_every : int, default=300
        Steps between checkpoints.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights, draws, crops and heads. The same seed gives the same labels on the same device.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the source.
    transduction_ : ndarray of shape (n_target,)
        The labels of the target.
    network_ : torch.nn.Module
        The network: ``encoder``, ``narrow`` and ``classifier``.
    head_ : classifier or None
        The head of the last round; its labels are positions in ``classes_``.
    history_ : list of dict
        For each round, beginning with 0, before any training: the share of labels that ``changed``, the ``agreement``
        of head and network, the mean ``loss``, ``step``, ``head_seconds`` and ``training_seconds``.
    round_labels_, head_labels_, network_labels_ : ndarray of shape (n_rounds + 1, n_target)
        The labels after each round; and those that the head, and the network, would give alone.
    training_log_ : list of dict
        Losses, learning rate and rows per second by step.

    See Also
    --------
    adrem.Committee : On features that do not change.
    DeepPeer : Other methods that train a network.

    Examples
    --------
    >>> from adrem.deep import DeepAdREM
    >>> model = DeepAdREM(random_state=0).fit(photos, labels, X_target=snapshots)  # doctest: +SKIP
    >>> model.transduction_  # doctest: +SKIP
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        "head": [StrOptions(set(HEADS)), object],
        "rounds": [AT_LEAST_ONE],
        "steps": [AT_LEAST_ONE],
        "draws": [StrOptions({"balanced", "plain"})],
        "growing": ["boolean"],
        "network_weight": [Interval(Real, 0, 1, closed="both")],
        "alignment": [StrOptions(set(ALIGNMENTS)), None, callable],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        encoder: Any = "resnet50",
        head: Any = "committee",
        *,
        rounds: int = 4,
        steps: int = 300,
        draws: str = "balanced",
        growing: bool = True,
        network_weight: float = 0.5,
        alignment: Any = None,
        tol: float = 0.001,
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
        self.head = head
        self.rounds = rounds
        self.steps = steps
        self.draws = draws
        self.growing = growing
        self.network_weight = network_weight
        self.alignment = alignment
        self.tol = tol
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
        return self.rounds * self.steps

    def _check_params(self) -> None:
        super()._check_params()
        make_head(self.head, "cpu", 0)  # refuses what is no head

    def _train(self, trainer: Trainer, domains: Domains) -> None:
        plan = Plan(**{name: getattr(self, name) for name in NAMES})
        alternation = Alternation(plan, trainer)
        with progress(self._n_steps() - trainer.step, "Training", self.verbose) as ticker:
            alternation.run(ticker)
        self.head_, self.history_ = alternation.head, alternation.history
        self.round_labels_, self.head_labels_, self.network_labels_ = (
            domains.classes[np.array(alternation.labels[name])] for name in ("both", "head", "network")
        )
        self.transduction_ = self.round_labels_[-1]

    def _shares(self, rows: Any) -> NDArray[np.float64]:
        found = self._network_shares(rows)
        by_head = None if self.head_ is None else shares_of(self.head_, found.features.numpy())
        weight = self.network_weight if len(self.history_) > 1 else 0.0
        return mixed(by_head, found.shares.numpy().astype(np.float64), weight)
