"""What was tried at a node: the best split of every feature, and how it scored.

A candidate is the stump that the recipe grows from the node's rows and one feature alone, so
it is found by the very search that grew the tree. The rows of a node are those that the tree
sends there now, with the share that reaches it where gaps go down several branches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encode import encode
from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.estimator.training import Training, read_training
from treewright.explain._cuts import Cuts, score_cuts
from treewright.explain._measures import Branch, Measures, branches_of, measures_of
from treewright.explain._paint import LINE, UP, axes, name, tidy
from treewright.tree.conditions import branch_conditions, surrogate_conditions
from treewright.tree.growing.grow import candidates as search
from treewright.tree.growing.stopped import NO_TEST, why_stopped
from treewright.tree.predict import node_values
from treewright.tree.show.describe import Wording
from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.show.words import clip, format_value

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["Candidate", "Surrogate", "Trace", "trace"]

TEXT_WIDTH = 44
"""Columns that a test may take in the text form."""


@dataclass(frozen=True)
class Candidate:
    """The best split of one feature.

    Parameters
    ----------
    feature
        Its name.
    test
        What a row satisfies to take the first branch; empty if no split was possible.
    gain
        By how much it lowers the impurity of the node; NaN if no split was possible.
    n_known
        Rows of the node whose value is known.
    is_chosen
        Whether the tree splits on this feature here.
    split_info
        Bits to tell the branches apart, for learners that choose by gain ratio; otherwise NaN.
    p_value
        Adjusted p-value, for learners that choose by a test; otherwise NaN.
    branches
        Where the split sends the rows: counts of the classes, or means.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> model = ID3Classifier().fit(tennis.data, tennis.target)
    >>> best = model.trace(0, tennis.data, tennis.target).candidates[0]
    >>> best.feature, round(best.gain, 3), best.is_chosen
    ('Outlook', 0.247, True)
    """

    feature: str
    test: str
    gain: float
    n_known: int
    is_chosen: bool = False
    split_info: float = float("nan")
    p_value: float = float("nan")
    branches: tuple[Branch, ...] = ()

    @property
    def gain_ratio(self) -> float:
        """Gain per bit of split information; NaN where there is none."""
        return self.gain / self.split_info if self.split_info > 0 else float("nan")


@dataclass(frozen=True)
class Surrogate:
    """A split that stands in for the chosen one where its feature is a gap.

    Parameters
    ----------
    feature
        Feature that it tests.
    test
        What a row satisfies to go with the first branch.
    agreement
        Share of rows that it sends the same way.
    adjusted
        How far that goes beyond sending all rows with the majority.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> model = CARTClassifier(missing="surrogate", max_depth=2).fit(iris.data, iris.target)
    >>> first = model.trace(0, iris.data, iris.target).surrogates[0]
    >>> first.test, first.agreement
    ('Petal.Width < 0.8', 1.0)
    """

    feature: str
    test: str
    agreement: float
    adjusted: float


@dataclass(frozen=True)
class Trace:
    """Candidates at a node, the chosen one first, then its competitors by gain.

    Parameters
    ----------
    node
        Node id.
    n_samples
        Rows at the node.
    impurity
        Impurity of these rows.
    candidates
        One per feature.
    surrogates
        In the order in which they are asked.
    stopped
        Why the node was not split; None for a node that was.
    rows, criterion
        What the node was grown from, for :meth:`cuts`.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> trace = ID3Classifier().fit(tennis.data, tennis.target).trace(0, tennis.data, tennis.target)
    >>> print(trace)
    Node 0: 14 rows, impurity 0.940286
               feature               test      gain known
    chosen     Outlook Outlook = Overcast   0.24675    14
              Humidity    Humidity = High  0.151836    14
                  Wind      Wind = Strong  0.048127    14
           Temperature Temperature = Cool 0.0292226    14
    >>> trace.counts("Outlook")[["branch", "No", "Yes"]]
                   branch   No  Yes
    0  Outlook = Overcast  0.0  4.0
    1      Outlook = Rain  2.0  3.0
    2     Outlook = Sunny  3.0  2.0
    >>> trace.measures()[["feature", "gain_ratio", "is_chosen"]].round(3)
           feature  gain_ratio  is_chosen
    0      Outlook       0.156       True
    1     Humidity       0.152      False
    2         Wind       0.049      False
    3  Temperature       0.019      False
    >>> axes = trace.plot()
    >>> trace.frame().columns.tolist()
    ['feature', 'test', 'gain', 'n_known', 'is_chosen', 'surrogate', 'agreement', 'adjusted']
    """

    node: int
    n_samples: int
    impurity: float
    candidates: tuple[Candidate, ...]
    surrogates: tuple[Surrogate, ...] = ()
    stopped: str | None = None
    rows: Training | None = field(default=None, repr=False, compare=False)
    criterion: Any = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, feature: str | int) -> Candidate:
        """The candidate of a feature, by name or by rank."""
        if isinstance(feature, int):
            return self.candidates[feature]
        for candidate in self.candidates:
            if candidate.feature == feature:
                return candidate
        raise KeyError(feature)

    @property
    def has_ratios(self) -> bool:
        """Whether the candidates have split information and gain ratio."""
        return any(not np.isnan(c.split_info) for c in self.candidates)

    @property
    def has_p(self) -> bool:
        """Whether the candidates have p-values, by which the learner chooses."""
        return any(not np.isnan(c.p_value) for c in self.candidates)

    @property
    def competitors(self) -> tuple[Candidate, ...]:
        """Splits that were not chosen, the best first."""
        return tuple(c for c in self.candidates if not c.is_chosen and c.test)

    def cuts(self, feature: str) -> Cuts:
        """Every cut of a continuous or ordinal feature, not only the best.

        Rows with a gap in the feature are left out.

        Parameters
        ----------
        feature
            Its name.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> cuts = model.trace(0, iris.data, iris.target).cuts("Petal.Length")
        >>> len(cuts.cut), cuts.cut[cuts.best]
        (42, 2.45)
        """
        if self.rows is None or feature not in self.rows.table.schema.names:
            raise KeyError(feature)
        index = self.rows.table.schema.index(feature)
        return score_cuts(self.rows, index, self.criterion)

    def counts(self, feature: str | int) -> Any:
        """The table behind a candidate: a row per branch, a column per class (or the mean).

        Parameters
        ----------
        feature
            Its name, or its rank among the candidates.
        """
        branches = self[feature].branches
        columns: dict[str, Any] = {
            "branch": [branch.test for branch in branches],
            "n_samples": [branch.n_samples for branch in branches],
        }
        for k, heading in enumerate(self._value_names()):
            columns[heading] = [branch.value[k] for branch in branches]
        return as_frame(columns | {"impurity": [branch.impurity for branch in branches]})

    def measures(self) -> Any:
        """Information gain, gain ratio, decrease of Gini's index and p of every candidate.

        From the counts of its branches, whatever the learner chose by: entropy in bits,
        Pearson's chi-squared test without adjustment. For classes only.
        """
        if self.rows is None or not self.rows.target.is_classification:
            raise ParameterError(
                "measures counts classes, but this tree predicts numbers; frame() has the gains."
            )
        found = [measures_of(c.branches) for c in self.candidates]
        return as_frame(
            {
                "feature": [c.feature for c in self.candidates],
                "test": [c.test for c in self.candidates],
                **{
                    field.name: [getattr(m, field.name) for m in found]
                    for field in fields(Measures)
                },
                "is_chosen": [c.is_chosen for c in self.candidates],
            }
        )

    def _value_names(self) -> list[str]:
        target = None if self.rows is None else self.rows.target
        if target is None or not target.is_classification:
            n = 1 if target is None else target.n_outputs
            return ["mean"] if n == 1 else [f"mean {k}" for k in range(n)]
        return [str(label) for label in target.classes]

    def frame(self) -> Any:
        """The candidates as a data frame, with the surrogates in the same rows."""
        beside = {surrogate.feature: surrogate for surrogate in self.surrogates}
        found = [beside.get(c.feature) for c in self.candidates]
        ratios = {
            "split_info": [c.split_info for c in self.candidates],
            "gain_ratio": [c.gain_ratio for c in self.candidates],
        }
        return as_frame(
            {
                "feature": [c.feature for c in self.candidates],
                "test": [c.test for c in self.candidates],
                "gain": [c.gain for c in self.candidates],
                **(ratios if self.has_ratios else {}),
                **({"p_value": [c.p_value for c in self.candidates]} if self.has_p else {}),
                "n_known": [c.n_known for c in self.candidates],
                "is_chosen": [c.is_chosen for c in self.candidates],
                "surrogate": [s.test if s else "" for s in found],
                "agreement": [s.agreement if s else np.nan for s in found],
                "adjusted": [s.adjusted if s else np.nan for s in found],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the score of every candidate: its gain, its gain ratio, or −log₁₀ p.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        shown = [c for c in self.candidates if c.test][::-1]
        ax = axes(ax, height=1.1 + 0.36 * len(shown))
        what, score = self._score()
        size = [score(c) for c in shown]
        colours = [UP if c.is_chosen else LINE for c in shown]
        ax.barh([name(c.test, TEXT_WIDTH) for c in shown], size, color=colours)
        for place, (c, x) in enumerate(zip(shown, size, strict=True)):
            text = f" p {c.p_value:.2g}" if self.has_p else f" {x:.3f}"
            ax.text(max(x, 0.0), place, text, va="center", fontsize=9)
        ax.margins(x=0.12)
        ax.set_xlabel(what)
        ax.set_title(name(self._caption(), 80), fontsize=10)
        tidy(ax)
        return ax

    def _score(self) -> tuple[str, Callable[[Candidate], float]]:
        """What candidates are compared by, and its value."""
        if self.has_p:
            return "−log₁₀ p", lambda c: -math.log10(max(c.p_value, 1e-300))
        if self.has_ratios:
            return "gain ratio", lambda c: c.gain_ratio
        return "gain", lambda c: c.gain

    def __str__(self) -> str:
        parts = [self._caption(), text_table(self._cells())]
        if self.surrogates:
            parts += ["Surrogates", text_table(self._surrogate_cells())]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        tables = html_table(self._cells(), self._caption())
        if self.surrogates:
            tables += html_table(self._surrogate_cells(), "Surrogates")
        return tables

    def _caption(self) -> str:
        what = f"Node {self.node}: {self.n_samples} rows, impurity {self.impurity:.6g}"
        return what if self.stopped is None else f"{what}; not split: {self.stopped}"

    def _cells(self) -> dict[str, list[str]]:
        def numbers(what: str) -> list[str]:
            return [f"{getattr(c, what):.6g}" if c.test else "" for c in self.candidates]

        ratios = {"split info": numbers("split_info"), "gain ratio": numbers("gain_ratio")}
        return {
            "": ["chosen" if c.is_chosen else "" for c in self.candidates],
            "feature": [clip(format_value(c.feature), TEXT_WIDTH) for c in self.candidates],
            "test": [c.test or "no split" for c in self.candidates],
            "gain": numbers("gain"),
            **(ratios if self.has_ratios else {}),
            **({"p": numbers("p_value")} if self.has_p else {}),
            "known": [str(c.n_known) for c in self.candidates],
        }

    def _surrogate_cells(self) -> dict[str, list[str]]:
        return {
            "test": [s.test for s in self.surrogates],
            "agreement": [f"{s.agreement:.3f}" for s in self.surrogates],
            "adjusted": [f"{s.adjusted:.3f}" for s in self.surrogates],
        }


NOT_SIGNIFICANT = "no test is significant"


def _stopped(tree: Tree, node: int, candidates: list[Candidate]) -> str | None:
    """Why a node was not split, with what its candidates can say."""
    reason = why_stopped(tree, node)
    words = NO_TEST if tree.stopping is None else tree.stopping.no_split or NO_TEST
    if reason is None or not reason.startswith(words):
        return reason
    tested = [c for c in candidates if c.p_value == c.p_value]
    if tested:
        least = min(tested, key=lambda c: c.p_value)
        name = clip(format_value(least.feature), TEXT_WIDTH)
        return f"{NOT_SIGNIFICANT}, the smallest p is {least.p_value:.3g} ({name})"
    if any(c.test for c in candidates):
        return reason
    return "every test leaves a branch that is too small"


def trace(estimator: Any, node: int, X: Any, y: Any, sample_weight: Any = None) -> Trace:
    """Candidates at a node of a fitted estimator; see its method ``trace``."""
    tree: Tree = estimator._fitted()
    if not 0 <= node < tree.n_nodes:
        raise ParameterError(
            f"node must be a node id from 0 to {tree.n_nodes - 1}, got {node!r}; "
            "tree_.to_text() shows them."
        )
    estimator._validate()
    schema = replace(tree.schema, target=None)
    training = read_training(
        estimator, X, y, sample_weight, lambda kept: encode(X, schema=schema, rows=kept)
    )
    if tree.schema.target is not None and training.target.classes != tree.schema.target.classes:
        raise DataError(
            f"y must hold the {len(tree.schema.target.classes)} classes of the fit, got "
            f"{len(training.target.classes)}, or others; pass the training data, with their "
            "weights."
        )
    rows, here = _rows_at(tree, node, training)
    recipe = estimator._recipe(training)
    choose = recipe.choose
    chosen = int(tree.splits.feature[node]) if tree.n_children[node] else -1
    candidates = []
    for feature in range(len(schema)):
        # a chooser in Python may know the feature from all rows, as CHAID its bins
        own = choose.only(feature, rows) if hasattr(choose, "only") else None
        candidates.append(_candidate(estimator, here, feature, feature == chosen, own))
    # The chosen one first: its score may be within the tolerance of a later, larger one.
    candidates.sort(key=lambda c: (not c.is_chosen, not c.test, -c.gain if c.test else 0.0))
    return Trace(
        node=node,
        n_samples=here.n_rows,
        impurity=float(tree.impurity[node]),
        candidates=tuple(candidates),
        surrogates=tuple(_surrogates(tree, node)),
        stopped=_stopped(tree, node, candidates),
        rows=here,
        criterion=recipe.criterion,
    )


def _rows_at(tree: Tree, node: int, training: Training) -> tuple[NDArray[np.int64], Training]:
    """The rows that reach a node, and their data weighted by the share of each that does."""
    below = np.zeros((tree.n_nodes, 1))
    below[list(tree.walk(node))] = 1.0
    share = node_values(tree, training.table, below, 1)[:, 0]
    rows = np.flatnonzero(share > 0)
    here = training.take(rows)
    if np.all(share[rows] == 1.0):
        return rows, here
    weight = share[rows] if here.sample_weight is None else here.sample_weight * share[rows]
    return rows, replace(here, sample_weight=weight)


def _candidate(
    estimator: Any, here: Training, feature: int, is_chosen: bool, choose: Any = None
) -> Candidate:
    """Grow a stump on one feature."""
    column = _only(here.table, feature)
    alone = replace(here, table=column)
    own = column.schema.features[0].name
    n_known = int(here.n_rows - _n_gaps(column.columns[0]))
    recipe = estimator._recipe(here)
    if recipe.choose is not None:
        choose = choose or estimator._recipe(alone).choose
    recipe = replace(
        recipe,
        choose=choose,
        max_depth=1,
        max_leaf_nodes=None,
        max_features=None,
        max_surrogates=0,
        min_gain=0.0,
        leaf_price=-1.0,
        monotonic=None if recipe.monotonic is None else (recipe.monotonic[feature],),
    )
    stump: Tree = estimator._grow(alone, None, recipe)
    if stump.n_nodes == 1:
        return Candidate(own, "", float("nan"), n_known, is_chosen)
    test = Wording(gap_names=frozenset()).text(branch_conditions(stump, 0)[0], TEXT_WIDTH)
    info = float("nan")
    if recipe.quinlan is not None:
        found = search(
            alone.table, alone.y, recipe, target=alone.target, sample_weight=alone.sample_weight
        )
        info = found[0]["split_info"]
    p = float(np.exp(stump.log_p[0]))
    branches = branches_of(stump, 0, TEXT_WIDTH)
    return Candidate(own, test, float(stump.gain[0]), n_known, is_chosen, info, p, branches)


def _surrogates(tree: Tree, node: int) -> Iterator[Surrogate]:
    wording = Wording(gap_names=frozenset())
    for i in range(int(tree.surrogate_offset[node]), int(tree.surrogate_offset[node + 1])):
        condition = surrogate_conditions(tree, i, int(tree.n_children[node]))[0]
        yield Surrogate(
            feature=tree.schema.features[tree.surrogates.feature[i]].name,
            test=wording.text(condition, TEXT_WIDTH),
            agreement=float(tree.surrogate_agreement[i]),
            adjusted=float(tree.surrogate_adjusted[i]),
        )


def _only(table: Table, feature: int) -> Table:
    """The table of one feature."""
    schema = Schema((table.schema.features[feature],), table.schema.named)
    gaps = table.has_gaps[feature : feature + 1]
    return Table(schema, table.n_rows, gaps, (table.columns[feature],))


def _n_gaps(column: NDArray[Any]) -> int:
    missing = np.isnan(column) if column.dtype.kind == "f" else column < 0
    return int(np.count_nonzero(missing))
