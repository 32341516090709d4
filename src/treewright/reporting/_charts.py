"""Small charts as SVG whose colours come from the page's style, so that they follow its theme.

Every chart is a function from numbers to markup; texts are escaped here. Coordinates have one
decimal, so that the same figures give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.tree.show.words import clip_middle, format_number

__all__ = ["Bar", "Line", "bars", "dots", "lines", "scatter", "ticks"]

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 26, 12, 44
MOST_POINTS = 240
"""Points of one curve; more are thinned."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Line:
    """A curve, and the band around it if there is one."""

    name: str
    x: ArrayLike
    y: ArrayLike
    spread: ArrayLike | None = None
    points: bool = False


@dataclass(frozen=True)
class Bar:
    """A labelled value with an interval."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    strong: bool = False
    colour: str = ""


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between ``low`` and ``high``.

    Examples
    --------
    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / max(most - 1, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


@dataclass(frozen=True)
class _Frame:
    """Axes: where numbers stand, and what is written beside them."""

    x: tuple[float, float]
    y: tuple[float, float]
    log_x: bool = False
    percent: tuple[bool, bool] = (False, False)

    def at(self, x: float, y: float) -> tuple[float, float]:
        low, high = self.x
        if self.log_x:
            low, high, x = math.log(low), math.log(high), math.log(x)
        across = (x - low) / (high - low) if high > low else 0.5
        up = (y - self.y[0]) / (self.y[1] - self.y[0]) if self.y[1] > self.y[0] else 0.5
        return (
            LEFT + across * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM),
        )

    def path(self, x: Floats, y: Floats) -> str:
        """The points as a path; what cannot be told apart is thinned."""
        keep = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).round().astype(int))
        spots = [self.at(float(x[i]), float(y[i])) for i in keep]
        return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in spots)

    def markup(self, x_label: str, y_label: str) -> str:
        parts = []
        x_ticks = _log_ticks(*self.x) if self.log_x else ticks(*self.x)
        for value in x_ticks:
            a, _ = self.at(value, self.y[0])
            parts.append(_text(a, HEIGHT - BOTTOM + 16, _word(value, self.percent[0]), "middle"))
        for value in ticks(*self.y, 5):
            _, b = self.at(self.x[0], value)
            parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{b:.1f}" y2="{b:.1f}"/>'
            )
            parts.append(_text(LEFT - 6, b + 4, _word(value, self.percent[1]), "end"))
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(_text(middle, HEIGHT - 8, x_label, "middle", "axis"))
        up = (TOP + HEIGHT - BOTTOM) / 2
        parts.append(
            f'<text class="axis" text-anchor="middle" transform="translate(13 {up:.1f}) '
            f'rotate(-90)">{escape(y_label)}</text>'
        )
        return "".join(parts)


def lines(
    series: Sequence[Line],
    x_label: str,
    y_label: str,
    *,
    title: str,
    x: tuple[float, float] | None = None,
    y: tuple[float, float] | None = None,
    diagonal: bool = False,
    log_x: bool = False,
    percent: tuple[bool, bool] = (False, False),
    mark: float | None = None,
) -> str:
    """Curves over one pair of axes, with a legend below."""
    arrays = [(np.asarray(s.x, np.float64), np.asarray(s.y, np.float64)) for s in series]
    spans = [
        np.zeros(len(ys)) if s.spread is None else np.asarray(s.spread, np.float64)
        for s, (_, ys) in zip(series, arrays, strict=True)
    ]
    if x is None:
        x = (min(float(a.min()) for a, _ in arrays), max(float(a.max()) for a, _ in arrays))
    if y is None:
        tops = [float(np.max(b + e)) for (_, b), e in zip(arrays, spans, strict=True)]
        lows = [float(np.min(b - e)) for (_, b), e in zip(arrays, spans, strict=True)]
        y = (0.0 if min(lows) >= 0 else min(lows), max(tops) * 1.04 or 1.0)
    frame = _Frame(x, y, log_x and x[0] > 0, percent)
    parts = [frame.markup(x_label, y_label)]
    if diagonal:
        parts.append(f'<path class="chance" d="{frame.path(np.array(x), np.array(y))}"/>')
    if mark is not None:
        a, _ = frame.at(mark, y[0])
        parts.append(
            f'<line class="mark" x1="{a:.1f}" x2="{a:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        )
    for k, (one, (xs, ys), span) in enumerate(zip(series, arrays, spans, strict=True)):
        if one.spread is not None:
            back = frame.path(xs[::-1], (ys - span)[::-1]).replace("M", "L", 1)
            parts.append(f'<path class="band s{k}" d="{frame.path(xs, ys + span)}{back}Z"/>')
        parts.append(f'<path class="line s{k}" d="{frame.path(xs, ys)}"/>')
        if one.points:
            parts += [_dot(*frame.at(float(a), float(b)), k) for a, b in zip(xs, ys, strict=True)]
    return _figure("".join(parts), title, [s.name for s in series])


def scatter(x: ArrayLike, y: ArrayLike, x_label: str, y_label: str, *, title: str) -> str:
    """Points around the diagonal, at most a few hundred of them."""
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    keep = np.unique(np.linspace(0, len(xs) - 1, min(len(xs), 500)).round().astype(int))
    low, high = float(min(xs.min(), ys.min())), float(max(xs.max(), ys.max()))
    ends = (low, high if high > low else low + 1.0)
    frame = _Frame(ends, ends)
    spots = (frame.at(float(xs[i]), float(ys[i])) for i in keep)
    dots_ = "".join(f'<circle class="point" cx="{a:.1f}" cy="{b:.1f}" r="2.6"/>' for a, b in spots)
    diagonal = f'<path class="chance" d="{frame.path(np.array(ends), np.array(ends))}"/>'
    return _figure(frame.markup(x_label, y_label) + diagonal + dots_, title)


def dots(rows: Sequence[Bar], label: str, *, title: str, percent: bool = False) -> str:
    """One value with its interval per line; those that matter most are strong."""
    ends = [v for r in rows for v in (r.value, r.low, r.high) if v is not None and math.isfinite(v)]
    low, high = min(ends), max(ends)
    pad = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
    low, high = low - pad, high + pad
    left, width, step = 150, 620, 26
    bottom = len(rows) * step + 10
    scale = (width - left - 16) / (high - low)
    parts = []
    for value in ticks(low, high):
        a = left + (value - low) * scale
        parts.append(f'<line class="grid" x1="{a:.1f}" x2="{a:.1f}" y1="4" y2="{bottom}"/>')
        parts.append(_text(a, bottom + 16, _word(value, percent), "middle"))
    for k, row in enumerate(rows):
        b = k * step + 18
        kind = "strong" if row.strong else "other"
        parts.append(_text(left - 10, b + 4, clip_middle(row.name, 22), "end", kind))
        if row.low is not None and row.high is not None:
            one, two = left + (row.low - low) * scale, left + (row.high - low) * scale
            parts.append(
                f'<line class="span {kind}" x1="{one:.1f}" x2="{two:.1f}" y1="{b}" y2="{b}"/>'
            )
        a = left + (row.value - low) * scale
        parts.append(f'<circle class="value {kind}" cx="{a:.1f}" cy="{b}" r="4.5"/>')
    parts.append(_text((left + width) / 2, bottom + 34, label, "middle", "axis"))
    return _figure("".join(parts), title, size=(width, bottom + 42))


def bars(
    groups: Sequence[tuple[str, Sequence[Bar]]], *, title: str, names: Sequence[str] = ()
) -> str:
    """Bars from a common zero, one group per label; negative values go left."""
    values = [bar.value for _, group in groups for bar in group]
    low, high = min(0.0, *values), max(0.0, *values)
    high = high if high > low else low + 1.0
    left, width = 170, 620
    words = [bar.name or format_number(bar.value, 3) for _, group in groups for bar in group]
    right = max(70, 10 + 7 * max(map(len, words)))
    scale = (width - left - right) / (high - low)
    zero = left - low * scale
    parts = []
    at = 6.0
    for label, group in groups:
        tall = 15.0 if len(group) == 1 else 10.0
        middle = at + tall * len(group) / 2
        parts.append(_text(left - 10, middle + 4, clip_middle(label, 26), "end"))
        for k, bar in enumerate(group):
            size = bar.value * scale
            start = zero + min(size, 0.0)
            fill = f' style="fill:{bar.colour}"' if bar.colour else ""
            parts.append(
                f'<rect class="bar s{k}" x="{start:.1f}" y="{at:.1f}" width="{abs(size):.1f}" '
                f'height="{tall - 2:.1f}"{fill}/>'
            )
            word = bar.name or format_number(bar.value, 3)
            beside = max(zero + size, zero) + 5
            parts.append(_text(beside, at + tall - 4, word, "start", "small"))
            at += tall
        at += 7
    return _figure("".join(parts), title, names, size=(width, at + 4))


def _figure(
    body: str, title: str, names: Sequence[str] = (), size: tuple[float, float] = (WIDTH, HEIGHT)
) -> str:
    legend = "".join(
        f'<li><span class="key s{k}"></span>{escape(name)}</li>' for k, name in enumerate(names)
    )
    below = f'<ul class="legend">{legend}</ul>' if names else ""
    return (
        f'<figure class="chart"><svg viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" role="img" '
        f'aria-label="{escape(title)}">{body}</svg>{below}</figure>'
    )


def _dot(a: float, b: float, k: int) -> str:
    return f'<circle class="dot s{k}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>'


def _text(x: float, y: float, words: str, anchor: str, kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of_kind}>{escape(words)}</text>'


def _word(value: float, percent: bool) -> str:
    return f"{format_number(100 * value, 4)} %" if percent else format_number(value, 4)


def _log_ticks(low: float, high: float) -> list[float]:
    found = [
        m * 10.0**e
        for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for m in (1, 2, 5)
    ]
    inside = [x for x in found if low <= x <= high]
    return inside if len(inside) <= 7 else [x for x in inside if math.log10(x) % 1 == 0] or inside
