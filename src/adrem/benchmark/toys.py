"""The paper's toy figures: how randomized EM adapts a classifier, and why draws are balanced by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adrem.algorithm.estimator import AdREM
from adrem.datasets import DomainPair, make_imbalanced_arcs, make_rotated_arcs
from adrem.plotting.style import BLUE, GREEN, VERMILLION

N_ROWS = 200  # of each domain
EQUAL = (0.5, 0.5)  # named, so that a target with other shares is not warned of
SHOWN_ITERATIONS = (0, 1, 5, 20)
BROWN = "#8c510a"
STYLES = {"balanced": (GREEN, "-", "balanced draws"), "random": (BROWN, "--", "random draws")}
CURVES = {"accuracy": "accuracy on the target (%)", "loss": "loss"}


@dataclass(frozen=True)
class Toy:
    """A toy problem, a model for each kind of sampling, and the titles of the curves."""

    data: DomainPair
    models: dict[str, AdREM]
    curves: dict[str, str]

    def curve(self, sampling: str, key: str) -> list[float]:
        """Return the accuracy on the target in percent, or a loss, after each iteration."""
        model = self.models[sampling]
        if key != "accuracy":
            return [entry[key] for entry in model.history_]
        scores = self.data.X_target @ model.coef_path_[0, :, 0].T
        right: list[float] = (100 * np.mean((scores > 0) == self.data.y_target[:, None], axis=0)).tolist()
        return right


def rotated() -> Toy:
    """Return the problem with a rotated target."""
    data = make_rotated_arcs(N_ROWS, N_ROWS, random_state=0)
    return Toy(data, {"balanced": _fit(data, "balanced", "cv")}, CURVES)


def balance() -> Toy:
    """Return the problem with an imbalanced target, with and without balanced draws."""
    data = make_imbalanced_arcs(N_ROWS, N_ROWS, random_state=0)
    models = {sampling: _fit(data, sampling, 0.003) for sampling in STYLES}
    return Toy(data, models, {**CURVES, "balanced_loss": "balanced loss"})


def _fit(data: DomainPair, sampling: Any, C: Any) -> AdREM:
    params = {"class_prior": EQUAL, "sampling": sampling, "store_path": True}
    model = AdREM(C=C, n_estimators=1, random_state=0, **params)
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


def draw_toy(picture: Any, toy: Toy) -> None:
    """Draw the classifier at four iterations above, the curves below."""
    above, below = np.asarray(picture.subfigures(2, 1, height_ratios=(1, 0.95)))
    panels = above.subplots(1, len(SHOWN_ITERATIONS))
    for panel, k in zip(panels, SHOWN_ITERATIONS, strict=True):
        _draw_points(panel, toy.data)
        for sampling, model in toy.models.items():
            _draw_line(panel, model.coef_path_[0, k, 0], sampling)
        panel.set_title("source classifier, $w^{(0)}$" if k == 0 else f"$w^{{({k})}}$")
    handles, labels = panels[0].get_legend_handles_labels()
    above.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    for axes, (key, title) in zip(below.subplots(1, len(toy.curves)), toy.curves.items(), strict=True):
        for sampling in toy.models:
            _draw_curve(axes, toy.curve(sampling, key), sampling, title)


def _draw_points(axes: Any, data: DomainPair) -> None:
    domains = ((data.X_source, data.y_source, True, "source"), (data.X_target, data.y_target, False, "target"))
    for X, y, filled, name in domains:
        for label, marker, colour in ((0, "s", BLUE), (1, "o", VERMILLION)):
            axes.scatter(
                *X[y == label].T,
                s=14,
                marker=marker,
                facecolors=colour if filled else "none",
                edgecolors=colour,
                linewidths=0.8,
                label=f"{name}, class {label}",
            )
    axes.set(xlim=(-5, 5), ylim=(-5, 5), xticks=[], yticks=[], aspect="equal")


def _draw_line(axes: Any, weights: Any, sampling: str) -> None:
    """Draw the decision boundary."""
    colour, style, label = STYLES[sampling]
    along = np.array([-weights[1], weights[0]]) / np.hypot(*weights)
    axes.plot(*np.outer([-8, 8], along).T, color=colour, linestyle=style, linewidth=2, label=label)


def _draw_curve(axes: Any, values: list[float], sampling: str, title: str) -> None:
    colour, style, label = STYLES[sampling]
    axes.plot(range(len(values)), values, color=colour, linestyle=style, marker=".", label=label)
    axes.set(title=title, xlabel="iteration", xlim=(0, len(values) - 1), xticks=range(0, len(values), 5))
    axes.grid(alpha=0.3)
