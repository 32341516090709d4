"""Stacking: a blender that learns how to combine models of different kinds.

The blender must see what members say of rows that they were not fitted to, else it trusts the one
that learned the rows by heart. Either every fold is answered by members fitted to the others
(Wolpert), or part A of the rows trains the members and part B the blender (blending).

scikit-learn's stacking, with these added: blending, text columns and gaps where members take them
(with ``passthrough`` the blender, too), shuffled folds, and saving.

References: Wolpert (1992), *Stacked generalization*; Ting and Witten (1999), *Issues in stacked
generalization*; Töscher, Jahrer and Bell (2009) for blending.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack as sparse_hstack
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import StackingClassifier as SklearnStackingClassifier
from sklearn.ensemble import StackingRegressor as SklearnStackingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from treewright.data.beside import beside
from treewright.data.weights import counting_weights
from treewright.ensembles._combining_parameters import STACKING
from treewright.ensembles._committee import (
    Committee,
    Material,
    answer,
    as_rows,
    of_classes,
    out_of_fold,
)
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.linear import as_numbers, shares, weighted_sums
from treewright.estimator.parameters import check_parameters, keep, parameters
from treewright.estimator.target import ClassTarget

__all__ = ["StackingClassifier", "StackingRegressor"]

Floats = NDArray[np.float64]

METHODS = ("predict_proba", "decision_function", "predict")


class _Stacking(Committee):
    """Fitting members and the blender."""

    final_estimator: Any
    final_estimator_: Any
    stack_method: str
    stack_method_: list[str]
    method: str
    holdout: float
    cv: Any
    passthrough: bool
    random_state: Any
    _n_feature_outs: list[int]

    def _default_blender(self) -> Any:
        raise NotImplementedError

    def _asked(self) -> list[str]:
        """What is asked of each member."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> Self:
        """Fit the members, and the blender to what they say of rows held out.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Handed to every member; gaps and text where all members take them.
        y : array-like of shape (n_samples,)
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at least 0; members and blender must take weights then.
        **metadata
            For members and the splitter of ``cv`` that ask for it, such as ``groups``; by
            scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        check_parameters(self)
        blender = self._blender()
        material = self._material(
            X, y, sample_weight, [blender] if self.passthrough else [], metadata
        )
        self._check_classes(material)
        members = [member for _, member in self._members()]
        methods = self._asked()
        if self.method == "blending":
            part_a, part_b = self._two_parts(material)
            fitted = self._fit_members(part_a)
            said = _said(fitted, part_b.rows, methods, material.classes)
        else:
            part_b = material
            splits = self._splits(material, self.cv, self.random_state)
            said = _narrow(out_of_fold(members, material, splits, methods, self), material.classes)
            fitted = self._fit_members(material)
        counted = counting_weights(part_b.weight)  # a blender's penalty must not mind their scale
        weight = {} if counted is None else {"sample_weight": counted}
        blender.fit(self._blendable(said, part_b.rows), part_b.y, **weight)
        self._keep_members(fitted, material)
        self.final_estimator_, self.stack_method_ = blender, methods
        self._n_feature_outs = [one.shape[1] for one in said]
        return self

    def _blender(self) -> Any:
        blender = self._default_blender()
        if self.final_estimator is not None:
            blender = clone(self.final_estimator)
        is_kind = is_classifier if is_classifier(self) else is_regressor
        if not is_kind(blender):
            raise ParameterError(
                f"final_estimator of {type(self).__name__} should be a {is_kind.__name__[3:]}, "
                f"got {type(blender).__name__}."
            )
        return blender

    def _check_classes(self, material: Material) -> None:
        """Refuse one class: a blender weighs classes against each other."""
        if material.classes is not None and len(material.classes) < 2:
            raise DataError(
                f"{type(self).__name__} needs at least two classes, got one class, "
                f"{material.classes.tolist()[0]!r}; a single class needs no model."
            )

    def _two_parts(self, material: Material) -> tuple[Material, Material]:
        """Rows for the members and rows for the blender, each with its share of every class."""
        n = len(material.y)
        n_b = round(self.holdout * n)
        if not 0 < n_b < n:
            raise DataError(
                f"holdout={self.holdout} must leave rows in both parts, but X has {n} sample(s)."
            )
        codes = None
        if material.classes is not None:
            codes = np.searchsorted(material.classes, material.y)
        order = check_random_state(self.random_state).permutation(n)
        if codes is not None:
            order = order[np.argsort(codes[order], kind="stable")]
        chosen = np.zeros(n, bool)
        chosen[order[((np.arange(n_b) + 0.5) * n / n_b).astype(int)]] = True
        if codes is not None:
            for lost in np.setdiff1d(codes, codes[~chosen]):  # members must know every class
                chosen[np.flatnonzero(codes == lost)[0]] = False
            if len(np.unique(codes[chosen])) < 2:
                raise DataError(
                    f'method="blending" needs rows of two classes for the blender, but '
                    f"holdout={self.holdout} leaves fewer of the {n} rows; use "
                    'method="out_of_fold", or more rows.'
                )
        return material.take(np.flatnonzero(~chosen)), material.take(np.flatnonzero(chosen))

    def _meta(self, said: list[Floats], rows: Any) -> Any:
        """What the blender sees."""
        columns = np.hstack(said)
        if not self.passthrough:
            return columns
        names = self._meta_names([one.shape[1] for one in said])
        return beside(dict(zip(names, np.ascontiguousarray(columns.T), strict=True)), rows)

    def _meta_names(self, widths: list[int]) -> list[str]:
        prefix = type(self).__name__.lower()
        names = [name for name, _ in self._members()]
        return [
            f"{prefix}_{name}" if n == 1 else f"{prefix}_{name}{i}"
            for name, n in zip(names, widths, strict=True)
            for i in range(n)
        ]

    def transform(self, X: Any) -> Any:
        """What the blender sees of new rows.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        answers : ndarray of shape (n_samples, n_columns)
            With ``passthrough`` the columns of ``X`` follow, in the same kind of container.

        Examples
        --------
        >>> from treewright import C45Classifier, CARTClassifier, StackingClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> members = [("c45", C45Classifier()), ("cart", CARTClassifier(max_depth=2))]
        >>> model = StackingClassifier(members).fit(iris.data, iris.target)
        >>> model.transform(iris.data).shape
        (150, 6)
        """
        said = self._said(self._readable(X))
        return self._meta(said, as_rows(X)) if self.passthrough else np.hstack(said)

    def _seen(self, X: Any) -> Any:
        rows = self._readable(X)
        return self._blendable(self._said(rows), rows)

    def _blendable(self, said: list[Floats], rows: Any) -> Any:
        """What the blender takes: the linear one numbers, any other the container of ``X``."""
        if self.final_estimator is not None:
            return self._meta(said, rows)
        name = f"{type(self._default_blender()).__name__}, the blender of {type(self).__name__},"
        columns = as_numbers(np.hstack(said), name)
        if not self.passthrough:
            return columns
        passed = as_numbers(rows, name)
        if issparse(passed):
            return sparse_hstack([columns, passed], format="csr")
        return np.hstack([columns, passed])

    def _blended(self, X: Any) -> Floats:
        """Scores of the linear blender, one column each."""
        seen, blender = self._seen(X), self.final_estimator_
        coefficients = np.atleast_2d(blender.coef_)
        if not isinstance(seen, np.ndarray):  # products of sparse rows are those of a row alone
            return np.asarray(seen @ coefficients.T + blender.intercept_)
        return np.asarray(weighted_sums(seen.T, coefficients) + blender.intercept_)

    def _said(self, rows: Any) -> list[Floats]:
        classes = getattr(self, "classes_", None)
        return _said(self.estimators_, rows, self.stack_method_, classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """What the blender makes of the members' answers.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        if self.final_estimator is None:
            return self._decided(self._blended(X))
        seen = self._seen(X)
        return np.asarray(self.final_estimator_.predict(seen))

    def _decided(self, scores: Floats) -> NDArray[Any]:
        """Predictions from scores of the linear blender."""
        raise NotImplementedError

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        blender: Any = self.final_estimator_
        if self.final_estimator is None:
            blender = {name: np.asarray(getattr(blender, name)) for name in _linear_parts(blender)}
            known = getattr(self.final_estimator_, "classes_", None)
            if known is not None and len(known) < len(self.classes_):
                blender["known"] = np.searchsorted(self.classes_, known)
        return {
            **self._member_state(),
            "blender": blender,
            "methods": list(self.stack_method_),
            "widths": list(self._n_feature_outs),
        }

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        self._restore_members(state)
        blender, methods, widths = (state[key] for key in ("blender", "methods", "widths"))
        fits = (
            type(methods) is list
            and len(methods) == len(self.estimators_) == len(widths)
            and all(
                m in METHODS and hasattr(model, m)
                for m, model in zip(methods, self.estimators_, strict=True)
            )
            and all(type(width) is int and width > 0 for width in widths)
        )
        if not fits:
            raise ModelFileError("what its blender sees is damaged")
        self.stack_method_, self._n_feature_outs = methods, widths
        if self.final_estimator is None:
            passed = self.estimators_[0].n_features_in_ if self.passthrough else 0
            blender = self._linear_blender(blender, sum(widths) + passed)
        elif type(blender) is not type(self.final_estimator):
            raise ModelFileError("its blender is of another kind than its parameter says")
        self.final_estimator_ = blender
        return self

    def _linear_blender(self, parts: Any, n_columns: int) -> Any:
        """The default blender from its numbers."""
        model = self._default_blender()
        classes = getattr(self, "classes_", None)
        if type(parts) is not dict or set(parts) - {"known"} != set(_linear_parts(model)):
            raise ModelFileError("its blender is damaged")
        if "known" in parts:  # the blender's rows did not have all classes
            known = parts.pop("known")
            fits = isinstance(known, np.ndarray) and known.dtype == np.int64 and known.ndim == 1
            if classes is None or not fits or not set(known.tolist()) < set(range(len(classes))):
                raise ModelFileError("its blender is damaged")
            classes = classes[known]
        coefficients, intercept = parts["coef_"], parts["intercept_"]
        n_rows = coefficients.shape[0] if coefficients.ndim == 2 else 0
        if classes is not None:
            n_rows = 1 if len(classes) == 2 else len(classes)
        shape = (n_rows, n_columns) if n_rows else (n_columns,)
        numbers = (coefficients, intercept)
        if coefficients.shape != shape or not all(
            isinstance(a, np.ndarray) and a.dtype == np.float64 and np.all(np.isfinite(a))
            for a in numbers
        ):
            raise ModelFileError("its blender is damaged")
        for name, value in parts.items():
            setattr(model, name, value)
        if intercept.ndim == 0:
            model.intercept_ = float(intercept)
        model.n_features_in_ = n_columns
        if classes is not None:
            model.classes_ = classes
        return model


