"""The parameters and fitted attributes of the estimators, each described once.

A row of :data:`PARAMETERS` holds what a parameter may be and what it means. The declared
constraints of every estimator and the *Parameters* part of its docstring are made from these
rows and from the defaults in the signature, the *Attributes* part from :data:`ATTRIBUTES`, so
that estimators cannot drift apart.
"""

from __future__ import annotations

import inspect
import reprlib
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar

from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions, make_constraint

from treewright.errors import ParameterError
from treewright.estimator.named_pruning import METHODS

__all__ = [
    "ATTRIBUTES",
    "OTHER_PRUNING",
    "PARAMETERS",
    "VERBOSE",
    "Parameter",
    "check_parameters",
    "keep",
    "options",
    "parameters",
]

Estimator = TypeVar("Estimator", bound=type)


@dataclass(frozen=True)
class Parameter:
    """One parameter: its constraints, its type in words and its meaning."""

    constraints: list[Any]
    type: str
    text: str


def options(*names: str) -> list[Any]:
    return [StrOptions(set(names))]


def _choice(text: str, *names: str) -> Parameter:
    return Parameter(options(*names), "{" + ", ".join(f'"{n}"' for n in names) + "}", text)


_AT_LEAST_ZERO = Interval(Real, 0.0, None, closed="left")

OTHER_PRUNING = (
    '"reduced_error" by rows that it holds out ("validation_fraction" of them, stratified; with '
    '"refit" the leaves get the values of all rows in the end); "pessimistic", "error_based", '
    '"mdl", "chi_squared", "minimum_error" or "critical_value" as the functions of '
    ":mod:`treewright.pruning`"
)

