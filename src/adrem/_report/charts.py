"""Charts as numbers: where lines, bars and points of a drawing lie. The template draws them as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adrem._words import rows
from adrem.diagnostics import Bin, Spread

WIDTH, HEIGHT = 420.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 12.0, 14.0, 40.0
N_TICKS = 4
SIDE = 420.0  # of a map
EDGE = 14.0


@dataclass(frozen=True)
class Scale:
    """Values between two bounds as places between two others."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.5
        return round(self.start + share * (self.end - self.start), 2)


@dataclass(frozen=True)
class Tick:
    """A mark of an axis, where it lies and what it says."""

    place: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A spot of a chart that says something when it is pointed at."""

    x: float
    y: float
    tip: str
    tone: str


@dataclass(frozen=True)
class Line:
    """A line with its band, as the points of SVG, and the tone it is drawn in."""

    name: str
    tone: str
    points: str
    band: str


@dataclass(frozen=True)
class LineChart:
    """Lines over a common axis."""

    lines: list[Line]
    marks: list[Mark]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_name: str
    y_name: str


@dataclass(frozen=True)
class Bar:
    """A bar: its corner and its size, and what it says when it is pointed at."""

    x: float
    y: float
    width: float
    height: float
    tip: str
    tone: str


@dataclass(frozen=True)
class BarChart:
    """Bars that stand side by side, or on each other."""

    bars: list[Bar]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_name: str
    y_name: str


def nice_ticks(low: float, high: float, n: int = N_TICKS) -> list[float]:
    """Round values that cover the span between two bounds, about n of them."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    rough = span / n
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def short(value: float) -> str:
    """A number in few characters."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def line_chart(series: Sequence[tuple[str, str, list[Spread]]], x_name: str, y_name: str, unit: str = "") -> LineChart:
    """Lines of means in bands from least to largest, over the iterations from zero; a name, a tone and values each."""
    n = max(len(values) for _, _, values in series)
    lows = [spread.low for _, _, values in series for spread in values]
    highs = [spread.high for _, _, values in series for spread in values]
    low = min(0.0, *lows) if min(lows) < 0.5 * max(highs) else min(lows)
    ticks = nice_ticks(low, max(highs) if max(highs) > low else low + 1.0)
    x = Scale(0.0, max(1.0, n - 1.0), LEFT, WIDTH - RIGHT)
    y = Scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP)
    lines, marks = [], []
    for name, tone, values in series:
        points = " ".join(f"{x(k)},{y(spread.mean)}" for k, spread in enumerate(values))
        upper = [f"{x(k)},{y(spread.high)}" for k, spread in enumerate(values)]
        lower = [f"{x(k)},{y(spread.low)}" for k, spread in enumerate(values)]
        lines.append(Line(name, tone, points, " ".join([*upper, *reversed(lower)])))
        marks += [
            Mark(
                x(k),
                y(spread.mean),
                f"{name}, iteration {k}: {short(spread.mean)}{unit} ({short(spread.low)} to {short(spread.high)})",
                tone,
            )
            for k, spread in enumerate(values)
        ]
    x_ticks = [Tick(x(v), f"{v:g}") for v in nice_ticks(0.0, n - 1.0, 5) if v <= n - 1 and float(v).is_integer()]
    return LineChart(lines, marks, x_ticks, [Tick(y(v), short(v)) for v in ticks], x_name, y_name)


def confidence_chart(bins: Sequence[Bin], by_votes: bool) -> BarChart:
    """Rows by how sure their labels are: those that kept their label, and above them those that changed."""
    tallest = max(1, *(b.kept + b.changed for b in bins))
    ticks = nice_ticks(0.0, float(tallest))
    y = Scale(0.0, ticks[-1], HEIGHT - BOTTOM, TOP)
    step = (WIDTH - RIGHT - LEFT) / len(bins)
    bars = []
    for k, b in enumerate(bins):
        name = f"{k + 1} of {len(bins)} votes" if by_votes else f"{b.low:.0%} to {b.high:.0%} sure"
        place = round(LEFT + k * step + 1.5, 2)
        width = round(step - 3, 2)
        for base, count, tone, word in ((0, b.kept, "before", "as before"), (b.kept, b.changed, "after", "changed")):
            if count:
                top, foot = y(base + count), y(base)
                bars.append(Bar(place, top, width, round(foot - top, 2), f"{name}: {rows(count)}, label {word}", tone))
    every = max(1, len(bins) // 6)
    x_ticks = [
        Tick(round(LEFT + (k + 0.5) * step, 2), str(k + 1) if by_votes else f"{b.high:.0%}")
        for k, b in enumerate(bins)
        if (len(bins) - 1 - k) % every == 0
    ]
    x_name = "members that agree" if by_votes else "confidence, up to"
    return BarChart(bars, x_ticks, [Tick(y(v), short(v)) for v in ticks], x_name, "target rows")


def member_chart(members: Sequence[float]) -> BarChart:
    """Which share of the labels each member agrees with."""
    y = Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    step = (WIDTH - RIGHT - LEFT) / len(members)
    gap = min(3.0, step / 4)
    bars = [
        Bar(
            round(LEFT + k * step + gap / 2, 2),
            y(share),
            round(step - gap, 2),
            round(y(0.0) - y(share), 2),
            f"member {k + 1}: {share:.1%} of the labels are those of the vote",
            "after",
        )
        for k, share in enumerate(members)
    ]
    every = max(1, len(members) // 8)
    x_ticks = [Tick(round(LEFT + (k + 0.5) * step, 2), str(k + 1)) for k in range(0, len(members), every)]
    return BarChart(bars, x_ticks, [Tick(y(v), f"{v:.0%}") for v in (0, 0.25, 0.5, 0.75, 1)], "member", "agrees")


def map_place(point: tuple[float, float]) -> tuple[float, float]:
    """A point between -1 and 1 on the square of a map."""
    scale = Scale(-1.0, 1.0, EDGE, SIDE - EDGE)
    return scale(point[0]), scale(-point[1])
