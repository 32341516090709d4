"""C99: tables of the model and a small evaluator that reads them.

Trees of single cuts with a branch for gaps, which most forests and boosters are made of, become
nodes of 16 bytes that a row passes without a branch for the processor to guess, or, where they are
few and shallow, ``if`` and ``else``; all others are read by a general walk. Numbers are written in
hexadecimal, so that no compiler rounds them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from treewright.exporting._json import runtime
from treewright.exporting._names import c_text, identifier
from treewright.exporting._program import (
    Node,
    Part,
    Program,
    ProgramPart,
    RulesPart,
    TermsPart,
    Test,
    TreePart,
)
from treewright.rules._matching import _closed
from treewright.tree.conditions import Condition, Interval, Members
from treewright.tree.split import SplitKind

__all__ = ["write_c"]

COMBINE = {"sum": 0, "mean": 1, "median": 2}
FINISH = {"none": 0, "affine": 1, "shares": 2, "softmax": 3, "logistic": 4, "exp": 5}
SAY = {"value": 0, "vote": 1, "strength": 2}
ROLES = {"value": 0, "category": 1, "gap": 2}
STRAIGHT_DEPTH, STRAIGHT_TREES = 3, 100
"""Up to these, ``if`` and ``else`` are faster than tables (``benchmarks/exports.py``)."""
TABLES = {
    "breaks": "double",
    "branches": "int",
    "codes": "int",
    "term_feature": "int",
    "term_weight": "double",
    "term_code": "int",
    "tests": "tw_test",
    "soft": "double",
    "shares": "double",
    "values": "double",
    "nodes": "tw_node",
    "tree_roots": "int",
    "cuts": "tw_cut",
    "cut_value": "int",
    "roots": "int",
    "root_column": "int",
    "root_depth": "int",
    "conditions": "tw_condition",
    "rules": "tw_rule",
    "predictors": "tw_predictor",
    "factors": "tw_factor",
    "terms": "int",
    "weights": "double",
    "columns": "int",
    "parts": "tw_part",
    "programs": "tw_program",
    "starts": "double",
    "costs": "double",
    "known": "tw_known_number",
}


def write_c(program: Program, *, name: str = "model") -> str:
    """One C file: ``<name>_predict(x, numbers)`` and ``<name>_code(input, category)``.

    Parameters
    ----------
    program
        What to write.
    name
        Prefix of the public names.
    """
    name = identifier(name)
    program.check_texts("C")
    pools = _Pools(program)
    pools.add_program(program)
    pools.extend("known", _known(program))
    tables = "\n".join([pools.limits(), *pools.tables(), pools.straight(), _categories(program)])
    body = runtime("evaluate.c").replace("@TABLES@", tables).replace("@NAME@", name)
    return _head(program, name) + body


def _head(program: Program, name: str) -> str:
    n, numbers = len(program.inputs), program.n_numbers
    inputs = _texts(f.name for f in program.inputs)
    what = "the place of the class in " + name + "_classes" if program.decide else "0"
    lines = [
        "/* A model made by treewright. C99, needs <math.h>, <stdlib.h> and <string.h>.",
        "",
        f"   int {name}_predict(const double *x, double *numbers);",
        f"       x: {n} values in the order of {name}_inputs; NAN is a gap. A category is the",
        f"       code that {name}_code(place, text) gives, NAN for one that is not known. Where",
        "       categories are numbers, 1, 1.0 and 1e0 are one, as are true and 1, false and 0.",
        f"       numbers: room for {numbers}: "
        + ("probabilities of the classes." if program.decide else "what is predicted."),
        f"       Returns {what}. */",
        "/* Products are rounded before they are added, as in the library: fused, sums that cancel",
        "   and cuts of weighted sums come out otherwise. */",
        "#if defined(__clang__)",
        "#pragma STDC FP_CONTRACT OFF",
        "#elif defined(__GNUC__)",
        '#pragma GCC optimize ("fp-contract=off")',
        "#elif defined(_MSC_VER)",
        "#pragma fp_contract (off)",
        "#endif",
        "#include <math.h>",
        "#include <stdlib.h>",
        "#include <string.h>",
        "",
        f"const char *const {name}_inputs[{max(n, 1)}] = {{{inputs}}};",
    ]
    if program.decide:
        classes = program.target.classes
        lines.append(f"const char *const {name}_classes[{len(classes)}] = {{{_texts(classes)}}};")
    lines += [
        f"double {name}_code(int input, const char *category);",
        f"int {name}_predict(const double *x, double *numbers);",
        "",
        "",
    ]
    return "\n".join(lines)


def _texts(values: Iterable[Any]) -> str:
    return ", ".join(c_text(str(value)) for value in values)


def _categories(program: Program) -> str:
    offsets = np.cumsum([0, *(len(f.categories) for f in program.inputs)]).tolist()
    texts = [str(c) for f in program.inputs for c in f.categories] or [""]
    return (
        f"static const int tw_category_offset[{len(offsets)}] = "
        f"{{{_wrapped(map(str, offsets))}}};\n"
        f"static const char *const tw_categories[{len(texts)}] = "
        f"{{{_wrapped(map(c_text, texts))}}};\n"
    )


def _known(program: Program) -> Iterator[tuple[float, int, int]]:
    """Categories that are numbers: value, input and code; without integers that are no double."""
    for i, feature in enumerate(program.inputs):
        for code, category in enumerate(feature.categories):
            if not isinstance(category, str) and float(category) == category:
                yield float(category), i, code


def _wrapped(items: Iterable[str]) -> str:
    """Items in lines of some length."""
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) > 98:
            lines.append(line)
            line = ""
        line += item + ", "
    return "\n" + "\n".join([*lines, line]).rstrip(", ")


def _number(value: Any) -> str:
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isinf(number):
            return "INFINITY" if number > 0 else "-INFINITY"
        return number.hex() if number != int(number) or abs(number) > 1e15 else repr(number)
    return str(int(value))


def _entry(value: Any) -> str:
    return f"{{{', '.join(map(_number, value))}}}" if isinstance(value, tuple) else _number(value)


class _Pools:
    """The tables, filled part by part."""

    def __init__(self, program: Program) -> None:
        self.place = {feature.name: i for i, feature in enumerate(program.inputs)}
        self.pool: dict[str, list[Any]] = defaultdict(list)
        self.stack = self.width = self.n_parts = 1
        self.branches: list[str] = []

    def limits(self) -> str:
        """Sizes of the arrays that the evaluator keeps."""
        return (
            f"enum {{ TW_STACK = {self.stack}, TW_WIDTH = {self.width + 2}, "
            f"TW_PARTS = {self.n_parts}, TW_KNOWN = {len(self.pool['known'])} }};"
        )

    def tables(self) -> Iterable[str]:
        """All tables; C knows no empty ones."""
        for name, kind in TABLES.items():
            entries = self.pool[name] or [(0,) if kind.startswith("tw_") else 0]
            text = _wrapped(map(_entry, entries))
            yield f"static const {kind} tw_{name}[{len(entries)}] = {{{text}}};"

    def straight(self) -> str:
        """Groups of shallow trees as code."""
        head = "static inline void tw_straight(int group, const double *x, double *scores) {\n"
        used = "  (void)group, (void)x, (void)scores;"  # a tree of one leaf reads nothing
        return "\n".join([head + used, *self.branches, "}\n"])

    def extend(self, name: str, entries: Iterable[Any]) -> int:
        """Add entries to a table, and say where they begin."""
        begin = len(self.pool[name])
        self.pool[name].extend(entries)
        return begin

    def add_program(self, program: Program) -> int:
        """The program and all inside; returns its number."""
        index = self.extend("programs", [()])
        self.width = max(
            self.width, program.n_scores, program.n_numbers, *(part.width for part in program.parts)
        )
        self.n_parts = max(self.n_parts, len(program.parts))
        parts: list[tuple[Any, ...]] = []
        is_median = program.combine == "median"
        for is_cuts, group in groupby(program.parts, lambda p: not is_median and _is_cuts(p)):
            members = list(group)
            if is_cuts:
                parts.append(self._cut_trees(members))
            else:
                parts += [self._part(part) for part in members]
        decide = program.decide
        kinds = {"largest": 1, "least_cost": 3, "label": 4, "positive": 5}
        how = 0 if decide is None else kinds[decide.kind]
        if decide is not None and how == 1 and decide.of == "numbers":
            how = 2
        costs = [] if decide is None or decide.costs is None else decide.costs.ravel().tolist()
        start = list(program.start) or [0.0] * program.n_scores
        self.pool["programs"][index] = (
            self.extend("parts", parts),
            len(parts),
            COMBINE[program.combine],
            self.extend("starts", start),
            self.extend("weights", program.weights),
            program.n_scores,
            FINISH[program.finish.kind],
            how,
            self.extend("costs", costs),
            len(program.parts),
            float(program.finish.scale),
            float(program.finish.offset),
        )
        return index

    def _part(self, part: Part) -> tuple[Any, ...]:
        if isinstance(part, TreePart):
            return (1, self._tree(part), 1, part.column, part.width, 0, 0, 1.0, 0.0)
        if isinstance(part, RulesPart):
            return self._rules(part)
        if isinstance(part, TermsPart):
            return self._terms(part)
        return self._inner(part)

    def _inner(self, part: ProgramPart) -> tuple[Any, ...]:
        index = self.add_program(part.program)
        columns = self.extend("columns", part.columns)
        return (
            4,
            index,
            len(part.columns),
            part.column,
            part.width,
            SAY[part.say],
            columns,
            float(part.on),
            float(part.off),
        )

    # Trees

    def _cut_trees(self, parts: list[Any]) -> tuple[Any, ...]:
        first = len(self.pool["roots"])
        depths = [part.tree.depth for part in parts]
        for part in parts:
            self.extend("roots", [self._cut_tree(part)])
        self.extend("root_column", [part.column for part in parts])
        self.extend("root_depth", depths)
        width = parts[0].width
        if max(depths) > STRAIGHT_DEPTH or len(parts) > STRAIGHT_TREES:
            return (0, first, len(parts), 0, width, 0, 0, 1.0, 0.0)
        columns = sorted({part.column + k for part in parts for k in range(width)})
        lines = [f"double s{k} = scores[{k}];" for k in columns]
        lines.append("const double *v;")
        for root, part in zip(self.pool["roots"][first:], parts, strict=True):
            lines += self._code(root)
            lines += [f"s{part.column + k} += v[{k}];" for k in range(width)]
        lines += [f"scores[{k}] = s{k};" for k in columns]
        body = "\n".join(f"    {line}" for line in lines)
        self.branches.append(f"  if (group == {len(self.branches)}) {{\n{body}\n  }}")
        return (5, len(self.branches) - 1, 1, 0, width, 0, 0, 1.0, 0.0)

    def _code(self, at: int) -> list[str]:
        """A tree as ``if`` and ``else``; a gap fails every comparison."""
        cut, feature, child = self.pool["cuts"][at]
        if child == at:
            return [f"v = &tw_values[{self.pool['cut_value'][at]}];"]
        value, cut = f"x[{feature >> 1}]", _number(cut)
        test = f"!({value} <= {cut})" if feature & 1 else f"{value} > {cut}"
        return [f"if ({test}) {{", *self._code(child + 1), "} else {", *self._code(child), "}"]

    def _cut_tree(self, part: TreePart) -> int:
        tree, splits = part.tree, part.tree.splits
        root = len(self.pool["cuts"])
        inner = ~tree.is_leaf
        cut = np.full(tree.n_nodes, np.inf)
        cut[inner] = splits.breaks[splits.break_offset[:-1][inner]]
        opened = inner & ~splits.closed
        cut[opened] = np.nextafter(cut[opened], -np.inf)
        feature = np.where(inner, 2 * splits.feature + (tree.default == 1), 0)
        child = np.where(inner, tree.first_child, np.arange(tree.n_nodes)) + root
        values = self.extend("values", part.values.ravel().tolist())
        self.extend("cuts", zip(cut.tolist(), feature.tolist(), child.tolist(), strict=True))
        self.extend("cut_value", (np.maximum(part.value_of, 0) * part.width + values).tolist())
        return root

    def _tree(self, part: TreePart) -> int:
        base = len(self.pool["nodes"])
        values = self.extend("values", part.values.ravel().tolist())
        most = int(part.tree.n_children.max())
        self.stack = max(self.stack, (part.tree.depth + 1) * max(most, 1) + 1)
        self.extend("nodes", [self._node(node, base, values, part.width) for node in part.nodes()])
        return self.extend("tree_roots", [base])

    def _node(self, node: Node, base: int, values: int, width: int) -> tuple[int, ...]:
        value = values + max(node.value, 0) * width
        if node.test is None:
            return (0, 0, 0, -2, 0, 0, 0, -1, value)
        test = self.extend("tests", [self._test(node.test)])
        surrogates = self.extend("tests", [self._test(s) for s in node.surrogates])
        soft = -1 if node.soft is None else self.extend("soft", node.soft)
        return (
            test,
            base + node.children[0],
            len(node.children),
            node.gap,
            surrogates,
            len(node.surrogates),
            self.extend("shares", node.shares),
            soft,
            value,
        )

    def _test(self, test: Test) -> tuple[int, ...]:
        branches = self.extend("branches", test.branches)
        if test.codes is not None:
            start = self.extend("codes", test.codes)
            return (1, test.feature, start, len(test.codes), 0, branches, 0, 0)
        start = self.extend("breaks", test.breaks)
        terms = self._weighted_sum(test.terms)
        return (
            2 if test.terms else 0,
            max(test.feature, 0),
            start,
            len(test.breaks),
            int(test.closed),
            branches,
            terms,
            len(test.terms),
        )

    def _weighted_sum(self, terms: Sequence[tuple[int, float, int]]) -> int:
        self.extend("term_weight", [weight for _, weight, _ in terms])
        self.extend("term_code", [code for _, _, code in terms])
        return self.extend("term_feature", [feature for feature, _, _ in terms])

    # Rules and terms

    def _rules(self, part: RulesPart) -> tuple[Any, ...]:
        values = self.extend("values", part.values.ravel().tolist())
        rules = []
        for r, conditions in enumerate((*part.rules, ())):
            begin = self.extend("conditions", [self._condition(c) for c in conditions])
            vote = 0.0
            if r < len(part.rules):
                vote = 1.0 if part.votes is None else float(part.votes[r])
            rules.append((begin, begin + len(conditions), values + r * part.width, vote))
        flag = 0 if part.votes is None else 1 + part.is_labelled
        index = self.extend("rules", rules)
        return (2, index, len(rules), part.column, part.width, flag, 0, 1.0, 0.0)

    def _condition(self, condition: Condition) -> tuple[Any, ...]:
        if isinstance(condition, Members):
            codes = condition.excluded if condition.gap else condition.codes
            start = self.extend("codes", codes)
            feature = self.place[condition.feature.name]
            return (0.0, 0.0, 1 + condition.gap, feature, 0, start, len(codes), 0, 0)
        low, high = _closed(condition.bounds)
        if condition.bounds.is_empty:
            low, high = 1.0, 0.0
        if isinstance(condition, Interval):
            feature = self.place[condition.feature.name]
            return (low, high, 0, feature, int(condition.gap), 0, 0, 0, 0)
        terms = [(self.place[f.name], weight, code) for f, weight, code in condition.terms]
        return (low, high, 0, 0, int(condition.gap), 0, 0, self._weighted_sum(terms), len(terms))

    def _terms(self, part: TermsPart) -> tuple[Any, ...]:
        first = self.extend(
            "predictors",
            [(float(p.fill), p.feature, ROLES[p.role], max(p.code, 0)) for p in part.predictors],
        )
        begins = []
        for term in part.terms:
            factors = [(float(f.knot), first + f.predictor, f.kind) for f in term]
            begins.append(self.extend("factors", factors))
        index = self.extend("terms", [*begins, len(self.pool["factors"])])
        weights = self.extend("weights", part.weights.ravel().tolist())
        return (3, index, len(part.terms), part.column, part.width, 0, weights, 1.0, 0.0)


def _is_cuts(part: Part) -> bool:
    """Whether every test of a tree is one cut and has a branch for gaps."""
    if not isinstance(part, TreePart) or not part.is_plain:
        return False
    tree = part.tree
    inner = ~tree.is_leaf
    one = np.diff(tree.splits.break_offset)[inner] == 1
    return bool(np.all(tree.splits.kind[inner] == SplitKind.BREAKS) and np.all(one))
