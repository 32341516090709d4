"""scikit-learn: its trees and forests as ours, and ours as its.

scikit-learn rounds values to single precision before it compares them. What comes in gets breaks
that do the same to doubles. What goes out gets thresholds rounded likewise: rows that single
precision holds and values at a threshold are told the same, others that round to it may not be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ParameterError
from treewright.exporting._build import program_of
from treewright.exporting._foreign import ForeignNode, make_tree, single_break
from treewright.exporting._program import Program, TreePart
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

__all__ = ["from_sklearn", "to_sklearn"]

Floats = NDArray[np.float64]


def from_sklearn(model: Any) -> Any:
    """A tree or forest of scikit-learn as one of treewright.

    Parameters
    ----------
    model : DecisionTree*, ExtraTree*, RandomForest* or ExtraTrees*
        Fitted; of one output where it is a classifier.

    Returns
    -------
    model : CART*, RandomForest* or ExtraTrees*
        Fitted: it predicts the same, and its trees can be read, pruned, explained and exported.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import treewright
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = treewright.from_sklearn(DecisionTreeClassifier(max_depth=1).fit(X, y))
    >>> model.predict(X.iloc[:2])
    array([0, 0])
    """
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.utils.validation import check_is_fitted

    import treewright

    if isinstance(model, DecisionTreeClassifier | DecisionTreeRegressor):
        check_is_fitted(model)
        schema, classes = _schema(model)
        is_class = isinstance(model, DecisionTreeClassifier)
        learner = treewright.CARTClassifier if is_class else treewright.CARTRegressor
        return _one_tree(learner(continuous_split="at_most"), _read_tree(model, schema), classes)
    kinds = {
        RandomForestClassifier: treewright.RandomForestClassifier,
        RandomForestRegressor: treewright.RandomForestRegressor,
        ExtraTreesClassifier: treewright.ExtraTreesClassifier,
        ExtraTreesRegressor: treewright.ExtraTreesRegressor,
    }
    for theirs, ours in kinds.items():
        if isinstance(model, theirs):
            check_is_fitted(model)
            schema, classes = _schema(model)
            trees = [_read_tree(member, schema) for member in model.estimators_]
            return _forest(ours(n_estimators=len(trees)), trees, schema, classes)
    raise ParameterError(
        "from_sklearn takes decision trees, random forests and extra trees of scikit-learn, got "
        f"{type(model).__name__}."
    )


def _schema(model: Any) -> tuple[Schema, NDArray[Any] | None]:
    n = model.n_features_in_
    names = getattr(model, "feature_names_in_", None)
    given = [f"x{i}" for i in range(n)] if names is None else [str(name) for name in names]
    features = tuple(Feature(name, "continuous") for name in given)
    classes = getattr(model, "classes_", None)
    if classes is None:
        return Schema(features, names is not None, Target("y", n_outputs=model.n_outputs_)), None
    if isinstance(classes, list):
        raise ParameterError(
            f"from_sklearn takes classifiers of one output, got {len(classes)}; fit one for each."
        )
    values = classes.astype(object) if classes.dtype.kind == "U" else classes
    return Schema(features, names is not None, Target("y", tuple(classes.tolist()))), values


def _read_tree(member: Any, schema: Schema) -> Tree:
    tree = member.tree_
    target = schema.target
    assert target is not None
    values = tree.value[:, 0, :] if target.is_classification else tree.value[:, :, 0]
    if target.is_classification:
        values = values * tree.weighted_n_node_samples[:, None]
    gain = _gains(tree)
    nodes = []
    for i in range(tree.node_count):
        at, closed = single_break(float(tree.threshold[i]), closed=True)
        left, right = int(tree.children_left[i]), int(tree.children_right[i])
        nodes.append(
            ForeignNode(
                values[i].tolist(),
                (left, right) if left >= 0 else (),
                int(tree.feature[i]),
                at,
                closed,
                gap=int(not tree.missing_go_to_left[i]),
                n_samples=float(tree.n_node_samples[i]),
                weight=float(tree.weighted_n_node_samples[i]),
                gain=float(gain[i]),
                impurity=float(tree.impurity[i]),
            )
        )
    return make_tree(nodes, schema)


def _gains(tree: Any) -> Floats:
    """By how much each split lowers the impurity, times the share of the weight."""
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    part = share * tree.impurity
    inner = tree.children_left >= 0
    gain = np.zeros(tree.node_count)
    below = part[tree.children_left[inner]] + part[tree.children_right[inner]]
    gain[inner] = np.maximum(part[inner] - below, 0.0)
    return gain


def _one_tree(model: Any, tree: Tree, classes: Any) -> Any:
    from treewright.estimator.base import Pruned

    model._keep_target(tree.schema.target, classes)
    model._keep(Pruned(tree))
    return model


def _forest(model: Any, trees: list[Tree], schema: Schema, classes: Any) -> Any:
    from treewright.ensembles.members.bodies import Trees
    from treewright.ensembles.members.draws import Draws, FeatureDraws
    from treewright.tree.forest.arrays import Forest

    n_rows = int(trees[0].n_samples[0])
    model._body = Trees(Forest.from_trees(trees))
    model._draws = Draws(0, max(n_rows, 1))
    model._features = FeatureDraws(0, len(schema), len(schema), False)
    model._schema = schema
    model._keep_features(schema)
    model._keep_target(schema.target, classes)
    model._targets = model._residuals = None  # of regressors: what leaves keep beside means
    return model


# Out


def to_sklearn(model: Any) -> Any:
    """A tree or forest of treewright as one of scikit-learn.

    Parameters
    ----------
    model : estimator
        A fitted tree learner, bagging, random forest or extra trees, all tests of which compare
        a number with one threshold.

    Returns
    -------
    model : DecisionTree* or RandomForest*
        Of scikit-learn, fitted: ``plot_tree``, ``export_text``, ``shap.TreeExplainer`` and all that
        is made for its trees work on it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import export_text
    >>> import treewright
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = treewright.CARTClassifier(max_depth=1).fit(X, y)
    >>> print(export_text(treewright.to_sklearn(model), feature_names=list(X)))
    |--- petal length (cm) <= 2.45
    |   |--- class: 0
    |--- petal length (cm) >  2.45
    |   |--- class: 1
    <BLANKLINE>
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    program = program_of(model)
    parts = _plain_trees(program)
    is_class = program.target.is_classification
    named = hasattr(model, "feature_names_in_")
    if program.combine == "sum":
        tree = DecisionTreeClassifier() if is_class else DecisionTreeRegressor()
        classes = np.asarray(getattr(model, "classes_", program.target.classes))
        return _dress(_fill(tree, parts[0], program, classes), program, named)
    forest = RandomForestClassifier if is_class else RandomForestRegressor
    single = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    whole = forest(n_estimators=len(parts))
    # members of scikit-learn's forests know classes by their place
    places = np.arange(len(program.target.classes), dtype=np.float64)
    whole.estimators_ = [_fill(single(), part, program, places) for part in parts]
    whole.estimator_ = single()
    whole.n_outputs_ = 1 if is_class else parts[0].width
    if is_class:
        whole.classes_ = np.asarray(model.classes_)
        whole.n_classes_ = len(whole.classes_)
    return _dress(whole, program, named)


