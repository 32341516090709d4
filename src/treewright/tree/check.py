"""Whether arrays that claim to be a tree are one.

A tree from a file may have been made by anybody. Prediction and printing follow its indices
without looking, so everything they rely on is checked here first, in linear time and without
a loop over nodes. Each check assumes those before it.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import KINDS, TIMES, Feature, Schema, Target
from treewright.errors import ModelFileError
from treewright.tree.growing.stopped import SPLIT_P, STOPPED, Stop
from treewright.tree.node_tests import TEST_DTYPES
from treewright.tree.pruning_log import LOG_DTYPES
from treewright.tree.split import GAP_FRACTION, GAP_STOP, NO_CODE, SPLIT_DTYPES, SplitKind, Splits
from treewright.tree.split_counts import COUNT_DTYPES, N_BINS, N_TARGET_BINS
from treewright.tree.tree import EMPTY_PROBABILITY, TREE_DTYPES, Tree

__all__ = ["check_schema", "check_structure"]


def check_structure(tree: Tree) -> None:
    """Raise :class:`ModelFileError` unless ``tree`` is sound in every part.

    Parameters
    ----------
    tree
        Arrays of any content. Nothing of it is changed.
    """
    check_schema(tree.schema)
    _check_arrays(tree)
    _check_children(tree)
    _check_defaults(tree)
    inner = ~tree.is_leaf
    _check_splits(tree.splits, tree.schema, "node")
    _check_leaves(tree)
    _check_branches(tree.splits, tree.n_children, tree.default, inner, "node")
    _check_reached(tree)
    _check_surrogates(tree)
    _check_values(tree)
    _check_tests(tree)
    _check_log(tree)
    _check_counts(tree)


def _fail(what: str) -> NoReturn:
    raise ModelFileError(f"The tree is damaged: {what}. Save the model again from its source.")


def _require(holds: NDArray[np.bool_] | np.bool_ | bool, what: str, of: str = "node") -> None:
    """Fail with the first position where ``holds`` is False."""
    if np.all(holds):
        return
    if np.ndim(holds) == 0:
        _fail(what)
    _fail(f"{what}, at {of} {int(np.argmin(np.asarray(holds)))}")


# -- schema --------------------------------------------------------------------------------


def check_schema(schema: Schema) -> None:
    """Raise :class:`ModelFileError` unless names, kinds, categories and classes are sound."""
    names = [feature.name for feature in schema.features]
    if not all(isinstance(name, str) for name in names):
        _fail("a feature name must be a string")
    if len(set(names)) != len(names):
        _fail("feature names must differ from each other")
    for feature in schema.features:
        _check_feature(feature)
    if schema.target is None:
        _fail("its schema must have a target")
    _check_target(schema.target)


def _check_feature(feature: Feature) -> None:
    if feature.kind not in KINDS:
        _fail(f"feature {feature.name!r} must be one of {', '.join(KINDS)}, got {feature.kind!r}")
    if feature.kind == "continuous" and feature.categories:
        _fail(f"feature {feature.name!r} is continuous and must have no categories")
    if feature.time not in TIMES or (feature.time and feature.kind != "continuous"):
        _fail(f"feature {feature.name!r} must hold moments of a known kind, got {feature.time!r}")
    _check_values_differ(feature.categories, f"categories of feature {feature.name!r}")


def _check_target(target: Target) -> None:
    if not isinstance(target.name, str):
        _fail("the target's name must be a string")
    if not _is_int(target.n_outputs) or target.n_outputs < 1:
        _fail(f"the number of outputs must be a positive integer, got {target.n_outputs!r}")
    if target.outputs and (
        len(target.outputs) != target.n_outputs
        or not all(isinstance(name, str) for name in target.outputs)
    ):
        _fail("every output must have one name")
    _check_values_differ(target.classes, "classes")
    factor = target.class_factor
    if factor and len(factor) != len(target.classes):
        _fail(
            f"there must be a factor for each of {len(target.classes)} classes, got {len(factor)}"
        )
    for number in factor:
        if not isinstance(number, float | int) or not math.isfinite(number) or number < 0:
            _fail(f"class factors must be finite and not negative, got {number!r}")


def _check_values_differ(values: tuple[Any, ...], what: str) -> None:
    if not all(isinstance(value, str | int | float | bool) for value in values):
        _fail(f"{what} must be strings, numbers or booleans")
    # 1, 1.0 and True are equal in Python: a table cannot tell such categories apart either
    if len(set(values)) != len(values):
        _fail(f"{what} must differ from each other")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# -- arrays --------------------------------------------------------------------------------


def _check_arrays(tree: Tree) -> None:
    """Dtypes, dimensions and lengths."""
    n = _size(tree.first_child)
    if not 1 <= n < 2**31:
        _fail("it must have at least one node and fewer than 2**31")
    target = tree.schema.target
    is_class = target is not None and target.is_classification
    width = 0 if target is None else len(target.classes) or target.n_outputs
    lengths = dict.fromkeys(TREE_DTYPES, n)
    lengths["surrogate_offset"] = n + 1
    n_surrogates = _size(tree.surrogates.kind)
    lengths["surrogate_agreement"] = lengths["surrogate_adjusted"] = n_surrogates
    lengths["label"] = n if is_class else 0
    for name, dtype in TREE_DTYPES.items():
        shape = (n, width) if name == "value" else (lengths[name],)
        _check_array(name, getattr(tree, name), dtype, shape)
    for name, column in tree.extras.items():
        is_column = column.ndim in (1, 2) and len(column) == n and column.dtype.kind in "biuf"
        if not isinstance(name, str) or not is_column:
            _fail(f"extra column {name!r} must hold a number for each of {n} nodes")
    _check_reasons(tree)
    if (kept := tree.extras.get(EMPTY_PROBABILITY)) is not None:
        _check_array(EMPTY_PROBABILITY, kept, np.float64, (n, width if is_class else 0))
        total = kept.sum(axis=1)
        is_share = (kept >= 0).all(axis=1) & ((total == 0) | (np.abs(total - 1) < 1e-6))
        if not is_share.all():
            _fail(f"{EMPTY_PROBABILITY} must hold shares of the classes, or zeros")
    _check_offset(tree.surrogate_offset, n_surrogates, "surrogate_offset")
    _check_split_arrays(tree.splits, n, "")
    _check_split_arrays(tree.surrogates, n_surrogates, "surrogate ")


def _check_reasons(tree: Tree) -> None:
    """What growth noted of leaves can be put into words."""
    noted = tree.extras.get(STOPPED)
    if noted is None:
        return
    if noted.dtype != np.uint8 or noted.ndim != 1 or noted.max(initial=0) > max(Stop):
        _fail(f"{STOPPED} must hold reasons from 0 to {int(max(Stop))}")
    rules, p = tree.stopping, tree.extras.get(SPLIT_P)
    if np.any(noted == Stop.SIGNIFICANCE) and (
        p is None or p.ndim != 1 or (rules is not None and rules.min_significance is None)
    ):
        _fail(f"{STOPPED} names a test of significance, but there is none")


def _check_split_arrays(splits: Splits, n: int, what: str) -> None:
    lengths = dict.fromkeys(SPLIT_DTYPES, n)
    for pool, columns in (
        ("break", ("breaks",)),
        ("code", ("codes", "branches")),
        ("term", ("term_feature", "term_weight", "term_code")),
    ):
        offset = getattr(splits, f"{pool}_offset")
        lengths[f"{pool}_offset"] = n + 1
        size = _size(getattr(splits, columns[0]))
        lengths.update(dict.fromkeys(columns, size))
        _check_array(f"{what}{pool}_offset", offset, np.int64, (n + 1,))
        _check_offset(offset, size, f"{what}{pool}_offset")
    for name, dtype in SPLIT_DTYPES.items():
        _check_array(what + name, getattr(splits, name), dtype, (lengths[name],))


def _size(array: NDArray[Any]) -> int:
    """Length of a flat array; 0 for any other, which the check of its shape then refuses."""
    return len(array) if array.ndim == 1 else 0


def _check_array(
    name: str, array: NDArray[Any], dtype: type[np.generic], shape: tuple[int, ...]
) -> None:
    if array.dtype != dtype or array.shape != shape:
        _fail(
            f"{name} must be {np.dtype(dtype)} of shape {shape}, "
            f"got {array.dtype} of shape {array.shape}"
        )
    if not array.flags.c_contiguous:
        _fail(f"{name} must be contiguous")


def _check_offset(offset: NDArray[np.int64], size: int, name: str) -> None:
    _require(offset[0] == 0 and offset[-1] == size, f"{name} must run from 0 to {size}")
    # compared, not subtracted: differences of hostile numbers wrap around
    _require(offset[1:] >= offset[:-1], f"{name} must not fall")


# -- structure -----------------------------------------------------------------------------


def _check_children(tree: Tree) -> None:
    n = tree.n_nodes
    first, count = tree.first_child.astype(np.int64), tree.n_children.astype(np.int64)
    leaf = first == -1
    _require((first > np.arange(n)) | leaf, "children must come after their parent")
    _require(np.where(leaf, count == 0, count >= 2), "an inner node must have two children or more")
    _require(leaf | (first + count <= n), "children must lie inside the arrays")
    # +1 where a family starts, −1 behind it: the sum is the number of parents of each node
    step = np.zeros(n + 1, np.int64)
    np.add.at(step, first[~leaf], 1)
    np.add.at(step, (first + count)[~leaf], -1)
    parents = np.cumsum(step)[:n]
    parents[0] += 1
    _require(parents == 1, "every node but the root must have one parent")


def _check_defaults(tree: Tree) -> None:
    low = min(GAP_FRACTION, GAP_STOP)
    _require(
        (tree.default >= low) & (tree.default < np.maximum(tree.n_children, low + 1)),
        "the branch of a gap must be one of the node's branches",
    )


def _check_leaves(tree: Tree) -> None:
    _require(
        (tree.splits.kind == SplitKind.LEAF) == tree.is_leaf,
        "a node must have a test if it has children, and only then",
    )
    _require(
        ~tree.is_leaf | (np.diff(tree.surrogate_offset) == 0), "a leaf must have no surrogates"
    )
    _require(~tree.is_leaf | (tree.default == GAP_STOP), "a leaf must not send gaps on")


def _check_splits(splits: Splits, schema: Schema, of: str) -> None:
    """Kinds, features, codes, breaks and terms of each split by itself."""
    kind = splits.kind
    _require(kind <= max(SplitKind), "a split must be of a known kind", of)
    n_breaks, n_codes, n_terms = (
        np.diff(offset) for offset in (splits.break_offset, splits.code_offset, splits.term_offset)
    )
    is_breaks, is_codes = kind == SplitKind.BREAKS, kind == SplitKind.CODES
    is_linear = kind == SplitKind.LINEAR
    for count, wants, what in (
        (n_breaks, is_breaks | is_linear, "breaks"),
        (n_codes, is_codes, "codes"),
        (n_terms, is_linear, "terms"),
    ):
        _require((count > 0) == wants, f"a split must have {what} if its kind needs them", of)
    _require(~is_linear | (n_breaks == 1), "a linear split must have one break", of)
    _require(
        ~splits.reversed | (n_breaks == 1), "only a split with a single break can be reversed", of
    )
    single = is_breaks | is_codes
    n_features = len(schema)
    _require(
        np.where(
            single, (splits.feature >= 0) & (splits.feature < n_features), splits.feature == -1
        ),
        "the feature of a split must be one of the schema's",
        of,
    )
    _check_kinds(splits, schema, is_breaks, is_codes, of)
    _check_pools(splits, schema, of)


def _check_kinds(
    splits: Splits,
    schema: Schema,
    is_breaks: NDArray[np.bool_],
    is_codes: NDArray[np.bool_],
    of: str,
) -> None:
    nominal = np.array([f.kind == "nominal" for f in schema.features] + [False])
    categorical = np.array([f.is_categorical for f in schema.features] + [False])
    _require(
        ~(is_breaks & nominal[splits.feature]), "a nominal feature must not be cut at breaks", of
    )
    _require(
        ~is_codes | categorical[splits.feature],
        "a continuous feature must not be split by codes",
        of,
    )
    term = splits.term_feature
    _require((term >= 0) & (term < len(schema)), "a term must be one of the features", "term")
    n_categories = np.array([len(f.categories) for f in schema.features] + [0], np.int64)
    code = splits.term_code
    _require(
        np.where(nominal[term], (code >= 0) & (code < n_categories[term]), code == NO_CODE),
        "a term of a linear split must have a category if its feature is nominal, and only then",
        "term",
    )


def _check_pools(splits: Splits, schema: Schema, of: str) -> None:
    """Codes, breaks and weights; each ascends within its split."""
    n_codes = np.diff(splits.code_offset)
    n_categories = np.array([len(f.categories) for f in schema.features] + [0], np.int64)
    limit = np.repeat(n_categories[splits.feature], n_codes)
    _require(
        (splits.codes >= 0) & (splits.codes < limit),
        f"the codes of a {of} must be those of the feature's categories",
        "code",
    )
    _require(_ascends(splits.codes, splits.code_offset), f"the codes of a {of} must ascend", "code")
    breaks = splits.breaks
    _require(breaks > -np.inf, "breaks must be finite or +inf", "break")  # False for NaN too
    _require(_ascends(breaks, splits.break_offset), f"the breaks of a {of} must ascend", "break")
    _require(np.isfinite(splits.term_weight), "weights of terms must be finite", "term")


def _ascends(values: NDArray[Any], offset: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value but the first of its split exceeds the one before."""
    rises = np.ones(len(values), np.bool_)
    rises[1:] = values[1:] > values[:-1]
    rises[offset[:-1][offset[:-1] < len(values)]] = True
    return rises


