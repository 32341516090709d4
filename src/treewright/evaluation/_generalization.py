"""The error of one tree on rows to come, in the three ways of the course."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.evaluation._intervals import proportion_interval
from treewright.pruning import pessimistic_error
from treewright.tree.show.tables import as_frame, html_table, text_table

__all__ = ["GeneralizationError", "generalization_error"]

Estimate = Literal["optimistic", "pessimistic", "validation"]


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizationError:
    """An estimate of a tree's error rate; ``float()`` gives it.

    Parameters
    ----------
    error
        The estimated error rate.
    method
        How it was estimated.
    errors
        Weight of the rows that the tree gets wrong.
    leaves
        Leaves of the tree.
    n
        Weight of all rows.
    low, high
        Wilson's limits on validation rows; None for estimates made of training rows.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, generalization_error
    >>> iris = datasets.load_iris()
    >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> found = generalization_error(model)
    >>> print(found)
         method error errors leaves rows
    pessimistic  0.05      6      3  150
    >>> found.errors, found.leaves, found.n
    (6.0, 3, 150.0)
    >>> found.frame().columns.tolist()
    ['method', 'error', 'errors', 'leaves', 'rows']
    """

    error: float
    method: Estimate
    errors: float
    leaves: int
    n: float
    low: float | None = None
    high: float | None = None

    def __float__(self) -> float:
        return self.error

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "method": [self.method],
            "error": [self.error],
            "errors": [self.errors],
            "leaves": [self.leaves],
            "rows": [self.n],
        }
        return columns if self.low is None else columns | {"low": [self.low], "high": [self.high]}

    def frame(self) -> Any:
        """One row, as a data frame."""
        return as_frame(self._columns())

    def _cells(self) -> dict[str, list[str]]:
        return {
            name: [v if isinstance(v, str) else f"{v:.6g}" for v in values]
            for name, values in self._columns().items()
        }

    def __str__(self) -> str:
        return text_table(self._cells())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._cells(), "Generalisation error")


@checked()
def generalization_error(
    tree: Any,
    method: Estimate = "pessimistic",
    X: Any = None,
    y: Any = None,
    *,
    penalty: float = 0.5,
    confidence: float = 0.95,
) -> GeneralizationError:
    """Estimate the error rate of a classification tree on new rows.

    Parameters
    ----------
    tree : fitted estimator with a tree, or Tree
        Of this library or scikit-learn.
    method : {"optimistic", "pessimistic", "validation"}, default="pessimistic"
        "optimistic" is the training error, "pessimistic" adds a penalty for every leaf,
        "validation" is the error on ``X``.
    X, y
        Rows that did not train the tree; only for "validation".
    penalty : float, default=0.5
        Errors added for each leaf.
    confidence : float, default=0.95
        Of the interval on validation rows.

    Returns
    -------
    GeneralizationError

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, generalization_error
    >>> iris = datasets.load_iris()
    >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> for method in ("optimistic", "pessimistic"):
    ...     print(f"{float(generalization_error(model, method)):.3f}")
    0.040
    0.050
    """
    if method not in ("optimistic", "pessimistic", "validation"):
        raise ParameterError(
            f'method must be "optimistic", "pessimistic" or "validation", got {method!r}.'
        )
    errors, leaves, n = _training(tree)
    if method == "validation":
        return _validated(tree, X, y, leaves, confidence)
    if X is not None or y is not None:
        raise ParameterError(
            f'X and y are for method="validation", but method is {method!r}; leave them out.'
        )
    added = penalty if method == "pessimistic" else 0.0
    return GeneralizationError(
        pessimistic_error(errors, leaves, n, added), method, errors, leaves, n
    )


def _training(tree: Any) -> tuple[float, int, float]:
    """Training errors, leaves and rows (weights, where there are any)."""
    inner = getattr(tree, "tree_", tree)
    if hasattr(inner, "weighted_n_node_samples"):  # scikit-learn
        if not hasattr(tree, "classes_"):
            raise _not_classes(tree)
        is_leaf = inner.children_left < 0
        weight, value = inner.weighted_n_node_samples, inner.value[:, 0]
        wrong = weight * (1 - value.max(axis=1) / value.sum(axis=1))
        return float(wrong[is_leaf].sum()), int(is_leaf.sum()), float(weight[0])
    target = getattr(getattr(inner, "schema", None), "target", None)
    if target is None or not target.is_classification:
        raise _not_classes(tree)
    is_leaf = inner.n_children == 0
    labels = inner.label[is_leaf]
    value = np.asarray(inner.value)[is_leaf]
    wrong = value.sum(axis=1) - value[np.arange(len(value)), labels]
    return float(round(wrong.sum(), 9)), int(is_leaf.sum()), float(inner.weight[0])


def _not_classes(tree: Any) -> ParameterError:
    return ParameterError(
        "generalization_error counts wrong classes in leaves, so it needs one fitted "
        f"classification tree, got {type(tree).__name__}; use evaluate or cross_validate."
    )


def _validated(tree: Any, X: Any, y: Any, leaves: int, confidence: float) -> GeneralizationError:
    if X is None or y is None or not hasattr(tree, "predict"):
        raise ParameterError(
            'method="validation" needs a fitted estimator and rows that did not train it; pass '
            "X and y."
        )
    from treewright.evaluation._evaluate import evaluate

    found = evaluate(tree, X, y, confidence=confidence)
    n, share = found.n_rows, found.values["error"]
    low, high, _ = proportion_interval(share * n, n, "wilson", confidence)
    return GeneralizationError(share, "validation", round(share * n), leaves, n, low, high)
