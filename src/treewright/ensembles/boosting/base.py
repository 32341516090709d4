"""What both boosters share: reading the data, the rounds, reading the trees, model files.

``fit`` is: read, set rows aside, prepare a run, do its rounds, keep what was grown. Classifier and
regressor (``gradient_boosting.py``) say what their target is and what scores mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.ensembles.boosting.constraints import interaction_groups
from treewright.ensembles.boosting.exact import ExactRun, check_exact
from treewright.ensembles.boosting.material import Material, read_material, set_aside
from treewright.ensembles.boosting.rounds import Judged, Rounds, Run
from treewright.ensembles.boosting.snapshot import Snapshots, fingerprint
from treewright.ensembles.boosting.stopping import Judge, Patience, check_scoring_name, is_on
from treewright.ensembles.boosting.tasks import Aim
from treewright.ensembles.members.bodies import Trees
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.base import Estimator
from treewright.estimator.parameters import check_parameters
from treewright.estimator.progress import Progress, reported
from treewright.estimator.recipe import monotonic_signs
from treewright.estimator.training import drawn_seed, threads
from treewright.learners.cart import CARTRegressor
from treewright.tree.forest.arrays import Forest
from treewright.tree.predict import forest_path
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Boosting"]

Floats = NDArray[np.float64]
Kind = Literal["gain", "split", "cover"]

# Chosen on data and folds that benchmarks/boosting_quality.py does not judge by; see the docs.
AUTO_L2, AUTO_FEATURES = 3.0, 0.5


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model with these scores says; scorers ask for it."""

    model: Any
    aim: Aim
    score: Floats
    classes: NDArray[Any] | None

    def predict(self) -> NDArray[Any]:
        if self.classes is None:
            return np.asarray(self.model._numbers(self.score, self.aim))
        return np.asarray(self.classes[np.argmax(self.probability(), axis=1)])

    def probability(self) -> Floats:
        return self.aim.probability(self.score)

    def decision(self) -> Floats:
        return self.score[:, 0] if self.score.shape[1] == 1 else self.score


@dataclass(frozen=True, eq=False)
class Plan:
    """All that one fit is made of; nothing of it is kept by the estimator before the end."""

    aim: Aim
    seed: int
    n_rows: int  # with those set aside
    learn: Material
    aside: Material | None
    before: Forest | None
    start: Floats  # one row
    init: Any  # fitted, or None
    snapshots: Snapshots | None


