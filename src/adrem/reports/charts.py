"""Coordinates of charts, which the template draws as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adrem.diagnostics import Bin, Spread
from adrem.runtime.text import rows

WIDTH, HEIGHT = 420.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 12.0, 14.0, 40.0
N_TICKS = 4
MAP_SIDE, MAP_MARGIN = 420.0, 14.0


@dataclass(frozen=True)
class Scale:
    """A linear map from values between two bounds to coordinates."""

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
    """A tick of an axis."""

    place: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A point with a tooltip."""

    x: float
    y: float
    tip: str
    tone: str


@dataclass(frozen=True)
class Line:
    """A line and its band, as SVG points."""

    name: str
    tone: str
    points: str
    band: str


@dataclass(frozen=True)
class LineChart:
    """Lines with common axes."""

    lines: list[Line]
    marks: list[Mark]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_name: str
    y_name: str


@dataclass(frozen=True)
class Bar:
    """A bar with a tooltip: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float
    tip: str
    tone: str


@dataclass(frozen=True)
class BarChart:
    """Bars, side by side or stacked."""

    bars: list[Bar]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_name: str
    y_name: str


def nice_ticks(low: float, high: float, n: int = N_TICKS) -> list[float]:
    """Return about n round values that cover the range."""
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
    """Format a number in few characters."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


Series = tuple[str, str, Sequence[Spread]]  # name, tone and values by iteration


def line_chart(series: Sequence[Series], x_name: str, y_name: str) -> LineChart:
    """Return lines of means with bands from the least to the largest value, by iteration from zero."""
    n = max(len(values) for _, _, values in series)
    ticks = _value_ticks([spread for _, _, values in series for spread in values])
    x = Scale(0.0, max(1.0, n - 1.0), LEFT, WIDTH - RIGHT)
    y = Scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP)
    lines = [_line(own, x, y) for own in series]
    marks = [mark for own in series for mark in _marks(own, x, y)]
    x_ticks = [Tick(x(v), f"{v:g}") for v in nice_ticks(0.0, n - 1.0, 5) if v <= n - 1 and float(v).is_integer()]
    return LineChart(lines, marks, x_ticks, [Tick(y(v), short(v)) for v in ticks], x_name, y_name)


def _value_ticks(spreads: Sequence[Spread]) -> list[float]:
    """Return the ticks of the value axis. It starts at zero unless that would hide the differences."""
    least, most = min(spread.low for spread in spreads), max(spread.high for spread in spreads)
    low = min(0.0, least) if least < 0.5 * most else least
    return nice_ticks(low, most if most > low else low + 1.0)


def _line(series: Series, x: Scale, y: Scale) -> Line:
    name, tone, values = series
    points = " ".join(f"{x(k)},{y(spread.mean)}" for k, spread in enumerate(values))
    upper = [f"{x(k)},{y(spread.high)}" for k, spread in enumerate(values)]
    lower = [f"{x(k)},{y(spread.low)}" for k, spread in enumerate(values)]
    return Line(name, tone, points, " ".join([*upper, *reversed(lower)]))


def _marks(series: Series, x: Scale, y: Scale) -> list[Mark]:
    name, tone, values = series
    tips = [
        f"{name}, iteration {k}: {short(spread.mean)} ({short(spread.low)} to {short(spread.high)})"
        for k, spread in enumerate(values)
    ]
    return [Mark(x(k), y(spread.mean), tips[k], tone) for k, spread in enumerate(values)]


def confidence_chart(bins: Sequence[Bin], by_votes: bool) -> BarChart:
    """Return stacked bars of rows by confidence: unchanged labels below, changed labels above."""
    tallest = max(1, *(b.kept + b.changed for b in bins))
    ticks = nice_ticks(0.0, float(tallest))
    y = Scale(0.0, ticks[-1], HEIGHT - BOTTOM, TOP)
    step = (WIDTH - RIGHT - LEFT) / len(bins)
    bars = []
    for k, b in enumerate(bins):
        name = f"{k + 1} of {len(bins)} votes" if by_votes else f"confidence {b.low:.0%} to {b.high:.0%}"
        place = round(LEFT + k * step + 1.5, 2)
        width = round(step - 3, 2)
        for base, count, tone, word in ((0, b.kept, "before", "unchanged"), (b.kept, b.changed, "after", "changed")):
            if count:
                top, foot = y(base + count), y(base)
                bars.append(Bar(place, top, width, round(foot - top, 2), f"{name}: {rows(count)}, label {word}", tone))
    every = max(1, len(bins) // 6)
    x_ticks = [
        Tick(round(LEFT + (k + 0.5) * step, 2), str(k + 1) if by_votes else f"{b.high:.0%}")
        for k, b in enumerate(bins)
        if (len(bins) - 1 - k) % every == 0
    ]
    x_name = "members that agree" if by_votes else "confidence (upper limit)"
    return BarChart(bars, x_ticks, [Tick(y(v), short(v)) for v in ticks], x_name, "target rows")


def member_chart(members: Sequence[float]) -> BarChart:
    """Return bars of the share of labels on which each member agrees with the vote."""
    y = Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    step = (WIDTH - RIGHT - LEFT) / len(members)
    gap = min(3.0, step / 4)
    bars = [
        Bar(
            round(LEFT + k * step + gap / 2, 2),
            y(share),
            round(step - gap, 2),
            round(y(0.0) - y(share), 2),
            f"member {k + 1}: agrees on {share:.1%} of the labels",
            "after",
        )
        for k, share in enumerate(members)
    ]
    every = max(1, len(members) // 8)
    x_ticks = [Tick(round(LEFT + (k + 0.5) * step, 2), str(k + 1)) for k in range(0, len(members), every)]
    return BarChart(bars, x_ticks, [Tick(y(v), f"{v:.0%}") for v in (0, 0.25, 0.5, 0.75, 1)], "member", "agreement")


def map_place(point: tuple[float, float]) -> tuple[float, float]:
    """Return the coordinates of a point of the square from -1 to 1 on a map."""
    scale = Scale(-1.0, 1.0, MAP_MARGIN, MAP_SIDE - MAP_MARGIN)
    return scale(point[0]), scale(-point[1])
