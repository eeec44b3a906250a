"""The paper's two toy figures: how randomized EM turns the classifier, and why the draws are balanced by class.

    python examples/toy_figures.py [FOLDER]

writes ``toy_rotated.png`` and ``toy_balance.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from adrem import AdREM
from adrem.datasets import DomainPair, make_imbalanced_arcs, make_rotated_arcs

mpl.use("Agg")
import matplotlib.pyplot as plt

SHOWN = (0, 1, 5, 20)
# Okabe and Ito's colours, told apart by colour-blind readers too.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
STYLES = {"balanced": (GREEN, "-", "balanced draws"), "random": ("#8c510a", "--", "random draws")}


def fit(data: DomainPair, sampling: Any, C: Any = "cv") -> AdREM:
    model = AdREM(C=C, n_estimators=1, sampling=sampling, store_path=True, random_state=0)
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


def accuracy(model: AdREM, data: DomainPair) -> list[float]:
    """Accuracy on the target after every iteration, in percent."""
    scores = data.X_target @ model.coef_path_[0, :, 0].T
    curve: list[float] = (100 * np.mean((scores > 0) == data.y_target[:, None], axis=0)).tolist()
    return curve


def draw_points(axes: Any, data: DomainPair) -> None:
    for X, y, filled, name in (
        (data.X_source, data.y_source, True, "source"),
        (data.X_target, data.y_target, False, "target"),
    ):
        for label, marker, colour in ((0, "s", BLUE), (1, "o", ORANGE)):
            face = colour if filled else "none"
            axes.scatter(
                *X[y == label].T,
                s=14,
                marker=marker,
                facecolors=face,
                edgecolors=colour,
                linewidths=0.8,
                label=f"{name}, class {label}",
            )
    axes.set(xlim=(-5, 5), ylim=(-5, 5), xticks=[], yticks=[], aspect="equal")


def draw_line(axes: Any, weights: Any, sampling: str) -> None:
    """The line of all points that a classifier scores zero."""
    colour, style, label = STYLES[sampling]
    along = np.array([-weights[1], weights[0]]) / np.hypot(*weights)
    ends = np.outer([-8, 8], along)
    axes.plot(*ends.T, color=colour, linestyle=style, linewidth=2, label=label)


def draw_curve(axes: Any, values: list[float], sampling: str, title: str) -> None:
    colour, style, label = STYLES[sampling]
    axes.plot(range(len(values)), values, color=colour, linestyle=style, marker=".", label=label)
    axes.set(title=title, xlabel="iteration", xlim=(0, len(values) - 1), xticks=range(0, len(values), 5))
    axes.grid(alpha=0.3)


def figure(data: DomainPair, models: dict[str, AdREM], curves: dict[str, str], path: Path) -> None:
    picture = plt.figure(figsize=(12, 6.6), layout="constrained")
    above, below = np.asarray(picture.subfigures(2, 1, height_ratios=(1, 0.95)))
    panels = above.subplots(1, len(SHOWN))
    for panel, k in zip(panels, SHOWN, strict=True):
        draw_points(panel, data)
        for sampling, model in models.items():
            draw_line(panel, model.coef_path_[0, k, 0], sampling)
        panel.set_title("source classifier, $w^{(0)}$" if k == 0 else f"$w^{{({k})}}$")
    handles, labels = panels[0].get_legend_handles_labels()
    above.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    for axes, (key, title) in zip(below.subplots(1, len(curves)), curves.items(), strict=True):
        for sampling, model in models.items():
            history = [entry[key] for entry in model.history_] if key != "accuracy" else accuracy(model, data)
            draw_curve(axes, history, sampling, title)
    picture.savefig(path, dpi=110)
    plt.close(picture)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rotated = make_rotated_arcs(200, 200, random_state=0)
    models = {"balanced": fit(rotated, "balanced")}
    curves = {"accuracy": "accuracy on the target (%)", "loss": "loss"}
    figure(rotated, models, curves, folder / "toy_rotated.png")

    imbalanced = make_imbalanced_arcs(200, 200, random_state=0)
    both = {sampling: fit(imbalanced, sampling, C=0.003) for sampling in STYLES}
    figure(imbalanced, both, {**curves, "balanced_loss": "balanced loss"}, folder / "toy_balance.png")

    for name, data, runs in (("rotated", rotated, models), ("imbalanced", imbalanced, both)):
        for sampling, model in runs.items():
            curve, history = accuracy(model, data), model.history_
            print(
                f"{name:10}  {sampling:8}  accuracy {curve[0]:5.1f} -> {curve[-1]:5.1f} %   loss "
                f"{history[0]['loss']:.3f} -> {history[-1]['loss']:.3f}"
            )
    print(f"Pictures: {folder / 'toy_rotated.png'}, {folder / 'toy_balance.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
