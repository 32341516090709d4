"""Pruning by description length: the tree and its errors in as few bits as possible.

SLIQ's codings count one bit per training error. Its *full* coding says of each node whether it is
split; *partial* says which of its children are kept, the others being left to the answer of the
node itself; *hybrid* prunes fully first and then partially among what is left. Quinlan and
Rivest's coding describes the tests too, and each leaf by the places of its exceptions.

Where nodes have k branches, SLIQ's two bits of the partial coding become k, and its log 3 of the
hybrid one log₂(2ᵏ − 1). Logarithms are to base 2 throughout.

Mehta, Rissanen and Agrawal (1995), *MDL-based decision tree pruning*, KDD; Mehta, Agrawal and
Rissanen (1996), *SLIQ*, EDBT; Quinlan and Rivest (1989), *Inferring decision trees using the
minimum description length principle*, Information and Computation 80.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.pruning._bottom_up import (
    Cheapest,
    cheapest,
    cut,
    ended_here,
    need_classes,
    training_errors,
    with_log,
)
from treewright.tree.of_model import tree_of
from treewright.tree.pruning_log import PruningLog
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

__all__ = ["mdl"]

Floats = NDArray[np.float64]
Coding = Literal["full", "partial", "hybrid", "quinlan_rivest"]


@checked()
def mdl(tree: Tree, coding: Coding = "full") -> Tree:
    """Prune a classification tree to the shortest description of tree and errors.

    Parameters
    ----------
    tree
        A grown classification tree, or its estimator.
    coding
        ``"full"``, ``"partial"`` and ``"hybrid"`` are SLIQ's: an error costs one bit, a numeric
        test one bit, a test of categories the logarithm of the number of tests on that feature
        in the tree, and each node the bits that say which of its children are there.
        ``"quinlan_rivest"`` codes each leaf by its class and the places of its exceptions, and
        each test by its feature and its cut or groups.

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed. Its extra column
        ``bits`` is the length of the description of each node and all below it.

    Notes
    -----
    In the partial codings a child that is left to its parent becomes a leaf with the parent's
    classes: its rows are answered as if they had stopped one node above.

    References
    ----------
    Mehta, Agrawal and Rissanen (1996), *SLIQ: a fast scalable classifier for data mining*, EDBT;
    Quinlan and Rivest (1989), *Inferring decision trees using the minimum description length
    principle*, Information and Computation 80.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import mdl
    >>> X, y = load_iris(return_X_y=True)
    >>> pruned = mdl(CARTClassifier().fit(X, y).tree_)
    >>> pruned.n_leaves, float(pruned.extras["bits"][0])
    (3, 13.0)
    """
    tree = tree_of(tree)
    if coding not in CODINGS:
        known = ", ".join(f'"{name}"' for name in CODINGS)
        raise ParameterError(f"coding must be one of {known}, got {coding!r}.")
    need_classes(tree, "mdl")
    return CODINGS[coding](tree)


# -- SLIQ ----------------------------------------------------------------------------------


def _full(tree: Tree) -> Tree:
    as_leaf = 1.0 + training_errors(tree)
    best = cheapest(tree, as_leaf, 1.0 + _test_bits(tree) + ended_here(tree))
    return _shorter(tree, best, as_leaf, "full")


def _partial(tree: Tree) -> Tree:
    return _some_children(tree, tree.n_children.astype(np.float64), "partial", may_be_leaf=True)


def _hybrid(tree: Tree) -> Tree:
    pruned = _full(tree)
    k = pruned.n_children.astype(np.float64)
    structure = np.where(k > 0, np.log2(np.maximum(np.exp2(np.minimum(k, 1000)) - 1, 1)), 0.0)
    return _some_children(pruned, structure, "hybrid", may_be_leaf=False)


def _some_children(tree: Tree, structure: Floats, name: str, *, may_be_leaf: bool) -> Tree:
    """Prune where each child may be left to its parent; a leaf says so in as many bits."""
    errors = training_errors(tree)
    if may_be_leaf:
        as_leaf = 2.0 + errors
    else:
        as_leaf = np.where(tree.is_leaf, errors, np.inf)
    of_test = structure + _test_bits(tree) + ended_here(tree)
    # a child that answers as its parent would stays: rounding must not decide between the two
    best = cheapest(tree, as_leaf, of_test, _as_left(tree) + 1e-13 * tree.weight[0])
    pruned = _shorter(tree, best, as_leaf, name)
    return _leave_to_parents(tree, pruned, best, as_leaf, name)


def _as_left(tree: Tree) -> Floats:
    """Errors of each node's rows if they are answered by the label of its parent."""
    parent = np.maximum(tree.parent, 0)
    label = tree.label[parent]
    errors = tree.weight - tree.value[np.arange(tree.n_nodes), label]
    errors[0] = np.inf
    # where errors have prices, at the mean price at the parent
    paid = tree.risk * tree.weight[0]
    wrong = tree.weight - tree.value[np.arange(tree.n_nodes), tree.label]
    price = np.divide(paid, wrong, out=np.ones(tree.n_nodes), where=wrong > 1e-9 * tree.weight[0])
    return np.asarray(errors * price[parent])


def _test_bits(tree: Tree) -> Floats:
    """One bit for a numeric test; of categories, as many as number the tests of that feature."""
    splits = tree.splits
    is_codes = splits.kind == SplitKind.CODES
    uses = np.bincount(splits.feature[is_codes], minlength=len(tree.schema))
    bits = np.ones(tree.n_nodes)
    bits[is_codes] = np.log2(uses[splits.feature[is_codes]])
    return np.where(tree.is_leaf, 0.0, bits)


