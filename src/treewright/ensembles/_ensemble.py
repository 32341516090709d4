"""What all ensembles share: the fit, growing further, early stopping, tags, model files.

``fit`` is: read the data once, plan the draws, grow members in batches, keep what was grown. An
estimator says what its members are (``_plan``); whether it predicts classes or numbers comes from
the mixins of :mod:`treewright.ensembles._tasks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.ensembles._files import body_of, body_state, draws_of, draws_state
from treewright.ensembles.insights.out_of_bag import OobErrorPath, OobSums, check_left_out, is_flat
from treewright.ensembles.members.bodies import Answer, Body, Models, Trees
from treewright.ensembles.members.draws import Draws, FeatureDraws
from treewright.ensembles.members.growers import Grower
from treewright.ensembles.members.views import Indexed
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.base import Estimator
from treewright.estimator.pages import Paged
from treewright.estimator.progress import Progress, Spoken, reported
from treewright.estimator.tasks import class_names, output_names
from treewright.estimator.training import Training, drawn_seed, threads
from treewright.tree.additive import Additive, Part, Says, additive_of, mean_of, votes_of
from treewright.tree.forest.arrays import leaf_values
from treewright.tree.show.tables import text_table

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Ensemble", "Plan"]


class Plan(NamedTuple):
    """How the members of one fit are grown."""

    draws: Draws
    features: FeatureDraws
    grower: Grower


class Ensemble(Indexed, Paged, Estimator):
    """Base of the ensembles."""

    n_estimators: int
    oob_score: Any
    warm_start: bool
    random_state: Any
    verbose: int
    n_iter_no_change: int
    tol: float

    _body: Body
    _draws: Draws
    _features: FeatureDraws
    _schema: Schema | None
    n_features_in_: int

    # What an estimator adds

    def _plan(self, training: Training, seed: int) -> Plan:
        """Which rows and features members get, and who grows them."""
        raise NotImplementedError

    @property
    def _takes_outputs(self) -> bool:
        """Whether members predict several numbers at once."""
        return True

    def _answer(self) -> Answer:
        """What is asked of the members."""
        raise NotImplementedError

    def _score_oob(self, training: Training, sums: OobSums) -> None:
        """Set ``oob_score_`` and what belongs to it."""
        raise NotImplementedError

    def _views(self, body: Body) -> Sequence[Any]:
        """The members as fitted estimators."""
        raise NotImplementedError

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the members.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed.
        y : array-like of shape (n_samples,)
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            At least 0; rows of weight 0 are left out. Where rows are drawn, the chance of a
            row to be drawn is proportional to its weight (case weights); where all are used,
            it is their weight in every member.

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C ends the growth; the members before the first unfinished one are kept, and
        KeyboardInterrupt is raised. ``set_params(warm_start=True).fit(X, y)`` grows the others.
        """
        with reported(self, X, y, sample_weight, n_parts=1) as progress:
            self._validate()
            training = self._encode(X, y, sample_weight)
            kept = self._kept(training)
            seed = self._new_seed() if kept is None else self._draws.seed
            plan = self._plan(training, seed)
            if self.oob_score or self._stops_early:
                check_left_out(plan.draws, "oob_score" if self.oob_score else "early_stopping")
            return self._grow(training, plan, kept, progress)

    @property
    def _stops_early(self) -> bool:
        return bool(getattr(self, "early_stopping", False))

    def _new_seed(self) -> int:
        return drawn_seed(self.random_state)

    def _kept(self, training: Training) -> Body | None:
        """The members that a warm start keeps."""
        if not self.warm_start or "_body" not in vars(self):
            return None
        names = training.table.schema.names if isinstance(training.table, Table) else None
        known = None if self._schema is None else self._schema.names
        if self._draws.n_rows != training.n_rows or names != known:
            raise DataError(
                f"warm_start=True adds members that are grown on the same data, got "
                f"{training.n_rows} rows after {self._draws.n_rows}, or other columns; set "
                "warm_start=False to begin anew."
            )
        if len(self._body) > self.n_estimators:
            raise ParameterError(
                f"n_estimators must not fall with warm_start=True, got {self.n_estimators} after "
                f"{len(self._body)}; set warm_start=False to begin anew."
            )
        return self._body

    def _grow(
        self, training: Training, plan: Plan, body: Body | None, progress: Progress | None
    ) -> Self:
        sums = self._sums(training, plan, body)
        have = 0 if body is None else len(body)
        interrupt: BaseException | None = None
        tell = self._teller(progress, have)
        for batch in self._batches(have):
            told = None if tell is None else partial(_tell_part, tell, batch)
            grown = plan.grower.grow(batch, told, None if sums is None else sums.so_far())
            if grown.body is not None:
                body = grown.body if body is None else body.joined(grown.body)  # type: ignore[arg-type]
                if sums is not None and grown.oob is not None:
                    sums.absorb(grown.oob)
                elif sums is not None:
                    self._add(sums, grown.body, batch.start, training.table, plan.draws)
            interrupt = grown.interrupt
            if interrupt is not None or (
                self._stops_early
                and sums is not None
                and is_flat(sums.errors, self.n_iter_no_change, self.tol)
            ):
                break
        if body is None:
            assert interrupt is not None
            raise interrupt
        self._store(training, plan, body, sums)
        if interrupt is not None:
            raise interrupt
        return self

    def _teller(self, progress: Progress | None, have: int) -> Callable[[float], None] | None:
        """Who is told how many members there are, those of before included; None for nobody."""
        if progress is None and not self.verbose:
            return None
        n_all = self.n_estimators
        spoken = Spoken(type(self).__name__, n_all, int(self.verbose))

        def tell(n_done: float) -> None:
            if progress is not None:
                progress((n_done - have) / max(1, n_all - have))
            spoken(int(n_done + 1e-6))  # a sum of fractions may fall short of a whole number

        return tell

    def _batches(self, have: int) -> Iterator[range]:
        size = self.n_iter_no_change if self._stops_early else max(1, self.n_estimators - have)
        for start in range(have, self.n_estimators, size):
            yield range(start, min(start + size, self.n_estimators))

    def _sums(self, training: Training, plan: Plan, body: Body | None) -> OobSums | None:
        if not (self.oob_score or self._stops_early):
            return None
        sums = OobSums(training.y, len(training.target.classes), keep_path=self._stops_early)
        if body is not None:
            self._add(sums, body, 0, training.table, plan.draws)
        return sums

    def _add(self, sums: OobSums, body: Body, first: int, rows: Any, draws: Draws) -> None:
        sums.add(body, first, rows, draws, self._answer(), threads(self.n_jobs))

    def _store(self, training: Training, plan: Plan, body: Body, sums: OobSums | None) -> None:
        self._body = body
        self._draws = plan.draws
        self._features = plan.features
        self._schema = None
        if isinstance(training.table, Table):
            schema = training.table.schema
            self._schema = Schema(schema.features, schema.named, training.target)
            self._keep_features(schema)
        self._keep_target(training.target, training.classes)
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if sums is not None and self.oob_score:
            self._score_oob(training, sums)

    # Reading the members

    def _fitted(self) -> Body:
        try:
            return self._body
        except AttributeError:
            check_is_fitted(self)
            raise

    def _trees(self, what: str) -> Trees:
        body = self._fitted()
        if isinstance(body, Models):
            raise ParameterError(
                f"{what} needs members that are trees of treewright, got "
                f"{type(body.models[0]).__name__}; use a tree learner as the base."
            )
        return body

    def _rows(self, X: Any, later: bool = False) -> Any:
        """New rows as the members take them; ``later``: they are given to ``mean`` alone."""
        body = self._fitted()
        return encode(
            X,
            schema=self._schema,
            n_threads=threads(self.n_jobs),
            owner=type(self).__name__,
            later=later and isinstance(body, Trees) and body.forest.finds_gaps,
        )

    def _same_training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """The data of training, given again."""
        self._fitted()
        self._validate()
        training = self._encode(X, y, sample_weight)
        if training.n_rows != self._draws.n_rows:
            raise DataError(
                f"X and y must be the training data, which had {self._draws.n_rows} rows, got "
                f"{training.n_rows}; pass what fit was given."
            )
        return training

    @property
    def estimators_(self) -> Sequence[Any]:
        """The members as fitted estimators; trees are made into them when looked at."""
        return self._views(self._fitted())

    @property
    def estimators_samples_(self) -> Sequence[NDArray[np.int64]]:
        """Rows of each member, ascending, repeated as often as they were drawn."""
        return [self._draws.rows(k) for k in range(len(self._fitted()))]

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
            Node ids in each tree.

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> forest = RandomForestClassifier(10, random_state=0).fit(iris.data, iris.target)
        >>> forest.apply(iris.data).shape
        (150, 10)
        """
        trees = self._trees("apply")
        return trees.forest.apply(self._rows(X), threads(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Nodes that each row visits, over all trees.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
            Nonzero where the row visits the node.
        offset : ndarray of shape (n_estimators + 1,)
            Columns ``offset[k]`` to ``offset[k + 1]`` belong to tree ``k``.

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> forest = RandomForestClassifier(10, random_state=0).fit(iris.data, iris.target)
        >>> visited, offsets = forest.decision_path(iris.data)
        >>> visited.shape == (150, offsets[-1])
        True
        """
        from treewright.tree.predict import forest_path

        return forest_path(self._trees("decision_path").forest, self._rows(X))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of impurity, mean over the trees.

        Biased towards features with many values; see ``impurity_importance`` and
        ``permutation_importance_oob``.
        """
        body = self._fitted()
        if isinstance(body, Models):
            raise AttributeError(
                "feature_importances_ needs members that are trees of treewright; "
                "use sklearn.inspection.permutation_importance."
            )
        mean = body.forest.feature_importances().mean(axis=0)
        total = mean.sum()
        return np.asarray(mean / total if total > 0 else mean)

    def _additive(self) -> Additive:
        body = self._fitted()
        schema = self._schema
        if schema is None or schema.target is None:
            return super()._additive()
        classes = schema.target.is_classification
        outputs = class_names(self) if classes else output_names(schema.target)
        if isinstance(body, Models):
            members = [additive_of(model) for model in body.models]
            if self._answer() == "vote":
                members = [votes_of(member) for member in members]
            return mean_of(members, schema, outputs, columns=body.columns, features=body.features)
        what: Says = "probability" if classes else "value"
        trees = (body.forest.tree(k) for k in range(len(body)))
        answer = self._answer()
        parts = tuple(Part(tree, leaf_values(tree, answer) / len(body)) for tree in trees)
        is_flat = not classes and len(outputs) == 1
        return Additive(schema, parts, np.zeros(len(outputs)), tuple(outputs), what, is_flat)

    def oob_error_path(self, X: Any, y: Any, sample_weight: Any = None) -> OobErrorPath:
        """Out-of-bag error against the number of members.

        Parameters
        ----------
        X, y, sample_weight
            The training data.

        Returns
        -------
        path : OobErrorPath
            With ``frame()``, ``plot()`` and ``str()``.

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> forest = RandomForestClassifier(20, random_state=0).fit(iris.data, iris.target)
        >>> path = forest.oob_error_path(iris.data, iris.target)
        >>> len(path.errors)
        20
        """
        training = self._same_training(X, y, sample_weight)
        check_left_out(self._draws, "oob_error_path")
        sums = OobSums(training.y, len(training.target.classes), keep_path=True)
        self._add(sums, self._body, 0, training.table, self._draws)
        return OobErrorPath.of(sums, training.target.classes)

    def size(self) -> str:
        """How many members there are and how large they are, in words."""
        body = self._fitted()
        if isinstance(body, Models):
            return f"{len(body)} members"
        trees = [body.forest.tree(k) for k in range(len(body))]
        leaves = np.mean([tree.n_leaves for tree in trees])
        depth = max(tree.depth for tree in trees)
        return f"{len(trees)} trees, {leaves:.6g} leaves on average, depth at most {depth}"

    def summary(self) -> str:
        """Size, out-of-bag score and importances as text.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> forest = RandomForestClassifier(20, random_state=0).fit(iris.data, iris.target)
        >>> print(forest.summary())
        RandomForestClassifier of 'y'
        Size: 20 trees, 8.35 leaves on average, depth at most 7
        <BLANKLINE>
             feature share of the decrease of impurity
        Petal.Length                            0.5888
         Petal.Width                            0.3404
        Sepal.Length                            0.0473
         Sepal.Width                            0.0235
        """
        self._fitted()
        target = None if self._schema is None else self._schema.target
        name = "" if target is None else f" of {target.name!r}"
        lines = [f"{type(self).__name__}{name}", f"Size: {self.size()}"]
        if hasattr(self, "oob_score_"):
            lines.append(f"Out-of-bag score: {self.oob_score_:.4f}")
        if isinstance(self._body, Trees) and self._schema is not None:
            share = self.feature_importances_
            order = np.argsort(-share, kind="stable")
            cells = {
                "feature": [self._schema.names[i] for i in order],
                "share of the decrease of impurity": [f"{share[i]:.4f}" for i in order],
            }
            lines += ["", text_table(cells)]
        return "\n".join(lines)

    # scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return "_body" in vars(self)

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        body = self._fitted()
        return {
            "schema": self._schema,
            "members": body_state(body),
            "draws": draws_state(self._draws, self._features),
            "learned": self._learned_state(),
        }

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        schema = state["schema"]
        if type(schema) is not Schema or schema.target is None:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        body = body_of(state["members"], schema)
        draws, features = draws_of(state["draws"], schema)
        self._schema, self._body = schema, body
        self._draws, self._features = draws, features
        self._keep_features(schema)
        self._restore_learned(schema.target, state["learned"])
        return self

    def _name_target(self, name: str) -> None:
        """Give the target a name."""
        assert self._schema is not None
        assert self._schema.target is not None
        self._schema = replace(self._schema, target=replace(self._schema.target, name=name))
        if isinstance(self._body, Trees):
            self._body = self._body.with_schema(self._schema)


def _tell_part(tell: Callable[[float], None], batch: range, fraction: float) -> None:
    """Tell of a fraction of a batch as of members in all."""
    tell(batch.start + fraction * len(batch))
