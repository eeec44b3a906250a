"""The paper's figures with our results, as PNG and SVG."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adrem.benchmark import curves, toys
from adrem.benchmark.cells import Home, Work, run_cell
from adrem.benchmark.published import published_curve
from adrem.benchmark.store import Cell, Result
from adrem.exceptions import NoFolderError, ParameterError
from adrem.files.atomic import written_whole
from adrem.plotting.style import BLUE, VERMILLION, check_matplotlib

OURS, THEIRS = BLUE, VERMILLION
Cells = Callable[[Home], tuple[list[Cell], dict[str, str]]]
Series = tuple[list[int], list[float], list[float]]
MakeSeries = Callable[[dict[Cell, Result], str], Series]


@dataclass(frozen=True)
class Figure:
    """A figure: its cells, the function that runs a cell, and the function that draws their results."""

    name: str
    title: str
    paint: Callable[[Any, dict[Cell, Result]], None]
    cells: Cells | None = None
    work: Work = run_cell
    series: MakeSeries | None = None
    size: tuple[float, float] = (10, 4.2)


def ensemble_series(results: dict[Cell, Result], data: str) -> Series:
    """Return ensemble sizes, mean accuracy and standard deviation over resamples, averaged over the pairs."""
    cells = [result.values for cell, result in results.items() if cell.features == data]
    mean = np.mean([values["mean"] for values in cells], axis=0)
    std = np.mean([values["std"] for values in cells], axis=0)
    return list(curves.SIZES), mean.tolist(), std.tolist()


def iteration_series(results: dict[Cell, Result], data: str) -> Series:
    """Return numbers of iterations, mean accuracy of a member and standard deviation, averaged over the pairs."""
    by_number: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for cell, result in results.items():
        if cell.features == data:
            by_number[cell.repetition].append((result.values["mean"], result.values["std"]))
    numbers = sorted(by_number)
    mean, std = np.array([np.mean(by_number[number], axis=0) for number in numbers]).T
    return numbers, mean.tolist(), std.tolist()


def _shown(results: dict[Cell, Result]) -> list[str]:
    return [data for data in curves.PANELS if any(cell.features == data for cell in results)]


def as_csv(name: str, series: MakeSeries, results: dict[Cell, Result]) -> str:
    """Return the points of the curves, ours beside the paper's."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("figure", "data", "x", "accuracy", "std", "published"))
    for data in _shown(results):
        paper = {point.x: point.accuracy for point in published_curve(name, data)}
        for x, mean, std in zip(*series(results, data), strict=True):
            known = f"{paper[x]:.3f}" if x in paper else ""
            writer.writerow((name, data, x, f"{mean:.3f}", f"{std:.3f}", known))
    return file.getvalue()


def _paint_curves(
    picture: Any,
    results: dict[Cell, Result],
    name: str,
    label: str,
    series: MakeSeries,
) -> None:
    shown = _shown(results)
    for axes, data in zip(np.atleast_1d(picture.subplots(1, len(shown))), shown, strict=True):
        x, mean, std = series(results, data)
        low, high = np.array(mean) - std, np.array(mean) + std
        axes.fill_between(x, low, high, color=OURS, alpha=0.18, linewidth=0, label="ours, ± one standard deviation")
        axes.plot(x, mean, color=OURS, linewidth=2, label="ours")
        paper = published_curve(name, data)
        points = [p.x for p in paper], [p.accuracy for p in paper]
        axes.plot(*points, "o", color=THEIRS, markersize=3.5, label="paper")
        axes.errorbar(*points, [p.std or 0.0 for p in paper], fmt="none", color=THEIRS, elinewidth=0.6)
        axes.set(title=data, xlabel=label, ylabel="accuracy on the target (%)", xlim=(0, max(x) + 1))
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", frameon=False)


FIGURES = {
    figure.name: figure
    for figure in (
        Figure(
            "toy-rotated",
            "a rotated target, and how the classifier follows it",
            lambda picture, _: toys.draw_toy(picture, toys.rotated()),
            size=(12, 6.6),
        ),
        Figure(
            "toy-balance",
            "an imbalanced target, with and without balanced draws",
            lambda picture, _: toys.draw_toy(picture, toys.balance()),
            size=(12, 6.6),
        ),
        Figure(
            "ensemble-size",
            "accuracy by the number of members",
            lambda picture, results: _paint_curves(
                picture, results, "ensemble-size", "members in the ensemble", ensemble_series
            ),
            curves.ensemble_cells,
            curves.run_ensemble_cell,
            ensemble_series,
        ),
        Figure(
            "iterations",
            "accuracy of one member by the number of iterations",
            lambda picture, results: _paint_curves(
                picture, results, "iterations", "iterations of one member", iteration_series
            ),
            curves.iteration_cells,
            curves.run_iteration_cell,
            iteration_series,
        ),
    )
}


def find_figure(name: str) -> Figure:
    """Find a figure by name."""
    if name not in FIGURES:
        raise ParameterError(f"There is no figure {name!r}; known are {', '.join(FIGURES)}.", "name")
    return FIGURES[name]


def check_drawing(folder: Path) -> None:
    """Raise before any work if figures can't be drawn into a folder."""
    check_matplotlib("bench")
    if folder.exists() and not folder.is_dir():
        raise NoFolderError(f"{folder} is not a folder: the figures need one.")


def draw(figure: Figure, results: dict[Cell, Result], folder: Path) -> list[Path]:
    """Draw a figure as PNG and SVG, write the points of its curves as CSV, and return the paths."""
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=figure.size, layout="constrained")
    figure.paint(picture, results)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for form in ("png", "svg"):
        path = folder / f"{figure.name}.{form}"
        with written_whole(path) as file:
            picture.savefig(file, format=form, dpi=110)
        paths.append(path)
    if figure.series is not None:
        paths.append(folder / f"{figure.name}.csv")
        with written_whole(paths[-1]) as file:
            file.write(as_csv(figure.name, figure.series, results).encode())
    return paths
