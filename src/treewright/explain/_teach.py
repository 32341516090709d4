"""An induction told step by step, in words and numbers, as a course tells it.

Every node of the tree is visited in the order in which a reader would work: its rows, what
impurity they have, every candidate with the counts of its branches and the sum that its score
is, which one wins, or why the node stays a leaf. Nothing is grown again but the candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.arguments import INSTANCE, checked
from treewright.errors import ParameterError
from treewright.explain._measures import entropy, gini
from treewright.explain._trace import NOT_SIGNIFICANT, Candidate, Trace, trace
from treewright.tree.conditions import branch_conditions, merge_conditions
from treewright.tree.show.describe import Wording
from treewright.tree.show.tables import as_frame, text_table
from treewright.tree.show.words import clip, format_value

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["Lesson", "Step", "teach"]

MOST_NODES = 200
"""Nodes that a lesson tells; deeper ones are left out."""
TEST_WIDTH = 40


@dataclass(frozen=True)
class Step:
    """One step of a lesson: a heading, paragraphs, and the candidates where there were any.

    Parameters
    ----------
    heading
        Its heading.
    text
        Paragraphs.
    trace
        The candidates at a node, where there were any.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> lesson = ID3Classifier().fit(tennis.data, tennis.target).lesson(tennis.data, tennis.target)
    >>> print(lesson[1])
    Node 1: Outlook = Overcast
    --------------------------
    4 rows: 4 Yes.
    Entropy: − 4/4 log₂ 4/4 = 0.000 bits.
    A leaf: all rows are of one class. It says Yes.
    """

    heading: str
    text: tuple[str, ...]
    trace: Trace | None = None

    def __str__(self) -> str:
        return "\n".join([self.heading, "-" * len(self.heading), *self.text])


@dataclass(frozen=True)
class Lesson(Sequence[Step]):
    """A whole induction, step by step.

    Parameters
    ----------
    title
        What was learned.
    steps
        In the order in which they are worked.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> lesson = ID3Classifier().fit(tennis.data, tennis.target).lesson(tennis.data, tennis.target)
    >>> print(lesson[0].text[0])
    14 rows: 5 No, 9 Yes.
    >>> len(lesson)
    8
    >>> lesson.frame().columns.tolist()
    ['heading', 'text']
    >>> axes = lesson.plot()
    """

    title: str
    steps: tuple[Step, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, k: Any) -> Any:
        return self.steps[k]

    def frame(self) -> Any:
        """Heading and text of each step as a data frame."""
        return as_frame(
            {
                "heading": [step.heading for step in self.steps],
                "text": ["\n".join(step.text) for step in self.steps],
            }
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw the candidates of every node that was split, a panel each.

        Parameters
        ----------
        axes
            One matplotlib axes for each such node; new ones if None.
        """
        shown = [s for s in self.steps if s.trace is not None and s.trace.stopped is None]
        if not shown:
            raise ParameterError("plot needs a node that was split, but this tree is one leaf.")
        if axes is None:
            from matplotlib import pyplot as plt

            size = (8.0, 1.0 + 1.9 * len(shown))
            grid = plt.subplots(len(shown), figsize=size, squeeze=False, layout="constrained")[1]
            axes = grid[:, 0]
        for step, ax in zip(shown, axes, strict=True):
            assert step.trace is not None
            step.trace.plot(ax)
        return axes

    def __str__(self) -> str:
        bar = "=" * len(self.title)
        return "\n\n".join([f"{self.title}\n{bar}", *map(str, self.steps)])

    def _repr_html_(self) -> str:
        parts = [f"<h3>{escape(self.title)}</h3>"]
        for step in self.steps:
            parts.append(f"<h4>{escape(step.heading)}</h4>")
            parts.append(
                f"<pre style='white-space:pre-wrap'>{escape(chr(10).join(step.text))}</pre>"
            )
        return "".join(parts)


