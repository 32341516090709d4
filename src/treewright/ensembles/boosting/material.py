"""The rows of a fit: reading them, those of an ``eval_set``, and setting some aside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.data.sparse import SparseTable, is_sparse
from treewright.data.table import Table
from treewright.data.target import class_totals
from treewright.data.weights import Settled, counting_factors, counting_weights, read_weights
from treewright.ensembles.boosting.stopping import is_on, split_rows
from treewright.ensembles.boosting.tasks import Aim
from treewright.errors import DataError, ParameterError, SchemaError
from treewright.estimator.training import read_training, threads
from treewright.kernels.boosting import MOST_ROWS, split_weight

__all__ = ["Material", "are_counts", "joined", "read_material", "set_aside", "weigh"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Material:
    """Rows as a fit gets them: encoded, and as the user gave them (for ``init`` and scorers).

    ``rows`` says which of the rows of ``X`` these are; None for all. ``count`` are weights that are
    whole numbers, ``factor`` other weights; None for ones. Only weights of classes stand beside
    a count.
    """

    X: Any
    rows: NDArray[np.int64] | None
    table: Table
    y: NDArray[Any]
    given_y: Any
    count: NDArray[np.int32] | None
    factor: Floats | None
    target: Target
    classes: NDArray[Any] | None
    seen: Table | None = None  # what trees see, where that is not ``table``

    def take(self, rows: NDArray[np.int64]) -> Material:
        """Some of the rows."""
        return Material(
            self.X,
            rows if self.rows is None else self.rows[rows],
            self.table.take(rows),
            self.y[rows],
            self.given_y[rows],
            None if self.count is None else self.count[rows],
            None if self.factor is None else self.factor[rows],
            self.target,
            self.classes,
        )

    @property
    def weight(self) -> Floats | None:
        """Weights of the rows."""
        return joined(self.count, self.factor)

    @property
    def given_rows(self) -> Any:
        """The rows as the user gave them."""
        if self.rows is None:
            return self.X
        return _safe_indexing(self.X.tocsr() if is_sparse(self.X) else self.X, self.rows)


def read_material(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Material:
    """Check and encode the arguments of fit."""

    def encode_rows(kept: NDArray[np.bool_] | None) -> Table:
        return encode(
            X,
            categorical_features=estimator.categorical_features,
            ordinal_features=estimator.ordinal_features,
            rows=kept,
            n_threads=threads(estimator.n_jobs),
            owner=type(estimator).__name__,
        )

    training = read_training(estimator, X, y, sample_weight, encode_rows)
    table, codes, classes = training.table, training.y, training.classes
    if _is_empty_table(table):
        raise DataError(
            "X must have a value somewhere, got gaps in all cells; check how it was read."
        )
    if table.n_rows > MOST_ROWS:
        raise DataError(
            f"X must have at most {MOST_ROWS} rows, beyond which sums of 64 bits may overflow, got "
            f"{table.n_rows}; fit on blocks, which sum otherwise (target=), or on some of them."
        )
    rows = None if training.kept is None else np.flatnonzero(training.kept)
    is_settled = isinstance(sample_weight, Settled)
    count, factor = weigh(estimator, codes, classes, training.sample_weight, is_settled)
    given = codes if classes is None else classes[codes]
    return Material(
        X,
        rows,
        table,
        codes,
        given,
        count,
        factor,
        training.target,
        classes,
    )


def weigh(
    estimator: Any, codes: NDArray[Any], classes: Any, weight: Floats | None, is_settled: bool
) -> tuple[NDArray[np.int32] | None, Floats | None]:
    """Weights as counts and factors, those of classes included.

    Weights of classes are weights of their rows: as these they are counts or have a mean of one. A
    row that counts twice is two rows of its class.
    """
    count, factor = split_weight(weight)
    factors = estimator._class_factors(codes, classes, weight)
    if factors is None:
        return count, factor
    if is_settled:
        return count, joined(factors[codes], factor)
    if factor is not None:
        return split_weight(counting_weights(factor * factors[codes]))
    factors = counting_factors(factors, class_totals(codes, weight, len(factors)))
    if np.all(factors == 1.0):
        return count, None
    own = factors[codes]
    if are_counts(factors):
        return split_weight(own if count is None else count * own)
    return count, own


def are_counts(factors: Floats) -> bool:
    """Whether weights of classes are whole numbers."""
    return bool(np.all(factors == np.floor(factors)))


def joined(*weights: NDArray[Any] | None) -> Floats | None:
    """The product of weights; None for ones."""
    given = [each for each in weights if each is not None]
    return np.asarray(np.prod(given, axis=0), np.float64) if given else None


def set_aside(
    estimator: Any, aim: Aim, material: Material, eval_set: Any, seed: int
) -> tuple[Material, Material | None]:
    """Rows to learn from and rows that judge the rounds, if any do."""
    if eval_set is not None:
        return material, _read_eval_set(estimator, aim, material, eval_set)
    if not is_on(estimator.early_stopping, material.table.n_rows, False):
        return material, None
    learn, judge = split_rows(
        material.y, estimator.validation_fraction, material.classes is not None, seed
    )
    return material.take(learn), material.take(judge)


def _read_eval_set(estimator: Any, aim: Aim, material: Material, eval_set: Any) -> Material:
    if not isinstance(eval_set, tuple | list) or not 2 <= len(eval_set) <= 3:
        raise ParameterError(
            "eval_set must be a pair (X, y), or (X, y, sample_weight), got "
            f"{type(eval_set).__name__}; pass eval_set=(X_valid, y_valid)."
        )
    X, y = eval_set[0], eval_set[1]
    schema = material.table.schema
    try:
        table = encode(X, schema=schema, n_threads=threads(estimator.n_jobs), owner="fit")
    except SchemaError as error:
        raise SchemaError(f"eval_set must have the columns of X: {error}") from None
    except DataError as error:
        raise DataError(f"eval_set must have columns like those of X: {error}") from None
    try:
        codes = estimator._code_target(y, material.classes)
        aim.check(codes)
    except DataError as error:
        raise DataError(f"eval_set must have targets like y: {error}") from None
    if table.n_rows != len(codes):
        raise DataError(
            f"eval_set must have a target for each row, got {table.n_rows} rows and {len(codes)} "
            "targets; they come from different tables, or one was filtered."
        )
    if codes.shape[1:] != material.y.shape[1:]:
        raise DataError(
            f"eval_set must have targets like y, got shape {codes.shape}; pass as many outputs."
        )
    weight, rows = read_weights(eval_set[2] if len(eval_set) == 3 else None, len(codes))
    given = codes if material.classes is None else material.classes[codes]
    found = Material(X, None, table, codes, given, None, None, material.target, material.classes)
    if rows is not None:
        found = found.take(np.flatnonzero(rows))
    count, factor = split_weight(weight)
    return replace(found, count=count, factor=factor)


def _is_empty_table(table: Table) -> bool:
    if isinstance(table, SparseTable):
        m = table.matrix
        return bool(m.nnz == m.shape[0] * m.shape[1] and np.isnan(m.data).all())
    return all(_is_empty(column) for column in table.columns)


def _is_empty(column: NDArray[Any]) -> bool:
    return bool(np.isnan(column).all() if column.dtype.kind == "f" else (column < 0).all())
