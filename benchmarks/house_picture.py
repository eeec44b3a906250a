"""Draw which room of the package imports which, from the import graph.

    python benchmarks/house_picture.py docs/pictures/house.png

Rooms are ordered as in pyproject.toml. A square in the row of one room and the column of another says that the first
imports the second, and how many of its modules. All squares lie right of the diagonal: no room imports one above it.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import grimp
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
BLUE, PALE, INK = "#0072b2", "#eef3f7", "#222222"


def rooms() -> list[str]:
    """Rooms from top to bottom."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    [layers] = [own["layers"] for own in config["tool"]["importlinter"]["contracts"] if own["id"] == "layers"]
    return [room.strip().removeprefix("adrem.") for layer in layers for room in layer.split("|")]


def imports(names: list[str]) -> NDArray[np.intp]:
    """How many modules of each room (columns) each room (rows) imports."""
    graph = grimp.build_graph("adrem")
    pairs = {
        (importer.split(".")[1], imported)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if "." in importer and "." in imported
    }
    counts = np.zeros((len(names), len(names)), dtype=np.intp)
    for room, imported in pairs:
        other = imported.split(".")[1]
        if room != other and room in names and other in names:
            counts[names.index(room), names.index(other)] += 1
    return counts


def draw(path: Path) -> None:
    names = rooms()
    counts = imports(names)
    figure, axes = plt.subplots(figsize=(8, 6.4), layout="constrained")
    axes.imshow(np.where(np.eye(len(names)), 1.0, 0.0), cmap="Greys", vmin=0, vmax=4)
    for room, other in np.argwhere(counts):
        axes.add_patch(Rectangle((other - 0.46, room - 0.46), 0.92, 0.92, color=BLUE, alpha=0.85, linewidth=0))
        axes.text(other, room, counts[room, other], ha="center", va="center", color="white", fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0, labelcolor=INK)
    axes.spines[:].set_visible(False)
    axes.set_xticks(np.arange(len(names)) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(names)) - 0.5, minor=True)
    axes.grid(which="minor", color=PALE, linewidth=1)
    axes.tick_params(which="minor", length=0)
    axes.set_ylabel("this room imports ...")
    axes.set_title("... modules of that room", fontsize=10, color=INK)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "house.png"))
