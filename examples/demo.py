"""The main job on data that comes with the package: digits seen through another camera.

    python examples/demo.py [PICTURE]

prints the accuracy of the source classifier beside the adapted one's, and saves a picture (demo.png).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from adrem import AdREM
from adrem.datasets import DomainPair, load_digits_shift

mpl.use("Agg")
import matplotlib.pyplot as plt

BEFORE, AFTER = "#999999", "#0072B2"


def class_accuracy(truth: Any, labels: Any) -> Any:
    return np.array([100 * np.mean(labels[truth == c] == c) for c in np.unique(truth)])


def draw(data: DomainPair, source_labels: Any, model: AdREM, path: Path) -> None:
    picture = plt.figure(figsize=(10, 5.6), layout="constrained")
    above, below = np.asarray(picture.subfigures(2, 1, height_ratios=(0.8, 1)))
    panels = above.subplots(2, 10)
    for c in range(10):
        for row, X, y in ((0, data.X_source, data.y_source), (1, data.X_target, data.y_target)):
            panels[row, c].imshow(X[y == c][0].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            panels[row, c].set(xticks=[], yticks=[])
    panels[0, 0].set_ylabel("source")
    panels[1, 0].set_ylabel("target")
    above.suptitle("Labelled digits (above), and unlabelled ones through a poor camera (below)")

    bars, curve = below.subplots(1, 2, width_ratios=(1.6, 1))
    for offset, labels, colour, name in (
        (-0.2, source_labels, BEFORE, "source only"),
        (0.2, model.transduction_, AFTER, "adapted"),
    ):
        accuracy = class_accuracy(data.y_target, labels)
        overall = 100 * np.mean(labels == data.y_target)
        bars.bar(np.arange(10) + offset, accuracy, 0.4, color=colour, label=f"{name}, {overall:.1f} % overall")
    bars.set(title="accuracy on the target by digit (%)", xticks=range(10), ylim=(0, 118))
    bars.legend(loc="upper center", ncols=2, frameon=False)
    agreement = model.vote_share_.max(axis=1)
    right = model.transduction_ == data.y_target
    curve.hist(
        [agreement[right], agreement[~right]],
        bins=np.linspace(0, 1, 12),
        stacked=True,
        color=[AFTER, "#D55E00"],
        label=["right", "wrong"],
    )
    curve.set(title="share of the members that agree", xlabel="share of votes", ylabel="target rows")
    curve.legend(loc="upper left", frameon=False)
    picture.savefig(path, dpi=110)
    plt.close(picture)


def main(path: Path) -> None:
    data = load_digits_shift()
    print(f"Source: {len(data.y_source)} labelled digits. Target: {len(data.y_target)} digits through a poor camera.")
    source = AdREM(random_state=0).fit(data.X_source, data.y_source)
    model = AdREM(random_state=0, verbose=1).fit(data.X_source, data.y_source, X_target=data.X_target)
    source_labels = source.predict(data.X_target)

    print(f"\n{'digit':>8} {'source only':>12} {'adapted':>9}")
    before, after = (class_accuracy(data.y_target, labels) for labels in (source_labels, model.transduction_))
    for c in range(10):
        print(f"{c:8d} {before[c]:10.1f} % {after[c]:7.1f} %")
    overall = [100 * np.mean(labels == data.y_target) for labels in (source_labels, model.transduction_)]
    print(f"{'all':>8} {overall[0]:10.1f} % {overall[1]:7.1f} %")
    draw(data, source_labels, model, path)
    print(f"\nPicture: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo.png"))
