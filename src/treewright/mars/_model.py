"""What MARSRegressor and MARSClassifier share: the fit, the numbers it leaves, and model files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.schema import Schema
from treewright.data.weights import counting_weights, read_weights
from treewright.errors import DataError, ModelFileError
from treewright.estimator.base import Estimator
from treewright.estimator.folds import row_splits
from treewright.estimator.linear import weighted_sums
from treewright.estimator.progress import reported
from treewright.estimator.routing import SplitsRows
from treewright.estimator.training import Training, threads
from treewright.kernels.mars import ENDS, ForwardOptions, forward
from treewright.mars._allowed import make_offer, positions
from treewright.mars._basis import Basis, basis_from_pass
from treewright.mars._predictors import Predictor, make_predictors, predictor_matrix
from treewright.mars._prune import Subsets, best_subsets, gcv
from treewright.mars._reduce import Reduced, one_thread, reduce_rows
from treewright.mars._state import from_state, to_state

if TYPE_CHECKING:
    from treewright.data.table import Table
    from treewright.mars._show import Anova, Importance, Summary

__all__ = ["MARS"]

Floats = NDArray[np.float64]

MOST_PRODUCT = 1e150
"""Largest product of the factors of a term."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The numbers of a fit: predictors by row, responses, weights and how many rows each is."""

    x: Floats
    y: Floats
    weight: Floats | None
    copies: Floats | None

    @property
    def root_weight(self) -> Floats:
        return np.ones(len(self.y)) if self.weight is None else np.sqrt(self.weight)

    def take(self, rows: NDArray[np.int64]) -> Problem:
        weight = None if self.weight is None else self.weight[rows]
        copies = None if self.copies is None else self.copies[rows]
        return Problem(self.x[:, rows], self.y[rows], weight, copies)

    @property
    def n(self) -> float:
        """Rows, with their copies."""
        return float(len(self.y) if self.copies is None else self.copies.sum())


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit found: all terms, the subsets of them, those that stay, and coefficients."""

    basis: Basis
    subsets: Subsets
    kept: NDArray[np.intp]
    small: Reduced
    rows: Floats


class MARS(SplitsRows, Estimator):
    """Base of the two estimators."""

    basis_: Basis
    coefficients_: Floats
    gcv_: float
    rss_: float
    rsq_: float
    grsq_: float
    subsets_: Subsets
    forward_basis_: Basis
    stopped_: str

    degree: int
    penalty: float | None
    max_terms: int | None
    pruning: str | None

    # What the task brings

    def _responses(self, training: Training) -> Floats:
        """The columns that the least-squares fits explain."""
        raise NotImplementedError

    def _coefficients(
        self, matrix: Floats, squares: Floats, training: Training, problem: Problem
    ) -> Floats:
        """One row per output of the model, from the terms and the coefficients of least squares."""
        raise NotImplementedError

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> Self:
        """Add terms, take the needless away, and fit their coefficients.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regression
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at least 0. Whole numbers count as repeated rows; others are
            relative and are scaled to a mean of 1.
        **metadata
            For the splitter of ``cv``, such as ``groups``, by scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        with reported(self, X, y, sample_weight), self._handing_on(metadata):
            self._validate()
            training = self._encode(X, y, sample_weight)
            schema = Schema(
                training.table.schema.features, training.table.schema.named, training.target
            )
            copies = _copies(sample_weight, training.n_given)
            self._schema, self._predictors = schema, make_predictors(training.table, copies)
            problem = self._problem(training, copies)
            basis = self._forward(problem)
            with one_thread():
                matrix = basis.matrix(problem.x)
                small = reduce_rows(matrix, problem.y, problem.root_weight)
                subsets = best_subsets(small, problem.n, self._penalty())
                kept = subsets.terms[self._size_of(subsets, problem, training) - 1]
                rows = self._coefficients(matrix[:, kept], small.solve(kept)[0], training, problem)
            return self._store(Fitted(basis, subsets, kept, small, rows), problem, training)

    def _problem(self, training: Training, copies: Floats | None) -> Problem:
        x = predictor_matrix(self._predictors, training.table)
        self._refuse_huge(x)
        problem = Problem(x, self._responses(training), training.sample_weight, copies)
        if problem.weight is None:
            return problem
        return replace(problem, weight=problem.weight * (problem.n / problem.weight.sum()))

    def _refuse_huge(self, x: Floats) -> None:
        """Refuse numbers whose products in a term have squares that overflow."""
        limit = MOST_PRODUCT ** (1 / self.degree)
        most = np.maximum(x.max(axis=1), -x.min(axis=1))
        if np.any(most > limit):
            k = int(np.argmax(most))
            raise DataError(
                f"{type(self).__name__} with degree={self.degree} needs numbers within "
                f"±{limit:.0e}, but column {self._predictors[k].name!r} holds {most[k]:g}; "
                "scale it."
            )

    def _options(self) -> ForwardOptions:
        own: Any = self
        p = len(self._predictors)
        return ForwardOptions(
            degree=own.degree,
            max_terms=min(200, max(20, 2 * p)) + 1 if own.max_terms is None else own.max_terms,
            penalty=self._penalty(),
            thresh=own.thresh,
            minspan=own.minspan,
            endspan=own.endspan,
            adjust_endspan=own.adjust_endspan,
            fast_k=own.fast_k,
            fast_beta=own.fast_beta,
            auto_linear=own.auto_linear,
        )

    def _penalty(self) -> float:
        if self.penalty is not None:
            return float(self.penalty)
        return 3.0 if self.degree > 1 else 2.0

    def _forward(self, problem: Problem) -> Basis:
        names = tuple(predictor.name for predictor in self._predictors)
        indicators = tuple(predictor.is_indicator for predictor in self._predictors)
        if not names:  # nominal features of one category each
            self.stopped_ = ENDS[2]
            return Basis(((),), names, indicators)
        own: Any = self
        linear = None
        if own.linear_features is not None:
            chosen = positions(own.linear_features, self._schema, "linear_features")
            linear = np.array([p.feature in chosen for p in self._predictors], np.bool_)
        found = forward(
            problem.x,
            problem.y,
            problem.weight,
            problem.copies,
            options=self._options(),
            linear=linear,
            offer=make_offer(own.allowed, self._predictors, self._schema),
            n_threads=threads(self.n_jobs),
        )
        self.stopped_ = ENDS[found.end]
        return basis_from_pass(found, names, indicators)

    def _size_of(self, subsets: Subsets, problem: Problem, training: Training) -> int:
        """How many terms stay."""
        if self.pruning is None or len(subsets) == 1:
            return len(subsets)
        if self.pruning == "gcv":
            return 1 + int(np.argmin(subsets.gcv))
        errors = self._held_out_errors(len(subsets), problem, training)
        return 1 + int(np.argmin(errors))

    def _held_out_errors(self, n_sizes: int, problem: Problem, training: Training) -> Floats:
        """Squared error of each size on rows held out, all folds together."""
        own: Any = self
        total = np.zeros(n_sizes)
        stopped = self.stopped_
        for train, test in row_splits(own.cv, training, own.random_state, self._asked):
            inside, outside = problem.take(train), problem.take(test)
            basis = self._forward(inside)
            small = reduce_rows(basis.matrix(inside.x), inside.y, inside.root_weight)
            subsets = best_subsets(small, inside.n, self._penalty())
            held = basis.matrix(outside.x)
            for size in range(n_sizes):
                kept = subsets.terms[min(size, len(subsets) - 1)]
                coef, _ = small.solve(kept)
                rest = (outside.y - held[:, kept] @ coef.T) * outside.root_weight[:, None]
                total[size] += float((rest**2).sum())
        self.stopped_ = stopped
        return total

    def _store(self, fitted: Fitted, problem: Problem, training: Training) -> Self:
        loss = None if training.costs is None else training.costs.loss
        self._keep_target(training.target, training.classes, loss)
        self._keep_features(self._schema)
        subsets, last = fitted.subsets, len(fitted.kept) - 1
        self.forward_basis_, self.subsets_ = fitted.basis, subsets
        self.basis_ = fitted.basis.take(fitted.kept)
        self._keep_coefficients(fitted.rows)
        self._ranges = np.column_stack([problem.x.min(1), problem.x.max(1)])
        self._spread, self._effects = self._measure(fitted, problem.n)
        whole = float(subsets.rss[0])
        self.rss_, self.gcv_ = float(subsets.rss[last]), float(subsets.gcv[last])
        self.rsq_ = 1 - self.rss_ / whole if whole > 0 else 0.0
        base = float(gcv(whole, 1, problem.n, self._penalty()))
        self.grsq_ = 1 - self.gcv_ / base if whole > 0 else 0.0
        return self

    def _keep_coefficients(self, rows: Floats) -> None:
        self.coefficients_ = rows[0] if len(rows) == 1 else rows

    def _groups(self) -> list[tuple[int, ...]]:
        """Features that meet in terms, each set once: alone first, then pairs and more."""
        sets = {self._features_of(k) for k in range(1, len(self.basis_))}
        return sorted(sets, key=lambda group: (len(group), group))

    def _features_of(self, term: int) -> tuple[int, ...]:
        factors = self.basis_.terms[term]
        return tuple(sorted({self._predictors[f.predictor].feature for f in factors}))

    def _measure(self, fitted: Fitted, n: float) -> tuple[Floats, Floats]:
        """Standard deviation of each term; and of each group of features that of its part, RSS and
        GCV without it, and its number of terms."""
        small, kept = fitted.small, fitted.kept
        coef, _ = small.solve(kept)
        one = np.ones((1, 1))
        spread = [0.0, *(small.spread([k], one) for k in kept[1:])]
        rows = []
        for group in self._groups():
            own = np.array([k > 0 and self._features_of(k) == group for k in range(len(kept))])
            _, rss = small.solve(kept[~own])
            price = float(gcv(rss, int((~own).sum()), n, self._penalty()))
            rows.append([small.spread(kept[own], coef[:, own]), rss, price, own.sum()])
        return np.array(spread), np.array(rows, float).reshape(-1, 4)

    # Reading the fitted model

    def __sklearn_is_fitted__(self) -> bool:
        return "coefficients_" in vars(self)

    def _rows(self) -> Floats:
        """Coefficients with one row per output."""
        check_is_fitted(self)
        return np.atleast_2d(self.coefficients_)

    def _table(self, X: Any) -> Table:
        check_is_fitted(self)
        return encode(
            X, schema=self._schema, n_threads=threads(self.n_jobs), owner=type(self).__name__
        )

    def basis_matrix(self, X: Any) -> Floats:
        """Values of the terms of ``basis_``.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        matrix : ndarray of shape (n_samples, n_terms)
            ``matrix @ coefficients_.T`` is the prediction (the log odds of a classifier).

        Examples
        --------
        >>> import numpy as np
        >>> from treewright import MARSRegressor, datasets
        >>> hitters = datasets.load_hitters()
        >>> model = MARSRegressor().fit(hitters.data, hitters.target)
        >>> matrix = model.basis_matrix(hitters.data)
        >>> matrix.shape, model.coefficients_.shape
        ((263, 16), (16,))
        >>> np.allclose(matrix @ model.coefficients_.T, model.predict(hitters.data))
        True
        """
        table = self._table(X)
        return self.basis_.matrix(predictor_matrix(self._predictors, table, self.basis_.used()))

    def _raw_scores(self, X: Any) -> Floats:
        return weighted_sums(self.basis_matrix(X).T, self._rows())

    def summary(self) -> Summary:
        """Terms, coefficients and figures of the model.

        Returns
        -------
        summary : Summary
            With ``frame()``, ``plot()``, ``str()`` and a notebook display.

        Examples
        --------
        >>> import numpy as np
        >>> from treewright import MARSRegressor
        >>> x = np.linspace(0, 10, 101)
        >>> model = MARSRegressor().fit(x[:, None], np.abs(x - 4))
        >>> model.summary().terms
        ['(Intercept)', 'h(x0-4)', 'h(4-x0)']
        """
        from treewright.mars._show import summary

        return summary(self)

    def to_html(self, *, title: str | None = None) -> str:
        """The model as a page of its terms, functions and importances, which loads nothing.

        Parameters
        ----------
        title : str, default=None
            Title of the page; by default the name of the learner.

        Returns
        -------
        page : str

        Examples
        --------
        >>> import numpy as np
        >>> from treewright import MARSRegressor
        >>> x = np.linspace(0, 10, 101)
        >>> model = MARSRegressor().fit(x[:, None], np.abs(x - 4))
        >>> model.to_html()[:15]
        '<!DOCTYPE html>'
        """
        from treewright.reporting._table_page import table_page

        parts = [self.summary(), self.anova(), self.importance()]
        tables = [part._repr_html_() for part in parts]
        words = "A sum of terms; each is a coefficient times a product of hinges."
        return table_page(type(self).__name__ if title is None else title, words, tables)

    def anova(self) -> Anova:
        """The model as a sum of functions of one feature, of two, and so on.

        Returns
        -------
        anova : Anova
            One row per set of features that meet in terms: the standard deviation of its part
            and what RSS and GCV would be without it.

        Examples
        --------
        >>> from treewright import MARSRegressor, datasets
        >>> hitters = datasets.load_hitters()
        >>> model = MARSRegressor().fit(hitters.data, hitters.target)
        >>> model.anova().frame()[["features", "terms"]].head(3)
          features  terms
        0     Hits      1
        1    HmRun      1
        2      RBI      1
        """
        from treewright.mars._show import anova

        return anova(self)

    def importance(self) -> Importance:
        """How much the features matter, by three measures.

        Returns
        -------
        importance : Importance
            ``nsubsets``: subsets of the pruning path, up to the chosen one, that use the
            feature. ``gcv`` and ``rss``: the root of how much these subsets lower GCV and RSS
            against the next smaller one, with the largest at 100.

        Examples
        --------
        >>> from treewright import MARSRegressor, datasets
        >>> hitters = datasets.load_hitters()
        >>> model = MARSRegressor().fit(hitters.data, hitters.target)
        >>> model.importance().frame().round(1).head(3)
          feature  nsubsets    gcv    rss
        0   Years        14   74.8   77.1
        1    CRBI        12  100.0  100.0
        2   CHits        11   54.0   57.2
        """
        from treewright.mars._show import importance

        return importance(self)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in ``importance()`` by number of subsets."""
        counts = self.importance().nsubsets.astype(float)
        return counts / counts.sum() if counts.sum() else counts

    def to_text(self, digits: int = 6) -> str:
        """The model as a formula.

        Parameters
        ----------
        digits : int, default=6
            Significant digits of coefficients and knots.
        """
        from treewright.mars._show import formula

        return formula(self, digits)

    def to_python(self) -> str:
        """Source of a Python function ``predict(row)`` that needs nothing but Python.

        ``row`` is a dict from feature name to value; None or NaN is a gap.

        Examples
        --------
        >>> import numpy as np
        >>> from treewright import MARSRegressor
        >>> x = np.linspace(0, 10, 101)
        >>> model = MARSRegressor().fit(x[:, None], np.abs(x - 4))
        >>> scope = {}
        >>> exec(model.to_python(), scope)
        >>> round(scope["predict"]({"x0": 1.0}), 6)
        3.0
        """
        from treewright.mars._python import python_source

        return python_source(self)

    def plot(self, features: Any = None, n_points: int = 100) -> Any:
        """Draw main effects as curves and pairs of features as surfaces.

        Parameters
        ----------
        features : array-like of str or int, default=None
            Features to draw; None draws all in the model.
        n_points : int, default=100
            Points along an axis of a curve.

        Returns
        -------
        figure : matplotlib Figure

        Examples
        --------
        >>> from treewright import MARSRegressor, datasets
        >>> hitters = datasets.load_hitters()
        >>> model = MARSRegressor().fit(hitters.data, hitters.target)
        >>> figure = model.plot(["Years"])
        """
        from treewright.mars._plot import plot_effects

        return plot_effects(self, features, n_points)

    def size(self) -> str:
        """Terms and features in words."""
        used = {f for k in range(1, len(self.basis_)) for f in self._features_of(k)}
        return f"{len(self.basis_)} terms of {len(used)} features"

    def _name_target(self, name: str) -> None:
        target = self._schema.target
        assert target is not None
        self._schema = replace(self._schema, target=replace(target, name=name))

    # Model files

    def _state(self) -> dict[str, Any]:
        return to_state(self)

    def _restore(self, state: dict[str, Any]) -> Self:
        from_state(self, state)
        target = self._schema.target
        if target is None or type(state["learned"]) is not dict:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        self._restore_learned(target, state["learned"])
        self._keep_features(self._schema)
        return self

    _schema: Schema
    _predictors: tuple[Predictor, ...]
    _spread: Floats
    _ranges: Floats
    _effects: Floats


def _copies(sample_weight: Any, n_given: int) -> Floats | None:
    """Weights that are counts: how many rows each row stands for."""
    weight = counting_weights(read_weights(sample_weight, n_given)[0])
    return None if weight is None or np.any(weight != np.rint(weight)) else weight
