"""What a fitted booster can be asked: scores, leaves, importances; its place in a model file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.schema import Schema, Target
from treewright.data.sparse import SparseTable
from treewright.data.table import Table
from treewright.ensembles.boosting.column_tests import ColumnTests
from treewright.ensembles.boosting.settings import growths
from treewright.ensembles.boosting.statistics import Statistics, restored
from treewright.ensembles.boosting.tasks import Aim
from treewright.ensembles.members.bodies import Trees
from treewright.ensembles.members.views import Indexed
from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.base import Estimator
from treewright.estimator.pages import Paged
from treewright.estimator.tasks import class_names, output_names
from treewright.estimator.training import threads
from treewright.tree.additive import Additive, Part
from treewright.tree.forest.arrays import Forest
from treewright.tree.predict import forest_path
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["GrownBooster"]

Floats = NDArray[np.float64]
Kind = Literal["gain", "split", "cover"]


class GrownBooster(Indexed, Paged, Estimator):
    """The part of a booster that needs no training rows."""

    _aim: Aim
    _forest: Forest
    _start: Floats  # one row
    _schema: Schema
    _seed: int
    _n_rows: int
    _n_rounds: int = 0  # asked for, or chosen
    _is_chosen: bool = False  # by cross-validation
    _statistics: Statistics | None = None
    _in_singles: bool = False  # scores are sums in single precision: the model is XGBoost's
    growth_: str
    n_iter_: int
    train_score_: Floats
    validation_score_: Floats

    def _tree_target(self, target: Target) -> str:
        """What a tree is said to predict: its share of the score."""
        return f"score of {target.name}"

    def _starts(self, X: Any) -> Floats:
        """Scores at the start: one row, or with an estimator as ``init`` one for each."""
        if not hasattr(self, "init_"):
            return self._start
        return np.ascontiguousarray(self._scores_of(self.init_, X), np.float64)

    def _scores_of(self, model: Any, X: Any) -> Floats:
        raise NotImplementedError

    def _fitted(self) -> Forest:
        try:
            return self._forest
        except AttributeError:
            check_is_fitted(self)
            raise

    def _rows(self, X: Any) -> Table:
        forest = self._fitted()
        table = encode(
            X,
            schema=self._schema,
            n_threads=threads(self.n_jobs),
            owner=type(self).__name__,
            later=forest.finds_gaps and self._statistics is None,
        )
        if self._statistics is not None:
            return self._statistics.table(table)
        if isinstance(table, SparseTable):
            table = table.only(np.flatnonzero(self.importances("split")))
        return table

    def _score(self, X: Any) -> Floats:
        """Scores of rows, a row per row."""
        forest = self._fitted()
        table = self._rows(X)
        n_threads = threads(self.n_jobs)
        return forest.sums(table, self._starts(X), n_threads, in_singles=self._in_singles)

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        forest, table = self._fitted(), self._rows(X)
        columns = self._aim.n_columns
        score = self._starts(X)
        score = np.repeat(score, table.n_rows, axis=0) if len(score) == 1 else score.copy()
        each = Trees(forest).each(table, "value", range(len(forest)), threads(self.n_jobs))
        for tree, values in each:
            score[:, tree % columns] += values[:, 0]
            if self._in_singles:
                score = score.astype(np.float32).astype(np.float64)
            if (tree + 1) % columns == 0:
                yield score.copy()

    @property
    def estimators_(self) -> Sequence[Tree]:
        """The trees, each made when it is looked at: round after round, column after column."""
        return _Trees(self._fitted())

    def _additive(self) -> Additive:
        forest, target = self._fitted(), self._schema.target
        assert target is not None
        if hasattr(self, "init_"):
            raise ParameterError(
                "shap_values needs a booster that starts from a constant, but init is "
                f"{type(self.init_).__name__}, whose part is no sum of trees; explain it and the "
                'booster apart, or use init="prior".'
            )
        columns, schema = self._aim.n_columns, self._schema
        trees = [forest.tree(k) for k in range(len(forest))]
        if self._statistics is not None:
            tests = ColumnTests(self._statistics)
            schema = replace(tests.schema, target=target)
            trees = [
                replace(tests.tree(tree), schema=replace(schema, target=tree.schema.target))
                for tree in trees
            ]
        parts = tuple(Part(tree, tree.value, k % columns) for k, tree in enumerate(trees))
        names = class_names(self) if target.is_classification else output_names(target)
        loss = self._aim.loss
        is_identity = not target.is_classification and (
            loss is None or bool(loss.predict(np.array([0.25]))[0] == 0.25)
        )
        return Additive(
            schema,
            parts,
            self._start[0],
            tuple(names[-columns:]),
            "value" if is_identity else "score",
            columns == 1,
        )

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_trees)
            Node ids in each tree.

        Examples
        --------
        >>> from treewright import GradientBoostingClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        >>> model = model.fit(rings.data, rings.target)
        >>> model.apply(rings.data).shape
        (400, 20)
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

        Examples
        --------
        >>> from treewright import GradientBoostingClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        >>> model = model.fit(rings.data, rings.target)
        >>> visited, offsets = model.decision_path(rings.data)
        >>> visited.shape == (400, offsets[-1])
        True
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

        Examples
        --------
        >>> from treewright import GradientBoostingClassifier, datasets
        >>> titanic = datasets.load_titanic()
        >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        >>> model = model.fit(titanic.data, titanic.target)
        >>> gains = model.importances("gain")
        >>> str(model.feature_names_in_[gains.argmax()])
        'Sex'
        """
        forest = self._fitted()
        n = len(forest.schema)
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
        if self._statistics is not None:
            total = self._statistics.gather(total)
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

        Examples
        --------
        >>> from treewright import GradientBoostingClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        >>> model = model.fit(rings.data, rings.target)
        >>> print(model.summary().split("Loss")[0])
        GradientBoostingClassifier of 'y'
        Size: 20 rounds, 20 trees, 8 leaves on average
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
        own: dict[str, Any] = {}
        if self._statistics is not None:
            own["statistics"] = self._statistics.state()
        if self._is_chosen:
            own["chosen"] = [self.growth_, self._n_rounds]
        if self._in_singles:
            own["in_singles"] = True
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
            **own,
        }

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        schema, forest, start = state["schema"], state["forest"], state["start"]
        seed, n_rows = state["seed"], state["n_rows"]
        _require(type(schema) is Schema and schema.target is not None, "it has no schema")
        _require(type(forest) is Forest and len(forest) > 0, "its trees are no forest")
        statistics = restored(schema, state.get("statistics"))
        seen = schema if statistics is None else statistics.schema
        _require(forest.schema.features == seen.features, "its trees have other features")
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
        self._seed, self._n_rows, self._statistics = seed, n_rows, statistics
        self.train_score_ = state["train_score"]
        self.validation_score_ = state["validation_score"]
        self._take_choice(state.get("chosen"))
        self._in_singles = state.get("in_singles", False)
        _require(type(self._in_singles) is bool, "in_singles is no boolean")
        if state["init"] is not None:
            _require(hasattr(state["init"], "predict"), "its init predicts nothing")
            self.init_ = state["init"]
        self._take_back(schema.target, state["classes"])
        columns = self._aim.n_columns
        _require(start.shape[1] == columns and len(forest) % columns == 0, "it lacks trees")
        self.n_iter_ = len(forest) // columns
        self._keep_features(self._schema)
        return self

    def _take_choice(self, chosen: Any) -> None:
        """Growth and rounds, where cross-validation has chosen them."""
        self.growth_ = growths(self)[0]
        self._is_chosen = chosen is not None
        if self._is_chosen:
            fits = type(chosen) is list and [type(each) for each in chosen] == [str, int]
            _require(fits and chosen[0] in ("leaf", "depth", "symmetric"), "its growth is unknown")
            self.growth_, self._n_rounds = chosen

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
        schema = Schema(old.schema.features, named, Target(self._tree_target(renamed)))
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


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ModelFileError(f"the booster in it is damaged: {what}")