def _check_branches(
    splits: Splits,
    n_branches: NDArray[np.int32],
    default: NDArray[np.int32] | None,
    which: NDArray[np.bool_],
    of: str,
) -> None:
    """Branches fit the children; with ``default`` all must be used, one by gaps alone."""
    n_branches_of_code = np.repeat(n_branches, np.diff(splits.code_offset))
    _require(
        (splits.branches >= 0) & (splits.branches < n_branches_of_code),
        f"the branches of a {of} must be those of its children",
        "code",
    )
    has_breaks = which & (np.diff(splits.break_offset) > 0)
    used = np.diff(splits.break_offset) + 1
    fits = used <= n_branches
    if default is not None:
        own_gap = (used == n_branches - 1) & (default == n_branches - 1)
        fits = (used == n_branches) | own_gap
    _require(~has_breaks | fits, f"the breaks of a {of} must fit its children", of)


def _check_reached(tree: Tree) -> None:
    """Every child of a split by codes is listed, or takes the gaps."""
    owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.splits.code_offset))
    reached = np.repeat(tree.splits.kind != SplitKind.CODES, np.maximum(tree.n_children, 0))
    # children in the order of their parents, which is not the order of their ids
    start = np.cumsum(tree.n_children, dtype=np.int64) - tree.n_children
    reached[start[owner] + tree.splits.branches] = True
    gap = np.flatnonzero(tree.default >= 0)
    reached[start[gap] + tree.default[gap]] = True
    _require(reached, "every branch must be reached by a category or by gaps", "branch")


