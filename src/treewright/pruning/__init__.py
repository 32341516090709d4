"""Pruning: a grown tree in, a smaller tree out.

Every pruner is a function of a Tree that returns a new Tree, with the log of what it cut and why
in ``tree.pruning_log``. ``cost_complexity_path`` and ``cp_table`` show what the weakest link would
do at every complexity.
"""

from treewright.pruning._chi_squared import chi_squared
from treewright.pruning._cost_complexity import cost_complexity
from treewright.pruning._cp_table import CpRow, CpTable, cp_table
from treewright.pruning._critical_value import critical_value
from treewright.pruning._cross_validation import (
    CrossValidatedErrors,
    class_loss,
    cross_validated_errors,
    squared_loss,
)
from treewright.pruning._error_based import error_based
from treewright.pruning._mdl import mdl
from treewright.pruning._minimum_error import minimum_error
from treewright.pruning._path import CostComplexityPath, cost_complexity_path
from treewright.pruning._pessimistic import pessimistic, pessimistic_error
from treewright.pruning._reduced_error import reduced_error
from treewright.pruning._sequence import PruningSequence, pruning_sequence
from treewright.pruning._size_curve import SizeCurve, size_curve
from treewright.tree.pruning_log import PruningLog

__all__ = [
    "CostComplexityPath",
    "CpRow",
    "CpTable",
    "CrossValidatedErrors",
    "PruningLog",
    "PruningSequence",
    "SizeCurve",
    "chi_squared",
    "class_loss",
    "cost_complexity",
    "cost_complexity_path",
    "cp_table",
    "critical_value",
    "cross_validated_errors",
    "error_based",
    "mdl",
    "minimum_error",
    "pessimistic",
    "pessimistic_error",
    "pruning_sequence",
    "reduced_error",
    "size_curve",
    "squared_loss",
]