@checked(model=INSTANCE)
def teach(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Lesson:
    """Tell how a fitted model was learned, step by step, in words and numbers.

    Parameters
    ----------
    model : fitted tree learner, or AdaBoostClassifier
        ID3, C4.5, C5.0, CART, CHAID, CTree, Hunt and others that grow one tree.
    X, y, sample_weight
        The training data.

    Returns
    -------
    lesson : Lesson
        With ``print(lesson)``, ``frame()``, ``plot()`` and a notebook display.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> from treewright.explain import teach
    >>> tennis = datasets.load_play_tennis()
    >>> model = ID3Classifier().fit(tennis.data, tennis.target)
    >>> "Outlook wins" in str(teach(model, tennis.data, tennis.target))
    True
    """
    tell = getattr(model, "lesson", None)
    if tell is None:
        raise ParameterError(
            f"teach needs a learner of one tree or AdaBoostClassifier, got {type(model).__name__}."
        )
    lesson: Lesson = tell(X, y, sample_weight)
    return lesson


def tree_lesson(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Lesson:
    """The lesson of a learner that grows one tree; see :func:`teach`."""
    tree: Tree = estimator._fitted()
    name = type(estimator).__name__.removesuffix("Classifier").removesuffix("Regressor")
    target = tree.schema.target
    title = f"{name} learns {clip(format_value(target.name if target else 'y'), 40)}"
    steps = []
    ways: dict[int, tuple[Any, ...]] = {0: ()}
    for node in list(tree.walk())[:MOST_NODES]:
        for child, condition in zip(
            tree.children(node), branch_conditions(tree, node), strict=True
        ):
            ways[child] = merge_conditions((*ways[node], condition))
        found = trace(estimator, node, X, y, sample_weight) if tree.n_samples[node] else None
        steps.append(_step(tree, node, ways[node], found))
    if tree.n_nodes > MOST_NODES:
        steps.append(Step("And so on", (f"{tree.n_nodes - MOST_NODES} more nodes are not told.",)))
    return Lesson(title, tuple(steps))


def _step(tree: Tree, node: int, way: tuple[Any, ...], found: Trace | None) -> Step:
    wording = Wording.over(way, gap_names=frozenset())
    where = " and ".join(wording.text(c, TEST_WIDTH) for c in way) or "all rows"
    heading = f"Node {node}: {where}"
    lines = [_rows_line(tree, node)]
    if found is None:
        lines.append(f"No training row comes here: a leaf that says {_says(tree, node)}.")
        return Step(heading, tuple(lines))
    lines.append(_impurity_line(tree, node, found))
    if found.stopped is not None:
        if found.stopped.startswith(NOT_SIGNIFICANT):
            lines += ["", *_candidate_lines(tree, found), ""]
        lines.append(f"A leaf: {found.stopped}. It says {_says(tree, node)}.")
        return Step(heading, tuple(lines), found)
    lines += ["", *_candidate_lines(tree, found), "", _verdict(found)]
    return Step(heading, tuple(lines), found)


def _rows_line(tree: Tree, node: int) -> str:
    n = int(tree.n_samples[node])
    rows = "1 row" if n == 1 else f"{n} rows"
    target = tree.schema.target
    if target is None or not target.is_classification:
        mean = ", ".join(f"{v:.4g}" for v in tree.value[node])
        return f"{rows}, mean {mean}."
    return f"{rows}: {_counts(tree, tree.value[node])}."


def _counts(tree: Tree, value: Any) -> str:
    target = tree.schema.target
    assert target is not None
    names = [clip(format_value(c), 16) for c in target.classes]
    shown = [f"{v:.6g} {n}" for v, n in zip(value, names, strict=True) if v > 0]
    return ", ".join(shown) or "none"


def _says(tree: Tree, node: int) -> str:
    target = tree.schema.target
    if target is not None and target.is_classification:
        return clip(format_value(target.classes[tree.label[node]]), 40)
    return ", ".join(f"{v:.4g}" for v in tree.value[node])


def _impurity_line(tree: Tree, node: int, found: Trace) -> str:
    criterion = found.criterion if isinstance(found.criterion, str) else ""
    value, total = tree.value[node], float(tree.value[node].sum())
    kept = [v for v in value if v > 0]
    if criterion == "entropy":
        terms = " ".join(f"− {v:.6g}/{total:.6g} log₂ {v:.6g}/{total:.6g}" for v in kept)
        return f"Entropy: {terms} = {entropy(value):.3f} bits."
    if criterion == "gini":
        terms = " ".join(f"− ({v:.6g}/{total:.6g})²" for v in kept)
        return f"Gini's index: 1 {terms} = {gini(value):.3f}."
    return f"Impurity: {found.impurity:.4g}."


def _candidate_lines(tree: Tree, found: Trace) -> Iterator[str]:
    for candidate in found.candidates:
        yield f"{clip(format_value(candidate.feature), 40)}:"
        if not candidate.branches:
            yield "  no split is possible."
            continue
        yield from _branch_lines(tree, found, candidate)


def _branch_lines(tree: Tree, found: Trace, candidate: Candidate) -> Iterator[str]:
    target = tree.schema.target
    is_class = target is not None and target.is_classification
    measure = {"entropy": entropy, "gini": gini}.get(str(found.criterion))
    spread = [measure(b.value) if measure and is_class else b.impurity for b in candidate.branches]
    said = [
        _counts(tree, b.value) if is_class else f"mean {', '.join(f'{v:.4g}' for v in b.value)}"
        for b in candidate.branches
    ]
    cells = {
        "": ["  " + b.test for b in candidate.branches],
        "rows": [str(b.n_samples) for b in candidate.branches],
        "of which": said,
        "impurity": [f"{s:.3f}" for s in spread],
    }
    yield from text_table(cells, left=1).splitlines()
    if candidate.p_value == candidate.p_value:
        yield f"  adjusted p = {candidate.p_value:.3g}"
        return
    weight = np.array([b.weight for b in candidate.branches])
    total = weight.sum()
    if total <= 0:
        return
    mean = float(weight @ spread) / total
    parts = " + ".join(
        f"{w:.6g}/{total:.6g} × {s:.3f}" for w, s in zip(weight, spread, strict=True)
    )
    whole = np.sum([b.value for b in candidate.branches], axis=0)
    before = measure(whole) if measure and is_class else found.impurity
    yield f"  after the split {parts} = {mean:.3f}"
    line = f"  gain {before:.3f} − {mean:.3f} = {before - mean:.3f}"
    if abs(before - mean - candidate.gain) > 5e-4:
        line += f", of which {candidate.gain:.3f} counts (gaps, costs or a charge are taken off)"
    if candidate.split_info == candidate.split_info and candidate.split_info > 0:
        line += (
            f"; split information {candidate.split_info:.3f}, gain ratio {candidate.gain_ratio:.3f}"
        )
    yield line


def _verdict(found: Trace) -> str:
    chosen = found.candidates[0]
    others = [c for c in found.competitors if c.feature != chosen.feature]
    name = clip(format_value(chosen.feature), 40)
    ways = f"the node gets {len(chosen.branches)} branches"
    if not others:
        return f"{name} is the only feature that can split: {ways}."
    second = clip(format_value(others[0].feature), 40)
    if chosen.p_value == chosen.p_value:
        return f"{name} wins, with the smallest p ({chosen.p_value:.3g}): {ways}."
    if found.has_ratios:
        return (
            f"{name} wins by gain ratio among the tests of at least average gain "
            f"({chosen.gain_ratio:.3f}): {ways}."
        )
    return f"{name} wins ({chosen.gain:.3f}; next {second}, {others[0].gain:.3f}): {ways}."
