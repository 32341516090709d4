"""The fourth step: one model to read and one to win, and what the difference is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treewright.evaluation._comparison import Pair
from treewright.evaluation._comparison_words import amount
from treewright.evaluation._figures import FIGURES
from treewright.evaluation._learners import LEARNERS
from treewright.reporting.steps.compare import Compared, make_learner
from treewright.reporting.steps.hold_out import Held
from treewright.reporting.steps.plan import Plan, Settings, Tell, is_readable
from treewright.reporting.steps.understand import Understanding

__all__ = ["Choice", "choose"]


@dataclass(frozen=True, eq=False)
class Choice:
    """The readable model and the strong one, both fitted on all training rows.

    Parameters
    ----------
    readable, strong
        Names of the learners; the same where one tree does best.
    models
        Fitted models by name.
    leaves
        Leaves of the trees that could have been shown.
    pair
        The two in the comparison, the better one first; None where they are one.
    is_shown
        Whether the comparison shows a difference between them.
    reasons
        Why these two.
    """

    readable: str
    strong: str
    models: dict[str, Any]
    leaves: dict[str, int]
    pair: Pair | None
    is_shown: bool
    reasons: tuple[str, ...]


def choose(
    compared: Compared, data: Understanding, held: Held, plan: Plan, settings: Settings, tell: Tell
) -> Choice:
    """The smallest tree that is not shown to be worse than the best tree, and the best of all."""
    strong = compared.names[0]
    trees = [name for name in compared.names if is_readable(name, settings)]
    wanted = list(dict.fromkeys([*trees, strong]))
    models = {}
    for k, name in enumerate(wanted):
        tell("fit", k, len(wanted))
        models[name] = make_learner(name, data, plan, settings).fit(held.X_train, held.y_train)
    tell("fit", len(wanted), len(wanted))
    leaves = {name: int(models[name].tree_.n_leaves) for name in trees}
    readable, reasons = _smallest(compared, trees, leaves, settings.max_leaves)
    pair, is_shown = compared.pair(readable, strong)
    reasons.append(_strong_words(compared, readable, strong, pair, is_shown))
    return Choice(readable, strong, models, leaves, pair, is_shown, tuple(reasons))


def _smallest(
    compared: Compared, trees: list[str], leaves: dict[str, int], most: int
) -> tuple[str, list[str]]:
    fitting = [name for name in trees if 1 < leaves[name] <= most]
    if not fitting:
        name = min(trees, key=lambda n: (leaves[n] == 1, leaves[n], trees.index(n)))
        if leaves[name] == 1:
            return name, ["No tree found a split worth keeping: the page shows a single leaf."]
        return name, [
            f"Of the trees, {_title(name)} is the smallest; none has {most} leaves or fewer."
        ]
    best = fitting[0]
    equal = [name for name in fitting if not compared.pair(best, name)[1]]
    if compared.comparison is None:
        equal = [best]
    chosen = min(equal, key=lambda name: (leaves[name], trees.index(name)))
    many = [f"{_title(name)} ({leaves[name]} leaves)" for name in trees if leaves[name] > most]
    reasons = []
    if chosen != best:
        reasons.append(
            f"To read, {_title(chosen)}: its {leaves[chosen]} leaves are fewer than the "
            f"{leaves[best]} of {_title(best)}, and it is not shown to be worse."
        )
    else:
        reasons.append(f"To read, {_title(chosen)}: the best tree of at most {most} leaves.")
    if many:
        reasons.append(f"Too large to read: {', '.join(many)}.")
    return chosen, reasons


def _title(name: str) -> str:
    return LEARNERS[name].title


def _strong_words(
    compared: Compared, readable: str, strong: str, pair: Pair | None, is_shown: bool
) -> str:
    if pair is None:
        return "No other learner did better, so that readability costs nothing here."
    lost = f"{amount(compared.metric, abs(pair.difference))} of {FIGURES[compared.metric].label}"
    # the pair is the better one less the other: a gain where more is better, else a saving
    sign = -1.0 if compared.is_low_better else 1.0
    low, high = sorted((sign * pair.low, sign * pair.high))
    ends = f"{amount(compared.metric, low).removesuffix(' points')} to "
    ends += amount(compared.metric, high)
    if is_shown:
        return (
            f"To win, {_title(strong)}, the best of all: reading {_title(readable)} instead "
            f"costs {lost} (interval {ends})."
        )
    return (
        f"To win, {_title(strong)}, the best of all by {lost} (interval {ends}), which is not "
        f"shown to be more than chance: readability may cost nothing."
    )
