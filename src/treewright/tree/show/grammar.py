"""What is said of a node, the same in every learner, picture and text.

``n`` is always the number of training rows. A percentage behind a class is the probability of
that class at the node, under the priors; a percentage "of rows" is the node's share of all rows.
A prediction is too close to call if its lead over the runner-up is below one standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.tree.growing.stopped import why_stopped
from treewright.tree.node_tests import format_p
from treewright.tree.show.fold import Part
from treewright.tree.show.words import clip_middle, exact, format_number, format_value
from treewright.tree.tree import Tree

__all__ = [
    "Facts",
    "count_words",
    "facts_of",
    "joined",
    "output_names",
    "percent",
    "sentence",
    "split_statistic",
    "split_test",
]

LONGEST_CLASS = 60


@dataclass(frozen=True)
class Facts:
    """The figures of a node, or of several branches together.

    Parameters
    ----------
    n, share
        Training rows, and their share of all rows.
    weight
        Their weight.
    prediction
        What is predicted, in words.
    order, probability
        Classes from the predicted one on by falling probability, and the probability of each
        class in their own order; empty for numbers.
    lead
        Probability of the prediction over that of the runner-up, from 0 to 1.
    is_close
        Whether that lead is below one standard error.
    means, quantiles
        Of the outputs (regression); ``quantiles`` has a row of five per output, or none.
    """

    n: int
    share: float
    weight: float
    prediction: str
    order: tuple[int, ...] = ()
    probability: tuple[float, ...] = ()
    lead: float = 0.0
    is_close: bool = False
    means: tuple[float, ...] = ()
    quantiles: tuple[tuple[float, ...], ...] = ()

    @property
    def certainty(self) -> str:
        """Probability of the predicted class; nothing for numbers."""
        return percent(self.probability[self.order[0]]) if self.order else ""

    @property
    def answer(self) -> str:
        """Prediction and certainty."""
        return joined(self.prediction, self.certainty)

    @property
    def rows(self) -> str:
        """The number of rows."""
        return f"n {self.n}"

    @property
    def rows_and_share(self) -> str:
        """The number of rows and their share of all."""
        return f"n {self.n} · {percent(self.share)} of rows"


def percent(share: float) -> str:
    """A share in percent; only certainty reads 100 %, only nothing 0 %.

    Examples
    --------
    >>> [percent(x) for x in (0.0, 0.001, 0.5, 0.999, 1.0)]
    ['0 %', '< 1 %', '50 %', '> 99 %', '100 %']
    """
    whole = round(100 * share)
    if whole == 100 and share < 1:
        return "> 99 %"
    if whole == 0 and share > 0:
        return "< 1 %"
    return f"{whole} %"


def joined(prediction: str, certainty: str) -> str:
    """Prediction and certainty; a point between them where the class could be read as a number."""
    if not certainty:
        return prediction
    return f"{prediction}{' · ' if prediction[-1:].isdigit() else ' '}{certainty}"


def count_words(n: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"1 {one}" if n == 1 else f"{n} {many}"


def facts_of(tree: Tree, nodes: tuple[int, ...], digits: int) -> Facts:
    """The figures of one node, or of several branches of one parent."""
    at = list(nodes)
    n = int(tree.n_samples[at].sum())
    weight = float(tree.weight[at].sum())
    share = min(1.0, n / max(int(tree.n_samples[0]), 1))
    target = tree.schema.target
    if target is not None and target.is_classification:
        return _class_facts(tree, at, n, share, weight)
    if len(at) == 1 or weight <= 0:
        means = tree.value[at[0]]
    else:
        means = np.average(tree.value[at], axis=0, weights=tree.weight[at])
    words = ", ".join(format_number(float(x), digits) for x in means)
    return Facts(
        n,
        share,
        weight,
        words if len(means) == 1 else f"({words})",
        means=tuple(means.tolist()),
        quantiles=_quantiles(tree, at) if len(at) == 1 else (),
    )


def _class_facts(tree: Tree, at: list[int], n: int, share: float, weight: float) -> Facts:
    target = tree.schema.target
    assert target is not None
    if len(at) == 1:
        probability, label = tree.probability[at[0]], int(tree.label[at[0]])
    else:
        total = tree.weight[at].sum()
        weights = tree.weight[at] / total if total > 0 else np.full(len(at), 1 / len(at))
        probability = weights @ tree.probability[at]
        label = int(probability.argmax())
    order = np.argsort(-probability, kind="stable").tolist()
    order.remove(label)
    first = float(probability[label])
    second = float(probability[order[0]]) if order else 0.0
    lead = max(0.0, first - second)
    # of n rows the lead has a standard error of about sqrt((p1 + p2) / n)
    is_close = n == 0 or (first - second) * np.sqrt(n) < np.sqrt(first + second)
    return Facts(
        n,
        share,
        weight,
        clip_middle(exact(target.classes[label]), LONGEST_CLASS),
        order=(label, *order),
        probability=tuple(probability.tolist()),
        lead=lead,
        is_close=bool(is_close) and len(probability) > 1,
    )


def _quantiles(tree: Tree, at: list[int]) -> tuple[tuple[float, ...], ...]:
    kept: NDArray[np.float64] | None = tree.extras.get("quantiles")
    if kept is None or np.isnan(kept[at[0]]).any():
        return ()
    return tuple(map(tuple, kept[at[0]].reshape(tree.value.shape[1], -1).tolist()))


def output_names(tree: Tree) -> list[str]:
    """Names of the outputs of a regression tree."""
    target = tree.schema.target
    n_outputs = tree.value.shape[1]
    if n_outputs == 1:
        return [clip_middle(format_value("" if target is None else target.name), 32)]
    names = getattr(target, "outputs", ()) or [f"output {k + 1}" for k in range(n_outputs)]
    return [clip_middle(format_value(name), 32) for name in names]


def split_test(tree: Tree, node: int) -> str:
    """The p-value that chose a split; nothing where none did."""
    log_p = float(tree.log_p[node])
    return "" if np.isnan(log_p) else format_p(log_p)


def split_statistic(tree: Tree, node: int) -> str:
    """The statistic behind the p-value of a split; nothing where there is none."""
    if tree.tests is None or tree.is_leaf[node] or np.isnan(tree.log_p[node]):
        return ""
    found = (tree.tests.node == node) & (tree.tests.feature == tree.splits.feature[node])
    at = int(np.flatnonzero(found)[0])
    statistic = format_number(float(tree.tests.statistic[at]), 5)
    df = float(tree.tests.df[at])
    error = tree.extras.get("df_error")
    if error is not None and not np.isnan(error[node]):
        both = ", ".join(format_number(x, 6) for x in (df, float(error[node])))
        return f"F = {statistic}, df = {both}"
    if np.isnan(df):
        return f"statistic = {statistic}"
    return f"χ² = {statistic}, df = {format_number(df, 6)}"


def sentence(tree: Tree, part: Part, facts: Facts, subject: str, n_leaves: int) -> str:
    """What a part is and says, for a reader who cannot see it."""
    rows = count_words(facts.n, "row", "rows")
    answer = facts.answer + (", too close to call" if facts.is_close else "")
    if part.kind == "split":
        words = (split_test(tree, part.node), split_statistic(tree, part.node))
        tests = ", ".join(filter(None, words))
        tested = f" ({tests})" if tests else ""
        return f"node {part.node} asks {subject}{tested}; {rows}, mostly {answer}"
    if part.kind == "leaf":
        stopped = why_stopped(tree, part.node)
        why = f"; not split: {stopped}" if stopped else ""
        tested = split_test(tree, part.node)
        why += f"; least {tested} of the tests here" if tested else ""
        return f"leaf {part.node} predicts {answer}; {rows}{why}"
    if part.kind == "fold":
        leaves = count_words(n_leaves, "leaf", "leaves")
        return f"node {part.node}, folded: {leaves}, mostly {answer}; {rows}"
    branches = count_words(len(part.nodes), "branch", "branches")
    if part.kind == "empty":
        return f"{branches} that no training row took; predicted there: {facts.prediction}"
    return f"{branches} together, {n_leaves} leaves, mostly {answer}; {rows}"
