"""The fit that both boosters share; what a fitted one can be asked is in ``grown.py``.

``fit`` is: read, set rows aside, prepare a run, do its rounds, keep what was grown. Classifier and
regressor (``gradient_boosting.py``) say what their target is and what scores mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from treewright.data.schema import Schema
from treewright.data.sources import is_source, refuse_without_target
from treewright.ensembles.boosting.exact import ExactRun, check_exact
from treewright.ensembles.boosting.folds import (
    FOLD_RATE,
    FOLD_ROUNDS,
    FoldRuns,
    chooses_rounds,
    deal,
)
from treewright.ensembles.boosting.grown import GrownBooster
from treewright.ensembles.boosting.material import Material, read_material, set_aside
from treewright.ensembles.boosting.rounds import Judged, Rounds, Run
from treewright.ensembles.boosting.settings import (
    features_of_node,
    growths,
    length,
    most_leaves,
    tree_words,
)
from treewright.ensembles.boosting.snapshot import Snapshots, fingerprint
from treewright.ensembles.boosting.statistics import Statistics, add_statistics
from treewright.ensembles.boosting.stopping import (
    Judge,
    Patience,
    check_scoring_kind,
    is_on,
)
from treewright.ensembles.boosting.tasks import Aim
from treewright.errors import DataError, ParameterError
from treewright.estimator.parameters import check_parameters
from treewright.estimator.progress import Progress, reported
from treewright.estimator.scikit import DRAWN
from treewright.estimator.training import drawn_seed, threads
from treewright.learners.cart import CARTRegressor
from treewright.tree.forest.arrays import Forest

__all__ = ["Boosting"]

Floats = NDArray[np.float64]
Tell = Callable[[float], None]
CHOOSING = 0.8
"""What of a fit is the choice of its rounds, as progress is told."""


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
    n_rounds: int
    rate: float
    learn: Material
    aside: Material | None
    before: Forest | None
    start: Floats  # one row
    init: Any  # fitted, or None
    growth: str
    statistics: Statistics | None = None
    snapshots: Snapshots | None = None
    fold_scores: Sequence[float] | Floats | None = (
        None  # of rounds, where folds have chosen their number
    )


class Boosting(GrownBooster):
    """Base of the gradient boosters."""

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

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        target: str | None = None,
        memory_limit: Any = None,
        temp_dir: Any = None,
        client: Any = None,
    ) -> Self:
        """Grow trees round after round.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), path, or Dask collection
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed. With
            ``target``, a source that holds the target too and is read in blocks: a file or folder
            (Parquet, Arrow, CSV), a pattern such as ``"folder/*.parquet"``, a data frame, or a
            Dask data frame. The model is the same.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regression
            The target, without gaps; None where ``target`` names it.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            At least 0; rows of weight 0 are left out. With ``target``, also the name of a column
            of the source, which is then no feature.
        eval_set : tuple (X, y) or (X, y, sample_weight), default=None
            Rows that judge the rounds: ``validation_score_`` and, unless it is off,
            early stopping. With ``target``, a source like X.
        target : str, default=None
            The column of the source X to predict.
        memory_limit : int or str, default=None
            With ``target``: most memory of the process, such as ``"1GB"``; blocks beyond it are
            kept in files.
        temp_dir : path, default=None
            With ``target``: the folder of these files.
        client : dask.distributed.Client, default=None
            With ``target``: the cluster that holds the blocks and counts.

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C ends the fit; the rounds done are kept, and KeyboardInterrupt is raised.
        ``set_params(warm_start=True).fit(X, y)`` does the others.
        """
        if is_source(X, y, target):
            from treewright.scale._boosting import fit_source

            fit_source(
                self,
                X,
                y,
                sample_weight,
                target=target,
                eval_set=eval_set,
                memory_limit=memory_limit,
                temp_dir=temp_dir,
                client=client,
            )
            return self
        refuse_without_target(memory_limit=memory_limit, temp_dir=temp_dir, client=client)
        with reported(self, X, y, sample_weight, n_parts=1) as progress:
            check_parameters(self)
            check_scoring_kind(self.scoring, hasattr(self, "predict_proba"))
            material = read_material(self, X, y, sample_weight)
            before = self._kept(material)
            seed = drawn_seed(self.random_state) if before is None else self._seed
            aim = self._make_aim(material)
            learn, aside = set_aside(self, aim, material, eval_set, seed)
            patience = self._patience(aim, aside)
            by_folds = chooses_rounds(self, aim, material, eval_set is not None)
            size = length(self, material.table.n_rows, by_folds or patience is not None)
            plan = self._plan(aim, seed, material.table.n_rows, size, learn, aside, before)
            if by_folds:
                plan = self._choose(plan, learn, progress)
            plan = replace(plan, snapshots=self._snapshots(plan))
            run = self._prepare(plan, _part(progress, CHOOSING if by_folds else 0.0, 1.0))
            interrupt = run.run(patience)
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
        if self._n_rows == 0:
            raise DataError(
                "warm_start=True adds rounds to trees of treewright, got a model that came from "
                "another library; set warm_start=False to begin anew."
            )
        if material.table.schema.features != self._schema.features or (
            material.table.n_rows != self._n_rows
        ):
            raise DataError(
                "warm_start=True adds rounds on the same data, got "
                f"{material.table.n_rows} rows after {self._n_rows}, or other columns; set "
                "warm_start=False to begin anew."
            )
        if self.n_estimators != "auto" and self.n_iter_ > self.n_estimators:
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
        size: tuple[int, float],
        learn: Material,
        aside: Material | None,
        before: Forest | None = None,
        start: Floats | None = None,
    ) -> Plan:
        init = None
        if start is None:
            start = np.zeros((1, aim.n_columns))
            if self.init == "prior":
                start = np.ascontiguousarray(aim.start(learn.y, learn.weight)[None, :], np.float64)
        if not isinstance(self.init, str):
            weight = {} if learn.weight is None else {"sample_weight": learn.weight}
            init = clone(self.init).fit(learn.given_rows, learn.given_y, **weight)
        statistics, learn, aside = add_statistics(self, learn, aside, seed)
        growth = growths(self)[0]
        return Plan(aim, seed, n_rows, *size, learn, aside, before, start, init, growth, statistics)

    def _choose(self, plan: Plan, learn: Material, progress: Progress | None) -> Plan:
        """The plan with the growth, and as many rounds, as cross-validation finds best."""
        if plan.before is not None:  # they were chosen when it was begun
            n = max(self.n_iter_, self._n_rounds)
            return replace(
                plan, growth=self.growth_, n_rounds=n, fold_scores=self.validation_score_
            )
        coarse = replace(plan, n_rounds=FOLD_ROUNDS, rate=max(plan.rate, FOLD_RATE))
        size = coarse.n_rounds, coarse.rate
        parts = [
            self._plan(plan.aim, plan.seed, plan.n_rows, size, others, fold, start=plan.start)
            for others, fold in deal(learn)
        ]
        names = growths(self)
        found = []
        for k, name in enumerate(names):
            tell = _part(progress, CHOOSING * k / len(names), CHOOSING * (k + 1) / len(names))
            runs = [self._prepare(replace(part, growth=name), None) for part in parts]
            folds = FoldRuns(runs, self._rounds(coarse, tell, f"folds ({name}), "))
            interrupt = folds.run(self._patience(plan.aim, learn))
            if interrupt is not None:
                raise interrupt
            found.append((folds, name))
        folds, name = max(found, key=lambda each: each[0].best)
        n = min(plan.n_rounds, max(1, round(folds.best_round * coarse.rate / plan.rate)))
        return replace(plan, growth=name, n_rounds=n, fold_scores=folds.validation_score)

    def _snapshots(self, plan: Plan) -> Snapshots | None:
        if self.snapshot is None:
            return None
        about = fingerprint(self, plan.seed, plan.rate, plan.learn, plan.aside)
        return Snapshots(self.snapshot, self.every, about)

    def _rounds(self, plan: Plan, progress: Tell | None, about: str = "") -> Rounds:
        """What the fit is asked for, in the core's words."""
        learn, snapshots = plan.learn, plan.snapshots

        def tell(n_done: int, run: Any) -> None:
            if progress is not None:
                progress(n_done / plan.n_rounds)
            if self.verbose and n_done % int(self.verbose) == 0:
                print(about + _line(n_done, run))
            if snapshots is not None:
                snapshots.keep(run)

        return Rounds(
            growth=tree_words(self, plan.growth, learn, plan.statistics),
            n_rounds=plan.n_rounds,
            learning_rate=plan.rate,
            max_bins=self.max_bins,
            seed=plan.seed,
            n_threads=threads(self.n_jobs),
            target=self._tree_target(learn.target),
            dropout=self.dropout,
            tell=tell,
        )

    def _prepare(self, plan: Plan, progress: Tell | None) -> Run | ExactRun:
        learn, aside, snapshots = plan.learn, plan.aside, plan.snapshots
        training = self._judged(plan, learn)
        judged = None if aside is None else self._judged(plan, aside)
        rounds = self._rounds(plan, progress)
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
                max_leaf_nodes=most_leaves(self, plan.growth, learn.table.n_rows),
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

    def _weights_differ(self) -> str | None:
        return DRAWN if self.subsample < 1 or self.early_stopping is True else None

    def _n_drawn_features(self, n_features: int) -> int:
        return n_features if self.tree_method == "exact" else features_of_node(self, n_features)

    def _judged(self, plan: Plan, material: Material) -> Judged:
        if plan.init is None:
            start = np.repeat(plan.start, material.table.n_rows, axis=0)
        else:
            start = np.ascontiguousarray(self._scores_of(plan.init, material.given_rows))
        return Judged(
            material.table if material.seen is None else material.seen,
            material.y,
            material.count,
            material.factor,
            start,
            material.own_weight,
        )

    # Keeping

    def _store(self, plan: Plan, run: Any) -> None:
        n = run.best_round if plan.aside is not None and run.best_round else run.n_done
        forest = run.forest()
        columns = plan.aim.n_columns
        self._forest = forest.first(n * columns) if n * columns < len(forest) else forest
        schema = plan.learn.table.schema
        self._schema = Schema(schema.features, schema.named, plan.learn.target)
        self._aim, self._seed, self._n_rows = plan.aim, plan.seed, plan.n_rows
        self._n_rounds, self.growth_ = plan.n_rounds, plan.growth
        self._is_chosen = plan.fold_scores is not None
        self._start, self._statistics, self._in_singles = plan.start, plan.statistics, False
        self.__dict__.pop("init_", None)
        if plan.init is not None:
            self.init_ = plan.init
        self.n_iter_ = n
        self.train_score_ = np.array(run.train_score)
        scores = run.validation_score if plan.fold_scores is None else plan.fold_scores
        self.validation_score_ = np.array(scores)
        self._learn(plan.learn)
        self._keep_features(self._schema)


def _part(progress: Progress | None, first: float, last: float) -> Tell | None:
    """What is told of a part of the fit, from ``first`` to ``last`` of the whole."""
    if progress is None:
        return None
    return lambda fraction: progress(first + (last - first) * fraction)


def _line(n_done: int, run: Any) -> str:
    parts = [f"round {n_done}"]
    if run.train_score:
        parts.append(f"training {run.train_score[-1]:.6g}")
    if run.validation_score:
        parts.append(f"set aside {run.validation_score[-1]:.6g}")
    return "  ".join(parts)