PARAMETERS: dict[str, Parameter] = {
    # What is tried at a node
    "splitter": _choice(
        'The best cut of each feature, or one random cut ("random").', "best", "random"
    ),
    "nominal_split": _choice(
        'Test of a nominal feature: "subset" makes two branches, "multiway" one branch per '
        "category seen at the node, and the feature is then used once on a path.",
        "subset",
        "multiway",
    ),
    "ordinal_split": _choice(
        'Test of an ordinal feature: "cut" makes two branches that keep the order, "multiway" '
        "one branch per category.",
        "cut",
        "multiway",
    ),
    "continuous_split": _choice(
        'Test of a continuous feature at the midpoint t of two values: "below" is x < t, '
        '"at_most" is x <= t. Midpoints hit real values, so this decides predictions.',
        "below",
        "at_most",
    ),
    "drop_empty_rows": Parameter(
        ["boolean"],
        "bool",
        "Whether rows of which every feature is a gap are left out of training, as rpart does. If "
        "not, they count in every node that they reach.",
    ),
    "max_features": Parameter(
        [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        'int, float or {"sqrt", "log2"}',
        "Features drawn at each node: a count, a share, the square root or the logarithm of "
        "their number, or None for all. They are drawn of all features; those that do not vary at "
        "the node count, and more are looked at where none of those drawn can be split.",
    ),
    "max_exhaustive": Parameter(
        [Interval(Integral, 2, 20, closed="both"), StrOptions({"auto"})],
        'int or "auto"',
        "Most categories of a nominal feature at a node for which every subset is tried where "
        'three or more classes are to be told apart. "auto" bounds the work, subsets times '
        "classes: at most 2²² for up to 1024 rows, fewer for more rows, and at least 2¹⁷ (20 "
        "categories of 8 classes; 15 for a large table). Above it categories are ordered by their "
        "first principal component and cut there, which is good but need not be the best. Two "
        "classes and regression need no such search: ordering by rate finds the best subset.",
    ),
    "monotonic_cst": Parameter(
        ["array-like", dict, None],
        "array-like of int or dict",
        "Per feature (in column order, or by name) 1 where the prediction may only rise with "
        "it, -1 where it may only fall, 0 for no constraint. For a classifier this concerns "
        "the probability of the second class; three or more classes and several outputs "
        "cannot be constrained.",
    ),
    # Gaps
    "missing": _choice(
        'Where a row with a gap in the tested feature goes: "learned" tries both sides in '
        'training and keeps the better; "surrogate" asks the splits of other features that '
        'agree best with the chosen one, then takes the majority; "fractional" goes down every '
        'branch with a share of the weight; "own_branch" has a branch of its own; "majority" '
        "goes with most rows.",
        "learned",
        "surrogate",
        "fractional",
        "own_branch",
        "majority",
    ),
    "max_surrogates": Parameter(
        [Interval(Integral, 0, None, closed="left")],
        "int",
        'Surrogate splits kept at each node (only with ``missing="surrogate"``).',
    ),
    "surrogate_style": _choice(
        'Rank surrogates by the rows they send correctly ("count"), or by the share of the rows '
        'known to both splits ("share").',
        "count",
        "share",
    ),
    "surrogate_fallback": _choice(
        'A row that no surrogate decides goes with the majority, or ends at the node ("stop").',
        "majority",
        "stop",
    ),
    # Stopping
    "max_depth": Parameter(
        [Interval(Integral, 1, None, closed="left"), None],
        "int",
        "Longest path from the root to a leaf; None for no limit.",
    ),
    "min_samples_split": Parameter(
        [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "int or float",
        "Rows a node needs before it is split: a count, or a share of all rows.",
    ),
    "min_samples_leaf": Parameter(
        [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "int or float",
        "Rows that every leaf needs: a count, or a share of all rows.",
    ),
    "min_weight_fraction_leaf": Parameter(
        [Interval(Real, 0.0, 0.5, closed="both")],
        "float",
        "Share of the total weight that every leaf needs.",
    ),
    "max_leaf_nodes": Parameter(
        [Interval(Integral, 2, None, closed="left"), None],
        "int",
        "Most leaves; the split that lowers the impurity most is made first. None for no limit.",
    ),
    "min_impurity_decrease": Parameter(
        [_AT_LEAST_ZERO],
        "float",
        "A split is made if it lowers the impurity, times the node's share of the weight, by at "
        "least this much.",
    ),
    "min_significance": Parameter(
        [Interval(Real, 0.0, 1.0, closed="neither"), None],
        "float",
        "Largest p-value at which a split is made: target and branch are tested for independence, "
        "classes by chi-squared (with Fisher's exact test or Yates' correction for small tables of "
        "2 x 2), numbers by the F test. None for no test.",
    ),
    # Classes
    "class_weight": Parameter(
        [dict, StrOptions({"balanced"}), None],
        'dict or "balanced"',
        "Weight of a row of each class, class to number; a class left out has 1. "
        '"balanced" gives every class the same total.',
    ),
    "priors": Parameter(
        ["array-like", dict, StrOptions({"uniform"}), None],
        'array-like, dict or "uniform"',
        "Share of each class in the population, in the order of ``classes_`` or by class. None "
        "takes the shares of the training data.",
    ),
    "costs": Parameter(
        ["array-like", dict, None],
        "array-like or dict of dicts",
        "``costs[i, j]`` is the cost of predicting class j for a row of class i, in the order "
        "of ``classes_``, or a dict ``{true: {predicted: cost}}``. Predictions minimise the "
        "expected cost; probabilities do not change. None counts every error as 1.",
    ),
    "cost_method": _choice(
        'How costs act on the choice of splits: "altered_priors" multiplies each class by the '
        'sum of its costs, "generalized_gini" scores by the sum of costs[i, j] p_i p_j (with '
        '``criterion="gini"``).',
        "altered_priors",
        "generalized_gini",
    ),
    # Columns
    "categorical_features": Parameter(
        [StrOptions({"from_dtype"}), "array-like"],
        '"from_dtype" or array-like of str, bool or int',
        "Columns that are nominal whatever their type, by name, mask or index. The others "
        "follow their type: text, booleans and categories are nominal, ordered categories "
        "ordinal, numbers and dates continuous.",
    ),
    "ordinal_features": Parameter(
        [dict, None], "dict", "Ordinal columns, name or index to the list of values in order."
    ),
    # Pruning
    "pruning": Parameter(
        [StrOptions(set(METHODS)), callable, None],
        "str or callable",
        'How the grown tree is cut back: "cost_complexity" by its weakest links, to the strength '
        "that ``ccp_alpha`` or ``cp`` asks for; "
        + OTHER_PRUNING
        + "; by a function of yours from Tree to Tree; or not at all.",
    ),
    "pruning_options": Parameter(
        [dict, None],
        "dict",
        'Numbers of a method by name, such as ``{"validation_fraction": 0.25}``; what is left '
        "out is as in the function of :mod:`treewright.pruning` that has the name.",
    ),
    "ccp_alpha": Parameter(
        [_AT_LEAST_ZERO, StrOptions({"cv"})],
        'float or "cv"',
        "Risk that a leaf must save, on the scale of the risk itself. 0.0 does not prune; "
        '"cv" chooses by cross-validation.',
    ),
    "cp": Parameter(
        [_AT_LEAST_ZERO, StrOptions({"cv"}), None],
        'float or "cv"',
        "As ``ccp_alpha``, relative to the risk of the root, with the rules of rpart, which also "
        "makes no split that gains nothing. Only one of the two may be given.",
    ),
    "cv": Parameter(
        ["cv_object"],
        "int, splitter or iterable of splits",
        "Folds for the choice by cross-validation. An integer makes shuffled folds, stratified "
        "by class.",
    ),
    "rule": _choice(
        "What cross-validation takes: the least error, or the smallest tree within one standard "
        "error of it.",
        "min",
        "1se",
    ),
    "pruning_risk": _choice(
        'Risk that pruning weighs against size: "error" is the expected cost of the labels '
        '(Breiman, rpart), "impurity" the criterion itself (scikit-learn). Both are the squared '
        "error for a regression tree grown by it.",
        "error",
        "impurity",
    ),
    # Running
    "keep_counts": Parameter(
        ["boolean"],
        "bool",
        "Whether the tree keeps about 20 counts per split (and for numbers five quantiles per "
        "node), from which it draws the small pictures in its diagram without the data; of a "
        "large table this takes less than 5 % of the fit, of a small one about a millisecond. "
        "A fit on blocks keeps none.",
    ),
    "teach": Parameter(
        ["boolean"],
        "bool",
        "Whether ``fit`` prints the whole induction step by step, in words and numbers; ``lesson`` "
        "gives the same to keep.",
    ),
    "random_state": Parameter(
        ["random_state"],
        "int or RandomState",
        "Seed of random cuts, drawn features and shuffled folds.",
    ),
    "n_jobs": Parameter(
        [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "int",
        "Threads; None is 1, -1 all. Their number does not change the model.",
    ),
}

VERBOSE = Parameter(
    ["verbose"],
    "int",
    "Lines about the progress of ``fit``: 1 for one at every tenth of the members, 2 or more for "
    "one at every member, 0 for none.",
)

ATTRIBUTES: dict[str, tuple[str, str]] = {
    "estimator_": ("estimator", "What every member is; not fitted itself."),
    "estimators_": ("sequence of estimators", "The members, made into estimators when looked at."),
    "estimators_samples_": ("list of ndarray", "Rows of each member."),
    "estimators_features_": ("list of ndarray", "Features of each member."),
    "tree_": ("Tree", "The fitted tree."),
    "classes_": ("ndarray of shape (n_classes,)", "The classes."),
    "n_classes_": ("int", "Their number."),
    "cost_matrix_": (
        "ndarray of shape (n_classes, n_classes) or None",
        "``costs`` in the order of ``classes_``.",
    ),
    "n_outputs_": ("int", "Number of outputs."),
    "oob_score_": (
        "float",
        "Accuracy, or R² for numbers, on the rows left out (with ``oob_score``).",
    ),
    "oob_decision_function_": (
        "ndarray of shape (n_samples, n_classes)",
        "What the members that did not see a row say of it (with ``oob_score``).",
    ),
    "oob_prediction_": (
        "ndarray of shape (n_samples,) or (n_samples, n_outputs)",
        "What the members that did not see a row say of it (with ``oob_score``).",
    ),
    "ccp_alpha_": ("float", "Strength of pruning that was used."),
    "feature_importances_": (
        "ndarray of shape (n_features,)",
        "Share of each feature in the decrease of impurity.",
    ),
    "cp_table_": ("CpTable", "Complexity, size and error of the nested subtrees."),
    "max_features_": ("int", "What ``max_features`` came to, in features."),
    "n_features_in_": ("int", "Number of features."),
    "feature_names_in_": (
        "ndarray of shape (n_features,)",
        "Their names, where ``X`` has names.",
    ),
}
"""Fitted attributes: their type and their meaning."""


def parameters(**own: Parameter) -> Callable[[Estimator], Estimator]:
    """Give a class its ``_parameter_constraints``, and its docstring what is described here.

    Rows in ``own`` replace those of :data:`PARAMETERS`. The docstring holds ``{parameters}`` and
    ``{attributes}`` where the lines belong; an attribute that it describes itself is left out.
    """

    def decorate(cls: Estimator) -> Estimator:
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        rows = {
            name: (own.get(name) or PARAMETERS[name], parameter.default)
            for name, parameter in signature.parameters.items()
            if name != "self"
        }
        checks = tuple(
            (name, default, [make_constraint(c) for c in row.constraints])
            for name, (row, default) in rows.items()
        )
        constraints = {name: row.constraints for name, (row, _) in rows.items()}
        setattr(cls, "_parameter_constraints", constraints)  # noqa: B010
        setattr(cls, "_checks", checks)  # noqa: B010
        if cls.__doc__:
            section = "\n".join(_document(n, row, d) for n, (row, d) in rows.items())
            text = inspect.cleandoc(cls.__doc__).replace("{parameters}", section)
            cls.__doc__ = text.replace("{attributes}", _attributes(cls, text, set(rows)))
        return cls

    return decorate


def keep(estimator: object, given: dict[str, Any]) -> None:
    """Store constructor arguments under their own names, unchanged and unchecked."""
    for name, value in given.items():
        if name != "self" and not name.startswith("__"):
            setattr(estimator, name, value)


LARGEST = 2**31 - 1
"""The largest integer that the core counts with."""

_ANY_SIZE = {
    "max_depth",
    "max_exhaustive",
    "max_leaf_nodes",
    "max_samples",
    "max_surrogates",
    "min_samples_leaf",
    "min_samples_split",
    "random_state",
}
"""Limits that mean none where they are larger than any tree, and what has a rule of its own."""


def check_parameters(estimator: Any) -> None:
    """Raise ParameterError for the first parameter that breaks its rule."""
    for name, default, constraints in estimator._checks:
        value = getattr(estimator, name)
        if type(value) is int and value > LARGEST and name not in _ANY_SIZE:
            raise ParameterError(
                f"{name} must be an integer of at most {LARGEST}, got {reprlib.repr(value)}."
            )
        # Defaults are valid; most fits check nothing else.
        if value is default or any(c.is_satisfied_by(value) for c in constraints):
            continue
        rule = _either([word for constraint in constraints for word in _words(constraint)])
        raise ParameterError(f"{name} must be {rule}, got {reprlib.repr(value)}.")


def _words(constraint: Any) -> list[str]:
    """A constraint as it reads in an error; texts in a fixed order."""
    if isinstance(constraint, StrOptions):
        return [f'"{option}"' for option in sorted(constraint.options)]
    return [str(constraint)]


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _attributes(cls: type, text: str, parameters: set[str]) -> str:
    """The lines of the fitted attributes that ``cls`` and its bases declare."""
    declared = {
        name for base in cls.__mro__ for name in (*vars(base), *inspect.get_annotations(base))
    }
    for name, parameter in (("cost_matrix_", "costs"), ("max_features_", "max_features")):
        if parameter not in parameters:
            declared.discard(name)
    return "\n".join(
        f"{name} : {kind}\n" + _indented(meaning)
        for name, (kind, meaning) in ATTRIBUTES.items()
        if name in declared and f"\n{name} : " not in text
    )


def _document(name: str, row: Parameter, default: Any) -> str:
    """The lines of one parameter in numpydoc's form."""
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    kind = f"{row.type} or None" if None in row.constraints else row.type
    end = "" if default is inspect.Parameter.empty else f", default={shown}"
    return f"{name} : {kind}{end}\n{_indented(row.text)}"


def _indented(text: str) -> str:
    return textwrap.fill(
        text, 92, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
