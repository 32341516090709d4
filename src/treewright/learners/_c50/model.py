"""What C5.0 learns: winnow, build trees or rule sets, boost, and look at the training cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.estimator.base import prune_by
from treewright.estimator.costs import expected_cost_labels
from treewright.estimator.named_pruning import hold_out, prune_by_name
from treewright.estimator.training import Training, threads
from treewright.learners._c50.boosting import boost
from treewright.learners._c50.soft import soften
from treewright.learners._c50.tree import (
    Cases,
    OtherPruning,
    TreeSettings,
    build_tree,
    cases_per_leaf,
    settings_of,
)
from treewright.learners._c50.votes import boosted_probability, model_probability, vote
from treewright.learners._c50.winnow import Winnowed, blank, winnow
from treewright.pruning._c50 import Prices, pool_leaves
from treewright.pruning._error_based import error_rules, send_down
from treewright.rules import RuleSet
from treewright.rules._c50 import by_utility, voting_rules
from treewright.rules._candidates import ErrorRules, TrainingRows
from treewright.tree.collapse import below_any
from treewright.tree.growing.values import class_nodes, label_empty
from treewright.tree.predict import decision_path
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = ["Learned", "learn", "probability"]

Floats = NDArray[np.float64]
Model = Tree | RuleSet

LEAST_NODE = 1.5 / 1.1
"""Later trees do not split a node lighter than this many mean leaves of the first tree."""


@dataclass(eq=False)
class Learned:
    """Models that vote, and how they do on the training cases.

    Attributes
    ----------
    tree
        The first tree, also where rules were made of it.
    models
        Trees or rule sets.
    ended
        Why boosting ended early: "accurate", "inaccurate" or None.
    errors
        Weight of the training errors of each model and, last, of all together.
    confusion
        Weight of the training cases by true (rows) and predicted class.
    usage
        Share of the training cases for which each feature is asked.
    bands
        Training errors of the first 1, 2, … rules, where they are ordered by utility.
    winnowed
        What winnowing decided, None where it was not asked.
    """

    tree: Tree
    models: list[Model]
    ended: str | None = None
    errors: Floats = field(default_factory=lambda: np.zeros(0))
    confusion: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    usage: Floats = field(default_factory=lambda: np.zeros(0))
    bands: Floats | None = None
    winnowed: Winnowed | None = None


def learn(
    estimator: Any, training: Training, progress: Callable[[float], None] | None = None
) -> Learned:
    """Everything between the encoded training cases and the fitted model."""
    settings = settings_of(
        estimator,
        # global pruning knows no costs
        global_pruning=estimator.global_pruning and training.costs is None,
        n_threads=threads(estimator.n_jobs),
        other_pruning=_other_pruning(estimator),
    )
    cases = Cases(training.table, training.y, training.target, training.sample_weight)
    found = None
    if estimator.winnow:
        found = winnow(cases, settings, check_random_state(estimator.random_state))
        dropped = np.flatnonzero(found.dropped).tolist()
        cases = replace(cases, table=blank(cases.table, dropped)) if dropped else cases
    builder = _Builder(estimator, training, settings, progress)
    sequence = boost(
        cases,
        estimator.trials,
        builder.build,
        lambda model, of: vote(model, of.table, settings.n_threads),
        lambda model: len(model) > 1 if isinstance(model, Tree) else len(model) > 0,
        estimator.earlystop,
    )
    assert builder.first is not None
    learned = Learned(builder.first, sequence.models, sequence.ended, winnowed=found)
    if estimator.bands and estimator.rules:
        _order_by_utility(learned, builder.rows(cases))
    return _evaluate(learned, training, settings.n_threads)


def _other_pruning(estimator: Any) -> OtherPruning | None:
    """How trees are grown and pruned where C5.0's own pruning is not wanted."""
    if estimator.pruning == "c50":
        return None

    def build(cases: Cases, grow: Callable[[Cases], Tree]) -> Tree:
        if estimator.pruning is None or callable(estimator.pruning):
            tree = grow(cases)
            return prune_by(estimator.pruning, tree) if estimator.pruning else tree
        training = Training(cases.table, cases.y, cases.weight, cases.target)
        held_out = hold_out(estimator, training)
        part = cases
        if held_out is not None:
            weight = None if cases.weight is None else cases.weight[held_out.growing]
            part = cases.take(held_out.growing, weight)
        pruned: Tree = prune_by_name(estimator, grow(part), training, held_out).tree
        return pruned

    return build