class Boosting(Estimator):
    """Base of the gradient boosters."""

    _counts_weight: ClassVar[bool] = True

    _aim: Aim
    _forest: Forest
    _start: Floats  # one row
    _schema: Schema
    _seed: int
    _n_rows: int
    n_iter_: int
    train_score_: Floats
    validation_score_: Floats

    # What a task adds

    def _make_aim(self, material: Material) -> Aim:
        raise NotImplementedError

    def _learn(self, material: Material) -> None:
        raise NotImplementedError

    def _weigh(
        self, y: Any, classes: Any, weight: Floats | None, factor: Floats | None
    ) -> Floats | None:
        """Factors of rows with those of classes, which may depend on all weights."""
        return factor

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Self:
        """Grow trees round after round.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regression
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            At least 0; rows of weight 0 are left out.
        eval_set : tuple (X, y) or (X, y, sample_weight), default=None
            Rows that judge the rounds: ``validation_score_`` and, unless it is off,
            early stopping.

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C ends the fit; the rounds done are kept, and KeyboardInterrupt is raised.
        ``set_params(warm_start=True).fit(X, y)`` does the others.
        """
        with reported(self, X, y, sample_weight, n_parts=1) as progress:
            check_parameters(self)
            check_scoring_name(self.scoring)
            material = read_material(self, X, y, sample_weight)
            before = self._kept(material)
            seed = drawn_seed(self.random_state) if before is None else self._seed
            aim = self._make_aim(material)
            learn, aside = set_aside(self, aim, material, eval_set, seed)
            plan = self._plan(aim, seed, material.table.n_rows, learn, aside, before)
            run = self._prepare(plan, progress)
            interrupt = run.run(self._patience(aim, aside))
            self._store(plan, run)
            if interrupt is not None:
                raise interrupt
            if plan.snapshots is not None:
                plan.snapshots.remove()
            return self

    def _kept(self, material: Material) -> Forest | None:
        """The trees that a warm start keeps."""
        if not self.warm_start or "_forest" not in vars(self):
            return None
        if material.table.schema.features != self._schema.features or (
            material.table.n_rows != self._n_rows
        ):
            raise DataError(
                "warm_start=True adds rounds on the same data, got "
                f"{material.table.n_rows} rows after {self._n_rows}, or other columns; set "
                "warm_start=False to begin anew."
            )
        if self.n_iter_ > self.n_estimators:
            raise ParameterError(
                f"n_estimators must not fall with warm_start=True, got {self.n_estimators} after "
                f"{self.n_iter_}; set warm_start=False to begin anew."
            )
        return self._forest

    def _patience(self, aim: Aim, aside: Material | None) -> Patience | None:
        if aside is None or not is_on(self.early_stopping, 0, True):
            return None
        if aim.own is not None and self.scoring == "loss":
            raise ParameterError(
                "scoring must be a scorer where loss is a function, whose value is not known, got "
                '"loss"; name a scorer, or set early_stopping=False.'
            )
        return Patience(self.n_iter_no_change, self.tol, -1 if self.scoring == "loss" else 1)

    def _plan(
        self,
        aim: Aim,
        seed: int,
        n_rows: int,
        learn: Material,
        aside: Material | None,
        before: Forest | None,
    ) -> Plan:
        start = np.zeros((1, aim.n_columns))
        init = None
        if self.init == "prior":
            start = np.ascontiguousarray(aim.start(learn.y, learn.weight)[None, :], np.float64)
        elif not isinstance(self.init, str):
            weight = {} if learn.weight is None else {"sample_weight": learn.weight}
            init = clone(self.init).fit(learn.given_rows, learn.given_y, **weight)
        snapshots = None
        if self.snapshot is not None:
            about = fingerprint(self, seed, learn, aside)
            snapshots = Snapshots(self.snapshot, self.every, about)
        return Plan(aim, seed, n_rows, learn, aside, before, start, init, snapshots)

    def _prepare(self, plan: Plan, progress: Progress | None) -> Run | ExactRun:
        learn, aside, snapshots = plan.learn, plan.aside, plan.snapshots
        training = self._judged(plan, learn)
        judged = None if aside is None else self._judged(plan, aside)

        def tell(n_done: int, run: Any) -> None:
            if progress is not None:
                progress(n_done / self.n_estimators)
            if self.verbose and n_done % int(self.verbose) == 0:
                print(_line(n_done, run))
            if snapshots is not None:
                snapshots.keep(run)

        rounds = Rounds(
            growth={} if self.tree_method == "exact" else self._growth(learn),
            n_rounds=self.n_estimators,
            learning_rate=self._rate(),
            max_bins=self.max_bins,
            seed=plan.seed,
            n_threads=threads(self.n_jobs),
            target=self._tree_target(learn.target),
            dropout=self.dropout,
            tell=tell,
        )
        judge = None
        if aside is not None and self.scoring != "loss":
            rows = aside.given_rows if callable(self.scoring) else None
            judge = Judge(self.scoring, rows, aside.given_y)

        def answer(score: Floats) -> Answer:
            return Answer(self, plan.aim, score, learn.classes)

        if self.tree_method == "exact":
            check_exact(self)
            learner = CARTRegressor(
                max_depth=self.max_depth,
                max_leaf_nodes=self._leaves(learn.table.n_rows),
                min_samples_leaf=self.min_samples_leaf,
                continuous_split="at_most",
                n_jobs=self.n_jobs,
            )
            return ExactRun(learner, training, judged, plan.aim, rounds, judge, answer, plan.before)
        run = Run(training, judged, plan.aim, rounds, judge, answer)
        if plan.before is not None:
            run.take_up(plan.before, list(self.train_score_), list(self.validation_score_))
        if snapshots is not None:
            snapshots.resume(run)
        return run

    def _judged(self, plan: Plan, material: Material) -> Judged:
        if plan.init is None:
            start = np.repeat(plan.start, material.table.n_rows, axis=0)
        else:
            start = np.ascontiguousarray(self._scores_of(plan.init, material.given_rows))
        return Judged(material.table, material.y, material.count, material.factor, start)

    def _rate(self) -> float:
        if self.learning_rate == "auto":
            return float(min(0.5, 10.0 / self.n_estimators))
        return float(self.learning_rate)

    def _leaves(self, n_rows: int) -> int | None:
        """Most leaves of a tree; None for no limit."""
        if self.max_leaf_nodes == "auto":
            return int(np.clip(round(n_rows**0.5 / 3.2), 8, 63))
        found: int | None = self.max_leaf_nodes
        return found

    def _tree_target(self, target: Target) -> str:
        """What a tree is said to predict: its share of the score."""
        return f"score of {target.name}"

    def _growth(self, learn: Material) -> dict[str, Any]:
        schema = learn.table.schema
        signs = monotonic_signs(self.monotonic_cst, schema, learn.target)
        return {
            "growth": self.growth,
            "max_leaves": self._leaves(learn.table.n_rows) or 0,
            "max_depth": self.max_depth or 0,
            "min_rows": self.min_samples_leaf,
            "min_hessian": float(self.min_child_weight),
            "l1": float(self.l1_regularization),
            "l2": AUTO_L2 if self.l2_regularization == "auto" else float(self.l2_regularization),
            "min_gain": float(self.min_gain),
            "max_step": 0.0,
            "nominal_smoothing": float(self.categorical_smoothing),
            "nominal_l2": float(self.categorical_l2),
            "nominal_max_groups": 0,
            "tree_share": float(self.max_features_per_tree),
            "level_share": float(self.max_features_per_level),
            "node_share": AUTO_FEATURES
            if self.max_features == "auto"
            else float(self.max_features),
            "monotonic": list(signs or ()),
            "interactions": interaction_groups(self.interaction_cst, schema),
            "sampling": self.sampling,
            "share": float(self.subsample),
            "top_share": float(self.subsample) / 2 if self.sampling == "goss" else 0.0,
        }

    def _starts(self, X: Any) -> Floats:
        """Scores at the start: one row, or with an estimator as ``init`` one for each."""
        if not hasattr(self, "init_"):
            return self._start
        return np.ascontiguousarray(self._scores_of(self.init_, X), np.float64)

    def _scores_of(self, model: Any, X: Any) -> Floats:
        raise NotImplementedError

    # Keeping

    def _store(self, plan: Plan, run: Run | ExactRun) -> None:
        n = run.best_round if plan.aside is not None and run.best_round else run.n_done
        forest = run.forest()
        columns = plan.aim.n_columns
        self._forest = forest.first(n * columns) if n * columns < len(forest) else forest
        schema = plan.learn.table.schema
        self._schema = Schema(schema.features, schema.named, plan.learn.target)
        self._aim, self._seed, self._n_rows = plan.aim, plan.seed, plan.n_rows
        self._start = plan.start
        self.__dict__.pop("init_", None)
        if plan.init is not None:
            self.init_ = plan.init
        self.n_iter_ = n
        self.train_score_ = np.array(run.train_score)
        self.validation_score_ = np.array(run.validation_score)
        self._learn(plan.learn)
        self._keep_features(self._schema)

    def _fitted(self) -> Forest:
        try:
            return self._forest
        except AttributeError:
            check_is_fitted(self)
            raise

    def _rows(self, X: Any) -> Table:
        forest = self._fitted()
        return encode(
            X,
            schema=self._schema,
            n_threads=threads(self.n_jobs),
            owner=type(self).__name__,
            later=forest.finds_gaps,
        )

    def _score(self, X: Any) -> Floats:
        """Scores of rows, a row per row."""
        forest = self._fitted()
        table = self._rows(X)
        return forest.sums(table, self._starts(X), threads(self.n_jobs))

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        forest, table = self._fitted(), self._rows(X)
        columns = self._aim.n_columns
        score = self._starts(X)
        score = np.repeat(score, table.n_rows, axis=0) if len(score) == 1 else score.copy()
        each = Trees(forest).each(table, "value", range(len(forest)), threads(self.n_jobs))
        for tree, values in each:
            score[:, tree % columns] += values[:, 0]
            if (tree + 1) % columns == 0:
                yield score.copy()

    @property
    def estimators_(self) -> Sequence[Tree]:
        """The trees, each made when it is looked at: round after round, column after column."""
        return _Trees(self._fitted())

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_trees)
            Node ids in each tree.
        """
        forest = self._fitted()
        return forest.apply(self._rows(X), threads(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Nodes that each row visits, over all trees.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
            Nonzero where the row visits the node.
        offset : ndarray of shape (n_trees + 1,)
            Columns ``offset[k]`` to ``offset[k + 1]`` belong to tree ``k``.
        """
        return forest_path(self._fitted(), self._rows(X))

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in what splits gain."""
        return self.importances()

    def importances(self, kind: Kind = "gain", *, normalize: bool = True) -> Floats:
        """How much the splits of each feature matter.

        Parameters
        ----------
        kind : {"gain", "split", "cover"}, default="gain"
            What splits lower the loss by, how many there are, or how many rows come to them.
        normalize : bool, default=True
            Scale to a sum of 1.

        Returns
        -------
        importances : ndarray of shape (n_features,)
        """
        forest = self._fitted()
        n = len(self._schema)
        if forest.arrays is not None:
            feature = forest.arrays["feature"].astype(np.int64)
        else:
            feature = np.concatenate([t.splits.feature[~t.is_leaf] for t in self.estimators_])
        if kind == "gain" and forest.arrays is not None:
            total = forest.arrays["importance"].sum(axis=0)
        elif kind == "gain":
            total = np.sum(
                [t.feature_importances(normalize=False) for t in self.estimators_], axis=0
            )
        elif kind == "split":
            total = np.bincount(feature, minlength=n).astype(np.float64)
        elif kind == "cover":
            rows = [tree.n_samples[~tree.is_leaf] for tree in self.estimators_]
            total = np.bincount(feature, np.concatenate(rows), minlength=n)
        else:
            raise ParameterError(f'kind must be "gain", "split" or "cover", got {kind!r}.')
        whole = total.sum()
        return np.asarray(total / whole if normalize and whole > 0 else total)

    def size(self) -> str:
        """How many trees there are and how large they are, in words."""
        forest = self._fitted()
        leaves = ((forest.n_nodes + 1) / 2).mean()
        return f"{self.n_iter_} rounds, {len(forest)} trees, {leaves:.6g} leaves on average"

    def summary(self) -> str:
        """Size, scores and importances as text.

        Returns
        -------
        text : str
        """
        from treewright.tree.show.tables import text_table

        self._fitted()
        assert self._schema.target is not None
        lines = [f"{type(self).__name__} of {self._schema.target.name!r}", f"Size: {self.size()}"]
        if len(self.train_score_) >= self.n_iter_ > 0:
            lines.append(f"Loss of the training rows: {self.train_score_[self.n_iter_ - 1]:.6g}")
        if len(self.validation_score_) >= self.n_iter_ > 0:
            lines.append(f"Rows set aside: {self.validation_score_[self.n_iter_ - 1]:.6g}")
        share = self.feature_importances_
        order = np.argsort(-share, kind="stable")
        cells = {
            "feature": [self._schema.names[i] for i in order],
            "share of the gain": [f"{share[i]:.4f}" for i in order],
        }
        return "\n".join([*lines, "", text_table(cells)])

    # scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return "_forest" in vars(self)

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        forest = self._fitted()
        return {
            "schema": self._schema,
            "forest": forest,
            "start": self._start,
            "init": getattr(self, "init_", None),
            "seed": self._seed,
            "n_rows": self._n_rows,
            "train_score": self.train_score_,
            "validation_score": self.validation_score_,
            "classes": getattr(self, "classes_", None),
        }

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        schema, forest, start = state["schema"], state["forest"], state["start"]
        seed, n_rows = state["seed"], state["n_rows"]
        _require(type(schema) is Schema and schema.target is not None, "it has no schema")
        _require(type(forest) is Forest and len(forest) > 0, "its trees are no forest")
        _require(forest.schema.features == schema.features, "its trees have other features")
        _require(type(seed) is int and type(n_rows) is int, "its seed is no number")
        _require(
            isinstance(start, np.ndarray)
            and start.dtype == np.float64
            and start.ndim == 2
            and len(start) == 1
            and bool(np.all(np.isfinite(start))),
            "its start is no row of numbers",
        )
        for name in ("train_score", "validation_score"):
            array = state[name]
            fits = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.ndim == 1
            _require(fits, f"{name} is no list of numbers")
        assert schema.target is not None
        self._schema, self._forest, self._start = schema, forest, start
        self._seed, self._n_rows = seed, n_rows
        self.train_score_ = state["train_score"]
        self.validation_score_ = state["validation_score"]
        if state["init"] is not None:
            _require(hasattr(state["init"], "predict"), "its init predicts nothing")
            self.init_ = state["init"]
        self._take_back(schema.target, state["classes"])
        columns = self._aim.n_columns
        _require(start.shape[1] == columns and len(forest) % columns == 0, "it lacks trees")
        self.n_iter_ = len(forest) // columns
        self._keep_features(self._schema)
        return self

    def _take_back(self, target: Target, classes: Any) -> None:
        raise NotImplementedError

    def _name_target(self, name: str) -> None:
        """Give the target a name."""
        target = self._schema.target
        assert target is not None
        features, named = self._schema.features, self._schema.named
        renamed = Target(name, target.classes, target.n_outputs)
        self._schema = Schema(features, named, renamed)
        old = self._forest
        schema = Schema(features, named, Target(self._tree_target(renamed)))
        self._forest = Trees(old).with_schema(schema).forest


class _Trees(Sequence[Tree]):
    """The trees of a forest, made when looked at."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest

    def __len__(self) -> int:
        return len(self._forest)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"there are {len(self)} trees, got number {k}")
        return self._forest.tree(k % len(self))

    def __repr__(self) -> str:
        return f"<{len(self)} trees>"


def _line(n_done: int, run: Any) -> str:
    parts = [f"round {n_done}"]
    if run.train_score:
        parts.append(f"training {run.train_score[-1]:.6g}")
    if run.validation_score:
        parts.append(f"set aside {run.validation_score[-1]:.6g}")
    return "  ".join(parts)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ModelFileError(f"the booster in it is damaged: {what}")
