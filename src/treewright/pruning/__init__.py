"""Pruning: a grown tree in, a smaller tree out.

Every pruner is a function of a Tree that returns a new Tree. ``cost_complexity_path`` and
``cp_table`` show what the weakest link would do at every complexity.
"""

from treewright.pruning._cost_complexity import cost_complexity
from treewright.pruning._cp_table import CpRow, CpTable, cp_table
from treewright.pruning._cross_validation import (
    CrossValidatedErrors,
    class_loss,
    cross_validated_errors,
    squared_loss,
)
from treewright.pruning._error_based import error_based
from treewright.pruning._path import CostComplexityPath, cost_complexity_path
from treewright.pruning._pessimistic import pessimistic, pessimistic_error
from treewright.pruning._sequence import PruningSequence, pruning_sequence
from treewright.pruning._size_curve import SizeCurve, size_curve

__all__ = [
    "CostComplexityPath",
    "CpRow",
    "CpTable",
    "CrossValidatedErrors",
    "PruningSequence",
    "SizeCurve",
    "class_loss",
    "cost_complexity",
    "cost_complexity_path",
    "cp_table",
    "cross_validated_errors",
    "error_based",
    "pessimistic",
    "pessimistic_error",
    "pruning_sequence",
    "size_curve",
    "squared_loss",
]
