"""The training of a network: steps on the source, on labelled target rows, and on a loss that aligns both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from adrem.deep.checkpoints import Checkpoint, Folder
from adrem.deep.draws import Rows
from adrem.deep.images import Views
from adrem.deep.losses import Alignment
from adrem.deep.network import Network, Outputs, Precision, mixed_precision, placed, repeatable
from adrem.exceptions import ParameterError
from adrem.runtime.progress import Ticker

SMOOTHING = 0.1  # of labels
MOMENTUM = 0.9
DECAY, POWER = 10.0, 0.75  # of the learning rate
LARGEST_SEED = 2**31
Tensor = Any


@dataclass(frozen=True)
class Settings:
    """How a network is trained; the names are those of the estimators' parameters."""

    n_steps: int
    batch_size: int
    lr: float
    encoder_lr: float
    weight_decay: float
    frozen_norm: bool
    precision: Precision
    checkpoint_every: int
    seed: int


class Pair(NamedTuple):
    """Rows of both domains as tensors, and the labels of the source as positions of classes."""

    source: Tensor
    labels: Tensor
    target: Tensor
    n_classes: int


class Draw(NamedTuple):
    """Target rows to learn from, and the labels of all target rows."""

    rows: Rows
    labels: Rows


class Trainer:
    """Trains a network step by step, and writes checkpoints.

    Random numbers are drawn anew, by the seed and the step, at each multiple of `checkpoint_every` steps: a training
    that goes on from a checkpoint draws those that it would have drawn.
    """

    def __init__(
        self,
        network: Network,
        views: Views,
        pair: Pair,
        alignment: Alignment | None,
        settings: Settings,
        folder: Folder,
    ) -> None:
        self.network, self.views, self.pair, self.alignment = network, views, pair, alignment
        self.settings, self._folder = settings, folder
        self.device = pair.source.device
        self.step, self.log, self.notes = 0, list[dict[str, Any]](), dict[str, Any]()
        memory = torch.channels_last if pair.source.ndim == 4 and self.device.type == "cuda" else None
        modules: list[Any] = [network] if alignment is None else [network, alignment]
        for module in modules:
            module.to(self.device, **({} if memory is None else {"memory_format": memory}))
        encoder, rest = (
            list(network.encoder.parameters()),
            [*network.narrow.parameters(), *network.classifier.parameters()],
        )
        rest += [] if alignment is None else list(alignment.parameters())
        self._parameters = [own for own in (*encoder, *rest) if own.requires_grad]
        groups = [{"params": encoder, "factor": settings.encoder_lr}, {"params": rest, "factor": 1.0}]
        self._optimizer = torch.optim.SGD(
            groups, lr=settings.lr, momentum=MOMENTUM, nesterov=True, weight_decay=settings.weight_decay
        )

    def run(self, until: int, draw: Draw | None, ticker: Ticker, **notes: Any) -> None:
        """Train up to a step, on the source and, if given, on labelled rows of the target."""
        self.network.learn(frozen_norm=self.settings.frozen_norm)
        placed_draw = None if draw is None else [torch.from_numpy(own).to(self.device) for own in draw]
        while self.step < until:
            every = self.settings.checkpoint_every
            stop = min(until, (self.step // every + 1) * every)
            self._run_part(stop, placed_draw, ticker, notes)
            self.save()

    def _run_part(self, stop: int, draw: Any, ticker: Ticker, notes: dict[str, Any]) -> None:
        begin, first = perf_counter(), self.step
        losses = torch.zeros(3, device=self.device)
        with seeded(self.settings.seed, first, self.device), repeatable(self.device):
            while self.step < stop:
                losses += self._train_once(draw)
                self.step += 1
                ticker()
        means = (losses / (stop - first)).tolist()
        if not np.isfinite(means).all():
            raise ParameterError(f"The loss is not finite after {stop} steps: choose a smaller lr.", "lr")
        seconds = perf_counter() - begin
        n_rows = self.settings.batch_size * (1 + (draw is not None or self.alignment is not None))
        self.log.append(
            {**notes, "step": stop, "lr": self._rate(stop - 1), "seconds": seconds}
            | dict(zip(("source_loss", "target_loss", "alignment_loss"), means, strict=True))
            | {"rows_per_second": n_rows * (stop - first) / seconds}
        )

    def _rate(self, step: int) -> float:
        """Return the learning rate of a step: lr (1 + 10 p)^-0.75 with p from 0 to 1."""
        return self.settings.lr * float((1 + DECAY * step / self.settings.n_steps) ** -POWER)

    def _train_once(self, draw: Any) -> Tensor:
        """Make one step; return the losses of the source, of the drawn rows, and of the alignment."""
        pair, n = self.pair, self.settings.batch_size
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate(self.step) * group["factor"]
        rows = torch.randint(len(pair.source), (n,), device=self.device)
        batch, labels = [pair.source[rows]], pair.labels[rows]
        others: Tensor = None
        if draw is not None:
            others = draw[0][torch.randint(len(draw[0]), (n,), device=self.device)]
        elif self.alignment is not None:
            others = torch.randint(len(pair.target), (n,), device=self.device)
        if others is not None:
            batch.append(pair.target[others])
        given = placed(self.views.training(torch.cat(batch)), self.device)
        with mixed_precision(self.device, self.settings.precision):
            out = self.network(given)
        out = Outputs(out.features.float(), out.scores.float())
        source, target = out.half(True, n), out.half(False, n)
        losses = [cross_entropy(source.scores, labels, label_smoothing=SMOOTHING)]
        zero = torch.zeros((), device=self.device)
        losses.append(
            zero if draw is None else cross_entropy(target.scores, draw[1][others], label_smoothing=SMOOTHING)
        )
        progress = self.step / self.settings.n_steps
        alignment = self.alignment
        losses.append(zero if alignment is None else alignment.weight * alignment(source, target, progress))
        self._optimizer.zero_grad(set_to_none=True)
        sum(losses).backward()
        self._optimizer.step()
        return torch.stack(losses).detach()

    def save(self) -> None:
        """Write a checkpoint: the network, the momenta, the alignment's layers, and the notes."""
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        if self.alignment is not None:
            tensors |= {f"alignment.{name}": tensor for name, tensor in self.alignment.state_dict().items()}
        for place, parameter in enumerate(self._parameters):
            momentum = self._optimizer.state.get(parameter, {}).get("momentum_buffer")
            if momentum is not None:
                tensors[f"momentum.{place}"] = momentum
        self._folder.write(tensors, {"step": self.step, "log": self.log, "notes": self.notes})

    def resume(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        found = self._folder.read()
        if found is None:
            return
        self.network.load_state_dict(_part(found, "network."))
        if self.alignment is not None:
            self.alignment.load_state_dict(_part(found, "alignment."))
        for place, momentum in _part(found, "momentum.").items():
            parameter = self._parameters[int(place)]
            self._optimizer.state[parameter]["momentum_buffer"] = torch.empty_like(parameter).copy_(momentum)
        self.step, self.log, self.notes = found.notes["step"], found.notes["log"], found.notes["notes"]


def _part(found: Checkpoint, prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): own for name, own in found.tensors.items() if name.startswith(prefix)}


@contextmanager
def seeded(seed: int, step: int, device: Any) -> Iterator[None]:
    """Draw PyTorch's random numbers by the seed and the step; afterwards its state is as before."""
    own = np.random.SeedSequence([seed, step]).generate_state(1)[0] % LARGEST_SEED
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices, device_type="cuda"):
        torch.manual_seed(int(own))
        yield