def _shorter(tree: Tree, best: Cheapest, as_leaf: Floats, coding: str) -> Tree:
    """The tree with leaves where they take fewer bits, and the bits of every node."""
    bits = np.where(best.becomes_leaf, as_leaf, best.below)
    noted = replace(tree, extras={**tree.extras, "bits": bits})
    words = f"{coding} coding takes no more bits for a leaf than for the subtree"
    return cut(noted, best.becomes_leaf, "mdl", words, best.below, as_leaf, best.n_leaves)


def _leave_to_parents(
    tree: Tree, pruned: Tree, best: Cheapest, as_leaf: Floats, coding: str
) -> Tree:
    """Make leaves, with the classes of their parents, of the nodes that are left to them."""
    from treewright.tree.collapse import below_any

    gone = below_any(tree, best.becomes_leaf | best.is_left)
    was = np.flatnonzero(best.is_left & ~gone)
    if not len(was):
        return pruned
    there = ~below_any(tree, best.becomes_leaf)
    at = (np.cumsum(there) - 1)[was]
    parent = pruned.parent[at]
    value, label, risk = pruned.value.copy(), pruned.label.copy(), pruned.risk.copy()
    bits = pruned.extras["bits"].copy()
    left_bits = _as_left(tree)[was]
    total = pruned.weight[parent]
    share = np.divide(pruned.weight[at], total, out=np.zeros(len(at)), where=total > 0)
    value[at] = pruned.value[parent] * share[:, None]
    label[at] = pruned.label[parent]
    risk[at] = left_bits / tree.weight[0]
    bits[at] = left_bits
    before = np.where(best.becomes_leaf, as_leaf, best.below)[was]
    extras = {**pruned.extras, "bits": bits}
    changed = replace(pruned, value=value, label=label, risk=risk, extras=extras)
    kept = ~below_any(changed, np.isin(np.arange(changed.n_nodes), at))
    log = PruningLog.of(
        [("mdl", f"{coding} coding takes fewer bits if the parent answers for the rows")],
        node=(np.cumsum(kept) - 1)[at],
        was=was,
        n_samples=tree.n_samples[was],
        weight=tree.weight[was],
        n_leaves=best.n_leaves[was],
        before=before,
        after=left_bits,
    )
    return with_log(changed.collapse(at), log)


# -- Quinlan and Rivest --------------------------------------------------------------------


def _quinlan_rivest(tree: Tree) -> Tree:
    as_leaf = 1.0 + _exception_bits(tree.value)
    best = cheapest(tree, as_leaf, 1.0 + _described_tests(tree) + ended_here(tree))
    return _shorter(tree, best, as_leaf, "Quinlan and Rivest's")


def _exception_bits(value: Floats) -> Floats:
    """Bits for the classes of each row of ``value``: the commonest, then where the others are.

    Among n rows k exceptions take L(n, k, b) = log₂(b + 1) + log₂ C(n, k), with b the most that
    there can be; of more than two classes the exceptions are coded in turn by the next one.
    """
    ordered = -np.sort(-value, axis=1)
    n_classes = value.shape[1]
    bits = np.full(len(value), np.log2(n_classes))
    n = ordered.sum(axis=1)
    for j in range(n_classes - 1):
        k = n - ordered[:, j]
        most = np.floor(n * (1.0 - 1.0 / (n_classes - j)) + 0.5)
        choose = (gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)) / np.log(2)
        # once no exception is left nothing follows
        bits += np.where(n > 0, np.log2(most + 1.0) + np.maximum(choose, 0.0), 0.0)
        n = np.maximum(k, 0.0)
    return bits


def _described_tests(tree: Tree) -> Floats:
    """Bits for the feature and for the cut or the groups of each test."""
    splits = tree.splits
    n_codes, n_terms = np.diff(splits.code_offset), np.diff(splits.term_offset)
    n_breaks = np.diff(splits.break_offset)
    is_codes, is_linear = splits.kind == SplitKind.CODES, splits.kind == SplitKind.LINEAR
    k = np.maximum(tree.n_children, 1).astype(np.float64)
    each_its_own = is_codes & (n_codes <= tree.n_children)
    available = np.maximum(len(tree.schema) - _used_above(tree, each_its_own), 1)
    place = np.log2(np.maximum(tree.n_samples - 1, 1))  # cuts between n rows
    groups = np.where(each_its_own, 0.0, np.where(k == 2, n_codes - 1, n_codes * np.log2(k)))
    cuts = np.where(is_linear, n_terms, n_breaks) * place
    bits = np.log2(available) * np.where(is_linear, n_terms, 1) + np.where(is_codes, groups, cuts)
    return np.where(tree.is_leaf, 0.0, bits)


def _used_above(tree: Tree, marked: NDArray[np.bool_]) -> NDArray[Any]:
    """Marked nodes above each node: features used up by tests of every category."""
    count = (marked[np.maximum(tree.parent, 0)] & (tree.parent >= 0)).astype(np.int64)
    above = np.maximum(tree.parent, 0)
    while above.any():  # pointer doubling
        count = count + count[above]
        above = above[above]
    return count


CODINGS: dict[str, Callable[[Tree], Tree]] = {
    "full": _full,
    "partial": _partial,
    "hybrid": _hybrid,
    "quinlan_rivest": _quinlan_rivest,
}
