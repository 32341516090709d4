"""The figure of a search: scores of candidates, the choice, and the nested score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.evaluation._figures import FIGURES
from treewright.evaluation._names import choice

if TYPE_CHECKING:
    from treewright.evaluation._tuning import Tuning

__all__ = ["draw"]

COLOUR, NESTED = "#3b6ea5", "#b5532d"


def draw(result: Tuning, parameter: str | None, ax: Any = None) -> Any:
    """Scores against a parameter, or in their own order."""
    if ax is None:
        from matplotlib import pyplot as plt

        ax = plt.subplots(figsize=(7, 4), layout="constrained")[1]
    tried = [one for one in result._ordered() if one.share == 1.0]
    names = list(dict.fromkeys(name for one in tried for name in one.parameters))
    if parameter is None and len(names) == 1:
        parameter = names[0]
    if parameter is not None:
        choice("parameter", parameter, names)
        tried = _along(result, tried, parameter)
    values: list[Any] = [one.parameters.get(parameter) for one in tried] if parameter else []
    is_number = bool(values) and all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in values
    )
    x = np.array(values, float) if is_number else np.arange(len(tried), dtype=float)
    mean = np.array([one.mean for one in tried])
    error = np.array([one.standard_error for one in tried])
    style = "-" if parameter else ""
    ax.errorbar(
        x, mean, error, fmt=f"o{style}", color=COLOUR, capsize=3, label="inner folds ± 1 SE"
    )
    for place, one in zip(x, tried, strict=True):
        if one is result.searched.chosen:
            ax.plot(place, one.mean, "D", color=COLOUR, ms=10, mfc="none", label="chosen (naive)")
    if result.outer:
        low, high = result.interval
        ax.axhline(result.nested, color=NESTED, label="nested: what to expect")
        ax.axhspan(low, high, color=NESTED, alpha=0.12, lw=0)
    if parameter and not is_number:
        ax.set_xticks(x, [str(v) for v in values])
    if is_number and x.min() > 0 and x.max() / x.min() >= 50:
        ax.set_xscale("log")
    ax.set_xlabel(parameter or "candidates, the best first")
    ax.set_ylabel(FIGURES[result.metric].label)
    ax.legend()
    return ax


def _along(result: Tuning, tried: list[Any], parameter: str) -> list[Any]:
    """The best candidate for every value of a parameter, in the order of the values."""
    best: dict[str, Any] = {}
    for one in tried:  # the best comes first
        best.setdefault(repr(one.parameters.get(parameter)), one)
    chosen = result.searched.chosen
    best[repr(chosen.parameters.get(parameter))] = chosen
    found = list(best.values())
    values = [one.parameters.get(parameter) for one in found]
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return [found[k] for k in np.argsort(np.array(values, float), kind="stable")]
    return sorted(found, key=lambda one: repr(one.parameters.get(parameter)))
