"""Draw the packages of adrem in rows, and the path of the data through them, from the import graph.

    python benchmarks/house_picture.py docs/pictures/house.png

A package stands in the lowest row that is above all packages it imports. Only its place within the row is set here. The
steps of the path are modules, and the script fails if one does not exist.
"""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path

import grimp
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).parents[1]
BLUE, PALE, GREY, INK = "#0072b2", "#dcebf5", "#f1f3f5", "#222222"
WIDTH, HEIGHT = 0.86, 0.62
# Packages from left to right, by the place of each in its row.
PLACES = {
    0: ("columns", "base"),
    1: ("model_selection", "baselines", "algorithm", "machines", "exceptions"),
    2: ("cli", "deep", "diagnostics", "committee", "runtime", "types"),
    3: ("benchmark", "reports", "datasets", "preprocessing", "persistence", "files", "registry"),
    4: ("plotting", "features", "spark", "labelling", "active"),
}
PATH = (
    ("table", "columns.reading"),
    ("domains", "base.validation"),
    ("sampler", "algorithm.sampling"),
    ("machine", "machines.machine"),
    ("vote", "algorithm.voting"),
    ("verdict", "diagnostics.verdict"),
    ("report", "reports.page"),
)


def packages() -> list[str]:
    """Packages from top to bottom."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    [layers] = [own["layers"] for own in config["tool"]["importlinter"]["contracts"] if own["id"] == "layers"]
    return [name.strip().removeprefix("adrem.") for layer in layers for name in layer.split("|")]


def rows(names: list[str]) -> dict[str, int]:
    """The row of each package, 0 at the bottom: one above the highest package that it imports."""
    graph = grimp.build_graph("adrem")
    missing = [module for _, module in PATH if f"adrem.{module}" not in graph.modules]
    if missing:
        raise SystemExit(f"There is no module {', '.join(missing)}: correct PATH.")
    imported: dict[str, set[str]] = {name: set() for name in names}
    for module in graph.modules:
        name = module.partition(".")[2].partition(".")[0]
        if name in imported:
            found = {other.split(".")[1] for other in graph.find_modules_directly_imported_by(module) if "." in other}
            imported[name] |= found - {name}

    @cache
    def row(name: str) -> int:
        return max((row(other) + 1 for other in imported[name]), default=0)

    return {name: row(name) for name in names}


def draw(path: Path) -> None:
    row_of = rows(packages())
    places = {name: (x, row_of[name]) for x, names in PLACES.items() for name in names}
    if set(places) != set(row_of) or len(set(places.values())) < len(places):
        raise SystemExit("Every package needs a place of its own: correct PLACES.")
    figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
    for name, place in places.items():
        steps = [f"{k} {step}" for k, (step, module) in enumerate(PATH, 1) if module.split(".")[0] == name]
        draw_box(axes, place, name, "   ".join(steps))
    stops = [places[module.split(".")[0]] for _, module in PATH]
    steps_between = list(pairwise(stops))
    for start, end in steps_between:
        draw_arrow(axes, start, end, shift=0.2 if (end, start) in steps_between else 0.0)
    axes.annotate("", (-0.75, -0.3), (-0.75, 9.3), arrowprops={"arrowstyle": "-|>", "color": "#999999"})
    axes.text(-0.85, 4.5, "imports point down", rotation=90, ha="center", va="center", color="#777777", fontsize=10)
    axes.set(xlim=(-1, 4.5), ylim=(-0.45, max(row_of.values()) + 0.45))
    axes.set_axis_off()
    figure.savefig(path, dpi=150)


def draw_box(axes: Axes, place: tuple[int, int], name: str, steps: str) -> None:
    x, y = place
    box = FancyBboxPatch((x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.08")
    box.set(facecolor=PALE if steps else GREY, edgecolor=BLUE if steps else "#cccccc", zorder=3)
    axes.add_patch(box)
    axes.text(x, y + (0.14 if steps else 0), name, ha="center", va="center", color=INK, fontsize=10, zorder=4)
    axes.text(x, y - 0.15, steps, ha="center", va="center", color=BLUE, fontsize=9, weight="bold", zorder=4)


def draw_arrow(axes: Axes, start: tuple[int, int], end: tuple[int, int], shift: float) -> None:
    """Draw a step of the path: to the right between the sides of two boxes, else between their top and bottom."""
    (x, y), (to_x, to_y) = start, end
    up = 1 if to_y > y else -1
    if x == to_x:
        tail, head = (x + up * shift, y + up * HEIGHT / 2), (x + up * shift, to_y - up * HEIGHT / 2)
    else:
        tail, head = (x + WIDTH / 2, float(y)), (to_x - WIDTH / 2, float(to_y))
    arrow = {"arrowstyle": "-|>", "color": BLUE, "linewidth": 2, "mutation_scale": 16, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", head, tail, arrowprops=arrow, zorder=5)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "house.png"))
