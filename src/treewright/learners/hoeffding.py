"""Hoeffding trees: learning from a stream that never ends, in bounded memory.

Rows are looked at once and forgotten; a leaf keeps sums of them. A test is made when Hoeffding's
bound says that more rows would hardly change which one is best. The extremely fast variant tests
as soon as a test is better than none and goes on looking: a test that turns out worse is
exchanged. With ``drift="adwin"`` the error of every node is watched, and where it rises a new
subtree grows beside the old one until it is better.

It differs from the papers in that the numbers of a leaf are kept in 64 bins whose width doubles
when it must, in place of a normal distribution per class: cuts are where the rows are. Naive
Bayes answers in the leaves still take numbers for normal.

References: Domingos and Hulten (2000), *Mining high-speed data streams*, KDD; Manapragada, Webb
and Salehi (2018), *Extremely fast decision tree*, KDD; Bifet and Gavaldà (2009), *Adaptive
learning from evolving data streams*; Ikonomovska, Gama and Džeroski (2011), *Learning model trees
from evolving data streams*.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.frames import feature_names
from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.data.target import class_codes, target_name
from treewright.data.weights import check_lengths, read_weights
from treewright.errors import (
    DataError,
    ModelFileError,
    ParameterError,
    TreewrightWarning,
    UnseenCategoriesWarning,
)
from treewright.estimator.base import TreeEstimator
from treewright.estimator.explained import Explained
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training, threads
from treewright.learners._hoeffding.stream import Stream, code_counts
from treewright.learners._lists.workspace import parse_memory
from treewright.tree.additive import Additive
from treewright.tree.growing.recipe import Recipe
from treewright.tree.tree import Tree

__all__ = ["HoeffdingTreeClassifier", "HoeffdingTreeRegressor"]

Floats = NDArray[np.float64]

OWN = {
    "grace_period": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        "Weight of the rows that a leaf sees between two looks for a test.",
    ),
    "delta": Parameter(
        [Interval(Real, 0.0, 1.0, closed="neither")],
        "float",
        "Chance of choosing another test than all rows of the stream would; smaller waits longer.",
    ),
    "tau": Parameter(
        [Interval(Real, 0.0, None, closed="left")],
        "float",
        "Bound below which tests count as equal, and the first of them is made.",
    ),
    "max_depth": Parameter(
        [Interval(Integral, 1, 1000, closed="both"), None],
        "int",
        "Longest path from the root to a leaf; None for 1000.",
    ),
    "drift": Parameter(
        [StrOptions({"adwin"}), None],
        '"adwin"',
        "How changes of what is to be learned are met: by watching the error of every node with "
        "an adaptive window, or not at all.",
    ),
    "drift_delta": Parameter(
        [Interval(Real, 0.0, 1.0, closed="neither")],
        "float",
        "Chance of seeing a drift that is none.",
    ),
    "memory_limit": Parameter(
        [str, Interval(Integral, 1, None, closed="left"), None],
        "int or str",
        'Bytes, or a text such as "100MB", that leaves may take to remember their rows; the '
        "leaves with the fewest errors stop learning where it is exceeded. None for no limit.",
    ),
}

LEAVES = {"majority": 0, "mean": 0, "naive_bayes": 1, "linear": 1, "adaptive": 2}
DEEPEST = 1000


class _HoeffdingTree(TreeEstimator):
    """What classifier and regressor share."""

    grace_period: int
    delta: float
    tau: float
    max_depth: int | None
    leaf_prediction: str
    drift: Literal["adwin"] | None
    drift_delta: float
    memory_limit: int | str | None
    criterion: Any
    _stream: Stream
    _schema: Schema

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget what was learned and learn these rows, once, in their order.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._validate()
        training = self._encode(X, y, sample_weight)
        if training.target.n_outputs > 1:
            raise DataError(
                f"y must be one column of numbers for a Hoeffding tree, got "
                f"{training.target.n_outputs}; fit one estimator per output."
            )
        stream = Stream(self._options(training.table.schema, training.target))
        stream.learn(training.table, training.y, training.sample_weight)
        self._begin(stream, training.table.schema, training.target, training.classes)
        return self

    def _begin(self, stream: Stream, schema: Schema, target: Target, classes: Any) -> None:
        self._keep_target(target, classes)
        self._keep_features(schema)
        self._stream = stream
        self._schema = Schema(schema.features, schema.named, target)

    def _learn_more(self, X: Any, y: Any, sample_weight: Any, *, want: bool) -> Floats | None:
        """Learn further rows; the first ones must have been learned."""
        target = self._known_target(y)
        if target.ndim > 1:
            raise DataError("y must be one column of numbers for a Hoeffding tree, got several.")
        weight, kept = read_weights(sample_weight, len(target))
        schema, table = self._read_more(X)
        check_lengths(table.n_rows, len(target))
        if kept is not None:
            table, target = table.take(kept), target[kept]
        if schema is not self._schema:
            self._stream.set_codes(code_counts(schema))
            self._schema = schema
        return self._stream.learn(table, target, weight, want=want)

    def _read_more(self, X: Any) -> tuple[Schema, Table]:
        """Further rows, and the schema with the categories that come with them."""
        owner = type(self).__name__
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoriesWarning)  # they are taken up below
            table = encode(X, schema=self._schema, owner=owner)
        pairs = zip(self._schema.features, table.has_gaps, strict=True)
        if isinstance(X, Table) or not any(f.kind == "nominal" and gaps for f, gaps in pairs):
            return self._schema, table
        schema = self._with_new_categories(X)
        if schema is self._schema:
            return schema, table
        return schema, encode(X, schema=schema, owner=owner)

    def _with_new_categories(self, X: Any) -> Schema:
        """The schema, with the categories that come for the first time behind those known."""
        known = self._schema
        nominal = [f.kind == "nominal" for f in known.features]
        are_named = known.named and feature_names(X) is not None
        keys = known.names if are_named else tuple(range(len(nominal)))
        named = [key for key, wanted in zip(keys, nominal, strict=True) if wanted]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TreewrightWarning)  # told of the first rows
            seen = encode(X, categorical_features=named).schema
        by_name = {f.name: f for f in seen.features}
        features = []
        for j, feature in enumerate(known.features):
            here = by_name.get(feature.name) if known.named and seen.named else None
            if here is None and not (known.named and seen.named) and j < len(seen.features):
                here = seen.features[j]
            if feature.kind == "nominal" and here is not None and here.kind == "nominal":
                new = tuple(c for c in here.categories if c not in set(feature.categories))
                if new:
                    feature = replace(feature, categories=feature.categories + new)
            features.append(feature)
        if tuple(features) == known.features:
            return known
        return replace(known, features=tuple(features))

    def _options(self, schema: Schema, target: Target) -> dict[str, Any]:
        limit = parse_memory(self.memory_limit)
        return {
            "n_classes": len(target.classes),
            "n_codes": code_counts(schema),
            "grace": float(self.grace_period),
            "delta": float(self.delta),
            "tau": float(self.tau),
            "max_depth": DEEPEST if self.max_depth is None else int(self.max_depth),
            "leaf": LEAVES[self.leaf_prediction],
            "fast": getattr(self, "algorithm", "vfdt") == "efdt",
            "again": float(getattr(self, "reevaluate_period", self.grace_period)),
            "drift": self.drift is not None,
            "drift_delta": float(self.drift_delta),
            "max_bytes": np.inf if limit is None else float(limit),
            "gini": self.criterion == "gini",
        }

    def _validate(self) -> None:
        super()._validate()
        parse_memory(self.memory_limit)

    def _recipe(self, training: Training) -> Recipe:
        """What ``trace`` compares features by."""
        return self._shown()

    def _shown(self) -> Recipe:
        return Recipe(self.criterion, nominal_split="multiway", missing="majority")

    def _stream_answer(self, X: Any) -> Floats:
        """What the leaves say of new rows."""
        check_is_fitted(self)
        table = encode(
            X, schema=self._schema, n_threads=threads(self.n_jobs), owner=type(self).__name__
        )
        return self._stream.answer(table)

    def __sklearn_is_fitted__(self) -> bool:
        return "_stream" in vars(self)

    @property
    def tree_(self) -> Tree:  # type: ignore[override]
        """The tree as it is now; made when it is looked at."""
        if "_stream" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has learned nothing yet")
        return self._stream.tree(self._schema, self._shown())

    @property
    def _leaves_answer_alone(self) -> bool:
        """Whether a leaf says what the tree has written down for it, and no model of its own."""
        return self.leaf_prediction in ("majority", "mean")

    def _whole_tree(self, what: str) -> Tree:
        if not self._leaves_answer_alone:
            raise ParameterError(
                f"{what} needs leaves that answer by what the tree holds, but those of "
                f"{type(self).__name__} have models of their own; fit it with "
                'leaf_prediction="majority" or "mean".'
            )
        return self.tree_

    def _name_target(self, name: str) -> None:
        target = self._schema.target
        assert target is not None
        self._schema = replace(self._schema, target=replace(target, name=name))

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "stream": self._stream.state()}

    def _restore(self, state: dict[str, Any]) -> Self:
        tree, learned, numbers = state["tree"], state["learned"], state["stream"]
        if not isinstance(tree, Tree) or tree.schema.target is None or type(learned) is not dict:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.ndim != 1:
            raise ModelFileError(f"what {type(self).__name__} learned is no row of numbers")
        schema, target = tree.schema, tree.schema.target
        try:
            stream = Stream(self._options(schema, target), numbers)
        except ValueError as error:
            raise ModelFileError(str(error)) from error
        self._restore_learned(target, learned)
        self._keep_features(schema)
        self._stream, self._schema = stream, schema
        return self


@parameters(
    **OWN,
    algorithm=Parameter(
        options("vfdt", "efdt"),
        '{"vfdt", "efdt"}',
        'When a test is made: once it beats the second best ("vfdt"), or once it beats no test, to '
        'be looked at again later ("efdt", extremely fast).',
    ),
    reevaluate_period=Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        'Weight of rows after which a test is looked at again, with ``algorithm="efdt"``.',
    ),
    criterion=Parameter(
        options("entropy", "gini"), '{"entropy", "gini"}', "Impurity that tests lower."
    ),
    leaf_prediction=Parameter(
        options("majority", "naive_bayes", "adaptive"),
        '{"majority", "naive_bayes", "adaptive"}',
        "Answer of a leaf: its commonest class, naive Bayes on its rows, or whichever of the two "
        "was right more often there.",
    ),
)
class HoeffdingTreeClassifier(ClassificationMixin, _HoeffdingTree):
    """Classification tree that learns from a stream.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    HoeffdingTreeRegressor : The same for numbers.

    Notes
    -----
    The model depends on the order of the rows, but not on how they are divided among calls. A
    category that comes for the first time is taken up; a class must be known from the first call.

    References
    ----------
    Domingos and Hulten (2000), *Mining high-speed data streams*, KDD; Manapragada, Webb and Salehi
    (2018), *Extremely fast decision tree*, KDD; Bifet and Gavaldà (2009), *Adaptive learning from
    evolving data streams*.

    Examples
    --------
    >>> from treewright import HoeffdingTreeClassifier
    >>> from treewright.datasets import make_agrawal
    >>> model = HoeffdingTreeClassifier()
    >>> for day in range(5):
    ...     data = make_agrawal(2000, 1, random_state=day)
    ...     model = model.partial_fit(data.data, data.target, classes=["A", "B"])
    >>> model.tree_.n_leaves
    5
    """

    def __init__(
        self,
        *,
        algorithm: Literal["vfdt", "efdt"] = "vfdt",
        criterion: Literal["entropy", "gini"] = "entropy",
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        reevaluate_period: int = 200,
        max_depth: int | None = None,
        leaf_prediction: Literal["majority", "naive_bayes", "adaptive"] = "adaptive",
        drift: Literal["adwin"] | None = None,
        drift_delta: float = 0.002,
        memory_limit: int | str | None = "100MB",
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _weights_differ(self) -> str | None:
        adaptive = self.leaf_prediction == "adaptive"
        return "of two equal rows the second is answered after the first" if adaptive else None

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows, once, in their order.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All classes that will ever come; looked at in the first call. None takes those of its
            rows.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._continue(X, y, classes, sample_weight, want=False)
        return self

    def _additive(self) -> Additive:
        return super()._additive() if self._leaves_answer_alone else Explained._additive(self)

    def predict_then_learn(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> NDArray[Any]:
        """Predict each row and then learn it: the prequential answers of a stream.

        Parameters
        ----------
        X, y, classes, sample_weight
            As for :meth:`partial_fit`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            What was predicted before the row was learned, for rows of weight above 0.

        Examples
        --------
        >>> from treewright import HoeffdingTreeClassifier, datasets
        >>> data = datasets.make_agrawal(5000, random_state=0)
        >>> model = HoeffdingTreeClassifier()
        >>> said = model.predict_then_learn(data.data, data.target)
        >>> bool((said == data.target).mean() > 0.8)
        True
        """
        answers = self._continue(X, y, classes, sample_weight, want=True)
        assert answers is not None
        return np.asarray(self.classes_[answers.argmax(axis=1)])

    def _continue(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, want: bool
    ) -> Floats | None:
        if "_stream" not in vars(self):
            self._validate()
            _, known = class_codes(y if classes is None else classes)
            table = encode(
                X,
                categorical_features=self.categorical_features,
                ordinal_features=self.ordinal_features,
                n_threads=threads(self.n_jobs),
                owner=type(self).__name__,
            )
            class_codes(y, known)  # before anything is kept
            target = Target(target_name(y), tuple(known.tolist()))
            stream = Stream(self._options(table.schema, target))
            self._begin(stream, table.schema, target, known)
        elif classes is not None and not np.array_equal(class_codes(classes)[1], self.classes_):
            raise ParameterError(
                f"classes must stay those of the first call, {self.classes_.tolist()!r}, got "
                f"{list(classes)!r}; begin a new estimator for others."
            )
        return self._learn_more(X, y, sample_weight, want=want)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._stream_answer(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        answers = self._stream_answer(X)
        return np.asarray(self.classes_[answers.argmax(axis=1)])


@parameters(
    **OWN,
    leaf_prediction=Parameter(
        options("mean", "linear", "adaptive"),
        '{"mean", "linear", "adaptive"}',
        "Answer of a leaf: the mean of its rows, least squares on their numbers (up to 64 "
        "columns), or whichever of the two erred less of late.",
    ),
)
class HoeffdingTreeRegressor(RegressionMixin, _HoeffdingTree):
    """Regression tree that learns from a stream.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    HoeffdingTreeClassifier : The same for classes.

    Notes
    -----
    The model depends on the order of the rows, but not on how they are divided among calls.

    References
    ----------
    Ikonomovska, Gama and Džeroski (2011), *Learning model trees from evolving data streams*, Data
    Mining and Knowledge Discovery 23.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import HoeffdingTreeRegressor
    >>> X = np.random.default_rng(0).random((5000, 2))
    >>> model = HoeffdingTreeRegressor().partial_fit(X, 3.0 * X[:, 0] + 1.0)
    >>> model.predict([[0.5, 0.1]]).round(3)
    array([2.5])
    """

    criterion = "squared_error"  # not the user's to choose

    def __init__(
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        max_depth: int | None = None,
        leaf_prediction: Literal["mean", "linear", "adaptive"] = "adaptive",
        drift: Literal["adwin"] | None = None,
        drift_delta: float = 0.002,
        memory_limit: int | str | None = "100MB",
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn further rows, once, in their order.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._continue(X, y, sample_weight, want=False)
        return self

    def _additive(self) -> Additive:
        return super()._additive() if self._leaves_answer_alone else Explained._additive(self)

    def predict_then_learn(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Predict each row and then learn it: the prequential answers of a stream.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`partial_fit`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            What was predicted before the row was learned, for rows of weight above 0.

        Examples
        --------
        >>> import numpy as np
        >>> from treewright import HoeffdingTreeRegressor
        >>> x = np.random.default_rng(0).random((5000, 1))
        >>> model = HoeffdingTreeRegressor()
        >>> said = model.predict_then_learn(x, np.where(x[:, 0] < 0.5, 0.0, 10.0))
        >>> bool(abs(said[-100:] - np.where(x[-100:, 0] < 0.5, 0.0, 10.0)).mean() < 1)
        True
        """
        answers = self._continue(X, y, sample_weight, want=True)
        assert answers is not None
        return answers[:, 0]

    def _continue(self, X: Any, y: Any, sample_weight: Any, *, want: bool) -> Floats | None:
        if "_stream" not in vars(self):
            self._validate()
            self._known_target(y)  # before anything is kept
            table = encode(
                X,
                categorical_features=self.categorical_features,
                ordinal_features=self.ordinal_features,
                n_threads=threads(self.n_jobs),
                owner=type(self).__name__,
            )
            target = Target(target_name(y))
            self._begin(Stream(self._options(table.schema, target)), table.schema, target, None)
        return self._learn_more(X, y, sample_weight, want=want)

    def predict(self, X: Any) -> Floats:
        """Answer of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._stream_answer(X)[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