def _plain_trees(program: Program) -> list[TreePart]:
    """The trees, if scikit-learn can hold them; else one sentence."""
    decide = program.decide
    is_tree = program.is_single_tree and program.combine == "sum"
    is_forest = program.combine == "mean" and all(isinstance(p, TreePart) for p in program.parts)
    if not (is_tree or is_forest) or program.finish.kind != "none" or any(program.start):
        raise ParameterError(
            f"to_sklearn takes trees and forests, got {program.model}; use export for others."
        )
    if decide is not None and decide.kind != "largest":
        raise ParameterError(
            f"to_sklearn takes trees that predict the most probable class, but {program.model} "
            "decides by costs, or a leaf of it breaks a tie; use export."
        )
    parts: list[Any] = list(program.parts)
    for part in parts:
        tree, inner = part.tree, ~part.tree.is_leaf
        numbers = [not program.inputs[f].is_categorical for f in tree.splits.feature[inner]]
        one = np.diff(tree.splits.break_offset)[inner] == 1
        if (
            not part.is_plain
            or not all(numbers)
            or not np.all(tree.splits.kind[inner] == SplitKind.BREAKS)
            or not np.all(one)
        ):
            raise ParameterError(
                f"to_sklearn takes binary tests of numbers with one branch for gaps, but "
                f"{program.model} has others (categories, several branches, surrogates, divided "
                "rows or weighted sums); use export."
            )
    return parts


def _fill(model: Any, part: TreePart, program: Program, classes: NDArray[Any]) -> Any:
    from sklearn.tree._tree import NODE_DTYPE
    from sklearn.tree._tree import Tree as TheirTree

    tree, splits = part.tree, part.tree.splits
    inner = ~tree.is_leaf
    is_class = program.target.is_classification
    nodes = np.zeros(tree.n_nodes, NODE_DTYPE)
    nodes["left_child"] = np.where(inner, tree.first_child, -1)
    nodes["right_child"] = np.where(inner, tree.first_child + 1, -1)
    nodes["feature"] = np.where(inner, splits.feature, -2)
    nodes["threshold"] = -2.0
    cuts = splits.breaks[splits.break_offset[:-1][inner]]
    nodes["threshold"][inner] = _single_cuts(cuts, splits.closed[inner])
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.n_samples
    nodes["weighted_n_node_samples"] = tree.weight
    nodes["missing_go_to_left"] = inner & (tree.default == 0)
    values = tree.probability[:, None, :] if is_class else tree.value[:, :, None]
    ends = part.value_of >= 0
    said = part.values[part.value_of[ends]]
    values = np.array(values)
    values[ends] = said[:, None, :] if is_class else said[:, :, None]
    n_outputs = 1 if is_class else part.width
    n_values = np.array([len(classes)] if is_class else [1] * n_outputs, np.intp)
    made = TheirTree(len(program.inputs), n_values, n_outputs)
    made.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(values, np.float64),
        }
    )
    model.tree_ = made
    model.n_outputs_ = n_outputs
    model.n_features_in_ = len(program.inputs)
    model.max_features_ = len(program.inputs)
    if is_class:
        model.classes_ = classes
        model.n_classes_ = np.intp(len(classes))
    return model


def _single_cuts(cuts: Floats, closed: NDArray[np.bool_]) -> Floats:
    """Thresholds that tell rounded values as the cuts tell doubles.

    A value at a cut is rounded as the cut is and must stay on its side. A cut halfway between two
    numbers of single precision divides these; rounding it would take one to the other's side.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a cut at infinity parts off gaps
        single = cuts.astype(np.float32)
        near = single.astype(np.float64)
        other = np.nextafter(single, np.where(cuts > near, np.inf, -np.inf).astype(np.float32))
        is_halfway = cuts - near == other.astype(np.float64) - cuts
    at = np.where(is_halfway | ~np.isfinite(near), cuts, near)
    return np.where(closed, at, np.nextafter(at, -np.inf))


def _dress(model: Any, program: Program, named: bool) -> Any:
    model.n_features_in_ = len(program.inputs)
    if named:
        model.feature_names_in_ = np.array([f.name for f in program.inputs], object)
    return model