def _check_surrogates(tree: Tree) -> None:
    _check_splits(tree.surrogates, tree.schema, "surrogate")
    _require(tree.surrogates.kind != SplitKind.LEAF, "a surrogate must have a test", "surrogate")
    n_branches = np.repeat(tree.n_children, np.diff(tree.surrogate_offset))
    everyone = np.ones(len(n_branches), np.bool_)
    _check_branches(tree.surrogates, n_branches, None, everyone, "surrogate")
    most = 1 + 1e-9  # shares are quotients of sums
    agreement, adjusted = tree.surrogate_agreement, tree.surrogate_adjusted
    _require((agreement >= 0) & (agreement <= most), "agreement must be a share", "surrogate")
    _require(np.isfinite(adjusted) & (adjusted <= most), "adjusted must be at most 1", "surrogate")


# -- figures -------------------------------------------------------------------------------


def _check_values(tree: Tree) -> None:
    _require(tree.n_samples >= 0, "the number of rows must not be negative")
    _require(np.isfinite(tree.weight) & (tree.weight >= 0), "weights must be finite, not negative")
    for name in ("impurity", "gain", "risk"):
        _require(np.isfinite(getattr(tree, name)), f"{name} must be finite")
    _require(np.isfinite(tree.value).all(axis=1), "values must be finite")
    with np.errstate(over="ignore"):
        for name in ("weight", "gain"):
            _require(np.isfinite(getattr(tree, name).sum()), f"the sum of {name} must be finite")
        _check_classes(tree)


