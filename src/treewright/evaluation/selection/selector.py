"""``select_features`` and the transformer that it gives: columns scored, some of them kept."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from treewright.arguments import FUNCTION, checked
from treewright.data.encode import encode
from treewright.errors import DataError, ParameterError
from treewright.estimator.parameters import PARAMETERS, Parameter, check_parameters, keep, options
from treewright.estimator.parameters import parameters as declared
from treewright.estimator.scikit import TableInputMixin
from treewright.evaluation._data import is_class_model, read_rows
from treewright.evaluation._scores import default_metric
from treewright.evaluation.selection import boruta, filters, relief, wrappers
from treewright.evaluation.selection.problem import Problem, Scored
from treewright.tree.show.tables import as_frame, text_table

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["FeatureSelector", "select_features"]

METHODS: dict[str, Callable[[Problem], Scored]] = {
    "chi2": filters.chi2,
    "information_gain": filters.information_gain,
    "gain_ratio": filters.gain_ratio,
    "relief": relief.relief,
    "forward": wrappers.forward,
    "backward": wrappers.backward,
    "permutation": wrappers.permutation,
    "boruta": boruta.boruta,
}

Method = Literal[
    "chi2",
    "information_gain",
    "gain_ratio",
    "relief",
    "forward",
    "backward",
    "permutation",
    "boruta",
]

OF_CLASSES = ("chi2", "information_gain", "gain_ratio")
WITH_MODEL = ("forward", "backward", "permutation", "boruta")
MOST_NUMBERED_CLASSES = 10
"""A target of integers with more values than this is taken for a quantity, not a class."""

_COUNT = Interval(Integral, 1, None, closed="left")

ROWS: dict[str, Parameter] = {
    "method": Parameter(
        options(*METHODS),
        "str",
        'How columns are scored. One at a time against classes: "chi2", "information_gain", '
        '"gain_ratio". By neighbours: "relief". By a model on folds, adding or dropping columns: '
        '"forward", "backward"; shuffling them on held-out rows: "permutation". By a forest with '
        'shuffled copies: "boruta".',
    ),
    "k": Parameter(
        [_COUNT, None],
        "int",
        "Columns to keep. None lets the method decide: those with a p-value (Holm) below "
        "``alpha``; with a score above 0 beyond its error; until folds gain no more; or confirmed.",
    ),
    "model": Parameter(
        [HasMethods(["fit", "predict"]), None],
        "estimator",
        "For the methods that use one; None is CART with ``cp=0.01``, and a random forest for "
        "permutation and Boruta.",
    ),
    "task": Parameter(
        options("auto", "classification", "regression"),
        '{"auto", "classification", "regression"}',
        'What the target is. "auto" goes by the model, else by its type: fractions, and integers '
        f"of more than {MOST_NUMBERED_CLASSES} values, are numbers.",
    ),
    "metric": Parameter(
        [str, None],
        "str",
        "Figure that forward, backward and permutation go by; accuracy or RMSE by default.",
    ),
    "alpha": Parameter(
        [Interval(Real, 0.0, 1.0, closed="neither")], "float", "Level of the methods' own tests."
    ),
    "n_bins": Parameter(
        [Interval(Integral, 2, 2**16, closed="both")],
        "int",
        "Bins of continuous columns for chi-squared, information gain and gain ratio.",
    ),
    "n_neighbors": Parameter([_COUNT], "int", "Neighbours of each class that Relief looks at."),
    "n_rounds": Parameter([_COUNT], "int", "Most rounds of Boruta."),
    "folds": Parameter(
        ["cv_object"],
        "int, splitter or iterable of splits",
        "Folds of forward, backward and permutation.",
    ),
    "random_state": Parameter(
        ["random_state"], "int or RandomState", "Seed of folds, samples and shuffles."
    ),
    "n_jobs": PARAMETERS["n_jobs"],
}


@declared(**ROWS)
class FeatureSelector(TableInputMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the columns that tell something about the target.

    Takes mixed columns with gaps, and hands on the columns kept as they came.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The higher the better.
    p_values_ : ndarray of shape (n_features,) or None
        Of the methods that test.
    errors_ : ndarray of shape (n_features,) or None
        Standard errors of the scores, of Relief and permutation.
    ranking_ : ndarray of shape (n_features,)
        Rank of each column, 1 the best.
    support_ : ndarray of bool of shape (n_features,)
        Which columns are kept.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    select_features : The same as a function.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from treewright import C45Classifier, FeatureSelector, datasets
    >>> credit = datasets.load_german_credit()
    >>> model = make_pipeline(FeatureSelector("chi2", k=5), C45Classifier())
    >>> model = model.fit(credit.data, credit.target)
    >>> model[-1].n_features_in_
    5
    >>> selector = model[0]
    >>> selector.transform(credit.data).num_columns
    5
    >>> selector.frame().columns.tolist()
    ['feature', 'score', 'p_value', 'kept']
    >>> axes = selector.plot()
    """

    def __init__(
        self,
        method: Method = "information_gain",
        k: int | None = None,
        *,
        model: Any = None,
        task: Literal["auto", "classification", "regression"] = "auto",
        metric: str | None = None,
        alpha: float = 0.05,
        n_bins: int = 10,
        n_neighbors: int = 10,
        n_rounds: int = 50,
        folds: Any = 5,
        categorical_features: Any = "from_dtype",
        ordinal_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any) -> Self:
        """Score the columns and choose.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed.
        y : array-like of shape (n_samples,)
            The target.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, tell: Callable[[int, int], None] | None = None) -> Self:
        problem = self._problem(X, y, tell)
        found = METHODS[self.method](problem)
        order = found.order
        if order is None:
            order = np.lexsort((np.arange(len(found.scores)), -found.scores))
        chosen = found.chosen
        if self.k is not None:
            chosen = np.zeros(len(order), bool)
            chosen[order[: self.k]] = True
        self.scores_, self.p_values_, self.errors_ = found.scores, found.p_values, found.errors
        self.ranking_ = np.empty(len(order), np.int64)
        self.ranking_[order] = np.arange(len(order)) + 1
        self.support_ = chosen
        self._what, self._status = found.what, found.status
        schema = problem.table.schema
        self._names = schema.names
        self.n_features_in_ = len(schema)
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        return self

    def _problem(self, X: Any, y: Any, tell: Callable[[int, int], None] | None) -> Problem:
        check_parameters(self)
        if y is None:
            raise DataError("FeatureSelector requires y to be passed, but the target y is None.")
        is_classes = self._is_classes(y)
        table = encode(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
            owner=type(self).__name__,
        )
        if self.k is not None and self.k > len(table.schema):
            raise ParameterError(
                f"k must be at most the {len(table.schema)} columns of X, got {self.k}."
            )
        model = self._model(is_classes)
        rows = read_rows(table if isinstance(model, TableInputMixin) else X, y, is_classes)
        if table.n_rows < 2:
            raise DataError(
                f"Selecting columns needs 2 rows or more, got {table.n_rows} sample(s)."
            )
        return Problem(
            X,
            table,
            rows,
            model,
            default_metric(rows, self.metric),
            self.k,
            self.alpha,
            self.n_bins,
            self.n_neighbors,
            self.n_rounds,
            self.folds,
            check_random_state(self.random_state),
            self.n_jobs,
            tell,
        )

    def _is_classes(self, y: Any) -> bool:
        is_so: bool
        if self.task != "auto":
            is_so = self.task == "classification"
        elif self.model is not None and self.method in WITH_MODEL:
            is_so = bool(is_class_model(self.model))
        else:
            is_so = _looks_like_classes(y)
        if self.method in OF_CLASSES and not is_so:
            raise ParameterError(
                f'method="{self.method}" is for classes, but the target holds numbers; use '
                'method="relief", "forward", "backward", "permutation" or "boruta".'
            )
        return is_so

    def _model(self, is_classes: bool) -> Any:
        import treewright

        if self.method not in WITH_MODEL:
            if self.model is not None:
                raise ParameterError(
                    f'model is for {", ".join(WITH_MODEL)}, but method="{self.method}" uses none; '
                    "leave it out."
                )
            return treewright.CARTClassifier() if is_classes else treewright.CARTRegressor()
        if self.model is not None:
            if is_class_model(self.model) != is_classes:
                raise ParameterError(
                    f"model must predict {'classes' if is_classes else 'numbers'}, as the target "
                    f"has them, got {type(self.model).__name__}."
                )
            if self.method == "boruta" and not isinstance(self.model, TableInputMixin):
                raise ParameterError(
                    'method="boruta" takes a model of treewright, got '
                    f"{type(self.model).__name__}; use RandomForestClassifier or -Regressor."
                )
            return self.model
        if self.method in ("permutation", "boruta"):
            forest = (
                treewright.RandomForestClassifier
                if is_classes
                else treewright.RandomForestRegressor
            )
            seed = self.random_state if isinstance(self.random_state, int) else None
            return forest(n_estimators=100, random_state=seed, n_jobs=self.n_jobs)
        tree = treewright.CARTClassifier if is_classes else treewright.CARTRegressor
        return tree(cp=0.01)

    # Using what was chosen

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """The columns kept, as they came, matched by name where there are names.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        X_kept : array or data frame of shape (n_samples, n_kept)
        """
        from treewright.data.frames import read_frame

        check_is_fitted(self)
        frame = read_frame(X)
        names = frame.names
        if names is not None and hasattr(self, "feature_names_in_"):
            at = {name: j for j, name in enumerate(names)}
            missing = [n for n in self._kept() if n not in at]
            if missing:
                raise DataError(
                    f"X must have the columns that were kept, but lacks {', '.join(missing[:8])}."
                )
            columns = np.array([at[name] for name in self._kept()], np.int64)
        else:
            if frame.n_columns != self.n_features_in_:
                raise DataError(
                    f"X has {frame.n_columns} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input; pass the columns of training."
                )
            columns = np.flatnonzero(self.support_)
        return wrappers.select_columns(X, columns)

    def _kept(self) -> list[str]:
        return [self._names[j] for j in np.flatnonzero(self.support_)]

    # Looking at it

    def _columns(self) -> dict[str, Any]:
        check_is_fitted(self)
        order = np.argsort(self.ranking_, kind="stable")
        columns: dict[str, Any] = {
            "feature": [self._names[j] for j in order],
            "score": self.scores_[order],
        }
        if self.errors_ is not None:
            columns["standard_error"] = self.errors_[order]
        if self.p_values_ is not None:
            columns["p_value"] = self.p_values_[order]
        if self._status is not None:
            columns["status"] = [self._status[j] for j in order]
        return columns | {"kept": self.support_[order]}

    def frame(self) -> Any:
        """All columns with their scores, the best first.

        Returns
        -------
        frame : data frame
        """
        return as_frame(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them.

        Returns
        -------
        values : dict

        Examples
        --------
        >>> from treewright import FeatureSelector, datasets
        >>> iris = datasets.load_iris()
        >>> selector = FeatureSelector("information_gain", k=2).fit(iris.data, iris.target)
        >>> list(selector.to_dict())
        ['method', 'score', 'kept', 'features', 'sentence']
        """
        from treewright.evaluation._comparison_words import records

        return {
            "method": self.method,
            "score": self._what,
            "kept": self._kept(),
            "features": records(self._columns()),
            "sentence": self.sentence,
        }

    @property
    def sentence(self) -> str:
        """What was kept, in words."""
        check_is_fitted(self)
        kept = self._kept()
        what = f"{len(kept)} of {self.n_features_in_} columns are kept by {self._what}"
        shown = ", ".join(kept[:8]) + (f" and {len(kept) - 8} more" if len(kept) > 8 else "")
        warning = (
            "; choose inside every fold (a pipeline) when a model on them is to be judged"
            if kept
            else "; none of them is shown to tell anything about the target"
        )
        return f"{what}{': ' + shown if kept else ''}{warning}."

    def summary(self) -> str:
        """The table of scores and the sentence, as text.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from treewright import FeatureSelector, datasets
        >>> iris = datasets.load_iris()
        >>> selector = FeatureSelector("information_gain", k=2).fit(iris.data, iris.target)
        >>> print(selector.summary())
        information gain, method information_gain
        feature       score p_value kept
        Petal.Width  1.3494 <0.0001  yes
        Petal.Length 1.3439 <0.0001  yes
        Sepal.Length 0.7302 <0.0001   no
        Sepal.Width  0.4039 <0.0001   no
        <BLANKLINE>
        2 of 4 columns are kept by information gain: Petal.Length, Petal.Width; choose inside
        every fold (a pipeline) when a model on them is to be judged.
        """
        from treewright.evaluation._comparison_words import cells

        table = text_table(cells(self._columns()), left=1)
        return f"{self._what}, method {self.method}\n{table}\n\n{self.sentence}"

    def plot(self, ax: Any = None, max_features: int = 30) -> Any:
        """Draw the scores as bars, the best at the top; columns kept are filled.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        max_features : int, default=30
            How many columns to show.

        Returns
        -------
        ax : matplotlib axes
        """
        from matplotlib import pyplot as plt

        columns = {name: list(values)[:max_features] for name, values in self._columns().items()}
        n = len(columns["feature"])
        if ax is None:
            ax = plt.subplots(figsize=(7, 1.1 + 0.26 * n), layout="constrained")[1]
        colours = ["#3b6ea5" if kept else "#d3dbe4" for kept in columns["kept"]]
        ax.barh(range(n), columns["score"], color=colours, xerr=columns.get("standard_error"))
        ax.axvline(0, color="#333333", lw=0.8)
        ax.set_yticks(range(n), columns["feature"])
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_xlabel(f"{self._what} (dark: kept)")
        return ax

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@checked(progress=FUNCTION)
def select_features(
    X: Any,
    y: Any,
    method: Method = "information_gain",
    k: int | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> FeatureSelector:
    """Score the columns of a table and choose those that tell something about the target.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        Mixed columns with gaps.
    y : array-like of shape (n_samples,)
        The target: classes, or numbers for Relief and the methods with a model.
    method : str, default="information_gain"
        "chi2", "information_gain", "gain_ratio", "relief", "forward", "backward",
        "permutation" or "boruta"; see :class:`FeatureSelector`.
    k : int, default=None
        Columns to keep; None lets the method decide.
    progress : callable, default=None
        A function of steps done and steps in all, for the methods that take long.
    **settings
        Further parameters of :class:`FeatureSelector`.

    Returns
    -------
    FeatureSelector
        Fitted; with ``frame()``, ``plot()``, ``sentence``, ``summary()`` and ``transform``.

    Examples
    --------
    >>> from treewright import datasets, select_features
    >>> iris = datasets.load_iris()
    >>> found = select_features(iris.data, iris.target, "relief", k=2)
    >>> found.get_feature_names_out().tolist()
    ['Petal.Length', 'Petal.Width']
    """
    from treewright.evaluation._names import choice

    choice("method", method, list(METHODS))
    known = FeatureSelector._get_param_names()
    for name in settings:
        if name not in known:
            from treewright.errors import suggest

            raise ParameterError(
                f"select_features has no parameter {name!r}.{suggest(name, known)}"
            )
    return FeatureSelector(method, k, **settings)._fit(X, y, progress)


def _looks_like_classes(y: Any) -> bool:
    try:
        values = np.asarray(y)
    except ValueError:  # rows of different lengths, which are refused as classes
        return True
    if values.dtype.kind not in "iuf":
        return True
    is_whole = values.dtype.kind in "iu" or bool(np.all(np.mod(values, 1) == 0))
    return is_whole and len(np.unique(values)) <= MOST_NUMBERED_CLASSES
