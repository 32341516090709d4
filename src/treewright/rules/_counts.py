"""Support of rules: what they cover, how sure they are, how much better than the class's share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.rules._matching import make_matcher, table_rows
from treewright.tree.show.rules import Rule

__all__ = ["cover", "laplace", "recount", "with_support"]


def laplace(right: float, covered: float) -> float:
    """Laplace's estimate of how often a rule is right: ``(right + 1) / (covered + 2)``.

    Examples
    --------
    >>> laplace(50, 50)
    0.9807692307692307
    """
    return (right + 1.0) / (covered + 2.0)


def with_support(
    rule: Rule,
    label: int,
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    n_samples: int,
    confidence: float | None = None,
) -> Rule:
    """``rule`` with what it covers.

    Parameters
    ----------
    rule
        Conditions and outcome.
    label
        Code of the outcome.
    counts, totals
        Weight of each class among the covered rows, and among all.
    n_samples
        Covered rows.
    confidence
        Estimate of how often it is right; None for Laplace's.
    """
    covered, right = float(counts.sum()), float(counts[label])
    sure = laplace(right, covered) if confidence is None else confidence
    everything = float(totals.sum())
    share = float(totals[label]) / everything if everything > 0 else 0.0
    return replace(
        rule,
        n_samples=n_samples,
        weight=covered,
        value=tuple(counts.tolist()),
        errors=max(covered - right, 0.0),
        confidence=sure,
        lift=sure / share if share > 0 else None,
    )


def cover(
    rules: Sequence[Rule],
    schema: Schema,
    table: Table,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows that each rule covers, and their weight in each class."""
    assert schema.target is not None
    matcher = make_matcher((rule.conditions for rule in rules), schema)
    weights = np.empty(0) if weight is None else np.ascontiguousarray(weight, np.float64)
    return matcher.cover(table_rows(table), y, weights, len(schema.target.classes), n_threads)


def recount(
    rules: Sequence[Rule],
    schema: Schema,
    table: Table,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_threads: int = 1,
) -> tuple[Rule, ...]:
    """``rules`` with coverage, class weights, Laplace's confidence and lift on these rows."""
    assert schema.target is not None
    classes = schema.target.classes
    code = {value: i for i, value in enumerate(classes)}
    n_samples, value = cover(rules, schema, table, y, weight, n_threads)
    totals = np.bincount(y, weight, len(classes)).astype(np.float64)
    return tuple(
        with_support(rule, code[rule.outcome], counts, totals, n)
        for rule, counts, n in zip(rules, value, n_samples.tolist(), strict=True)
    )