class _Builder:
    """Makes the model of each trial."""

    def __init__(
        self,
        estimator: Any,
        training: Training,
        settings: TreeSettings,
        progress: Callable[[float], None] | None,
    ) -> None:
        self._estimator = estimator
        self._settings = settings
        self._progress = progress
        self._loss = None if training.costs is None else training.costs.loss
        self.first: Tree | None = None

    def rows(self, cases: Cases) -> TrainingRows:
        """Cases as the rule learner takes them."""
        n_classes = len(cases.target.classes)
        return TrainingRows(cases.table, cases.y, cases.weight, n_classes, self._settings.n_threads)

    def build(self, cases: Cases, trial: int) -> Model:
        """A tree, or the rules made of it."""
        tree = build_tree(
            cases,
            self._settings,
            grow_again=trial == 0,
            progress=None if trial else self._progress,
            prices=_prices(cases, self._loss),
        )
        if trial == 0:
            least = LEAST_NODE * cases_per_leaf(tree) if tree.n_nodes > 1 else 0.0
            self._settings = replace(self._settings, least_node=least)
        if self._loss is not None:
            tree = _labelled_by_cost(tree, cases, self._loss)
        rules = self._rules(tree, cases, trial) if self._estimator.rules else None
        if trial == 0:
            tree = pool_leaves(tree)
        if self._estimator.soft_thresholds and not self._estimator.rules:
            tree = soften(tree, cases)
        if trial == 0:
            self.first = tree
        return tree if rules is None else rules

    def _rules(self, tree: Tree, cases: Cases, trial: int) -> RuleSet:
        by_class = None
        # Cases weighted by earlier trials leave too few rules where all are chosen together.
        if self._loss is not None or trial > 0:
            limits = error_rules(self._settings.confidence, "release8", False)
            by_class = ErrorRules(limits["confidence"], limits["z"], limits["tail"])
        return voting_rules(tree, self.rows(cases), by_class)


def _prices(cases: Cases, loss: Floats | None) -> Prices | None:
    """Prices of errors between two classes; the weights keep their total."""
    if loss is None or len(loss) != 2:
        return None
    weight = np.ones(len(cases.y)) if cases.weight is None else cases.weight
    factor = np.maximum(loss.sum(axis=1), 1e-6)
    factor = factor * (weight.sum() / (weight * factor[cases.y]).sum())
    return Prices(price=loss.sum(axis=0), factor=factor)


def _labelled_by_cost(tree: Tree, cases: Cases, loss: Floats) -> Tree:
    """The tree with the counts of the cases as they are, and labels of least expected cost."""
    from treewright.tree.growing.recipe import ClassCosts

    tree = send_down(tree, cases.table, cases.y, cases.weight)
    ones = np.ones(len(loss))
    costs = ClassCosts(ones, ones, loss)
    label, impurity, risk = class_nodes(tree.value, tree.value, "entropy", costs)
    label = label_empty(label, tree.weight, tree.first_child, tree.n_children)
    return replace(tree, label=label, impurity=impurity, risk=risk)


def _order_by_utility(learned: Learned, rows: TrainingRows) -> None:
    first = learned.models[0]
    assert isinstance(first, RuleSet)
    learned.models[0], learned.bands = by_utility(first, rows)


def probability(models: list[Model], table: Table, n_classes: int, n_threads: int = 1) -> Floats:
    """Class probabilities of rows: of the only model, or shares of the votes of several."""
    if len(models) == 1:
        return model_probability(models[0], table, n_threads)
    return boosted_probability(models, table, n_classes, n_threads)


def _evaluate(learned: Learned, training: Training, n_threads: int) -> Learned:
    """Count the training errors and ask which features decide."""
    table, y = training.table, training.y
    n = len(training.target.classes)
    weight = np.ones(len(y)) if training.sample_weight is None else training.sample_weight
    loss = None if training.costs is None else training.costs.loss
    together = expected_cost_labels(probability(learned.models, table, n, n_threads), loss)
    errors = [float(weight[together != y].sum())]
    if len(learned.models) == 1:
        errors *= 2
    else:
        votes = [vote(model, table, n_threads)[0] for model in learned.models]
        errors = [*(float(weight[label != y].sum()) for label in votes), *errors]
    learned.errors = np.array(errors)
    flat = np.bincount(y.astype(np.int64) * n + together, weight, n * n)
    learned.confusion = flat.reshape(n, n).astype(np.float64)
    first = learned.models[0]
    if isinstance(first, Tree) and len(learned.models) == 1:
        learned.usage = _share_asked(first)
        return learned
    asked = np.zeros((table.n_rows, len(table.schema)), np.bool_)
    for model in learned.models:
        _mark_asked(model, table, asked, n_threads)
    learned.usage = np.asarray((asked * weight[:, None]).sum(axis=0) / weight.sum())
    return learned


def _share_asked(tree: Tree) -> Floats:
    """Share of the weight that each feature of a tree is asked for."""
    usage = np.zeros(len(tree.schema))
    inner = ~tree.is_leaf
    for feature in np.unique(tree.splits.feature[inner]):
        tests = inner & (tree.splits.feature == feature)
        top = tests & ~below_any(tree, tests)
        usage[feature] = float(tree.weight[top].sum() / tree.weight[0])
    return np.minimum(usage, 1.0)


def _mark_asked(model: Model, table: Table, asked: NDArray[np.bool_], n_threads: int) -> None:
    """Mark the features that decide about each row: those it is tested for, or its rules name."""
    if isinstance(model, RuleSet):
        covers = model.matches_of(table, n_threads).tocsc()
        place = {name: i for i, name in enumerate(table.schema.names)}
        for i, rule in enumerate(model):
            rows = covers.indices[covers.indptr[i] : covers.indptr[i + 1]]
            for feature in {place[name] for c in rule.conditions for name in c.subject[1:]}:
                asked[rows, feature] = True
        return
    inner = ~model.is_leaf
    path = decision_path(model, table, n_threads).tocsc()
    for feature in np.unique(model.splits.feature[inner]):
        tests = inner & (model.splits.feature == feature)
        # where a node above asks the same feature, its rows are marked already
        for node in np.flatnonzero(tests & ~below_any(model, tests)):
            asked[path.indices[path.indptr[node] : path.indptr[node + 1]], feature] = True
