"""Tests of the losses between domains against their equations in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import softmax

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[deep]"')
losses = pytest.importorskip("adrem.deep.losses")
Outputs = pytest.importorskip("adrem.deep.network").Outputs
pytestmark = pytest.mark.thorough
N_FEATURES, N_CLASSES = 6, 3
Array = NDArray[np.float64]


def batch(n: int, shift: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    features = torch.tensor(rng.normal(shift, 1, (n, N_FEATURES)), requires_grad=True)
    return Outputs(features, torch.tensor(rng.normal(0, 1 + shift, (n, N_CLASSES)), requires_grad=True))


def halves() -> tuple[Any, Any]:
    return batch(8, 0.0, 0), batch(7, 1.0, 1)


def arrays(outputs: Any) -> tuple[Array, Array]:
    return outputs.features.detach().numpy(), outputs.scores.detach().numpy()


def loss(name: str, source: Any, target: Any, progress: float = 1e9) -> float:
    return float(losses.ALIGNMENTS[name](N_FEATURES, N_CLASSES)(source, target, progress).detach())


def discrepancy(kernel: Array, n: int) -> float:
    """E k(x, y) + E k(x', y') - 2 E k(x, x') over pairs of two rows, by loops."""
    m = len(kernel)
    own = [kernel[i, j] for i in range(n) for j in range(n) if i != j]
    theirs = [kernel[i, j] for i in range(n, m) for j in range(n, m) if i != j]
    across = [kernel[i, j] for i in range(n) for j in range(n, m)]
    return float(np.mean(own) + np.mean(theirs) - 2 * np.mean(across))


def gaussians(rows: Array) -> Array:
    distances = cdist(rows, rows, "sqeuclidean")
    return np.asarray(sum(np.exp(-distances / (2 * a * distances.mean())) for a in (1 / 8, 1 / 4, 1 / 2, 1, 2)))


def test_ddc_is_the_distance_of_the_means() -> None:
    source, target = halves()
    (f, _), (other, _) = arrays(source), arrays(target)
    assert loss("ddc", source, target) == pytest.approx(((f.mean(0) - other.mean(0)) ** 2).sum())


def test_dan_and_jan_are_mean_discrepancies() -> None:
    source, target = halves()
    (f, g), (f2, g2) = arrays(source), arrays(target)
    kernel = gaussians(np.concatenate([f, f2]))
    assert loss("dan", source, target) == pytest.approx(discrepancy(kernel, len(f)))
    shares = softmax(np.concatenate([g, g2]), axis=1)
    joint = kernel * np.exp(-cdist(shares, shares, "sqeuclidean") / (2 * 0.92**2))
    assert loss("jan", source, target) == pytest.approx(discrepancy(joint, len(f)))
    assert loss("dan", source, target, progress=0.0) == 0.0


def test_coral_is_the_distance_of_the_covariances() -> None:
    source, target = halves()
    (_, g), (_, g2) = arrays(source), arrays(target)
    expected = ((np.cov(g.T) - np.cov(g2.T)) ** 2).sum() / (4 * N_CLASSES**2)
    assert loss("coral", source, target) == pytest.approx(expected)


def test_mcc_is_the_confusion_off_the_diagonal() -> None:
    source, target = halves()
    shares = softmax(arrays(target)[1] / 2.5, axis=1)
    certainty = 1 + np.exp((shares * np.log(shares + 1e-5)).sum(axis=1))
    confusion = shares.T @ np.diag(certainty / certainty.mean()) @ shares
    confusion /= confusion.sum(axis=1, keepdims=True)
    assert loss("mcc", source, target) == pytest.approx((confusion.sum() - np.trace(confusion)) / N_CLASSES)


@pytest.mark.parametrize("name", ["dann", "cdan"])
def test_the_gradient_for_features_is_reversed(name: str) -> None:
    """A step of the discriminator's own descent raises no loss; the same step of the features does not lower it."""
    torch.manual_seed(0)
    alignment = losses.ALIGNMENTS[name](N_FEATURES, N_CLASSES).double()
    source, target = halves()
    before = alignment(source, target, 1e9)
    before.backward()
    with torch.no_grad():
        moved = [Outputs(own.features - 0.05 * own.features.grad, own.scores) for own in (source, target)]
        assert alignment(*moved, 1e9) > before
        for parameter in alignment.parameters():
            parameter.sub_(0.01 * parameter.grad)
        assert alignment(source, target, 1e9) < before


@pytest.mark.parametrize("name", ["ddc", "dan", "coral", "jan"])
def test_descent_brings_the_domains_together(name: str) -> None:
    source, target = halves()
    before = losses.ALIGNMENTS[name](N_FEATURES, N_CLASSES)(source, target, 1e9)
    before.backward()
    parts = [part for own in (source, target) for part in own]
    moved = [part - 0.05 * (0 if part.grad is None else part.grad) for part in parts]
    assert loss(name, Outputs(*moved[:2]), Outputs(*moved[2:])) < float(before.detach())


def test_the_ramp_begins_at_zero_and_ends_at_one() -> None:
    assert losses.ramp(0.0) == 0.0
    assert losses.ramp(1.0) == pytest.approx(1.0, abs=1e-3)
