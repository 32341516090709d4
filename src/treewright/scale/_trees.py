"""CART and random forests on a source: trees from tables of blocks.

``fit`` is: look at the target, look at the features, bin blocks, grow trees. A column of at most
255 values is split where a fit in memory splits it; one of more values between its bins. Large
nodes are split from tables, those of few rows are brought together and grown in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.data.weights import EXACT
from treewright.errors import DataError, ParameterError
from treewright.estimator.costs import class_weights
from treewright.estimator.named_pruning import is_named, prune_by_name
from treewright.estimator.progress import reported
from treewright.estimator.training import Training, drawn_seed, threads
from treewright.kernels.boosting import MOST_BINS
from treewright.kernels.forest import tree_seed
from treewright.kernels.tree_blocks import child_paths, row_width
from treewright.scale._engine import (
    Engine,
    firsts,
    make_engine,
    require_target,
    survey_classes,
    survey_features,
    survey_targets,
    weigh,
)
from treewright.scale._memory import Budget, make_budget
from treewright.scale._rounds import LostShareError, Pool
from treewright.scale._share import Placed
from treewright.scale._survey import (
    FeatureParts,
    Reading,
    TargetPart,
    bin_maps_of,
    class_totals,
)
from treewright.scale._tree_share import BinColumn, TargetScale, TreeFitting
from treewright.scale._tree_store import BlockStore, Shape, added
from treewright.tree.growing.grow import wrap_grown
from treewright.tree.growing.levels import Units, grow_levels
from treewright.tree.tree import Tree

__all__ = ["fit_source"]

Ints = NDArray[np.int64]

MOST_NUMBER = 1e100
"""Size of a number up to which squares and sums stay finite, and its inverse above zero."""


def fit_source(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    target: Any,
    memory_limit: Any = None,
    temp_dir: Any = None,
    client: Any = None,
    drops_gaps: bool = False,
) -> Any:
    """Fit a tree or a forest on a source; see :class:`treewright.estimator.blocks.ReadsBlocks`."""
    is_forest = hasattr(estimator, "n_estimators")
    require_target(y, target)
    _check(estimator, is_forest)
    estimator._validate()
    engine = make_engine(X, client)
    try:
        with reported(estimator, X, y, sample_weight, n_parts=1) as progress:
            work = _prepare(
                estimator, engine, X, sample_weight, target, memory_limit, temp_dir, drops_gaps
            )
            interrupt = (_fit_forest if is_forest else _fit_tree)(estimator, work, progress)
            estimator.block_run_ = {
                "n_rows": work.training.n_rows,
                "n_bytes": work.pool.n_bytes,
                "n_lost": work.n_lost,
            }
            if interrupt is not None:
                raise interrupt
    finally:
        engine.close()
    return estimator


def _check(estimator: Any, is_forest: bool) -> None:
    """Refuse what blocks cannot do, one sentence each."""
    own = estimator.get_params(deep=False)
    given = {
        "criterion": (
            own["criterion"] not in ("gini", "entropy", "log_loss", "squared_error"),
            "blocks are summed for gini, entropy and squared_error",
        ),
        "splitter": (own.get("splitter", "best") != "best", "blocks search all cuts"),
        "missing": (own["missing"] != "learned", "blocks learn where gaps go"),
        "max_leaf_nodes": (own["max_leaf_nodes"] is not None, "blocks grow level by level"),
        "monotonic_cst": (own["monotonic_cst"] is not None, "blocks know no constraints"),
        "min_significance": (
            own.get("min_significance") is not None,
            "blocks do not test independence",
        ),
        "priors": (own.get("priors") is not None, "blocks count rows as they are"),
        "costs": (own.get("costs") is not None, "blocks count rows as they are"),
        "class_weight": (
            own.get("class_weight") == "balanced_subsample",
            "blocks weigh classes by all rows",
        ),
        "pruning": (
            own.get("pruning") in ("reduced_error", "error_based")
            or "cv" in (own.get("ccp_alpha"), own.get("cp")),
            "blocks send no rows down a tree again",
        ),
        "base": (own.get("base") is not None, "blocks grow trees of CART"),
        "oob_score": (bool(own.get("oob_score")), "blocks do not judge rows left out"),
        "early_stopping": (bool(own.get("early_stopping")), "blocks do not judge rows left out"),
        "warm_start": (bool(own.get("warm_start")), "a fit on blocks begins anew"),
        "sampling": (own.get("sampling") is not None, "blocks draw rows of all classes alike"),
        "replace": (
            is_forest and own["bootstrap"] and not own["replace"],
            "blocks draw with replacement",
        ),
        "drop_empty_rows": (bool(own.get("drop_empty_rows")), "blocks keep rows of gaps"),
        "teach": (bool(own.get("teach")), "a lesson looks at all rows"),
        "keep_targets": (bool(own.get("keep_targets")), "targets stay in their blocks"),
        "tree_method": (own.get("tree_method") == "exact", "blocks are binned"),
    }
    for name, (is_given, why) in given.items():
        if is_given:
            raise ParameterError(
                f"{name} must be left out where X is read in blocks: {why}; leave it out, or read "
                "the data into memory."
            )


@dataclass(eq=False)
class _Work:
    """A fit in progress."""

    shape: Shape
    training: Training
    units: Units
    pool: Pool
    seed: int
    learner: Any
    n_draws: int = 0
    n_lost: int = 0
    chances: tuple[int, Ints, Ints] | None = None

    def _chances(self) -> tuple[int, Ints, Ints]:
        """Chances of all rows together; first rows of all blocks, and where their chances begin."""
        if self.chances is not None:
            return self.chances
        empty = np.empty(0, np.int64)
        if not (self.shape.draws and self.shape.weighs):
            self.chances = 0, empty, empty
            return self.chances
        answers = self.pool.call("chances")
        first = np.concatenate([each["first_row"] for each in answers])
        order = np.argsort(first)
        ends = np.cumsum(np.concatenate([each["total"] for each in answers])[order])
        start = np.concatenate([[0], ends[:-1]])
        self.chances = int(ends[-1]), first[order], start
        return self.chances

    def tree(self, seed: int, progress: Any = None) -> Tree:
        """Grow the tree with this seed; where a share is lost, it is begun again."""
        shape = self.shape
        path = None
        n_features = len(shape.columns)
        if shape.recipe.max_features and shape.recipe.max_features < n_features:
            path = child_paths(np.array([seed], np.uint64))[:1]
        while True:
            try:
                about = (self.training.n_rows, self.n_draws, *self._chances())
                root = added(self.pool.call("begin_tree", seed, *about))
                store = BlockStore(self.pool, shape, seed, root)
                grown = grow_levels(
                    store,
                    shape.schema.features,
                    root,
                    shape.recipe,
                    self.units,
                    path=path,
                    progress=progress,
                )
                return wrap_grown(grown, shape.schema, shape.target, shape.recipe)
            except LostShareError:
                self.n_lost += 1


def _prepare(
    estimator: Any,
    engine: Engine,
    X: Any,
    sample_weight: Any,
    target: str,
    memory_limit: Any,
    temp_dir: Any,
    drops_gaps: bool,
) -> _Work:
    """Look at the target, then at the features, then lay out the blocks."""
    source = engine.source(X)
    source.require(target)
    source, weight = weigh(source, sample_weight, target)
    n_threads = threads(estimator.n_jobs)
    n_features = len(source.names) - 1 - (weight is not None)
    if n_features < 1:
        raise DataError(f"There must be columns beside the target {target!r}, got none; add some.")
    n_places = n_features * (MOST_BINS + 1)
    budget = make_budget(memory_limit, source.row_bytes, n_features, n_places, n_threads)
    reading = Reading(
        target,
        hasattr(estimator, "predict_proba"),
        budget.rows,
        estimator.categorical_features,
        estimator.ordinal_features,
        drops_gaps,
        weight,
    )
    reading, parts, found = survey_targets(engine, source, reading)
    begins = firsts([part.n_rows for part in parts])
    placed = [Placed(p, first, first) for p, first in zip(source.pieces, begins, strict=True)]
    factors, weighed = _factors(estimator, found), reading
    if factors is not None:
        weighed, _ = survey_classes(engine, source, reading, found, factors)
    schema, look = survey_features(engine, weighed, found, placed, found.n_rows, None, MOST_BINS)
    training = _training(estimator, schema, target, found)
    return _work(
        estimator,
        engine,
        placed,
        reading,
        budget,
        look.features,
        training,
        found,
        temp_dir,
        n_threads,
    )


def _work(
    estimator: Any,
    engine: Engine,
    placed: Sequence[Placed],
    reading: Reading,
    budget: Budget,
    features: FeatureParts,
    training: Training,
    found: TargetPart,
    temp_dir: Any,
    n_threads: int,
) -> _Work:
    columns = _columns(features)
    factors = _factors(estimator, found)
    weights = _Weights.of(found, factors)
    learner, n_draws = _learner(estimator, training, weights)
    scale, units = _scale(found, weights, n_draws)
    if weights is not None:
        mean = weights.total / found.n_rows
        training = replace(training, sample_weight=np.broadcast_to(mean, found.n_rows))
    redraw = getattr(estimator, "redraw", True)
    recipe = replace(learner._recipe(training), leaf_price=-1.0, redraw=redraw)
    training = replace(training, sample_weight=None)
    weighs = weights is not None
    width = row_width([column.bins for column in columns])
    shape = Shape(
        columns,
        training.table.schema,
        training.target,
        scale,
        weighs,
        units.weight,
        recipe,
        n_draws > 0,
        budget.rows,
        n_threads,
    )
    fitting = TreeFitting(
        reading,
        training.table.schema,
        columns,
        found.values,
        scale,
        width,
        n_draws > 0,
        weighs,
        factors,
        n_threads,
        budget.resident,
        None if temp_dir is None else str(temp_dir),
    )
    pool = engine.pool(fitting, placed)
    draws = n_draws > 0 or recipe.max_features is not None
    seed = drawn_seed(estimator.random_state) if draws else 0
    return _Work(shape, training, units, pool, seed, learner, n_draws)


def _training(estimator: Any, schema: Schema, target: str, found: TargetPart) -> Training:
    """What a fit keeps of its rows: how many, and what their columns are."""
    classes = found.values
    about = Target(target, () if classes is None else tuple(classes.tolist()))
    table = Table(schema, found.n_rows, np.zeros(len(schema), np.bool_), ())
    zero: Any = np.int32(0) if classes is not None else np.float64(0)
    y = np.broadcast_to(zero, found.n_rows)
    return Training(table, y, None, about, None, classes, n_given=found.n_rows)


def _columns(features: FeatureParts) -> list[BinColumn]:
    columns = []
    for part, bins in zip(features, bin_maps_of(features, MOST_BINS), strict=True):
        values = part.distinct if part.counts is None else None
        if values is not None and not len(values):
            values = np.zeros(1)  # a column of gaps has one bin, without rows
        if part.feature.kind == "ordinal" and values is None:
            raise DataError(
                f"Column {part.feature.name!r} must have at most {MOST_BINS} ordered categories "
                f"where X is read in blocks, got {len(part.feature.categories)}; bring some "
                "together, or pass it as numbers."
            )
        columns.append(BinColumn(part.feature, bins, values))
    return columns


def _learner(estimator: Any, training: Training, weights: _Weights | None) -> tuple[Any, int]:
    """The estimator of a tree, and how many rows are drawn for it; 0: all are taken."""
    if not hasattr(estimator, "n_estimators"):
        off = {"ccp_alpha": 0.0, "cp": estimator.cp}
        return clone(estimator).set_params(**off), 0
    from treewright.ensembles.members.draws import row_sampling
    from treewright.tree.growing.stopping import features_per_node

    cart = clone(estimator._learner())
    drawn = features_per_node(estimator.max_features, len(training.table.schema))
    cart.set_params(max_features=drawn)
    if not estimator.bootstrap:
        return cart, 0
    total = None if weights is None else np.array([weights.total])
    drawn_rows: Any = row_sampling(estimator.max_samples, True, total, training.n_rows).n_draws
    return cart, int(drawn_rows)


@dataclass(frozen=True)
class _Weights:
    """Weights of rows, those of their classes included: whether they are whole, and their sizes."""

    is_whole: bool
    most: float
    total: float

    @staticmethod
    def of(found: TargetPart, factors: NDArray[np.float64] | None) -> _Weights | None:
        if found.weights is None and factors is None:
            return None
        each = np.ones(1) if factors is None else factors
        own: Any = found.weights
        most: Any = 1.0
        totals: Any = found.counts
        whole = True
        if own is not None:
            most, totals = np.array([w.most for w in own]), np.array([w.total / EXACT for w in own])
            whole = all(w.is_whole for w in own)
        whole = whole and bool(np.all(each == np.floor(each)))
        return _Weights(whole, float(np.max(each * most)), float((each * totals).sum()))


def _factors(estimator: Any, found: TargetPart) -> NDArray[np.float64] | None:
    """Weights of the classes; None where all are one."""
    weight = getattr(estimator, "class_weight", None)
    if weight is None or found.values is None:
        return None
    each = np.asarray(class_weights(weight, found.values.tolist(), class_totals(found)), np.float64)
    return None if np.all(each == 1.0) else each


def _scale(found: TargetPart, weights: _Weights | None, n_draws: int) -> tuple[TargetScale, Units]:
    """How targets are summed, and what the sums are counted in."""
    most_weight = 1.0 if weights is None or n_draws else weights.most
    most_rows = max(n_draws, found.n_rows) * most_weight
    weight_scale = 1.0
    if weights is not None and not (weights.is_whole and weights.most * found.n_rows < 2.0**62):
        weight_scale = _power(weights.most * found.n_rows)
    unit = 1.0 if n_draws else 1 / weight_scale
    if found.values is not None:
        return TargetScale(len(found.values), weight_scale=weight_scale), Units(unit)
    low, high = found.low, found.high
    if max(abs(low), abs(high)) > MOST_NUMBER:
        raise DataError(
            f"Targets must lie within ±{MOST_NUMBER:g} where X is read in blocks, got "
            f"{low:g} to {high:g}; scale them."
        )
    if 0 < high / 2 - low / 2 < 1 / MOST_NUMBER:
        raise DataError(
            f"Targets must lie {1 / MOST_NUMBER:g} apart where X is read in blocks, got "
            f"{low:g} to {high:g}; scale them."
        )
    shift = low / 2 + high / 2
    most = max(high - shift, shift - low)
    scale, square = _power(most * most_rows), _power(most * most * most_rows)
    units = Units(unit, 1 / scale, 1 / square, shift)
    return TargetScale(0, shift, scale, square, weight_scale), units


def _power(bound: float) -> float:
    """The power of two that scales sums up to this bound to less than 2**62."""
    if not bound > 0:
        return 1.0
    return float(np.ldexp(1.0, int(np.clip(61 - np.frexp(bound)[1], -900, 900))))


# -- fits ---------------------------------------------------------------------------------------


def _fit_tree(estimator: Any, work: _Work, progress: Any) -> BaseException | None:
    tree, training = work.tree(work.seed, progress), work.training
    if is_named(estimator):
        ready = estimator._before_pruning(tree, training)
        pruned = prune_by_name(estimator, ready, training, None, progress)
    else:
        pruned = estimator._prune(tree, training, progress)
    estimator._store(pruned, training)
    return None


def _fit_forest(estimator: Any, work: _Work, progress: Any) -> BaseException | None:
    from treewright.ensembles._ensemble import Plan
    from treewright.ensembles.members.bodies import Trees
    from treewright.ensembles.members.draws import Draws, FeatureDraws
    from treewright.tree.forest.arrays import Forest

    trees: list[Tree] = []
    interrupt: BaseException | None = None
    try:
        while len(trees) < estimator.n_estimators:
            tree = work.tree(tree_seed(work.seed, len(trees)))
            trees.append(work.learner._prune(tree, work.training).tree)
            if progress is not None:
                progress(len(trees) / estimator.n_estimators)
    except KeyboardInterrupt as error:
        if not trees:
            raise
        interrupt = error
    n_features = len(work.shape.columns)
    draws = Draws(work.seed, work.training.n_rows, estimator._sampling(work.training))
    features = FeatureDraws(work.seed, n_features, n_features, False)
    plan = Plan(draws, features, None)  # type: ignore[arg-type]
    estimator._store(work.training, plan, Trees(Forest.from_trees(trees)), None)
    return interrupt