def _check_classes(tree: Tree) -> None:
    target = tree.schema.target
    if target is None or not target.is_classification:
        return
    _require((tree.value >= 0).all(axis=1), "class weights must not be negative")
    factor = np.array(target.class_factor or (1.0,))
    _require(np.isfinite((tree.value * factor).sum(axis=1)), "class weights must have finite sums")
    n_classes = len(target.classes)
    _require((tree.label >= 0) & (tree.label < n_classes), f"labels must lie below {n_classes}")


def _check_log(tree: Tree) -> None:
    log = tree.pruning_log
    if log is None:
        return
    n = _size(log.node)
    for name, dtype in LOG_DTYPES.items():
        _check_array(f"{name} of the pruning log", getattr(log, name), dtype, (n,))
    of = "cut"
    _require((log.node >= -1) & (log.node < tree.n_nodes), "a cut must be at a node", of)
    _require(log.was >= -1, "a cut must have been at a node", of)
    _require((log.n_samples >= 0) & (log.n_leaves >= 0), "rows and leaves must be counts", of)
    _require(np.isfinite(log.weight), "the weight of a cut must be finite", of)
    _require((log.rule >= 0) & (log.rule < len(log.rules)), "a cut must have a rule", of)
    if not all(isinstance(text, str) for rule in log.rules for text in rule):
        _fail("the rules of its pruning log must be texts")


