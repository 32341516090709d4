"""ONNX: a model for onnxruntime and its like, in doubles throughout.

Where all inputs are numbers there is one input ``X`` of shape (rows, inputs), NaN at a gap. Else
every column is an input of its own, of shape (rows, 1): text for categories of text, and where
training saw none, doubles for the rest; a text that is no category is a gap. Outputs are ``label``
and ``probabilities``, or ``prediction``.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import numpy as np

from treewright.errors import ParameterError
from treewright.exporting._describe import FORMAT
from treewright.exporting._onnx_graph import Graph
from treewright.exporting._onnx_trees import (
    any_tree,
    fits_ensemble,
    tests,
    tree_ensemble,
    weighted_sums,
)
from treewright.exporting._program import (
    HIGHEST,
    MOST_WHOLE,
    Part,
    Program,
    ProgramPart,
    RulesPart,
    TermsPart,
    Test,
    TreePart,
)
from treewright.rules._matching import _closed, distinct_conditions
from treewright.tree.conditions import Condition, Interval, Members
from treewright.tree.split import NO_CODE

__all__ = ["write_onnx"]

OPSET, ML_OPSET, IR_VERSION = 18, 5, 10


def write_onnx(program: Program) -> bytes:
    """The bytes of an ONNX model."""
    program.check_integers(MOST_WHOLE, "ONNX")
    graph = Graph()
    onnx = graph.onnx
    helper, kinds = onnx.helper, onnx.TensorProto
    inputs, x = _read_inputs(graph, program)
    numbers, label = _Writer(graph, program).run(program, x)
    outputs = []
    if label is not None:
        classes = np.asarray(_classes(program))
        named = graph.op("Gather", graph.constant(classes), label, axis=0)
        kind = helper.np_dtype_to_tensor_dtype(classes.dtype) if classes.dtype.kind != "O" else 8
        outputs.append(_output(graph, named, "label", kind, ["rows"]))
        outputs.append(
            _output(graph, numbers, "probabilities", kinds.DOUBLE, ["rows", len(classes)])
        )
    else:
        outputs.append(
            _output(graph, numbers, "prediction", kinds.DOUBLE, ["rows", program.n_numbers])
        )
    used = {name for node in graph.nodes for name in node.input}
    tensors = [tensor for tensor in graph.tensors if tensor.name in used]
    body = helper.make_graph(graph.nodes, "treewright", inputs, outputs, tensors)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(body, opset_imports=opsets, producer_name="treewright")
    model.ir_version = IR_VERSION
    about = {
        "format": FORMAT,
        "model": program.model,
        "inputs": json.dumps([f.name for f in program.inputs]),
        "classes": json.dumps(list(program.target.classes)),
    }
    helper.set_model_props(model, about)
    return bytes(model.SerializeToString())


def _classes(program: Program) -> Any:
    classes = program.target.classes
    kinds = {type(c) for c in classes}
    if kinds in ({int}, {float}, {bool}):
        return np.array(classes)
    return np.array([str(c) for c in classes], object)


def _output(graph: Graph, value: str, name: str, kind: int, shape: list[Any]) -> Any:
    made = graph.onnx.helper.make_node("Identity", [value], [name])
    graph.nodes.append(made)
    return graph.onnx.helper.make_tensor_value_info(name, kind, shape)


def _read_inputs(graph: Graph, program: Program) -> tuple[list[Any], str]:
    """Inputs of the graph, and one matrix of numbers and codes, NaN at a gap."""
    helper, kinds = graph.onnx.helper, graph.onnx.TensorProto
    if not any(f.is_categorical for f in program.inputs):
        n = len(program.inputs)
        return [helper.make_tensor_value_info("X", kinds.DOUBLE, ["rows", n])], "X"
    taken = {"label", "probabilities", "prediction", ""}
    inputs, columns = [], []
    for feature in program.inputs:
        name = feature.name
        while name in taken or name.startswith("treewright/"):
            name += "_"
        taken.add(name)
        families = {isinstance(c, str) for c in feature.categories}
        if len(families) > 1:
            raise ParameterError(
                f"ONNX has columns of one type, but the categories of {feature.name!r} are text "
                "and numbers; make them text."
            )
        # of a column without categories nothing is known: text can hold whatever it may have
        is_text = feature.is_categorical and False not in families
        kind = kinds.STRING if is_text else kinds.DOUBLE
        inputs.append(helper.make_tensor_value_info(name, kind, ["rows", 1]))
        columns.append(_codes(graph, name, feature.categories, is_text))
    return inputs, graph.join(columns)


def _codes(graph: Graph, name: str, categories: tuple[Any, ...], is_text: bool) -> str:
    """A column as numbers; codes where it has categories."""
    if is_text:
        code = graph.op(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=list(categories) or [""],  # at least one is asked for
            values_int64s=list(range(len(categories))) or [-1],
            default_int64=-1,
        )
        code = graph.double(code)
    elif categories:
        known = graph.constant(np.array(categories, np.float64)[None, :])
        is_one = graph.double(graph.op("Equal", name, known))
        weights = graph.constant(np.arange(1.0, len(categories) + 1.0)[:, None])
        code = graph.op("Sub", graph.op("MatMul", is_one, weights), graph.number(1.0))
    else:
        return name
    is_gap = graph.op("Less", code, graph.number(0.0))
    return graph.where(is_gap, graph.number(np.nan), code)


class _Writer:
    """The operators of a program, part by part."""

    def __init__(self, graph: Graph, program: Program) -> None:
        self.graph = graph
        self.place = {feature.name: i for i, feature in enumerate(program.inputs)}
        self.n_categories = [len(f.categories) for f in program.inputs]

    def run(self, program: Program, x: str) -> tuple[str, str | None]:
        """Names of the numbers and of the place of the class."""
        graph, decide = self.graph, program.decide
        n = program.n_scores
        if program.combine == "median":
            scores = self._median(program, x)
        else:
            given = self._given(program, x)
            if decide is not None and decide.kind == "label":
                label = graph.integer(
                    graph.op("Squeeze", graph.take(given[0], [n]), graph.ints([1]))
                )
                return graph.take(given[0], range(n)), label
            scores = given[0]
            if any(program.start):
                scores = graph.shifted(scores, [program.start])
            for more in given[1:]:
                scores = graph.op("Add", scores, more)
            if program.combine == "mean":
                scores = graph.op("Div", scores, graph.number(float(len(program.parts))))
        numbers = self._finish(program, scores)
        return numbers, None if decide is None else self._decide(program, scores, numbers)

    def _given(self, program: Program, x: str) -> list[str]:
        graph, n = self.graph, program.n_scores
        found = []
        for is_ensemble, group in groupby(program.parts, fits_ensemble):
            parts: list[Any] = list(group)
            if is_ensemble and (parts[0].width == 1 or all(p.column == 0 for p in parts)):
                found.append(tree_ensemble(graph, x, parts, n))
                continue
            for part in parts:
                own = self._part(part, x)
                after = n - part.column - part.width
                if part.column or after > 0:
                    pads = graph.ints([0, part.column, 0, max(after, 0)])
                    own = graph.op("Pad", own, pads, graph.number(0.0))
                found.append(own)
        return found

    def _part(self, part: Part, x: str) -> str:
        if isinstance(part, TreePart):
            if fits_ensemble(part):
                return tree_ensemble(self.graph, x, [part], part.width)
            return any_tree(self.graph, x, part, self.n_categories)
        if isinstance(part, RulesPart):
            return self._rules(part, x)
        return self._terms(part, x) if isinstance(part, TermsPart) else self._inner(part, x)

    def _median(self, program: Program, x: str) -> str:
        graph = self.graph
        values = graph.join([self._part(part, x) for part in program.parts])
        n = len(program.parts)
        order, place = f"{graph.name()}/sorted", f"{graph.name()}/order"
        made = graph.onnx.helper.make_node(
            "TopK", [values, graph.ints([n])], [order, place], axis=1, largest=0, sorted=1
        )
        graph.nodes.append(made)
        weights = graph.op("Gather", graph.constant(np.array(program.weights)), place, axis=0)
        held = graph.op("CumSum", weights, graph.constant(np.int64(1)))
        half = graph.op("Mul", graph.take(held, [n - 1]), graph.number(0.5))
        enough = graph.integer(graph.op("GreaterOrEqual", held, half))
        first = graph.op("ArgMax", enough, axis=1, keepdims=1)
        return graph.op("GatherElements", order, first, axis=1)

    def _finish(self, program: Program, scores: str) -> str:
        graph, finish = self.graph, program.finish
        if finish.kind == "none":
            return scores
        scaled = graph.scaled(scores, finish.scale)
        if finish.kind == "affine":
            return graph.shifted(scaled, finish.offset)
        if finish.kind == "exp":
            return graph.op("Exp", scaled)
        one = graph.number(1.0)
        if finish.kind == "logistic":
            power = graph.op("Exp", graph.op("Neg", scaled))
            second = graph.op("Div", one, graph.op("Add", one, power))
            return graph.join([graph.op("Sub", one, second), second])
        if finish.kind == "softmax":
            top = graph.op("ReduceMax", scaled, graph.ints([1]), keepdims=1)
            scores = graph.op("Exp", graph.op("Sub", scaled, top))
        return graph.op("Div", scores, graph.total(scores, 1, keep=True))

    def _decide(self, program: Program, scores: str, numbers: str) -> str:
        graph, decide = self.graph, program.decide
        assert decide is not None
        if decide.kind == "positive":
            is_second = graph.op("Greater", scores, graph.number(0.0))
            return graph.integer(graph.op("Squeeze", is_second, graph.ints([1])))
        if decide.kind == "least_cost":
            each = graph.op("Unsqueeze", numbers, graph.ints([2]))
            expected = graph.total(graph.op("Mul", each, graph.constant(decide.costs)), 1)
            return graph.op("ArgMin", expected, axis=1, keepdims=0)
        of = scores if decide.of == "scores" else numbers
        return graph.op("ArgMax", of, axis=1, keepdims=0)

    # Rules, terms and programs

    def _rules(self, part: RulesPart, x: str) -> str:
        graph = self.graph
        conditions, offset, listed = distinct_conditions(part.rules)
        n_rules = len(part.rules)
        if not conditions:
            row = part.values[0 if n_rules else -1]
            return graph.like(x, row)
        fails = graph.op("Sub", graph.number(1.0), self._holds(conditions, x))
        uses = np.zeros((len(conditions), n_rules))
        for r in range(n_rules):
            uses[listed[offset[r] : offset[r + 1]], r] = 1.0
        failed = graph.op("MatMul", fails, graph.constant(uses))
        holds = graph.double(graph.op("Equal", failed, graph.number(0.0)))
        if part.votes is None:
            found = graph.join([holds, graph.like(x, np.ones(1))])
            first = graph.op("ArgMax", found, axis=1, keepdims=0)
            return graph.op("Gather", graph.constant(part.values), first, axis=0)
        return self._votes(part, holds)

    def _votes(self, part: RulesPart, holds: str) -> str:
        graph = self.graph
        assert part.votes is not None
        votes = part.votes[:, None]
        total = graph.op("MatMul", holds, graph.constant(votes))
        n = part.width - part.is_labelled
        sums = graph.op("MatMul", holds, graph.constant(votes * part.values[:-1, :n]))
        mean = graph.op("Div", sums, total)
        if part.is_labelled:
            best = graph.op("ArgMax", mean, axis=1, keepdims=1)
            mean = graph.join([mean, graph.double(best)])
        has_votes = graph.op("Greater", total, graph.number(0.0))
        return graph.where(has_votes, mean, graph.constant(part.values[-1:]))

    def _holds(self, conditions: list[Condition], x: str) -> str:
        """1 where a condition holds, a column each."""
        graph = self.graph
        order, parts = [], []
        coded = [i for i, c in enumerate(conditions) if isinstance(c, Members)]
        ranged = [i for i, c in enumerate(conditions) if not isinstance(c, Members)]
        if coded:
            asked = [self._members(conditions[i]) for i in coded]
            said = tests(graph, x, asked, self.n_categories)
            gap = np.array([float(conditions[i].gap) for i in coded])
            undecided = graph.op("Less", said, graph.number(0.0))
            parts.append(graph.where(undecided, graph.constant(gap), said))
        if ranged:
            parts.append(self._ranges([conditions[i] for i in ranged], x))
        order = [*coded, *ranged]
        return graph.take(graph.join(parts), np.argsort(order))

    def _members(self, condition: Any) -> Test:
        """Branch 1 for listed codes; of those that are not listed nothing is said."""
        codes = condition.excluded if condition.gap else condition.codes
        branch = 0 if condition.gap else 1
        place = self.place[condition.feature.name]
        return Test(place, (branch,) * len(codes), codes=tuple(codes))

    def _ranges(self, conditions: list[Any], x: str) -> str:
        graph = self.graph
        terms = [
            [(self.place[c.feature.name], 1.0, NO_CODE)]
            if isinstance(c, Interval)
            else [(self.place[f.name], weight, code) for f, weight, code in c.terms]
            for c in conditions
        ]
        value = weighted_sums(graph, x, terms)
        ends = np.array(
            [(1.0, 0.0) if c.bounds.is_empty else _closed(c.bounds) for c in conditions]
        )
        low, high = np.clip(ends, -HIGHEST, HIGHEST).T
        inside = graph.op(
            "And",
            graph.op("GreaterOrEqual", value, graph.constant(low)),
            graph.op("LessOrEqual", value, graph.constant(high)),
        )
        gap = graph.constant(np.array([float(c.gap) for c in conditions]))
        return graph.where(graph.op("IsNaN", value), gap, graph.double(inside))

    def _terms(self, part: TermsPart, x: str) -> str:
        graph = self.graph
        columns = [self._predictor(predictor, x) for predictor in part.predictors]
        seen = graph.join([*columns, graph.like(x, np.ones(1))])
        product = graph.like(x, np.ones(len(part.terms)))
        for k in range(max(len(term) for term in part.terms)):
            own = [term[k] if k < len(term) else None for term in part.terms]
            value = graph.take(seen, [-1 if f is None else f.predictor for f in own])
            knot = np.array([0.0 if f is None else float(f.knot) for f in own])
            sign = np.array([1.0 if f is None else float(f.kind) for f in own])
            is_itself = np.array([f is None or f.kind == 2 for f in own])
            away = graph.shifted(value, np.where(is_itself, 0.0, -knot))
            signed = graph.op("Mul", away, graph.constant(np.where(is_itself, 1.0, sign)))
            hinge = graph.op("Max", signed, graph.number(0.0))
            product = graph.op("Mul", product, graph.where(graph.constant(is_itself), value, hinge))
        return graph.sums(product, part.weights.T)

    def _predictor(self, predictor: Any, x: str) -> str:
        graph = self.graph
        value = graph.take(x, [predictor.feature])
        if predictor.role == "category":
            return graph.double(graph.op("Equal", value, graph.number(float(predictor.code))))
        gap = graph.op("IsNaN", value)
        if predictor.role == "gap":
            return graph.double(gap)
        return graph.where(gap, graph.number(predictor.fill), value)

    def _inner(self, part: ProgramPart, x: str) -> str:
        graph = self.graph
        numbers, label = self.run(part.program, x)
        if part.say == "value":
            return graph.scaled(self._placed(numbers, part, x), part.on)
        assert label is not None
        if part.say == "vote":
            votes = np.full((len(part.columns), part.width), part.off)
            votes[np.arange(len(part.columns)), part.columns] = part.on
            return graph.op("Gather", graph.constant(votes), label, axis=0)
        one_hot = graph.op("Gather", graph.constant(np.eye(len(part.columns))), label, axis=0)
        return self._placed(graph.op("Mul", one_hot, numbers), part, x)

    def _placed(self, numbers: str, part: ProgramPart, x: str) -> str:
        """Numbers of a program in the columns of the whole.

        No product of matrices: onnxruntime would fuse it with the factor of a mean before or
        behind it, and it keeps such factors in single precision.
        """
        graph, n = self.graph, len(part.columns)
        place = np.full(part.width, n)
        place[list(part.columns)] = np.arange(n)
        if np.any(place == n):
            numbers = graph.join([numbers, graph.like(x, np.zeros(1))])
        return graph.take(numbers, place)
