"""Exact Shapley values of trees and their sums (TreeSHAP).

The game of a row: features are players, and what a set of them earns is the answer where only
they are known. *Path-dependent*: a test that needs a feature that is not known sends the row down
every branch, by the branches' training weight; a test of several features, or one whose gap a
surrogate decides, needs all that it reads. *Interventional*: features that are not known have the
values of a background row, and the answers are averaged over the background.

References: Lundberg and others (2020), *From local explanations to global understanding with
explainable AI for trees*; Yu and others (2022), *Linear TreeSHAP*; the integral that is computed
is Owen's (1972). The kernels are in ``core/explain/``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import FUNCTION, INSTANCE, checked
from treewright.data.encode import encode
from treewright.data.table import Table
from treewright.errors import DataError
from treewright.estimator.training import threads
from treewright.explain._result import ShapValues, make_result
from treewright.kernels.explain import TreeExplainer
from treewright.tree.additive import Additive, additive_of
from treewright.tree.predict import category_counts, core_arrays

__all__ = ["explainer", "raw_values", "shap_values"]

Floats = NDArray[np.float64]
Progress = Callable[[float], None]


@checked(model=INSTANCE, progress=FUNCTION)
def shap_values(
    model: Any,
    X: Any,
    *,
    background: Any = None,
    interactions: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ShapValues:
    """What every feature adds to a model's answer for each row: exact Shapley values.

    A single tree, a forest or a bag of trees is explained by its probabilities or numbers, a
    booster by its score (``decision_function``; logarithms for Poisson, gamma and Tweedie),
    AdaBoost by its ``decision_function``, boosted C5.0 by its votes before they are scaled. A
    model that is no sum of trees is refused.

    Parameters
    ----------
    model : fitted estimator of treewright
        The model.
    X : array or data frame of shape (n_samples, n_features)
        Rows to explain; gaps and categories that training did not have are allowed.
    background : array or data frame, default=None
        Rows whose values stand in for features that are not known ("interventional"); some
        hundred are enough. None sends a row down every branch by training weight instead
        ("path-dependent").
    interactions : bool, default=False
        Divide the values of each row among pairs of features: ``values[r, i, j]`` is half of the
        interaction of ``i`` and ``j``, and ``values[r, i, i]`` what ``i`` adds alone.
    n_jobs : int, default=None
        Threads; None for those of the model. The values do not depend on it.
    progress : callable, default=None
        Called now and then with the share that is done.

    Returns
    -------
    explanation : ShapValues
        With ``values``, ``base_values``, ``frame()``, ``plot()``; also shap's ``Explanation``
        where that package is installed.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import GradientBoostingRegressor
    >>> from treewright.explain import shap_values
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> found = shap_values(model, X[:5])
    >>> bool(abs(found.values.sum(axis=1) + found.base_values - model.predict(X[:5])).max() < 1e-9)
    True
    """
    total = additive_of(model)
    n_threads = threads(getattr(model, "n_jobs", None) if n_jobs is None else n_jobs)
    table = _read(total, model, X, n_threads)
    others = None if background is None else _read(total, model, background, n_threads)
    values, base, pairs = raw_values(
        total, table, others, pairs=interactions, n_threads=n_threads, progress=progress
    )
    shown = values if pairs is None else _with_diagonal(values, pairs)
    bases = np.tile(base, (table.n_rows, 1))
    return make_result(
        total.says,
        values=shown[..., 0] if total.is_flat else shown,
        base_values=bases[:, 0] if total.is_flat else bases,
        data=_numbers(table),
        display_data=_shown(table),
        feature_names=list(total.schema.names),
        output_names=None if total.is_flat else list(total.outputs),
    )


def raw_values(
    total: Additive,
    table: Table,
    background: Table | None = None,
    *,
    pairs: bool = False,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Floats, Floats, Floats | None]:
    """Values (rows × features × outputs), base values, and the upper half of the pairs."""
    total.check(table)
    if background is not None:
        total.check(background)
    least, is_whole = _without_last(total)
    compiled = explainer(least, n_threads)
    rows = _rows(table)
    try:
        if background is None:
            found, both = compiled.path_dependent(rows, pairs, n_threads, progress)
            base = compiled.expected + least.start
        else:
            found, both = compiled.interventional(
                rows, _rows(background), pairs, n_threads, progress
            )
            base = least.predict(background, n_threads).mean(axis=0)
    except ValueError as error:
        raise DataError(str(error)) from None
    if progress is not None:
        progress(1.0)
    if is_whole:
        return found, base, both
    base = np.append(base, total.start.sum() + _row_sum(total) - base.sum())
    found = np.concatenate([found, -found.sum(axis=2, keepdims=True)], axis=2)
    if both is not None:
        both = np.concatenate([both, -both.sum(axis=3, keepdims=True)], axis=3)
    return found, base, both


def explainer(total: Additive, n_threads: int = 1) -> TreeExplainer:
    """The compiled form of a sum of trees."""
    trees = [
        (core_arrays(p.tree), np.ascontiguousarray(p.values, np.float64), p.column, p.bounds)
        for p in total.parts
    ]
    return TreeExplainer(category_counts(total.schema), trees, total.n_outputs, n_threads)


def _without_last(total: Additive) -> tuple[Additive, bool]:
    """The sum without its last output where that follows from the others, and whether it is whole.

    Probabilities of a node add up to one, so that the values of the classes add up to zero.
    """
    if total.says != "probability" or total.n_outputs < 2:
        return total, True
    for part in total.parts:
        sums = part.values.sum(axis=1)
        whole = part.column == 0 and part.values.shape[1] == total.n_outputs
        if not whole or np.ptp(sums) > 1e-12 * abs(sums[0]):
            return total, True
    parts = tuple(replace(p, values=p.values[:, :-1]) for p in total.parts)
    return replace(total, parts=parts, start=total.start[:-1], outputs=total.outputs[:-1]), False


def _row_sum(total: Additive) -> float:
    return float(sum(part.values[0].sum() for part in total.parts))


def _with_diagonal(values: Floats, pairs: Floats) -> Floats:
    """Interactions of both orders, and on the diagonal what is left of each feature's value."""
    both = pairs + pairs.transpose(0, 2, 1, 3)
    i = np.arange(values.shape[1])
    both[:, i, i] = values - both.sum(axis=2)
    return both


def _read(total: Additive, model: Any, X: Any, n_threads: int) -> Table:
    if isinstance(X, Table):
        return X
    schema = replace(total.schema, target=None)
    return encode(X, schema=schema, n_threads=n_threads, owner=type(model).__name__)


def _rows(table: Table) -> Any:
    return table.columns if table.block is None else table.block


def _numbers(table: Table) -> Floats:
    """The rows as numbers: codes of categories, NaN for gaps."""
    columns = [np.asarray(column, np.float64) for column in table.columns]
    for feature, column in zip(table.schema.features, columns, strict=True):
        if feature.is_categorical:
            column[column < 0] = np.nan
    return np.column_stack(columns)


def _shown(table: Table) -> NDArray[Any]:
    """The rows with their categories."""
    if not any(feature.is_categorical for feature in table.schema.features):
        return _numbers(table)
    shown = np.empty((table.n_rows, len(table.schema)), object)
    for k, (feature, column) in enumerate(zip(table.schema.features, table.columns, strict=True)):
        if not feature.is_categorical:
            shown[:, k] = column
            continue
        names = np.empty(len(feature.categories) + 1, object)
        names[:-1] = feature.categories
        shown[:, k] = names[column]  # the last is the gap's, whose code is -1
    return shown
