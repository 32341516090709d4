"""PMML 4.4.

What PMML has a model for is written as one: a tree without divided rows as a TreeModel, forests and
sums of trees as a MiningModel, ordered rules as a RuleSetModel. All else (divided rows, soft cuts,
votes of members, MARS) is written as derived fields, and the class is told by a small tree on the
last of them; so is what a booster makes of its sums. Predicates say themselves what becomes of a
gap, so that a reader needs no strategy for missing values; surrogates are the standard's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from treewright.data.schema import Feature
from treewright.errors import ParameterError
from treewright.exporting._formulas import Answer, Formulas, all_hold, goes_to
from treewright.exporting._names import xml_text
from treewright.exporting._pmml_words import (
    FieldWords,
    PredicateWords,
    data_type,
    element,
    real,
)
from treewright.exporting._program import MOST_WHOLE, Node, Program, RulesPart, Test, TreePart
from treewright.tree.split import GAP_STOP

__all__ = ["write_pmml"]

NAMESPACE = "http://www.dmg.org/PMML-4_4"


def write_pmml(program: Program) -> str:
    """The XML of a PMML document."""
    program.check_integers(MOST_WHOLE, "PMML")
    program.check_texts("PMML")
    writer = _Writer(program)
    header = element(
        "Header",
        element("Application", name="treewright"),
        description=f"{program.model} made by treewright",
    )
    body = writer.model()
    content = "\n".join([header, writer.dictionary(), body])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<PMML xmlns="{NAMESPACE}" version="4.4">\n{content}\n</PMML>\n'
    )


class _Writer:
    """The parts of a document."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.is_class = program.decide is not None
        names = {f.name for f in program.inputs}
        self.target = program.target.name or "target"
        while self.target in names:
            self.target += "_"
        if not self.is_class and program.n_numbers > 1:
            raise ParameterError(
                f"PMML has models of one number, but {program.model} predicts "
                f"{program.n_numbers}; fit one model for each."
            )
        self.predicates = PredicateWords(program)

    def dictionary(self) -> str:
        """Fields, their types and categories."""
        fields = [_data_field(feature) for feature in self.program.inputs]
        kind = {"optype": "continuous", "dataType": "double"}
        values: list[str] = []
        if self.is_class:
            classes = self.program.target.classes
            kind = {"optype": "categorical", "dataType": data_type(classes)}
            values = [element("Value", value=_text(c)) for c in classes]
        fields.append(element("DataField", *values, name=self.target, **kind))
        return element("DataDictionary", *fields, numberOfFields=str(len(fields)))

    def schema(self, with_target: bool = True, others: Iterable[str] = ()) -> str:
        """The mining schema; a value that is no category counts as a gap."""
        fields = [
            element("MiningField", name=f.name, invalidValueTreatment="asMissing")
            if f.is_categorical
            else element("MiningField", name=f.name)
            for f in self.program.inputs
        ]
        fields += [element("MiningField", name=name) for name in others]
        if with_target:
            fields.append(element("MiningField", name=self.target, usageType="target"))
        return element("MiningSchema", *fields)

    def model(self) -> str:
        """The model itself, in the most specific form that can say it."""
        program = self.program
        part = program.parts[0]
        if len(program.parts) == 1 and program.finish.kind == "none" and not any(program.start):
            if isinstance(part, TreePart) and part.is_hard and self._says_class(part):
                return self._tree(part)
            if isinstance(part, RulesPart) and part.votes is None and self.is_class:
                return self._rules(part)
        if all(isinstance(p, TreePart) and p.is_hard for p in program.parts):
            trees: list[Any] = list(program.parts)
            if program.combine == "mean" and self._is_average():
                return self._average(trees)
            if program.combine == "sum" and all(tree.width == 1 for tree in trees):
                return self._boosted(trees)
        return self._by_fields()

    def _says_class(self, part: TreePart) -> bool:
        decide = self.program.decide
        return decide is None or decide.kind in ("largest", "label")

    def _is_average(self) -> bool:
        decide = self.program.decide
        return decide is None or decide.kind == "largest"

    def _function(self) -> str:
        return "classification" if self.is_class else "regression"

    # Trees

    def _tree(self, part: TreePart, *, is_member: bool = False, is_score: bool = False) -> str:
        """A TreeModel; ``is_score`` where it predicts a number whatever the program does."""
        is_class = self.is_class and not is_score
        nodes = [self._node_content(part, i, is_class) for i in range(len(part))]
        said = [""] * len(part)
        for i in reversed(range(len(part))):
            node = part.node(i)
            content, attributes = nodes[i]
            inside = [*content, *(said[c] for c in self._ordered(node))]
            predicate = self._predicate(part, i)
            said[i] = element("Node", predicate, *inside, id=str(i), **attributes)
            for child in node.children:
                said[child] = ""
        fields = self.predicates.fields()
        transformations = [element("LocalTransformations", *fields)] if fields else []
        output = [] if is_member or not is_class else [self._probabilities()]
        return element(
            "TreeModel",
            self.schema(with_target=not is_member),
            *output,
            *transformations,
            said[0],
            functionName="classification" if is_class else "regression",
            missingValueStrategy="none",
            noTrueChildStrategy="returnLastPrediction",
            splitCharacteristic="multiSplit",
        )

    def _ordered(self, node: Node) -> list[int]:
        """Children in the order in which they are tried: that of the gaps last."""
        if node.gap < 0:
            return list(node.children)
        last = node.children[node.gap]
        return [*(c for c in node.children if c != last), last]

    def _predicate(self, part: TreePart, i: int) -> str:
        parent = int(part.tree.parent[i])
        if parent < 0:
            return element("True")
        node = part.node(parent)
        assert node.test is not None
        branch = i - node.children[0]
        if node.gap == branch and len(node.children) == 2:
            return element("True")  # the other child was tried before
        tests = (node.test, *node.surrogates)
        if node.surrogates and all(self._is_whole(test) for test in tests):
            chain = [goes_to(self.predicates, (test,), GAP_STOP, branch) for test in tests]
            end = element("True") if node.gap == branch else element("False")
            return element("CompoundPredicate", *chain, end, booleanOperator="surrogate")
        return goes_to(self.predicates, tests, node.gap, branch)

    def _is_whole(self, test: Test) -> bool:
        """Whether only a missing value is undecided, so that surrogates are PMML's own."""
        if test.codes is None:
            return not any(self.program.inputs[f].is_categorical for f in test.features)
        return len(test.codes) == len(self.program.inputs[test.feature].categories)

    def _node_content(
        self, part: TreePart, i: int, is_class: bool
    ) -> tuple[list[str], dict[str, str]]:
        """Distribution and score of a node where rows may end."""
        attributes = {"recordCount": real(float(part.tree.weight[i]))}
        place = int(part.value_of[i])
        if place < 0:
            return [], attributes
        row = part.values[place]
        if not is_class:
            return [], {"score": real(float(row[0])), **attributes}
        classes = self.program.target.classes
        label = int(row[-1]) if len(row) > len(classes) else int(np.argmax(row))
        weight = float(part.tree.weight[i]) or 1.0
        shares = [
            element(
                "ScoreDistribution",
                value=_text(c),
                recordCount=real(float(p) * weight),
                probability=real(float(p)),
            )
            for c, p in zip(classes, row, strict=False)
        ]
        return shares, {"score": _text(classes[label]), **attributes}

    def _probabilities(self) -> str:
        """Output fields for the probabilities that a model knows itself."""
        classes = self.program.target.classes
        kind = data_type(classes)
        fields = [
            element(
                "OutputField",
                name=f"probability({_text(c)})",
                optype="continuous",
                dataType="double",
                feature="probability",
                value=_text(c),
            )
            for c in classes
        ]
        label = element(
            "OutputField",
            name="prediction",
            optype="categorical",
            dataType=kind,
            feature="predictedValue",
        )
        return element("Output", label, *fields)

    # Ensembles

    def _average(self, trees: Sequence[TreePart]) -> str:
        segments = [
            element("Segment", element("True"), self._tree(tree, is_member=True), id=str(k + 1))
            for k, tree in enumerate(trees)
        ]
        output = [self._probabilities()] if self.is_class else []
        return element(
            "MiningModel",
            self.schema(),
            *output,
            element("Segmentation", *segments, multipleModelMethod="average"),
            functionName=self._function(),
        )

    def _boosted(self, trees: Sequence[TreePart]) -> str:
        """Sums of trees, one for each score, and then what is made of the scores."""
        n = self.program.n_scores
        names = [f"treewright_sum{k + 1}" for k in range(n)]
        segments = []
        for k, name in enumerate(names):
            own = [tree for tree in trees if tree.column == k]
            segments.append(self._sum(own, name, k + 1))
        words = FieldWords(self.program, self.predicates.taken)
        scores = []
        for k, name in enumerate(names):
            score = element("FieldRef", field=name)
            start = self.program.start[k] if self.program.start else 0.0
            if start:
                score = words.add([words.number(start), score])
            scores.append(words.define(score, 0, f"score{k + 1}"))
        answer = Formulas(words, self.program).finished(self.program, scores, 1)
        segments.append(
            element("Segment", element("True"), self._told(answer, words, names), id=str(n + 1))
        )
        return element(
            "MiningModel",
            self.schema(),
            element("Segmentation", *segments, multipleModelMethod="modelChain"),
            functionName=self._function(),
        )

    def _sum(self, trees: Sequence[TreePart], name: str, number: int) -> str:
        members = [
            element(
                "Segment",
                element("True"),
                self._tree(tree, is_member=True, is_score=True),
                id=f"{number}.{k + 1}",
            )
            for k, tree in enumerate(trees)
        ]
        field = element(
            "OutputField",
            name=name,
            optype="continuous",
            dataType="double",
            feature="predictedValue",
            isFinalResult="false",
        )
        model = element(
            "MiningModel",
            self.schema(with_target=False),
            element("Output", field),
            element("Segmentation", *members, multipleModelMethod="sum"),
            functionName="regression",
        )
        return element("Segment", element("True"), model, id=str(number))

    # Rules and derived fields

    def _rules(self, part: RulesPart) -> str:
        """An ordered RuleSetModel; probabilities come from derived fields."""
        place = {f.name: i for i, f in enumerate(self.program.inputs)}
        classes = self.program.target.classes
        words = FieldWords(self.program, self.predicates.taken)
        answer = Formulas(words, self.program).answer(self.program)

        def label(row: Any) -> str:
            place = int(row[-1]) if len(row) > len(classes) else int(np.argmax(row))
            return _text(classes[place])

        rules = [
            element(
                "SimpleRule",
                all_hold(self.predicates, conditions, place),
                id=str(k + 1),
                score=label(row),
                weight="1",
                confidence=real(float(max(row[: len(classes)]))),
            )
            for k, (conditions, row) in enumerate(zip(part.rules, part.values, strict=False))
        ]
        kind = element("RuleSelectionMethod", criterion="firstHit")
        inside = element(
            "RuleSet",
            kind,
            *rules,
            defaultScore=label(part.values[-1]),
            defaultConfidence=real(float(max(part.values[-1][: len(classes)]))),
        )
        return element(
            "RuleSetModel",
            self.schema(),
            self._transformed(answer, words),
            element("LocalTransformations", *words.fields, *self.predicates.fields()),
            inside,
            functionName="classification",
        )

    def _by_fields(self) -> str:
        words = FieldWords(self.program, self.predicates.taken)
        answer = Formulas(words, self.program).answer(self.program)
        return self._told(answer, words)

    def _told(self, answer: Answer, words: FieldWords, others: Iterable[str] = ()) -> str:
        """A model that says what derived fields found."""
        schema = self.schema(others=others)
        if answer.label is None:
            number = words.name_of(words.define(answer.numbers[0], 0, "number"))
            table = element(
                "RegressionTable",
                element("NumericPredictor", name=number, coefficient="1"),
                intercept="0",
            )
            return element(
                "RegressionModel",
                schema,
                words.transformations(),
                table,
                functionName="regression",
            )
        place = words.name_of(words.define(answer.label, 0, "place", is_whole=True))
        output = self._transformed(answer, words)
        leaves = [
            element(
                "Node",
                element("SimplePredicate", field=place, operator="equal", value=str(k)),
                id=str(k + 1),
                score=_text(c),
            )
            for k, c in enumerate(self.program.target.classes)
        ]
        root = element("Node", element("True"), *leaves, id="0")
        return element(
            "TreeModel",
            schema,
            output,
            words.transformations(),
            root,
            functionName="classification",
            splitCharacteristic="multiSplit",
        )

    def _transformed(self, answer: Answer, words: FieldWords) -> str:
        """Output fields for probabilities that are derived fields."""
        fields = [
            element(
                "OutputField",
                name="prediction",
                optype="categorical",
                dataType=data_type(self.program.target.classes),
                feature="predictedValue",
            )
        ]
        for c, number in zip(self.program.target.classes, answer.numbers, strict=True):
            ref = words.define(number, 0, "probability")
            fields.append(
                element(
                    "OutputField",
                    ref,
                    name=f"probability({_text(c)})",
                    optype="continuous",
                    dataType="double",
                    feature="transformedValue",
                )
            )
        return element("Output", *fields)


def _data_field(feature: Feature) -> str:
    if not feature.is_categorical:
        return element("DataField", name=feature.name, optype="continuous", dataType="double")
    values = [element("Value", value=_text(c)) for c in feature.categories]
    optype = "ordinal" if feature.kind == "ordinal" else "categorical"
    return element(
        "DataField",
        *values,
        name=feature.name,
        optype=optype,
        dataType=data_type(feature.categories),
    )


def _text(value: Any) -> str:
    xml_text(value)  # refuses what XML cannot hold
    return str(value).lower() if isinstance(value, bool) else str(value)
