"""The report of C5.0: size, errors, confusion table and the use of the features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.rules import RuleSet
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.learners._c50.model import Learned

__all__ = ["summary"]

MOST_CLASSES = 20
"""Classes up to which the confusion table is printed."""

_ENDINGS = {
    "accurate": "last classifier is very accurate",
    "inaccurate": "last classifier is very inaccurate",
}


def summary(
    learned: Learned, classes: Sequence[Any], names: Sequence[str], trials: int, bands: int
) -> str:
    """The report as text."""
    cases = float(learned.confusion.sum())
    parts = [*_winnowed(learned, names)]
    for trial, model in enumerate(learned.models):
        if len(learned.models) > 1:
            parts.append(f"-----  Trial {trial}:  -----")
        kind = "Rules" if isinstance(model, RuleSet) else "Decision tree"
        text = model.to_text(style="c50")
        parts.append(f"{kind}:\n\n{text}")
    if trials > 1 and learned.ended is not None:
        parts.append(_ending(learned))
    parts.append(f"Evaluation on training data ({cases:.10g} cases):")
    parts.append(_sizes(learned, cases))
    if len(classes) <= MOST_CLASSES:
        parts.append(_confusion(learned, classes))
    parts.append(_usage(learned, names))
    if learned.bands is not None:
        parts.append(_bands(learned, cases, bands))
    return "\n\n".join(part for part in parts if part) + "\n"


def _winnowed(learned: Learned, names: Sequence[str]) -> list[str]:
    found = learned.winnowed
    if found is None:
        return []
    if not found.dropped.any():
        return ["No attributes winnowed"]
    left = [i for i in np.argsort(-found.importance, kind="stable") if not found.dropped[i]]
    lines = [f"{int(found.dropped.sum())} attributes winnowed"]
    lines.append("Estimated importance of remaining attributes:")
    lines.append("")
    for i in left:
        share = round(100 * float(found.importance[i]))
        lines.append(f"{f'{share}%' if share >= 1 else '<1%':>8}  {names[i]}")
    return ["\n".join(lines)]


def _ending(learned: Learned) -> str:
    n = len(learned.models)
    reason = _ENDINGS[str(learned.ended)]
    if n == 1:
        return f"*** boosting abandoned (too few classifiers): {reason}"
    return f"*** boosting reduced to {n} trials since {reason}"


def size_of(model: Tree | RuleSet) -> int:
    """Leaves of a tree, rules of a rule set."""
    return model.n_leaves if isinstance(model, Tree) else len(model)


def _sizes(learned: Learned, cases: float) -> str:
    rules = isinstance(learned.models[0], RuleSet)
    several = len(learned.models) > 1

    def row(label: str, size: str, errors: float, end: str = "") -> str:
        share = 100 * errors / cases if cases else 0.0
        return f"{label}\t  {size:>4} {errors:>5.10g}({share:4.1f}%){end}".rstrip()

    head = "Trial\t" if several else "\t"
    lines = [head + ("        Rules     " if rules else "    Decision Tree   ").rstrip()]
    lines.append(("-----\t" if several else "\t") + "  ----------------")
    lines.append("\t  " + ("  No      Errors" if rules else "Size      Errors"))
    lines.append("")
    sizes = [str(size_of(model)) for model in learned.models]
    if not several:
        lines.append(row("", sizes[0], float(learned.errors[-1]), "   <<"))
    else:
        each = zip(sizes, learned.errors[:-1].tolist(), strict=True)
        lines.extend(row(f"{i:4}", size, errors) for i, (size, errors) in enumerate(each))
        lines.append(row("boost", "", float(learned.errors[-1]), "   <<"))
    return "\n".join(lines)


def _letters(i: int) -> str:
    return f"({chr(ord('a') + i)})"


def _confusion(learned: Learned, classes: Sequence[Any]) -> str:
    n = len(classes)
    lines = ["\t" + "".join(f"{_letters(i):>6}" for i in range(n)) + "    <-classified as"]
    lines.append("\t" + "".join(f"{'----':>6}" for _ in range(n)))
    for i, name in enumerate(classes):
        cells = "".join(f"{x:>6.6g}" if x else " " * 6 for x in learned.confusion[i].tolist())
        lines.append(f"\t{cells}    {_letters(i)}: class {name}")
    return "\n".join(lines)


def _usage(learned: Learned, names: Sequence[str]) -> str:
    order = [i for i in np.argsort(-learned.usage, kind="stable") if learned.usage[i] > 0]
    if not order:
        return ""
    lines = ["\tAttribute usage:", ""]
    lines.extend(f"\t{100 * float(learned.usage[i]):6.2f}%\t{names[i]}" for i in order)
    return "\n".join(lines)


def _bands(learned: Learned, cases: float, bands: int) -> str:
    assert learned.bands is not None
    n = len(learned.bands)
    lines = ["Rule utility summary:", "", "\tRules\t      Errors", "\t-----\t      ------"]
    ends = np.unique(np.ceil(np.arange(1, bands + 1) * n / bands).astype(int))
    for end in ends.tolist() if n else []:
        errors = float(learned.bands[end - 1])
        label = "1" if end == 1 else f"1-{end}"
        lines.append(f"\t{label}\t{errors:>5.10g}({100 * errors / cases:.1f}%)")
    return "\n".join(lines)
