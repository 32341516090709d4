"""Error-based pruning: the pruning of C4.5.

The errors that a leaf makes on new rows are estimated by an upper confidence limit of its
training errors. From below, a subtree is replaced by a leaf, or by its largest branch (subtree
raising), if that does not raise the estimate by more than a tenth of an error. Raising sends the
rows of the whole node down the branch, so the training rows are needed; without it the counts that
the tree holds will do.

Two programs are followed where they part. Release 8 of C4.5 interpolates the normal deviate in a
small table and adds 0.67 of what is left where nearly all cases are errors; J48 takes the exact
deviate and adds all of it. A branch without rows has the classes of its parent: in release 8 those
that the parent had when it was grown, in J48 those that it has after pruning.

References: Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from treewright.arguments import checked, number
from treewright.errors import ParameterError
from treewright.kernels.error_based import collapsible
from treewright.kernels.error_based import error_based as _error_based
from treewright.pruning._bottom_up import cheapest, cut, need_classes
from treewright.pruning._expected_errors import replace_subtrees
from treewright.pruning._rows import read_rows
from treewright.tree.growing.stopped import NOTED, STOPPED, Stop
from treewright.tree.growing.values import class_nodes, label_empty
from treewright.tree.of_model import tree_of
from treewright.tree.pruning_log import PruningLog
from treewright.tree.split import GAP_STOP, Splits
from treewright.tree.tree import EMPTY_PROBABILITY, Tree

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = [
    "Variant",
    "collapse_training_errors",
    "error_based",
    "error_based_table",
    "error_rules",
    "prune_table",
    "send_down",
]

Floats = NDArray[np.float64]
Variant = Literal["release8", "j48"]

_CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
_DEVIATE = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)
_COLLAPSE_SLACK = 1e-3


@checked(confidence=number(0, 1))
def error_based(
    tree: Tree,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    confidence: float = 0.25,
    subtree_raising: bool = True,
    collapse: bool = True,
    variant: Variant = "release8",
) -> Tree:
    """Prune a classification tree by the errors to be expected of its leaves.

    Parameters
    ----------
    tree
        A grown classification tree of any learner, with two branches or more, or its estimator.
    X, y, sample_weight
        The rows it was grown from; not needed with ``subtree_raising=False``.
    confidence
        Of the upper limit of the errors of a leaf; smaller values prune more.
    subtree_raising
        Whether a subtree may give way to its largest branch.
    collapse
        Whether subtrees that make no fewer training errors than a leaf are taken away first.
    variant
        The program to follow: ``"release8"`` of C4.5, or Weka's ``"j48"``.

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed. Where rows were given,
        its extra column ``expected_errors`` holds the estimate for each node.

    References
    ----------
    Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import error_based
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> pruned = error_based(tree, X, y)
    >>> tree.n_leaves, pruned.n_leaves
    (9, 7)
    """
    tree = tree_of(tree)
    need_classes(tree, "error_based")
    rules = error_rules(confidence, variant, subtree_raising)
    if X is None or y is None:
        if subtree_raising:
            raise ParameterError(
                "subtree_raising=True sends the training rows down again, so error_based needs "
                "X and y, got None; pass them, or set subtree_raising=False."
            )
        return replace_subtrees(collapse_training_errors(tree) if collapse else tree, rules)
    return error_based_table(
        tree,
        *read_rows(tree, X, y, sample_weight, "the training set"),
        confidence=confidence,
        subtree_raising=subtree_raising,
        collapse=collapse,
        variant=variant,
    )


def error_based_table(
    tree: Tree,
    table: Table,
    y: NDArray[np.int32],
    weight: Floats | None,
    *,
    confidence: float,
    subtree_raising: bool,
    collapse: bool,
    variant: Variant,
) -> Tree:
    """The same with rows that are encoded already; ``y`` holds class codes."""
    need_classes(tree, "error_based")
    rules = error_rules(confidence, variant, subtree_raising)
    if not subtree_raising:
        return replace_subtrees(collapse_training_errors(tree) if collapse else tree, rules)
    if not np.array_equal(tree.label, _majority(tree)):
        raise ParameterError(
            "error_based with rows labels leaves by their majority, but costs or priors labelled "
            "this tree; set subtree_raising=False, and pass no rows."
        )
    if len(tree.surrogates) or np.any(tree.default[~tree.is_leaf] == GAP_STOP):
        raise ParameterError(
            "error_based sends rows down the branches again, which it cannot where surrogates "
            "decide about gaps or rows end inside the tree; set subtree_raising=False, and pass "
            "no rows."
        )
    if collapse:
        tree = collapse_training_errors(tree)
    return prune_table(tree, table, y, weight, rules, keep_empty=variant == "release8")


def error_rules(confidence: float, variant: Variant, subtree_raising: bool) -> dict[str, Any]:
    """What the kernel needs to know."""
    if variant not in get_args(Variant):
        raise ParameterError(f'variant must be "release8" or "j48", got {variant!r}.')
    limit = 1.0 if variant == "release8" else 0.5
    if not 0.0 < confidence <= limit:
        raise ParameterError(
            f"confidence must be above 0 and at most {limit}, got {confidence!r}; 0.25 is the "
            "value of C4.5, smaller ones prune more."
        )
    table = variant == "release8"
    return {
        "confidence": float(confidence),
        "z": float(np.interp(confidence, _CONFIDENCE, _DEVIATE) if table else -ndtri(confidence)),
        "tail": 0.67 if table else 1.0,
        "least_tail": -np.inf if table else 0.0,  # below one case C4.5 adds less than nothing
        "tolerance": 0.0 if table else 1e-6,
        "prune": True,
        "raise_subtrees": bool(subtree_raising),
    }


def collapse_training_errors(tree: Tree) -> Tree:
    """The tree without subtrees that make no fewer training errors than a leaf would."""
    errors = tree.weight - tree.value.max(axis=1)
    mask = collapsible(tree.first_child, tree.n_children, errors, _COLLAPSE_SLACK)
    mask &= ~tree.is_leaf
    if not mask.any():
        return tree
    below = cheapest(tree, errors, slack=_COLLAPSE_SLACK)
    words = "the subtree makes no fewer training errors than a leaf"
    return cut(tree, mask, "collapse", words, below.below, errors, below.n_leaves)


def prune_table(
    tree: Tree,
    table: Table,
    y: NDArray[np.int32],
    weight: Floats | None,
    rules: dict[str, Any],
    growth: dict[str, Any] | None = None,
    *,
    keep_empty: bool = False,
) -> Tree:
    """Prune with rows that are already encoded; ``y`` holds class codes.

    ``growth`` are the parameters that the tree was grown with (:func:`growth_parameters`), for
    what C5.0 grows again. With ``keep_empty`` branches without rows keep their classes.
    """
    pruned = _error_based(
        table.columns,
        {name: getattr(tree, name) for name in ("first_child", "n_children", "default")},
        tree.splits.arrays(),
        y,
        weight,
        tree.value.shape[1],
        rules,
        growth,
    )
    rebuilt = _rebuild(tree, pruned, rules)
    return _with_kept_classes(rebuilt, tree, pruned["source"]) if keep_empty else rebuilt


def _with_kept_classes(pruned: Tree, grown: Tree, source: NDArray[np.int32]) -> Tree:
    """Branches without rows with the label and the class probabilities they were grown with."""
    empty = np.flatnonzero(pruned.weight <= 0)
    label = pruned.label.copy()
    label[empty] = grown.label[source[empty]]
    kept = grown.probability[source[empty]]
    if np.allclose(kept, pruned.probability[empty], atol=1e-6):
        return replace(pruned, label=label)
    probability = np.zeros_like(pruned.value)
    probability[empty] = kept
    return replace(pruned, label=label, extras={**pruned.extras, EMPTY_PROBABILITY: probability})


def send_down(tree: Tree, table: Table, y: NDArray[np.int32], weight: Floats | None) -> Tree:
    """The same tree with the counts of other rows than those it was grown from."""
    rules = error_rules(0.25, "release8", False) | {"prune": False}
    sent = prune_table(tree, table, y, weight, rules)
    extras = {name: column for name, column in sent.extras.items() if name != "expected_errors"}
    return replace(sent, extras=extras)


def _majority(tree: Tree) -> NDArray[np.int32]:
    """Labels by the largest class weight, the first of equals; of empty nodes as they are."""
    largest = tree.value.max(axis=1)
    own = tree.value[np.arange(tree.n_nodes), tree.label]
    keeps = (tree.weight <= 0) | (own >= largest)
    return np.where(keeps, tree.label, tree.value.argmax(axis=1)).astype(np.int32)


def _log(tree: Tree, pruned: dict[str, Any], rules: dict[str, Any]) -> PruningLog | None:
    """What the kernel did, after what was done to the tree before."""
    place, cuts = pruned["place"], pruned["cuts"]
    n_places = max(tree.n_nodes, int(place.max()) + 1, int(cuts["node"].max(initial=-1)) + 1)
    new_id = np.full(n_places, -1, np.int32)
    new_id[place] = np.arange(len(place), dtype=np.int32)
    earlier = None if tree.pruning_log is None else tree.pruning_log.renumbered(new_id)
    if not rules["prune"]:
        return earlier
    unit = "cost" if rules.get("price") else "errors"
    most = f"are at most 0.1 more than those of the subtree (confidence {rules['confidence']:g})"
    log = PruningLog.of(
        [
            ("error-based", f"the expected {unit} of a leaf {most}"),
            ("error-based", f"the expected {unit} of the largest branch in its place {most}"),
        ],
        node=new_id[cuts["node"]],
        was=np.where(cuts["node"] < tree.n_nodes, cuts["node"], -1),
        rule=cuts["raised"],
        **{name: cuts[name] for name in ("n_samples", "weight", "before", "after")},
        n_leaves=cuts["leaves"],
    )
    return log if earlier is None else earlier.then(log)


def _rebuild(tree: Tree, pruned: dict[str, Any], rules: dict[str, Any]) -> Tree:
    """A Tree from the kernel's arrays: splits and what is known of them come from their source.

    Sources count through the nodes of the tree that was pruned, then through those grown again.
    """
    source, value = pruned["source"].astype(np.int64), pruned["value"]
    first_child, n_children = pruned["first_child"], pruned["n_children"]
    splits, default, extras = tree.splits, tree.default, dict(tree.extras)
    extras.pop(
        EMPTY_PROBABILITY, None
    )  # that of the tree before pruning, whose leaves had other rows
    if source.max(initial=0) >= tree.n_nodes:
        again = pruned["regrown"]
        splits = Splits.joined([splits, Splits(**again["splits"])])
        default = np.concatenate([default, again["default"]])
        extras = {
            name: np.concatenate([extras[name], again[core]])
            for name, core in NOTED.items()
            if name in extras
        }
    is_leaf = n_children == 0
    label, impurity, risk = class_nodes(value, value, "entropy", None)
    weight = value.sum(axis=1)
    extras = {name: column[source] for name, column in extras.items()}
    _note_raised(tree, source, weight, extras)
    extras["expected_errors"] = pruned["errors"]
    return Tree(
        schema=tree.schema,
        first_child=first_child,
        n_children=n_children,
        splits=splits.take(source, is_leaf),
        default=np.where(is_leaf, GAP_STOP, default[source]).astype(np.int32),
        surrogate_offset=np.zeros(len(source) + 1, np.int64),
        surrogates=Splits.empty(),
        surrogate_agreement=np.zeros(0),
        surrogate_adjusted=np.zeros(0),
        n_samples=pruned["n_samples"],
        weight=weight,
        value=value,
        label=label_empty(label, weight, first_child, n_children),
        impurity=impurity,
        gain=_gains(tree, source, weight, impurity, first_child, n_children),
        risk=risk,
        extras=extras,
        pruning_log=_log(tree, pruned, rules),
        stopping=tree.stopping,
    )


def _note_raised(
    tree: Tree, source: NDArray[np.int64], weight: Floats, extras: dict[str, NDArray[Any]]
) -> None:
    """Leaves with other rows than grew them say so."""
    if STOPPED not in extras:
        return
    known = np.minimum(source, tree.n_nodes - 1)
    has_others = (source == known) & ~np.isclose(weight, tree.weight[known])
    extras[STOPPED][has_others & (extras[STOPPED] > 0)] = Stop.OTHER_ROWS


def _gains(
    tree: Tree,
    source: NDArray[np.int64],
    weight: Floats,
    impurity: Floats,
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
) -> Floats:
    """Gains of the source splits; those with other rows, raised or grown again, made anew."""
    known = np.minimum(source, tree.n_nodes - 1)
    gain = np.where(n_children > 0, tree.gain[known], 0.0)
    same = (source == known) & np.isclose(weight, tree.weight[known])
    moved = np.flatnonzero((n_children > 0) & ~same)
    cost = weight / weight[0] * impurity
    total = np.concatenate([[0.0], np.cumsum(cost)])
    last = first_child[moved] + n_children[moved]
    gain[moved] = cost[moved] - (total[last] - total[first_child[moved]])
    return np.maximum(gain, 0.0)
