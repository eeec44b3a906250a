"""The paper's two toy figures: how randomized EM turns the classifier, and why the draws are balanced by class.

    python examples/toy_figures.py [FOLDER]

writes ``toy-rotated`` and ``toy-balance`` as PNG and SVG, and prints how accuracy and loss went.
"""

from __future__ import annotations

import sys
from pathlib import Path

from adrem.benchmark.figures import draw, find_figure
from adrem.benchmark.toys import balance, rotated


def main(folder: Path) -> None:
    for name, toy in (("toy-rotated", rotated()), ("toy-balance", balance())):
        for sampling in toy.models:
            accuracy, loss = toy.curve(sampling, "accuracy"), toy.curve(sampling, "loss")
            print(
                f"{name:12} {sampling:8}  accuracy {accuracy[0]:5.1f} -> {accuracy[-1]:5.1f} %   "
                f"loss {loss[0]:.3f} -> {loss[-1]:.3f}"
            )
        print("  ", *draw(find_figure(name), {}, folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
