"""Growing the members of an ensemble.

Three ways, with one face: ``grow(members)`` gives the members with these numbers, or those before
the first that Ctrl-C left unfinished, and what interrupted them.

- :class:`EngineGrower`: CART and oblique trees, whole forests in the compiled core.
- :class:`TreeGrower`: any other tree learner of ours, by its own fit on rows of the one table.
- :class:`ModelGrower`: everything else, by ``fit`` as scikit-learn's bagging does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.ensembles.members.background import in_background
from treewright.ensembles.members.bodies import (
    Answer,
    Body,
    Models,
    Trees,
    take_features,
    take_rows,
)
from treewright.ensembles.members.draws import Draws, FeatureDraws, member_seed
from treewright.errors import ParameterError
from treewright.estimator.base import TreeEstimator
from treewright.estimator.training import Training
from treewright.tree.forest.grow import Forest, ForestPlan, OutOfBag, grow_forest
from treewright.tree.growing.recipe import Recipe
from treewright.tree.split import Splits
from treewright.tree.tree import Tree

__all__ = [
    "EngineGrower",
    "Grower",
    "Grown",
    "ModelGrower",
    "PrunedGrower",
    "TreeGrower",
    "drawing_features",
    "seeded",
]

Floats = NDArray[np.float64]
Report = Callable[[float], None]


class Grown(NamedTuple):
    """Members that were finished, in order, and the interrupt that ended the work early.

    ``oob`` is what they say of rows left out, where it was found on the way.
    """

    body: Body | None
    interrupt: BaseException | None = None
    oob: OutOfBag | None = None


class Grower(Protocol):
    """Grows the members with given numbers."""

    def grow(self, members: range, progress: Report | None, oob: OutOfBag | None) -> Grown:
        """The members in ``members``; ``oob`` are the sums over those before, if asked for."""
        ...


def seeded(learner: Any, seed: int, member: int) -> Any:
    """A copy of ``learner`` with random numbers of its own; a learner of ours on one thread."""
    copy = clone(learner)
    names = copy.get_params(deep=True)
    set_to: dict[str, Any] = {n: member_seed(seed, member) for n in names if _is_seed(n)}
    if isinstance(copy, TreeEstimator):
        set_to |= {"n_jobs": 1, **copy._as_member()}
    return copy.set_params(**set_to)


def _is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _collect(
    work: Iterable[Any], n: int, progress: Report | None
) -> tuple[list[Any], KeyboardInterrupt | None]:
    """Results in order, as many as there are before an interrupt."""
    done: list[Any] = []
    try:
        for result in work:
            done.append(result)
            if progress is not None:
                progress(len(done) / n)
    except KeyboardInterrupt as interrupt:
        return done, interrupt
    return done, None


# Trees of ours


@dataclass(frozen=True, eq=False)
class EngineGrower:
    """Grows CART and oblique trees in the compiled core, whole forests at a time.

    Parameters
    ----------
    learner
        A CART or oblique estimator, whose recipe is grown.
    training
        The training data.
    draws
        Rows of each tree.
    tree_method
        How cuts are searched.
    answer
        What is asked about rows left out.
    redraw
        See :class:`treewright.tree.growing.recipe.Recipe`.
    max_features
        Features drawn at every node; None leaves it to the learner.
    """

    learner: Any
    training: Training
    draws: Draws
    tree_method: Literal["auto", "exact", "hist"]
    answer: Answer
    n_threads: int = 1
    redraw: bool = True
    max_features: int | None = None

    def grow(
        self, members: range, progress: Report | None = None, oob: OutOfBag | None = None
    ) -> Grown:
        """The trees in ``members``."""
        training, drawn = self.training, not self.draws.takes_all
        plan = ForestPlan(
            n_trees=len(members),
            first_tree=members.start,
            seed=self.draws.seed,
            sampling=self.draws.sampling,
            tree_method=self.tree_method,
            n_threads=self.n_threads,
            oob=None if oob is None else self.answer,
            oob_start=oob,
            progress=None if progress is None else (lambda done: progress(done / len(members))),
        )
        recipe = replace(self.learner._recipe(training), redraw=self.redraw)
        if self.max_features is not None:
            recipe = replace(recipe, max_features=self.max_features)
        grown = grow_forest(
            training.table,
            training.y,
            recipe,
            plan,
            target=training.target,
            sample_weight=None if drawn else training.sample_weight,
            costs=training.costs,
        )
        return Grown(
            Trees(grown.forest) if len(grown.forest) else None, grown.interrupted, grown.oob
        )


@dataclass(frozen=True, eq=False)
class PrunedGrower:
    """Cuts back what the engine has grown, as ``learner`` prunes."""

    engine: EngineGrower
    learner: Any

    def grow(
        self, members: range, progress: Report | None = None, oob: OutOfBag | None = None
    ) -> Grown:
        """The trees in ``members``; what rows left out get is for the pruned ones to say."""
        grown = self.engine.grow(members, progress, None)
        if grown.body is None:
            return grown
        assert isinstance(grown.body, Trees)
        forest = grown.body.forest
        trees = [
            self.learner._prune(forest.tree(k), self.engine.training).tree
            for k in range(len(forest))
        ]
        return Grown(Trees(Forest.from_trees(trees)), grown.interrupt)


@dataclass(frozen=True, eq=False)
class TreeGrower:
    """Grows trees by the own fit of a learner, on rows of a table that was encoded once.

    Parameters
    ----------
    learner
        A tree learner of ours, not fitted.
    training
        The training data. Its weights count where all rows are used; drawn rows weigh one.
    draws, features
        Rows and features of each member.
    max_features
        Features drawn at every node; None leaves it to the learner.
    """

    learner: Any
    training: Training
    draws: Draws
    features: FeatureDraws
    n_threads: int = 1
    max_features: int | None = None

    def grow(
        self, members: range, progress: Report | None = None, oob: OutOfBag | None = None
    ) -> Grown:
        """The trees in ``members``."""
        parallel = Parallel(n_jobs=self.n_threads, prefer="threads", return_as="generator")
        work = parallel(delayed(self._grow_one)(k) for k in members)
        trees, interrupt = _collect(work, len(members), progress)
        return Grown(Trees(Forest.from_trees(trees)) if trees else None, interrupt)

    def _grow_one(self, member: int) -> Tree:
        training = self.training
        table, y, weight = training.table, training.y, training.sample_weight
        if not self.draws.takes_all:
            rows = self.draws.rows(member)
            table, y, weight = table.take(rows), y[rows], None
        features = np.unique(self.features.features(member))
        if not self.features.takes_all:
            table = table.select(features)
        labels = y if training.classes is None else training.classes[y]
        model = fit_tree(
            seeded(self.learner, self.draws.seed, member),
            table,
            labels,
            weight,
            self.max_features,
            member_seed(self.draws.seed, member),
        )
        columns = None
        if training.classes is not None:
            columns = np.searchsorted(training.classes, model.classes_)
        return fitted_in(model.tree_, self.training, features, columns)


def fit_tree(
    learner: Any, table: Table, y: Any, weight: Floats | None, max_features: int | None, seed: int
) -> Any:
    """Fit a tree learner, with ``max_features`` features drawn at every node if that is given."""
    if max_features is None:
        return learner.fit(table, y, sample_weight=weight)
    if "max_features" in learner.get_params(deep=False):
        return learner.set_params(max_features=max_features).fit(table, y, sample_weight=weight)
    learner._validate()
    training = learner._encode(table, y, weight)
    recipe = drawing_features(learner._recipe(training), max_features, seed)
    if not hasattr(learner, "random_state"):  # ID3 leaves nothing to chance by itself
        learner.random_state = seed
    tree = learner._grow(training, None, recipe)
    return learner._store(learner._prune(tree, training), training)


def drawing_features(recipe: Recipe, max_features: int, seed: int) -> Recipe:
    """The recipe with ``max_features`` features drawn at every node."""
    if recipe.choose is None:
        return replace(recipe, max_features=max_features)
    chooser: Any = recipe.choose
    return replace(recipe, choose=chooser.drawing(max_features, seed))


def fitted_in(
    tree: Tree, training: Training, features: NDArray[Any], columns: NDArray[Any] | None
) -> Tree:
    """A tree of some features and classes as one of all features and classes."""
    schema = training.table.schema
    own = tree.schema.target
    assert own is not None
    target = training.target
    value, label = tree.value, tree.label
    if columns is not None and value.shape[1] < len(target.classes):
        value = np.zeros((len(tree), len(target.classes)))
        value[:, columns] = tree.value
        label = columns[tree.label].astype(np.int32)
    if own.class_factor:
        factor = np.ones(len(target.classes))
        factor[slice(None) if columns is None else columns] = own.class_factor
        target = replace(target, class_factor=tuple(factor.tolist()))
    splits, surrogates = tree.splits, tree.surrogates
    if len(features) < len(schema):
        splits, surrogates = _renumbered(splits, features), _renumbered(surrogates, features)
    whole = Schema(schema.features, schema.named, target)
    return replace(
        tree, schema=whole, value=value, label=label, splits=splits, surrogates=surrogates
    )


def _renumbered(splits: Splits, features: NDArray[Any]) -> Splits:
    """Splits on some of the features, numbered as among all."""
    place = np.append(features, -1).astype(np.int32)  # -1, no feature, stays itself
    return replace(splits, feature=place[splits.feature], term_feature=place[splits.term_feature])


# Models of any kind


@dataclass(frozen=True, eq=False)
class ModelGrower:
    """Fits estimators of any kind.

    Parameters
    ----------
    learner
        Not fitted.
    rows
        The training rows: our Table for a learner of ours, otherwise as the user gave them.
    y
        Numbers, or the codes of classes.
    classes
        The classes as members get them; None for regression.
    """

    learner: Any
    rows: Any
    y: NDArray[Any]
    weight: Floats | None
    target: Target
    classes: NDArray[Any] | None
    draws: Draws
    features: FeatureDraws
    n_threads: int = 1

    def grow(
        self, members: range, progress: Report | None = None, oob: OutOfBag | None = None
    ) -> Grown:
        """The models in ``members``."""
        is_ours = isinstance(self.rows, Table)
        if self.n_threads == 1 and not is_ours:
            work: Any = (in_background(self._fit_one, k) for k in members)
        else:
            parallel = Parallel(
                n_jobs=self.n_threads,
                return_as="generator",
                **({"prefer": "threads"} if is_ours else {}),
            )
            work = parallel(delayed(self._fit_one)(k) for k in members)
        models, interrupt = _collect(work, len(members), progress)
        if not models:
            return Grown(None, interrupt)
        features = None
        if not self.features.takes_all:
            features = [self.features.features(k) for k in members[: len(models)]]
        columns = None
        n_outputs = self.target.n_outputs
        if self.classes is not None:
            columns = [np.searchsorted(self.classes, model.classes_) for model in models]
            n_outputs = len(self.classes)
        return Grown(Models(models, features, columns, n_outputs), interrupt)

    def _fit_one(self, member: int) -> Any:
        model = seeded(self.learner, self.draws.seed, member)
        rows, y, weight = self.rows, self.y, self.weight
        if self.classes is not None:
            y = self.classes[y]
        if not self.features.takes_all:
            rows = take_features(rows, self.features.features(member))
        if self.draws.takes_all:
            if weight is None:
                model.fit(rows, y)
                return model
            if not has_fit_parameter(model, "sample_weight"):
                raise ParameterError(
                    f"sample_weight must be None with bootstrap=False for a base that knows no "
                    f"weights, got weights for {type(model).__name__}; set bootstrap=True."
                )
            model.fit(rows, y, sample_weight=weight)
            return model
        counts = self.draws.counts(member)
        if not isinstance(rows, Table) and has_fit_parameter(model, "sample_weight"):
            model.fit(rows, y, sample_weight=counts.astype(np.float64))
            return model
        index = np.repeat(np.arange(len(counts)), counts)
        model.fit(take_rows(rows, index), y[index])
        return model