def _check_tests(tree: Tree) -> None:
    tests = tree.tests
    if tests is None:
        return
    n = _size(tests.node)
    for name, dtype in TEST_DTYPES.items():
        _check_array(f"{name} of tests", getattr(tests, name), dtype, (n,))
    of = "test"
    _require((tests.node >= 0) & (tests.node < tree.n_nodes), "a test must be of a node", of)
    _require(tests.node[1:] >= tests.node[:-1], "tests must be in the order of the nodes", of)
    _require(
        (tests.feature >= 0) & (tests.feature < len(tree.schema)),
        "the feature of a test must be one of the schema's",
        of,
    )
    for name in ("log_p", "log_adjusted_p"):
        _require(~(getattr(tests, name) > 0), f"{name} must be the logarithm of a share", of)


def _check_counts(tree: Tree) -> None:
    counts = tree.counts
    if counts is None:
        return
    n, n_axes = _size(counts.node), _size(counts.axis_feature)
    target = tree.schema.target
    is_class = target is not None and target.is_classification
    width = N_BINS * (tree.value.shape[1] if is_class else N_TARGET_BINS)
    shapes = {
        "node": (n,),
        "axis": (n,),
        "counts": (n, width),
        "axis_feature": (n_axes,),
        "axis_range": (n_axes, 2),
        "axis_code_offset": (n_axes + 1,),
        "axis_codes": (_size(counts.axis_codes),),
        "target_range": (0 if is_class else 2,),
    }
    for name, dtype in COUNT_DTYPES.items():
        _check_array(f"{name} of counts", getattr(counts, name), dtype, shapes[name])
    of = "count"
    _require((counts.node >= 0) & (counts.node < tree.n_nodes), "counts must be of a node", of)
    _require(counts.node[1:] > counts.node[:-1], "counts must be in the order of the nodes", of)
    _require(~tree.is_leaf[counts.node], "counts must be of a node that is split", of)
    _require((counts.axis >= 0) & (counts.axis < n_axes), "counts must have an axis", of)
    feature = counts.axis_feature
    _require((feature >= -1) & (feature < len(tree.schema)), "an axis must be of a feature", of)
    _check_offset(counts.axis_code_offset, _size(counts.axis_codes), "axis_code_offset")
    _require(np.diff(counts.axis_code_offset) <= N_BINS, "an axis has too many categories", of)
    sizes = np.array([0, *(len(f.categories) for f in tree.schema.features)])
    limit = np.repeat(sizes[feature + 1], np.diff(counts.axis_code_offset))
    codes = counts.axis_codes
    _require((codes >= 0) & (codes < limit), "an axis has a category that is none", of)
    _require(np.isfinite(counts.counts) & (counts.counts >= 0), "counts must not be negative", of)
    for name in ("axis_range", "target_range"):
        _require(np.isfinite(getattr(counts, name)), f"{name} must be finite", of)
