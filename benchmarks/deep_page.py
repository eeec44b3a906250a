"""Print the tables of docs/deep.md, and draw its picture, from the results of benchmarks/deep.py.

python benchmarks/deep_page.py docs/pictures/deep-rounds.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean

import matplotlib as mpl
import matplotlib.pyplot as plt
from csv_files import read_csv

ROOT = Path(__file__).parents[1]
CELLS, ROUNDS = (ROOT / "docs/results" / name for name in ("deep.csv", "deep-rounds.csv"))
PUBLISHED = ROOT / "src/adrem/benchmark/published_tables.csv"
PAIRS = ("A-W", "D-W", "W-D", "A-D", "D-A", "W-A")  # in the order of most papers
TITLES = {
    "source": "source only",
    "ddc": "DDC",
    "dan": "DAN",
    "coral": "Deep-CORAL",
    "dann": "RevGrad (DANN)",
    "cdan": "CDAN+E",
    "jan": "JAN",
    "mcc": "MCC",
    "adrem": "Ad-REM, the network learns",
    "adrem, mcc": "the same with MCC's loss",
    "adrem, network alone": "the network labels for itself",
}
NAMES = {"source": "ResNet", "ddc": "DDC", "dan": "DAN", "dann": "RevGrad", "jan": "JAN"}  # as published
GAIN, LOSS, INK = "#0072b2", "#d55e00", "#222222"
Rows = list[dict[str, str]]


def of(rows: Rows, method: str, pair: str) -> Rows:
    """Return the rows of a method on a pair, one for each seed and, of rounds, for each round."""
    return [row for row in rows if row["method"] == method and row["pair"] == pair]


def show_pairs(cells: Rows, rounds: Rows) -> str:
    """Return a table of Ad-REM on each pair: features as they were given, and a network that learns."""
    pairs = [pair for pair in PAIRS if of(cells, "adrem", pair)]
    lines = {
        "frozen features": [
            _mean([row for row in of(rounds, "adrem", p) if row["round"] == "0"], "accuracy") for p in pairs
        ],
        **{
            name: [_mean(of(cells, "adrem", p), column) for p in pairs]
            for name, column in (
                ("**the network learns**", "accuracy"),
                ("its head alone", "head_accuracy"),
                ("its network alone", "network_accuracy"),
                ("seconds", "seconds"),
            )
        },
    }
    head = [f"| | {' | '.join(pairs)} | mean |", "|---" * (len(pairs) + 2) + "|"]
    body = [
        f"| {name} | {' | '.join(f'{v:.1f}' for v in values)} | {mean(values):.1f} |" for name, values in lines.items()
    ]
    return "\n".join(head + body)


def show_methods(cells: Rows) -> str:
    """Return a table of the other methods on the pairs that they were run on, with published figures in brackets."""
    pairs = [pair for pair in PAIRS if any(of(cells, name, pair) for name in TITLES if not name.startswith("adrem"))]
    published = {(row["method"], row["pair"]): row["accuracy"] for row in _published()}
    lines = [f"| | {' | '.join(pairs)} |", "|---" * (len(pairs) + 1) + "|"]
    for name, title in TITLES.items():
        told = []
        for pair in pairs:
            own = of(cells, name, pair)
            theirs = published.get((NAMES.get(name, ""), pair))
            told.append((f"{_mean(own, 'accuracy'):.1f}" if own else "") + (f" ({theirs})" if own and theirs else ""))
        if any(told):
            lines.append(f"| {title} | {' | '.join(told)} |")
    return "\n".join(lines)


def _published() -> Rows:
    return [
        row
        for row in read_csv(PUBLISHED)
        if (row["table"], row["features"]) == ("office-31", "resnet50-finetuned") and "Long" in row["source"]
    ]


def _mean(rows: Rows, column: str) -> float:
    return mean(float(row[column]) for row in rows)


def draw(rounds: Rows, path: Path) -> None:
    """Draw for each pair how many labels became right and wrong in each round, and the accuracy."""
    mpl.use("Agg")
    pairs = [pair for pair in PAIRS if of(rounds, "adrem", pair)]
    figure, axes = plt.subplots(
        1, len(pairs), figsize=(1.2 + 1.75 * len(pairs), 3.0), sharey=True, layout="constrained"
    )
    for pair, own in zip(pairs, list(getattr(axes, "flat", [axes])), strict=True):
        rows = [row for row in of(rounds, "adrem", pair) if row["seed"] == "0"]
        numbers = [int(row["round"]) for row in rows]
        own.bar(numbers[1:], [float(row["gained"]) for row in rows[1:]], color=GAIN, width=0.6, label="became right")
        own.bar(numbers[1:], [-float(row["lost"]) for row in rows[1:]], color=LOSS, width=0.6, label="became wrong")
        own.axhline(0, color=INK, linewidth=0.8)
        for row in rows:
            own.annotate(f"{float(row['accuracy']):.1f}", (int(row["round"]), -3.4), ha="center", fontsize=7, color=INK)
        own.set(title=pair, xlabel="round", xticks=numbers, xlim=(-0.6, max(numbers) + 0.6))
        own.spines[["top", "right"]].set_visible(False)
    first = next(iter(getattr(axes, "flat", [axes])))
    first.set(ylabel="% of the target's labels", ylim=(-3.8, None))
    first.legend(frameon=False, fontsize=7, loc="upper right")
    figure.savefig(path, dpi=110)


def main() -> None:
    cells, rounds = read_csv(CELLS), read_csv(ROUNDS)
    print(show_pairs(cells, rounds), show_methods(cells), sep="\n\n")
    draw(rounds, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
