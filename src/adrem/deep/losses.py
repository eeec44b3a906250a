"""Losses that align two domains without a label of the target: those of the deep methods that the paper names.

Each gets what the network makes of a batch of the source and of one of the target, f(x) of the narrow layer and the
scores g(x), and how far the training is, from 0 to 1. G = softmax(g).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn import functional

from adrem.deep.network import Outputs

Tensor = Any
HIDDEN = 1024  # units of a discriminator's two layers
BANDWIDTHS = tuple(2.0**k for k in range(-3, 2))  # of the kernels, as multiples of the mean squared distance
LABEL_BANDWIDTH = 0.92**2  # of JAN's kernel on probabilities
TEMPERATURE = 2.5  # of MCC's probabilities
STEEPNESS = 10.0  # of the ramp


class Alignment(nn.Module):
    """A loss between two domains; a subclass has ``forward``, and layers of its own if it needs them.

    Parameters
    ----------
    n_features, n_classes : int
        Width of the narrow layer, and number of classes.

    Examples
    --------
    >>> import torch
    >>> from adrem.deep import Alignment
    >>> class Means(Alignment):
    ...     def forward(self, source, target, progress):
    ...         return (source.features.mean(0) - target.features.mean(0)).abs().sum()
    """

    weight: ClassVar[float] = 1.0

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__()
        self.n_features, self.n_classes = n_features, n_classes

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        """Return the loss of a batch.

        Parameters
        ----------
        source, target : Outputs
            ``features`` and ``scores`` of both halves of a batch.
        progress : float
            How far the training is, from 0 to 1.

        Returns
        -------
        tensor
            The loss, which is multiplied by ``weight``.
        """
        raise NotImplementedError


def ramp(progress: float) -> float:
    """Return 2 / (1 + exp(-10 p)) - 1, the weight by which Ganin and Lempitsky (2015) begin gently."""
    return 2.0 / (1.0 + math.exp(-STEEPNESS * progress)) - 1.0


class DDC(Alignment):
    """The squared distance of the means, |E f(x) - E f(x')|^2 (Tzeng et al. 2014)."""

    weight = 0.25  # theirs

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        del progress
        return (source.features.mean(dim=0) - target.features.mean(dim=0)).square().sum()


class DAN(Alignment):
    """The squared maximum mean discrepancy of f under a sum of Gaussian kernels (Long et al. 2015).

    E k(x, y) + E k(x', y') - 2 E k(x, x'), with x, y of the source, x', y' of the target, and pairs of two rows.
    """

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        return ramp(progress) * discrepancy(
            gaussians(source.features, target.features, BANDWIDTHS), len(source.features)
        )


class JAN(Alignment):
    """The same with the product of a kernel on f and one on G: the joint distribution (Long et al. 2017)."""

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        features = gaussians(source.features, target.features, BANDWIDTHS)
        shares = torch.cat([source.scores, target.scores]).softmax(dim=1)
        kernel = features * torch.exp(-squared_distances(shares) / (2 * LABEL_BANDWIDTH))
        return ramp(progress) * discrepancy(kernel, len(source.features))


class DeepCORAL(Alignment):
    """The distance of the covariances of the d scores, |C - C'|_F^2 / (4 d^2) (Sun and Saenko 2016)."""

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        del progress
        difference = covariance(source.scores) - covariance(target.scores)
        return difference.square().sum() / (4 * self.n_classes**2)


class DANN(Alignment):
    """A discriminator D learns to tell the domains apart, and f to prevent it: RevGrad (Ganin and Lempitsky 2015).

    D minimizes -E log D(f(x)) - E log(1 - D(f(x'))); its gradient for f is reversed, and grows by the ramp.
    """

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__(n_features, n_classes)
        self.discriminator = discriminator(n_features)

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        features = torch.cat([source.features, target.features])
        return self.told_apart(features, len(source.features), progress).mean()

    def told_apart(self, features: Tensor, n_source: int, progress: float) -> Tensor:
        """Return the discriminator's loss of each row."""
        scores = self.discriminator(_Reversed.apply(features, ramp(progress)))[:, 0]
        is_source = (torch.arange(len(features), device=features.device) < n_source).to(scores.dtype)
        return functional.binary_cross_entropy_with_logits(scores, is_source, reduction="none")


class CDAN(DANN):
    """DANN on the products of all f and G, rows weighted by 1 + exp(-H(G)): CDAN+E (Long et al. 2018)."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__(n_features * n_classes, n_classes)

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        shares = torch.cat([source.scores, target.scores]).softmax(dim=1).detach()
        features = torch.cat([source.features, target.features])
        products = (shares[:, :, None] * features[:, None, :]).flatten(1)
        certainty = 1 + torch.exp(-entropy(shares))
        n_source = len(source.features)
        weights = torch.cat([part / part.sum() / 2 for part in (certainty[:n_source], certainty[n_source:])])
        return (weights * self.told_apart(products, n_source, progress)).sum()


class MCC(Alignment):
    """How often classes are confused in a batch of the target (Jin et al. 2020).

    C = P' W P with P = softmax(g / 2.5) and W = diag(w), w_i proportional to 1 + exp(-H(P_i)) with mean 1; rows of C
    are divided by their sums; the loss is the mean over classes of what is not on the diagonal.
    """

    def forward(self, source: Outputs, target: Outputs, progress: float) -> Tensor:
        del source, progress
        shares = (target.scores / TEMPERATURE).softmax(dim=1)
        certainty = (1 + torch.exp(-entropy(shares))).detach()
        confusion = (shares * (certainty / certainty.mean())[:, None]).T @ shares
        confusion = confusion / confusion.sum(dim=1, keepdim=True)
        return (confusion.sum() - confusion.trace()) / self.n_classes


# The losses by the names of their methods.
ALIGNMENTS: Mapping[str, type[Alignment]] = {
    "ddc": DDC,
    "dan": DAN,
    "coral": DeepCORAL,
    "dann": DANN,
    "cdan": CDAN,
    "jan": JAN,
    "mcc": MCC,
}


class _Reversed(torch.autograd.Function):
    """Returns its input; the gradient is reversed and scaled."""

    @staticmethod
    def forward(context: Any, rows: Tensor, scale: float) -> Tensor:
        context.scale = scale
        return rows.view_as(rows)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -context.scale * gradients[0], None


def discriminator(n_features: int) -> Any:
    """Return two hidden layers that tell source from target."""
    layers: list[Any] = []
    for n_inputs in (n_features, HIDDEN):
        layers += [nn.Linear(n_inputs, HIDDEN), nn.BatchNorm1d(HIDDEN), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(HIDDEN, 1))


def squared_distances(rows: Tensor) -> Tensor:
    """Return the squared distance of each row from each other."""
    squares = rows.square().sum(dim=1)
    return (squares[:, None] + squares[None, :] - 2 * rows @ rows.T).clamp(min=0)


def gaussians(source: Tensor, target: Tensor, multiples: tuple[float, ...]) -> Tensor:
    """Return the sum of Gaussian kernels between all rows of both domains; no gradient moves their bandwidths."""
    distances = squared_distances(torch.cat([source, target]))
    mean = distances.detach().mean().clamp(min=1e-12)
    return torch.stack([torch.exp(-distances / (2 * multiple * mean)) for multiple in multiples]).sum(dim=0)


def discrepancy(kernel: Tensor, n_source: int) -> Tensor:
    """Return the unbiased estimate of the squared maximum mean discrepancy, from a kernel of the rows of both."""
    own, theirs = kernel[:n_source, :n_source], kernel[n_source:, n_source:]
    return _mean_of_pairs(own) + _mean_of_pairs(theirs) - 2 * kernel[:n_source, n_source:].mean()


def _mean_of_pairs(kernel: Tensor) -> Tensor:
    n = len(kernel)
    return (kernel.sum() - kernel.trace()) / (n * (n - 1))


def covariance(rows: Tensor) -> Tensor:
    """Return the covariance matrix of the columns."""
    centred = rows - rows.mean(dim=0)
    return centred.T @ centred / (len(rows) - 1)


def entropy(shares: Tensor) -> Tensor:
    """Return the entropy of each row of probabilities."""
    return -(shares * (shares + 1e-5).log()).sum(dim=1)
