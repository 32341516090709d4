"""From fitted models to programs: the only module of this room that knows the learners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema, Target
from treewright.ensembles.boosting.column_tests import ColumnTests
from treewright.errors import ParameterError
from treewright.exporting._program import (
    Decide,
    Finish,
    Floats,
    Part,
    Program,
    ProgramPart,
    RulesPart,
    TermsPart,
    TreePart,
)
from treewright.exporting._stacking import stacking_program
from treewright.rules import RuleSet
from treewright.tree.forest.arrays import leaf_values
from treewright.tree.split import GAP_STOP
from treewright.tree.tree import Tree

__all__ = ["program_of"]


def program_of(model: Any) -> Program:
    """The program of a fitted model, a Tree or a RuleSet.

    Parameters
    ----------
    model
        What to describe.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> model = CARTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    >>> program_of(model).model
    'CARTClassifier'
    """
    if isinstance(model, Tree):
        return _tree_program(model, "Tree")
    if isinstance(model, RuleSet):
        return _rules_program(model, "RuleSet")
    for kind, build in _builders().items():
        if isinstance(model, kind):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(model)
            return build(model)
    raise ParameterError(
        f"export takes a fitted model of treewright, a Tree or a RuleSet, got "
        f"{type(model).__name__}; models of other libraries come in through from_sklearn, "
        "from_lightgbm, from_xgboost and from_catboost."
    )


def _builders() -> dict[type, Callable[[Any], Program]]:
    """Which function describes which estimator; the first that fits is taken."""
    from treewright.ensembles._ensemble import Ensemble
    from treewright.ensembles.adaboost import AdaBoostClassifier
    from treewright.ensembles.adaboost_r2 import AdaBoostRegressor
    from treewright.ensembles.boosting.base import Boosting
    from treewright.ensembles.stacking import _Stacking
    from treewright.ensembles.voting import _Voting
    from treewright.estimator.base import TreeEstimator
    from treewright.evaluation.cost_sensitive import CostSensitiveClassifier
    from treewright.learners.c45_rules import C45Rules
    from treewright.learners.c50 import C50Classifier
    from treewright.mars._model import MARS

    return {
        C50Classifier: _c50_program,
        C45Rules: lambda model: _rules_program(model.rules_, "C45Rules"),
        TreeEstimator: lambda model: _tree_program(
            model._whole_tree("export"), type(model).__name__, getattr(model, "cost_matrix_", None)
        ),
        Boosting: _boosting_program,
        Ensemble: _ensemble_program,
        AdaBoostClassifier: _adaboost_program,
        AdaBoostRegressor: _median_program,
        MARS: _mars_program,
        _Voting: _voting_program,
        _Stacking: _stacked_program,
        CostSensitiveClassifier: _cost_program,
    }


# Trees and rules


def tree_part(tree: Tree, values: Floats, column: int = 0) -> TreePart:
    """A tree that gives rows of ``values``, one per node."""
    from treewright.kernels.soft import BOUNDS

    is_end = tree.is_leaf | (tree.default == GAP_STOP)
    distinct, place = np.unique(values[is_end], axis=0, return_inverse=True)
    value_of = np.full(tree.n_nodes, -1, np.int32)
    value_of[is_end] = place.ravel()
    soft = None
    if all(name in tree.extras for name in BOUNDS):
        lower, middle, upper = (np.asarray(tree.extras[name], np.float64) for name in BOUNDS)
        soft = (lower, middle, upper)
    return TreePart(tree, distinct, value_of, soft, column)


def _target(schema: Schema) -> Target:
    if schema.target is None:
        raise ParameterError("A tree must know its target to be exported; fit a model to have one.")
    return schema.target


def _tree_program(tree: Tree, name: str, costs: Floats | None = None) -> Program:
    target = _target(tree.schema)
    if not target.is_classification:
        part = tree_part(replace(tree, extras={}), tree.value)
        return Program(name, tree.schema.features, target, (part,))
    hard = replace(tree, extras={})
    if not tree.is_fractional:
        values, decide = _labelled(
            tree.probability, tree.label, tree.is_leaf | (tree.default == GAP_STOP)
        )
        return Program(
            name, tree.schema.features, target, (tree_part(hard, values),), decide=decide
        )
    part = tree_part(hard, tree.probability)
    return Program(name, tree.schema.features, target, (part,), decide=_by_cost(costs))


def _labelled(
    shares: Floats, label: NDArray[np.integer[Any]], told: NDArray[np.bool_] | None = None
) -> tuple[Floats, Decide]:
    """Numbers with a column for the class, unless it is the largest anyway (where it is told)."""
    same = np.argmax(shares, axis=1) == label
    if np.all(same if told is None else same[told]):
        return shares, Decide("largest")
    return np.column_stack([shares, label.astype(np.float64)]), Decide("label")


def _by_cost(costs: Floats | None) -> Decide:
    return Decide("largest") if costs is None else Decide("least_cost", "numbers", costs)


def _rules_program(rules: RuleSet, name: str) -> Program:
    target = _target(rules.schema)
    decider = rules._decider
    votes = decider._vote if rules.decision == "vote" else None
    decide = None
    values = decider._values
    if target.is_classification:
        values = decider._shares
        if votes is not None:
            values = np.vstack([np.eye(len(target.classes))[decider._labels[:-1]], values[-1:]])
        values, decide = _labelled(values, decider._labels)
    is_labelled = decide is not None and decide.kind == "label"
    conditions = tuple(rule.conditions for rule in rules)
    part = RulesPart(conditions, np.asarray(values, np.float64), votes, is_labelled)
    return Program(name, rules.schema.features, target, (part,), decide=decide)


def _c50_program(model: Any) -> Program:
    from treewright.learners._c50.votes import leaf_probability

    schema = model.tree_.schema
    target = _target(schema)
    n = len(target.classes)
    name = type(model).__name__
    decide = _by_cost(model.cost_matrix_)

    def one(member: Tree | RuleSet) -> Program:
        if isinstance(member, Tree):
            part: Part = tree_part(member, leaf_probability(member))
        else:
            whole = _rules_program(member, name).parts[0]
            assert isinstance(whole, RulesPart)
            part = replace(whole, values=whole.values[:, :n], is_labelled=False)
        return Program(name, schema.features, target, (part,), decide=Decide("largest"))

    members = [one(member) for member in model.estimators_]
    if len(members) == 1:
        return replace(members[0], decide=decide)
    parts: list[Part] = []
    for member, said in zip(model.estimators_, members, strict=True):
        part = said.parts[0]
        if isinstance(part, TreePart) and part.is_hard:
            values = leaf_probability(member)
            strength = np.zeros_like(values)
            rows = np.arange(len(values))
            strength[rows, member.label] = values[rows, member.label]
            parts.append(tree_part(member, strength))
        else:
            parts.append(ProgramPart(said, "strength", tuple(range(n)), n))
    zeros = (0.0,) * n
    return Program(
        name,
        schema.features,
        target,
        tuple(parts),
        start=zeros,
        finish=Finish("shares"),
        decide=replace(decide, of="numbers"),
    )


# Ensembles


def _ensemble_program(model: Any) -> Program:
    from treewright.ensembles.members.bodies import Models

    body, what, name = model._body, model._answer(), type(model).__name__
    schema = _known_schema(model)
    target = _target(schema)
    decide = Decide("largest") if target.is_classification else None
    if isinstance(body, Models):
        n = len(body)
        parts = [
            _member_part(body, k, what, schema, len(target.classes) or target.n_outputs)
            for k in range(n)
        ]
    else:
        trees = (body.forest.tree(k) for k in range(len(body)))
        parts = [tree_part(tree, leaf_values(tree, what)) for tree in trees]
    return Program(name, schema.features, target, tuple(parts), "mean", decide=decide)


def _member_part(body: Any, k: int, what: str, schema: Schema, width: int) -> Part:
    """Member ``k`` of a bag of models."""
    inner = _moved(_listed_program(body.models[k]), schema)
    columns = tuple(range(width)) if body.columns is None else tuple(body.columns[k].tolist())
    say: Literal["value", "vote"] = "vote" if what == "vote" else "value"
    return ProgramPart(inner, say, columns, width)


def _known_schema(model: Any) -> Schema:
    if model._schema is None:
        raise ParameterError(
            f"export needs members that are models of treewright, but {type(model).__name__} holds "
            "others; fit it with a learner of treewright."
        )
    schema: Schema = model._schema
    return schema


def _moved(program: Program, schema: Schema) -> Program:
    """The program with inputs in the places that ``schema`` has for them."""
    if program.inputs == schema.features:
        return program
    known = {feature.name: i for i, feature in enumerate(schema.features)}
    if any(f.name not in known or schema.features[known[f.name]] != f for f in program.inputs):
        raise ParameterError(
            "export needs members that read columns as the ensemble does, but one of them knows "
            "other categories; fit them on columns of declared categories."
        )
    place = np.array([known[f.name] for f in program.inputs], np.int32)
    parts = tuple(_move_part(part, place, schema) for part in program.parts)
    return replace(program, inputs=schema.features, parts=parts)


def _move_part(part: Part, place: NDArray[np.int32], schema: Schema) -> Part:
    if isinstance(part, TreePart):
        tree = part.tree
        moved = Schema(schema.features, schema.named, tree.schema.target)
        splits = [
            replace(
                s,
                feature=np.where(s.feature >= 0, place[np.maximum(s.feature, 0)], -1).astype(
                    np.int32
                ),
                term_feature=place[s.term_feature],
            )
            for s in (tree.splits, tree.surrogates)
        ]
        return replace(
            part, tree=replace(tree, schema=moved, splits=splits[0], surrogates=splits[1])
        )
    if isinstance(part, TermsPart):
        predictors = tuple(replace(p, feature=int(place[p.feature])) for p in part.predictors)
        return replace(part, predictors=predictors)
    if isinstance(part, ProgramPart):
        return replace(part, program=_moved(part.program, schema))
    return part  # conditions know features by name


def _adaboost_program(model: Any) -> Program:
    schema = _known_schema(model)
    target = _target(schema)
    n, weights = len(target.classes), model.estimator_weights_
    algorithm = model._algorithm
    name = type(model).__name__
    places = [np.searchsorted(model.classes_, member.classes_) for member in model.estimators_]
    if n == 1:
        first = program_of(model.estimators_[0])
        return replace(first, model=name, finish=Finish("affine", 0.0, 1.0))
    parts = [
        _boosted_part(_listed_program(member), float(weight), place, algorithm, schema, n)
        for member, weight, place in zip(model.estimators_, weights, places, strict=True)
    ]
    total = float(weights.sum()) if algorithm.answer == "vote" else 1.0
    finish = Finish("softmax", 1.0 / (total * (n - 1.0)))
    if model.algorithm == "m1":
        finish = Finish("affine", (n - 1.0) / (n * total), 1.0 / n)
    return Program(
        name,
        schema.features,
        target,
        tuple(parts),
        start=(0.0,) * n,
        finish=finish,
        decide=Decide("largest"),
    )


def _boosted_part(
    said: Program, weight: float, place: NDArray[Any], algorithm: Any, schema: Schema, n: int
) -> Part:
    """What a member adds to the scores; worked out at the leaves where a row has one."""
    part = said.parts[0]
    if isinstance(part, TreePart) and len(said.parts) == 1 and part.is_hard:
        shares = part.values
        if algorithm.answer == "vote":
            is_label = said.decide is not None and said.decide.kind == "label"
            label = shares[:, -1].astype(int) if is_label else np.argmax(shares, axis=1)
            shares = np.eye(len(said.target.classes))[label]
        wide = np.zeros((len(shares), n))
        wide[:, place] = shares[:, : len(place)]
        return replace(part, values=weight * algorithm.score(wide))
    if algorithm.answer != "vote":
        raise ParameterError(
            f"export of AdaBoost with probabilities needs members that are trees without divided "
            f'rows, got {said.model}; use algorithm="samme", or a base with another way for gaps.'
        )
    columns = tuple(int(k) for k in place)
    on, off = weight * 1.0, weight * (-1.0 / (n - 1.0))
    return ProgramPart(_moved(said, schema), "vote", columns, n, on, off)


def _median_program(model: Any) -> Program:
    schema = _known_schema(model)
    parts: list[Part] = []
    for member in model.estimators_:
        inner = _moved(_listed_program(member), schema)
        single = len(inner.parts) == 1 and inner.finish.kind == "none"
        plain = single and inner.combine == "sum" and not inner.start
        parts.append(inner.parts[0] if plain else ProgramPart(inner, "value", (0,), 1))
    weights = tuple(model.estimator_weights_.tolist())
    return Program(
        type(model).__name__,
        schema.features,
        _target(schema),
        tuple(parts),
        "median",
        weights=weights,
    )


def _listed_program(model: Any) -> Program:
    """The program of a member whose columns are those of others: no order of statistics in them."""
    from treewright.ensembles.boosting.base import Boosting

    return _boosting_program(model, False) if isinstance(model, Boosting) else program_of(model)


def _boosting_program(model: Any, ordered: bool = True) -> Program:
    if hasattr(model, "init_"):
        raise ParameterError(
            "export needs a booster that begins with constants, got one that begins with "
            f'{type(model.init_).__name__}; fit it with init="prior" or "zero".'
        )
    forest, schema, columns = model._forest, model._schema, model._aim.n_columns
    trees, inputs = (forest.tree(k) for k in range(len(forest))), schema.features
    if model._statistics is not None:
        tests = ColumnTests(model._statistics, ordered)
        trees, inputs = (tests.tree(tree) for tree in trees), tests.schema.features
    parts = tuple(tree_part(tree, tree.value, k % columns) for k, tree in enumerate(trees))
    target = _target(schema)
    finish, decide = Finish(), None
    name = model._aim.name
    if target.is_classification:
        decide = Decide("positive" if columns == 1 else "largest")
        finish = Finish(
            "softmax" if columns > 1 else "logistic", 2.0 if name == "exponential" else 1.0
        )
    elif name in ("poisson", "gamma", "tweedie"):
        finish = Finish("exp")
    start = tuple(float(s) for s in model._start[0])
    return Program(
        type(model).__name__,
        inputs,
        target,
        parts,
        start=start,
        finish=finish,
        decide=decide,
    )


def _mars_program(model: Any) -> Program:
    schema = model._schema
    target = _target(schema)
    part = TermsPart(model._predictors, model.basis_.terms, np.asarray(model._rows(), np.float64))
    finish, decide = Finish(), None
    if target.is_classification:
        is_two = len(target.classes) == 2
        finish = Finish("logistic" if is_two else "softmax")
        decide = Decide("positive" if is_two else "largest")
    return Program(
        type(model).__name__, schema.features, target, (part,), finish=finish, decide=decide
    )


# Models of models


def _voting_program(model: Any) -> Program:
    programs = _member_programs(model)
    schema = _common_schema(model, programs)
    classes = getattr(model, "classes_", None)
    hard = classes is not None and model.voting == "hard"
    target = _target(schema)
    parts: list[Part] = []
    members = zip(model.weights_.tolist(), model.estimators_, programs, strict=True)
    for weight, member, program in members:
        inner = _moved(program, schema)
        width = inner.n_numbers if classes is None else len(classes)
        columns = tuple(range(width))
        if classes is not None:
            columns = tuple(np.searchsorted(classes, member.classes_).tolist())
        parts.append(ProgramPart(inner, "vote" if hard else "value", columns, width, weight))
    decide = None if classes is None else Decide("largest")
    start = (0.0,) * parts[0].width
    return Program(
        type(model).__name__, schema.features, target, tuple(parts), start=start, decide=decide
    )


def _member_programs(model: Any) -> list[Program]:
    """Programs of the members; where orders of a column differ, tests list its categories."""
    programs = [program_of(member) for member in model.estimators_]
    first: dict[str, Feature] = {}
    if all(first.setdefault(f.name, f) == f for program in programs for f in program.inputs):
        return programs
    return [_listed_program(member) for member in model.estimators_]


def _common_schema(model: Any, programs: Sequence[Program]) -> Schema:
    """Inputs of all members together, in the order of the first that has each."""
    features: dict[str, Feature] = {}
    for program in programs:
        for feature in program.inputs:
            features.setdefault(feature.name, feature)
    target = programs[0].target
    classes = getattr(model, "classes_", None)
    if classes is not None:
        target = replace(target, classes=tuple(np.asarray(classes).tolist()))
    return Schema(tuple(features.values()), True, target)


def _stacked_program(model: Any) -> Program:
    programs = _member_programs(model)
    schema = _common_schema(model, programs)
    members = [_moved(program, schema) for program in programs]
    return stacking_program(model, members, _target(schema))


def _cost_program(model: Any) -> Program:
    inner = program_of(model.estimator_)
    is_threshold = model.method == "threshold"
    if is_threshold and inner.decide is not None and inner.decide.kind == "label":
        inner = _without_label(inner)
    known, classes = model.estimator_.classes_, model.classes_
    if len(known) < len(classes):  # weights of zero or new labels left no row of some
        inner = _with_classes(inner, known, classes)
    if is_threshold:
        decide = Decide("least_cost", "numbers", np.asarray(model.cost_matrix_, np.float64))
        inner = replace(inner, decide=decide)
    return replace(inner, model=type(model).__name__)


def _with_classes(program: Program, known: NDArray[Any], classes: NDArray[Any]) -> Program:
    """The program with numbers for all classes, zero for those that it does not know."""
    if program.decide is not None and program.decide.kind != "largest":
        raise ParameterError(
            f"export needs a model that knows all {len(classes)} classes where it decides by "
            f'costs, but {program.model} knows {len(known)}; use method="threshold".'
        )
    columns = tuple(np.searchsorted(classes, known).tolist())
    return Program(
        program.model,
        program.inputs,
        replace(program.target, classes=tuple(classes.tolist())),
        (ProgramPart(program, "value", columns, len(classes)),),
        decide=Decide("largest"),
    )


def _without_label(program: Program) -> Program:
    part: Any = program.parts[0]
    changes: dict[str, Any] = {"values": np.ascontiguousarray(part.values[:, :-1])}
    if isinstance(part, RulesPart):
        changes["is_labelled"] = False
    return replace(program, parts=(replace(part, **changes),))
