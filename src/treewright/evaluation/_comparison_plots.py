"""Figures of a comparison: critical differences, scores of folds, differences of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.evaluation._figures import FIGURES
from treewright.evaluation._names import choice
from treewright.evaluation._ranks import groups_alike

if TYPE_CHECKING:
    from treewright.evaluation._comparison import Comparison

__all__ = ["draw"]

BAR = "#3b6ea5"
DOT = "#333333"


def draw(result: Comparison, kind: str, ax: Any = None) -> Any:
    """One of the figures, on new axes unless some are given."""
    makers = {
        "critical_difference": _critical_difference,
        "scores": _scores,
        "differences": _differences,
    }
    choice("kind", kind, list(makers))
    if ax is None:
        from matplotlib import pyplot as plt

        n = len(result.names) if kind != "differences" else len(result.pairs)
        height = 1.6 + 0.28 * n if kind == "critical_difference" else 1.2 + 0.35 * n
        ax = plt.subplots(figsize=(7.5, height), layout="constrained")[1]
    makers[kind](result, ax)
    return ax


def _critical_difference(result: Comparison, ax: Any) -> None:
    """Models on one axis, the best at the left; bars join those not shown to differ."""
    is_ranked = result.ranks is not None
    places = np.asarray(result.ranks if is_ranked else result.means, float)
    n = len(places)
    order = np.arange(n)
    differs = np.zeros((n, n), bool)
    at = {name: k for k, name in enumerate(result.names)}
    for pair in result.pairs:
        a, b = at[pair.first], at[pair.second]
        differs[a, b] = differs[b, a] = result.differs(pair)
    groups = groups_alike(order, differs)
    span = float(np.ptp(places)) or 1.0
    low, high = places.min() - 0.12 * span, places.max() + 0.12 * span
    if is_ranked:
        low, high = 1.0, float(n)
    falls = not is_ranked and FIGURES[result.metric].better == "high"
    ax.set_xlim(*((high, low) if falls else (low, high)))
    half = (n + 1) // 2
    bottom = -0.6 - 0.35 * len(groups) - max(half, n - half)
    ax.set_ylim(bottom, 1.3 if is_ranked else 0.4)
    first_line = -0.5 - 0.35 * len(groups)
    for k in range(n):
        left = k < half
        y = first_line - (k if left else n - 1 - k) - 0.4
        edge = ax.get_xlim()[0 if left else 1]
        ax.plot([places[k], places[k], edge], [0, y, y], color=DOT, lw=1, clip_on=False)
        value = f"{places[k]:.2f}" if is_ranked else f"{places[k]:.3f}"
        ax.annotate(
            f"{result.names[k]} ({value})",
            (edge, y),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            annotation_clip=False,
        )
        ax.plot(places[k], 0, "o", color=DOT, ms=4, clip_on=False)
    for line, (a, b) in enumerate(groups):
        y = -0.35 * (line + 1)
        ends = [places[a], places[b]]
        ax.plot(ends, [y, y], color=BAR, lw=4, solid_capstyle="round", clip_on=False)
    _axis_on_top(result, ax, is_ranked)


def _axis_on_top(result: Comparison, ax: Any, is_ranked: bool) -> None:
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_position(("data", 0))
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.yaxis.set_visible(False)
    if not is_ranked:
        ax.set_xlabel(f"mean {FIGURES[result.metric].label}; bars join what is not shown to differ")
        return
    assert result.ranking is not None
    ax.set_xticks(np.arange(1, len(result.names) + 1))
    ax.set_xlabel("mean rank; bars join what is not shown to differ")
    wide = result.ranking.critical_difference
    start = 1.0
    ax.plot([start, start + wide], [1.05, 1.05], color=BAR, lw=2, clip_on=False)
    for x in (start, start + wide):
        ax.plot([x, x], [0.95, 1.15], color=BAR, lw=2, clip_on=False)
    ax.annotate(
        f"critical difference {wide:.2f}",
        (start + wide, 1.05),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        color=BAR,
        annotation_clip=False,
    )


def _scores(result: Comparison, ax: Any) -> None:
    """Scores of all folds (or data sets), with the mean and its interval."""
    columns = result._columns()
    rng = np.random.default_rng(0)
    several = len(result.data_sets) > 1
    for k, name in enumerate(result.names):
        scores = (
            np.array([one[k].mean() for one in result.scores]) if several else result.scores[0][k]
        )
        spread = rng.uniform(-0.14, 0.14, len(scores))
        ax.plot(scores, k + spread, "o", color=BAR, alpha=0.35, ms=4, mec="none")
        if "low" in columns:
            ends = [columns["low"][k], columns["high"][k]]
            ax.plot(ends, [k, k], color=DOT, lw=2)
        ax.plot(columns[result.metric][k], k, "D", color=DOT, ms=5, label=name)
    ax.set_yticks(range(len(result.names)), result.names)
    ax.invert_yaxis()
    percent = f"{100 * result.settings.confidence:g} %"
    what = "data sets" if several else f"folds, mean and {percent} interval"
    ax.set_xlabel(f"{FIGURES[result.metric].label}: {what}")


def _differences(result: Comparison, ax: Any) -> None:
    """The difference of every pair with its interval; filled where the pair differs."""
    for k, pair in enumerate(result.pairs):
        face = BAR if result.differs(pair) else "white"
        if np.isfinite(pair.low):
            ax.plot([pair.low, pair.high], [k, k], color=BAR, lw=2)
        ax.plot(pair.difference, k, "o", color=BAR, mfc=face, ms=6)
    ax.axvline(0, color=DOT, lw=0.8)
    if result.settings.test == "bayes":
        ax.axvspan(-result.settings.rope, result.settings.rope, color="0.9", zorder=0)
    names = [f"{pair.first} − {pair.second}" for pair in result.pairs]
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    what = "mean rank" if result.ranking is not None else FIGURES[result.metric].label
    percent = f"{100 * result.settings.confidence:g} %"
    ax.set_xlabel(f"difference of {what}, {percent} interval of each pair (filled: differs)")
