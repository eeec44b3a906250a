"""Alternation: the head labels the target on the network's features, the network learns from draws of these labels."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adrem.deep.draws import Rows, balanced_draw, plain_draw
from adrem.deep.heads import class_prior_of, fit_head, make_head, shares_of
from adrem.deep.network import Labelled, label
from adrem.deep.training import Draw, Trainer
from adrem.runtime.progress import Ticker

Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How rounds are made; the names are those of the parameters of `DeepAdREM`."""

    head: Any
    rounds: int
    steps: int
    draws: Literal["balanced", "plain"]
    growing: bool
    network_weight: float
    tol: float


class Alternation:
    """The rounds of a fit. All that they leave is in the trainer's notes, so that a checkpoint has it."""

    def __init__(self, plan: Plan, trainer: Trainer) -> None:
        self.plan, self.trainer = plan, trainer
        self.head: Any = None
        notes = trainer.notes
        self.history: list[dict[str, Any]] = notes.setdefault("history", [])
        # Positions of classes, by round: the labels, those of the head alone and those of the network alone.
        self.labels: dict[str, list[Any]] = notes.setdefault("labels", {"both": [], "head": [], "network": []})

    def run(self, ticker: Ticker) -> None:
        """Make all rounds that are still to be made, and fit the last head."""
        for number in range(self.plan.rounds + 1):
            if number == len(self.history):
                self._label(number)
                self.trainer.save()
            if number == self.plan.rounds or self._has_settled(number):
                break
            self.trainer.run((number + 1) * self.plan.steps, self._draw(number), ticker, round=number + 1)
        if self.head is None and self.plan.head != "network":  # all was done before
            self._fit_head(len(self.history) - 1)

    def _has_settled(self, number: int) -> bool:
        return number > 0 and self.history[number]["changed"] <= self.plan.tol

    def _label(self, number: int) -> None:
        begin = perf_counter()
        target, shares = self._fit_head(number)
        by_network = target.shares.numpy().astype(np.float64)
        votes = mixed(shares, by_network, self.plan.network_weight if number else 0.0)
        own = {"both": votes.argmax(axis=1), "network": by_network.argmax(axis=1)}
        own["head"] = own["network"] if shares is None else shares.argmax(axis=1)
        before = self.labels["both"][-1] if number else None
        for name, labels in own.items():
            self.labels[name].append(labels.tolist())
        trained = [entry for entry in self.trainer.log if entry.get("round") == number]
        self.history.append(
            {
                "round": number,
                "step": self.trainer.step,
                "changed": float(np.mean(own["both"] != before)) if number else 1.0,
                "agreement": float(np.mean(own["head"] == own["network"])) if number else 0.0,
                "loss": float(sum(e["source_loss"] + e["target_loss"] + e["alignment_loss"] for e in trained))
                / max(1, len(trained)),
                "head_seconds": perf_counter() - begin,
                "training_seconds": float(sum(entry["seconds"] for entry in trained)),
            }
        )

    def _fit_head(self, number: int) -> tuple[Labelled, Shares | None]:
        """Fit the head of a round; return what the network says of the target, and the shares of the head."""
        trainer = self.trainer
        target = self._network_says(trainer.pair.target)
        seed, shares = trainer.settings.seed % 2**30 + number, trainer.notes.get("class_prior")
        self.head = make_head(self.plan.head, trainer.device.type, seed, shares if number else None)
        if self.head is None:
            return target, None
        source = self._network_says(trainer.pair.source)
        rows = target.features.numpy()
        fit_head(self.head, source.features.numpy(), trainer.pair.labels.cpu().numpy(), rows)
        trainer.notes.setdefault("class_prior", class_prior_of(self.head))
        return target, shares_of(self.head, rows)

    def _network_says(self, rows: Any) -> Labelled:
        return label(self.trainer.network, self.trainer.views, rows, self.trainer.settings.precision)

    def _draw(self, number: int) -> Draw | None:
        """Return the rows of the next round: more of them each time. A network without a head begins with none."""
        if number == 0 and self.head is None and self.plan.head == "network":
            return None
        labels: Rows = np.array(self.labels["both"][number], np.int64)
        share = (number + 1) / self.plan.rounds if self.plan.growing else 1.0
        rng = np.random.default_rng([self.trainer.settings.seed, number])
        if self.plan.draws == "plain":
            return Draw(plain_draw(labels, share, rng), labels)
        return Draw(balanced_draw(labels, self.trainer.pair.n_classes, share, rng), labels)


def mixed(by_head: Shares | None, by_network: Shares, weight: float) -> Shares:
    """Return the shares of head and network together; the network counts this much."""
    return by_network if by_head is None else (1 - weight) * by_head + weight * by_network