def _said(
    models: list[Any], rows: Any, methods: list[str], classes: NDArray[Any] | None
) -> list[Floats]:
    pairs = zip(models, methods, strict=True)
    return _narrow([answer(model, rows, method, classes) for model, method in pairs], classes)


def _narrow(said: list[Floats], classes: NDArray[Any] | None) -> list[Floats]:
    """Of two classes one column, since the other is its opposite."""
    is_double = classes is not None and len(classes) == 2
    return [one[:, 1:] for one in said] if is_double else said


def _linear_parts(model: Any) -> tuple[str, ...]:
    return ("coef_", "intercept_") if is_classifier(model) else ("coef_", "intercept_", "alpha_")


def _blender_has(method: str) -> Any:
    def check(stack: Any) -> bool:
        blender = getattr(stack, "final_estimator_", None) or stack.final_estimator
        return hasattr(stack._default_blender() if blender is None else blender, method)

    return check


@parameters(**STACKING)
class StackingClassifier(_Stacking, SklearnStackingClassifier):  # type: ignore[misc]
    """Classifiers of different kinds, and a blender that learns whom to trust.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        The fitted blender.
    stack_method_ : list of str
        What is asked of each member.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    VotingClassifier : Members that vote.

    References
    ----------
    Wolpert (1992), *Stacked generalization*.

    Examples
    --------
    >>> from treewright import C45Classifier, CARTClassifier, StackingClassifier, datasets
    >>> titanic = datasets.load_titanic()
    >>> model = StackingClassifier(
    ...     [("cart", CARTClassifier(cp=0.01)), ("c45", C45Classifier())], method="blending",
    ...     random_state=0,
    ... )
    >>> model = model.fit(titanic.data, titanic.target)
    >>> bool(model.score(titanic.data, titanic.target) > 0.75)
    True
    """

    predict_log_proba = ClassTarget.predict_log_proba

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        method: Literal["out_of_fold", "blending"] = "out_of_fold",
        holdout: float = 0.5,
        cv: Any = None,
        stack_method: str = "auto",
        passthrough: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _default_blender(self) -> Any:
        return LogisticRegression(max_iter=1000)

    @available_if(_blender_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, where the blender gives one.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        if self.final_estimator is None:
            return of_classes(self._probability(self._blended(X)), self._known(), self.classes_)
        seen = self._seen(X)
        return answer(self.final_estimator_, seen, "predict_proba", self.classes_)

    @available_if(_blender_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The blender's decision function, where it has one.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        if self.final_estimator is None:
            scores = self._blended(X)
            return scores[:, 0] if scores.shape[1] == 1 else scores
        seen = self._seen(X)
        return np.asarray(self.final_estimator_.decision_function(seen))

    def _known(self) -> NDArray[Any]:
        """Classes of the blender."""
        return np.asarray(self.final_estimator_.classes_)

    def _decided(self, scores: Floats) -> NDArray[Any]:
        single = scores.shape[1] == 1
        best = (scores[:, 0] > 0).astype(int) if single else np.argmax(scores, axis=1)
        return np.asarray(self._known()[best])

    def _probability(self, scores: Floats) -> Floats:
        if scores.shape[1] == 1:
            second = expit(scores[:, 0])
            return np.column_stack([1 - second, second])
        return shares(scores)

    def _asked(self) -> list[str]:
        found = []
        for name, member in self._members():
            wanted = METHODS if self.stack_method == "auto" else (self.stack_method,)
            method = next((m for m in wanted if hasattr(member, m)), None)
            if method is None:
                raise ParameterError(
                    f"The estimator {name!r} has no {self.stack_method}, which stack_method asks "
                    'for; use stack_method="auto".'
                )
            found.append(method)
        return found


@parameters(**STACKING)
class StackingRegressor(_Stacking, SklearnStackingRegressor):  # type: ignore[misc]
    """Regressors of different kinds, and a blender that learns whom to trust.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        The fitted blender.
    stack_method_ : list of str
        What is asked of each member.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    VotingRegressor : The mean of the members.

    References
    ----------
    Breiman (1996), *Stacked regressions*.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import CARTRegressor, RandomForestRegressor, StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [
    ...     ("tree", CARTRegressor(max_depth=3)),
    ...     ("forest", RandomForestRegressor(n_estimators=20, random_state=0)),
    ... ]
    >>> model = StackingRegressor(members, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        method: Literal["out_of_fold", "blending"] = "out_of_fold",
        holdout: float = 0.5,
        cv: Any = None,
        passthrough: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _default_blender(self) -> Any:
        return RidgeCV()

    def _decided(self, scores: Floats) -> NDArray[Any]:
        return scores[:, 0] if np.ndim(self.final_estimator_.coef_) == 1 else scores

    def _asked(self) -> list[str]:
        return ["predict"] * len(self._members())
