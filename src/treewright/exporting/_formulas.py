"""A program as columns of formulas: what SQL and spreadsheets share.

A column is defined by a formula over inputs and columns of earlier levels. How a formula is
written is a :class:`Words`; which formulas there are is worked out here, once. A tree without
divided rows is one nested choice; where gaps or soft cuts divide a row, every leaf has a column
with the share of the row that reaches it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from treewright.exporting._program import (
    HIGHEST,
    Finish,
    Floats,
    Node,
    Part,
    Program,
    ProgramPart,
    RulesPart,
    TermsPart,
    Test,
    TreePart,
)
from treewright.tree.conditions import Condition, Interval, Members
from treewright.tree.split import GAP_STOP, NO_CODE

__all__ = ["Answer", "Formulas", "Predicates", "Words", "all_hold", "goes_to"]

CHUNK = 200
"""Most terms of one sum: SQLite takes expressions of depth 1000, Excel formulas of 8192 letters."""


CHOICE, CONDITION = 6, 5
"""What SQLite's parser remembers at most of a choice around another, of a test in a condition."""


class Predicates(Protocol):
    """How a language writes conditions on inputs; on a gap they are false, or unknown."""

    yes: str
    no: str

    def number(self, value: float) -> str: ...
    def add(self, parts: Sequence[str]) -> str: ...
    def times(self, parts: Sequence[str]) -> str: ...
    def value(self, feature: int) -> str: ...
    def cut(self, value: str, sign: str, at: float, features: Sequence[int]) -> str: ...
    def member(self, feature: int, codes: Sequence[int]) -> str: ...
    def indicator(self, feature: int, code: int) -> str: ...
    def gap(self, features: Sequence[int]) -> str: ...
    def unlisted(self, feature: int, codes: Sequence[int]) -> str: ...
    def both(self, conditions: Sequence[str]) -> str: ...
    def either(self, conditions: Sequence[str]) -> str: ...


class Words(Predicates, Protocol):
    """How a language writes formulas, and columns of them."""

    most: int  # letters of a nested choice; what is longer gets a column of its own
    deepest: int | None  # depth of a nested choice for a parser, likewise; None for any

    def whole(self, value: int) -> str: ...
    def minus(self, left: str, right: str) -> str: ...
    def over(self, left: str, right: str) -> str: ...
    def categories(self, feature: int) -> int | None: ...
    def case(self, choices: Sequence[tuple[str, str]], otherwise: str) -> str: ...
    def lookup(self, place: str, entries: Sequence[str]) -> str: ...
    def compare(self, left: str, sign: str, right: str) -> str: ...
    def exp(self, value: str) -> str: ...
    def define(self, formula: str, level: int, hint: str) -> str: ...


class Given(NamedTuple):
    """Formulas for the numbers of a part, and the level from which on they can be used.

    ``place`` is the column that says which row of the part's values it is, where one does.
    """

    numbers: list[str]
    level: int
    place: str = ""


class Choice(NamedTuple):
    """Conditions with a formula each, the first that holds, and what is said where none does.

    ``depth`` is what a parser remembers inside, ``level`` that of the columns it reads.
    """

    choices: list[tuple[str, str]]
    otherwise: str
    depth: int = 0
    level: int = 0


class Answer(NamedTuple):
    """Numbers, and the place of the class, of a program."""

    numbers: list[str]
    label: str | None
    level: int


def decided_by(words: Predicates, test: Test, branch: int) -> str:
    """Whether a test itself sends a row to a branch."""
    if test.codes is not None:
        pairs = zip(test.codes, test.branches, strict=True)
        codes = [code for code, to in pairs if to == branch]
        return words.member(test.feature, codes) if codes else words.no
    value = weighted(words, test.terms) if test.terms else words.value(test.feature)
    below, above = ("<=", ">") if test.closed else ("<", ">=")
    found = []
    for place, to in enumerate(test.branches):
        if to != branch:
            continue
        parts = []
        if place > 0 and test.breaks[place - 1] > -HIGHEST:
            if test.breaks[place - 1] >= HIGHEST:
                continue  # no number lies there
            parts.append(words.cut(value, above, test.breaks[place - 1], test.features))
        if place < len(test.breaks) and test.breaks[place] < HIGHEST:
            parts.append(words.cut(value, below, test.breaks[place], test.features))
        found.append(words.both(parts) if parts else _known(words, test))
    return words.either(found) if found else words.no


def _known(words: Predicates, test: Test) -> str:
    low = -HIGHEST
    return words.cut(words.value(test.features[0]), ">=", low, test.features)


def undecided(words: Predicates, test: Test) -> str:
    """Whether a test cannot decide about a row."""
    if test.codes is not None:
        return words.unlisted(test.feature, test.codes)
    return words.gap(test.features)


def goes_to(words: Predicates, tests: Sequence[Test], gap: int, branch: int) -> str:
    """Whether a row goes to a branch: by the test, else by the surrogates, else by default."""
    if not tests:
        return words.yes if gap == branch else words.no
    own = decided_by(words, tests[0], branch)
    later = goes_to(words, tests[1:], gap, branch)
    if later == words.no:
        return own
    late = undecided(words, tests[0])
    if later != words.yes:
        late = words.both([late, later])
    return late if own == words.no else words.either([own, late])


def weighted(words: Predicates, terms: Sequence[tuple[int, float, int]]) -> str:
    """A weighted sum of inputs and of indicators of categories, from left to right."""
    values = [
        words.value(feature) if code == NO_CODE else words.indicator(feature, code)
        for feature, _, code in terms
    ]
    weights = [words.number(weight) for _, weight, _ in terms]
    return words.add([words.times(pair) for pair in zip(weights, values, strict=True)])


def all_hold(words: Predicates, rule: Sequence[Condition], place: dict[str, int]) -> str:
    """Whether all conditions of a rule hold."""
    return words.both([_holds(words, c, place) for c in rule]) if rule else words.yes


def _holds(words: Predicates, condition: Condition, place: dict[str, int]) -> str:
    if isinstance(condition, Members):
        feature = place[condition.feature.name]
        if condition.gap:
            return words.unlisted(feature, condition.excluded)
        return words.member(feature, condition.codes) if condition.codes else words.no
    if isinstance(condition, Interval):
        features: tuple[int, ...] = (place[condition.feature.name],)
        value = words.value(features[0])
    else:
        terms = [(place[f.name], weight, code) for f, weight, code in condition.terms]
        features, value = tuple(f for f, _, _ in terms), weighted(words, terms)
    bounds, parts = condition.bounds, []
    if bounds.is_empty:
        return words.gap(features) if condition.gap else words.no
    if np.isfinite(bounds.low):
        sign = ">=" if bounds.includes_low else ">"
        parts.append(words.cut(value, sign, bounds.low, features))
    if np.isfinite(bounds.high):
        sign = "<=" if bounds.includes_high else "<"
        parts.append(words.cut(value, sign, bounds.high, features))
    inside = words.both(parts) if parts else words.cut(value, ">=", -HIGHEST, features)
    return words.either([inside, words.gap(features)]) if condition.gap else inside


class Formulas:
    """Defines the columns of a program in some language."""

    def __init__(self, words: Words, program: Program) -> None:
        self.words = words
        self.place = {feature.name: i for i, feature in enumerate(program.inputs)}

    def answer(self, program: Program, hint: str = "") -> Answer:
        """Define all columns of a program."""
        given = [
            self._part(part, f"{hint}{i + 1}_" if len(program.parts) > 1 else hint)
            for i, part in enumerate(program.parts)
        ]
        level = max((part.level for part in given), default=0)
        decide = program.decide
        if decide is not None and decide.kind == "label":
            *numbers, label = given[0].numbers
            return Answer(numbers, label, level)
        if given[0].place and len(given) == 1 and _is_told(program):
            values: Floats = program.parts[0].values  # type: ignore[union-attr]
            labels = [self.words.whole(int(label)) for label in np.argmax(values, axis=1)]
            return Answer(given[0].numbers, self.words.lookup(given[0].place, labels), level)
        if program.combine == "median":
            return self._median(program, [part.numbers[0] for part in given], level, hint)
        scores = []
        for k in range(program.n_scores):
            start = [program.start[k]] if program.start else []
            members = [
                part.numbers[k - own.column]
                for own, part in zip(program.parts, given, strict=True)
                if own.column <= k < own.column + own.width
            ]
            total = self.sum(
                [self.words.number(s) for s in start if s or not members] + members, level
            )
            if program.combine == "mean":
                total = self.words.over(total, self.words.number(float(len(given))))
            scores.append(total)
        if len(scores) > 1 or program.finish.kind != "none" or len(given) > 1:
            scores = [
                self.words.define(s, level, f"{hint}score{k + 1}") for k, s in enumerate(scores)
            ]
            level += 1
        return self.finished(program, scores, level, hint)

    def finished(self, program: Program, scores: list[str], level: int, hint: str = "") -> Answer:
        """What is made of scores that are defined."""
        return self._decide(program, *self._finish(program, scores, level, hint), scores, hint)

    def sum(self, parts: Sequence[str], level: int) -> str:
        """A sum from left to right; a very long one of sums."""
        if len(parts) <= CHUNK:
            return self.words.add(parts) if parts else self.words.number(0.0)
        pieces = [parts[i : i + CHUNK] for i in range(0, len(parts), CHUNK)]
        return self.sum([self.words.add(piece) for piece in pieces], level)

    def _median(self, program: Program, values: list[str], level: int, hint: str) -> Answer:
        """The smallest value with at least half of the weight at or below it."""
        words = self.words
        values = [words.define(v, level, f"{hint}member{i + 1}") for i, v in enumerate(values)]
        half = 0.5 * sum(program.weights)
        held = []
        for value in values:
            parts = [
                words.case(
                    [(words.compare(other, "<=", value), words.number(w))], words.number(0.0)
                )
                for other, w in zip(values, program.weights, strict=True)
            ]
            held.append(words.define(words.add(parts), level + 1, f"{hint}held"))
        best = words.number(HIGHEST)
        # the smallest of those that hold enough, found one after another
        enough = [
            words.define(
                words.case(
                    [(words.compare(h, ">=", words.number(half * (1 - 1e-12))), value)], best
                ),
                level + 2,
                f"{hint}enough",
            )
            for value, h in zip(values, held, strict=True)
        ]
        return Answer([self._extreme(enough, "<", level + 3, hint)], None, level + 4 + len(enough))

    def _extreme(self, values: list[str], sign: str, level: int, hint: str) -> str:
        best = values[0]
        for i, value in enumerate(values[1:]):
            formula = self.words.case([(self.words.compare(value, sign, best), value)], best)
            best = self.words.define(formula, level + i, f"{hint}best")
        return best

    def _finish(
        self, program: Program, scores: list[str], level: int, hint: str
    ) -> tuple[list[str], int]:
        words, finish = self.words, program.finish
        scaled = scores
        if finish.scale != 1.0:
            scaled = [words.times([words.number(finish.scale), s]) for s in scores]
        if finish.kind == "none":
            return scores, level
        if finish.kind == "affine":
            numbers = [words.add([s, words.number(finish.offset)]) for s in scaled]
        elif finish.kind == "exp":
            numbers = [words.exp(s) for s in scaled]
        elif finish.kind == "logistic":
            one, zero = words.number(1.0), words.number(0.0)
            up, down = words.exp(words.minus(zero, scaled[0])), words.exp(scaled[0])
            second = words.case(
                [(words.compare(scores[0], ">=", zero), words.over(one, words.add([one, up])))],
                words.over(down, words.add([one, down])),
            )
            ref = words.define(second, level, f"{hint}second")
            return [words.minus(one, ref), ref], level + 1
        else:
            return self._shares(scores, finish, level, hint)
        named = [words.define(n, level, f"{hint}number{k + 1}") for k, n in enumerate(numbers)]
        return named, level + 1

    def _shares(
        self, scores: list[str], finish: Finish, level: int, hint: str
    ) -> tuple[list[str], int]:
        words = self.words
        if finish.kind == "softmax":
            top = self._extreme(scores, ">", level, hint)
            level += len(scores)
            scale = words.number(finish.scale)
            powers = [words.exp(words.times([scale, words.minus(s, top)])) for s in scores]
            scores = [words.define(e, level, f"{hint}power{k + 1}") for k, e in enumerate(powers)]
            level += 1
        total = words.define(words.add(scores), level, f"{hint}total")
        numbers = [
            words.define(words.over(s, total), level + 1, f"{hint}number{k + 1}")
            for k, s in enumerate(scores)
        ]
        return numbers, level + 2

    def _decide(
        self, program: Program, numbers: list[str], level: int, scores: list[str], hint: str
    ) -> Answer:
        words, decide = self.words, program.decide
        if decide is None:
            return Answer(numbers, None, level)
        if decide.kind == "positive":
            is_second = words.compare(scores[0], ">", words.number(0.0))
            return Answer(numbers, words.case([(is_second, words.whole(1))], words.whole(0)), level)
        of, sign = (scores if decide.of == "scores" else numbers), ">="
        if decide.kind == "least_cost":
            assert decide.costs is not None
            sign = "<="
            costs = [
                words.add(
                    [
                        words.times([n, words.number(float(c))])
                        for n, c in zip(numbers, column, strict=True)
                    ]
                )
                for column in decide.costs.T
            ]
            of = [words.define(c, level, f"{hint}cost{k + 1}") for k, c in enumerate(costs)]
            level += 1
        return Answer(numbers, self._first(of, sign), level)

    def _first(self, of: list[str], sign: str) -> str:
        """The place of the first that all others compare with so."""
        words = self.words
        choices = []
        for k, own in enumerate(of[:-1]):
            wins = [words.compare(own, sign, other) for j, other in enumerate(of) if j != k]
            choices.append((words.both(wins), words.whole(k)))
        return words.case(choices, words.whole(len(of) - 1))

    # Parts

    def _part(self, part: Part, hint: str) -> Given:
        if isinstance(part, TreePart):
            return self._tree(part, hint) if part.is_hard else self._divided(part, hint)
        if isinstance(part, RulesPart):
            return self._rules(part, hint)
        if isinstance(part, TermsPart):
            return self._terms(part, hint)
        return self._inner(part, hint)

    def _tree(self, part: TreePart, hint: str) -> Given:
        words = self.words
        if part.width == 1:
            formula, level = self.choice(part, [words.number(float(v)) for v in part.values[:, 0]])
            return Given([words.define(formula, level, f"{hint}tree")], level + 1)
        formula, level = self.choice(part, [words.whole(i) for i in range(len(part.values))])
        leaf = words.define(formula, level, f"{hint}leaf")
        return Given(self._looked_up(leaf, part.values), level + 1, leaf)

    def _looked_up(self, place: str, values: Floats) -> list[str]:
        columns = values.T
        return [
            self.words.lookup(place, [self.words.number(float(v)) for v in column])
            for column in columns
        ]

    def choice(self, part: TreePart, ends: Sequence[str]) -> tuple[str, int]:
        """A tree as one nested choice, and its level; ``ends`` has a formula for each value."""
        words = self.words
        said: list[Any] = [None] * len(part)
        for i in reversed(range(len(part))):
            node = part.node(i)
            if node.test is None:
                said[i] = Choice([], ends[node.value])
                continue
            below = [said[child] for child in node.children]
            for child in node.children:
                said[child] = None  # nobody needs it any more
            found = self._branches(node, below, ends)
            formula = words.case(found.choices, found.otherwise)
            if len(formula) > words.most or found.depth > (words.deepest or found.depth):
                ref = words.define(formula, found.level, "part")
                found = Choice([], ref, 0, found.level + 1)
            said[i] = found
        root = said[0]
        return words.case(root.choices, root.otherwise), root.level

    def _branches(self, node: Node, below: list[Choice], ends: Sequence[str]) -> Choice:
        """The choice of a node.

        Where depth counts, the deepest branch comes last: its choices go on in the same list, so
        that a tree of n leaves is at most log2(n) choices deep, however long its paths are.
        """
        words = self.words
        assert node.test is not None
        tests = (node.test, *node.surrogates)
        choices = []
        last = node.gap
        if node.gap == GAP_STOP:
            late = [undecided(words, test) for test in tests]
            choices.append((words.both(late), ends[node.value]))
            last = len(below) - 1
        if words.deepest is not None:
            last = max(range(len(below)), key=lambda branch: (below[branch].depth, branch == last))
        depth = CONDITION * len(tests)
        for branch, (inner, otherwise, inner_depth, _) in enumerate(below):
            condition = goes_to(words, tests, node.gap, branch)
            if branch != last and condition != words.no:
                choices.append((condition, words.case(inner, otherwise)))
                depth = max(depth, inner_depth + CHOICE)
        level = max(each.level for each in below)
        under = below[last]
        if words.deepest is None:
            return Choice(choices, words.case(under.choices, under.otherwise), 0, level)
        return Choice([*choices, *under.choices], under.otherwise, max(depth, under.depth), level)

    def _divided(self, part: TreePart, hint: str) -> Given:
        """Shares of the leaves, then means by them."""
        words = self.words
        share: list[list[str]] = [[] for _ in range(len(part))]
        ends: list[tuple[str, int]] = []
        for i, node in enumerate(part.nodes()):
            if node.test is None:
                formula = words.times(share[i]) if share[i] else words.number(1.0)
                ends.append((words.define(formula, 0, f"{hint}share"), node.value))
                continue
            for branch, child in enumerate(node.children):
                share[child] = [*share[i], self._factor(node, branch)]
            share[i] = []
        if len(ends) == 1:
            return Given([words.number(float(v)) for v in part.values[0]], 0)
        numbers = []
        for k in range(part.width):
            parts = [
                words.times([ref, words.number(float(part.values[value, k]))])
                for ref, value in ends
                if part.values[value, k] != 0
            ]
            numbers.append(words.define(self.sum(parts, 1), 1, f"{hint}mean{k + 1}"))
        return Given(numbers, 2)

    def _factor(self, node: Node, branch: int) -> str:
        """What share of a row that is at a node goes to one of its branches."""
        words = self.words
        assert node.test is not None
        tests = (node.test, *node.surrogates)
        one, zero = words.number(1.0), words.number(0.0)
        choices = []
        if node.shares:
            late = [undecided(words, test) for test in tests]
            choices.append((words.both(late), words.number(node.shares[branch])))
        if node.soft is not None:
            low, middle, high = node.soft
            x, features = words.value(node.test.feature), node.test.features
            number, half = words.number, words.number(0.5)
            gone = words.times([half, words.minus(x, number(low))])
            first = words.minus(one, words.over(gone, number(middle - low)))
            left = words.times([half, words.minus(number(high), x)])
            second = words.over(left, number(high - middle))
            if branch == 1:
                first, second = words.minus(one, first), words.minus(one, second)
            inside = words.both(
                [words.cut(x, ">", low, features), words.cut(x, "<", high, features)]
            )
            lower = words.cut(x, "<", middle, features)
            choices.append((words.both([inside, lower]), first))
            choices.append((inside, second))
        choices.append((goes_to(words, tests, node.gap, branch), one))
        return words.case(choices, zero)

    def _rules(self, part: RulesPart, hint: str) -> Given:
        words = self.words
        conditions = [all_hold(self.words, rule, self.place) for rule in part.rules]
        if part.votes is None:
            choices = [(c, words.whole(i)) for i, c in enumerate(conditions)]
            last = words.whole(len(conditions))
            rule = words.define(words.case(choices, last), 0, f"{hint}rule")
            return Given(self._looked_up(rule, part.values), 1, rule)
        zero = words.number(0.0)
        votes = [
            words.define(words.case([(c, words.number(float(v)))], zero), 0, f"{hint}vote")
            for c, v in zip(conditions, part.votes, strict=True)
        ]
        total = words.define(self.sum(votes, 1), 1, f"{hint}votes")
        has_votes = words.compare(total, ">", zero)
        numbers = []
        for k in range(part.width - part.is_labelled):
            own = [
                vote if value == 1.0 else words.times([vote, words.number(float(value))])
                for vote, value in zip(votes, part.values[:-1, k], strict=True)
                if value != 0
            ]
            formula = words.case(
                [(has_votes, words.over(self.sum(own, 2), total))],
                words.number(float(part.values[-1, k])),
            )
            numbers.append(words.define(formula, 2, f"{hint}share{k + 1}"))
        if part.is_labelled:
            largest = self._first(numbers, ">=")
            label = words.case([(has_votes, largest)], words.whole(int(part.values[-1, -1])))
            numbers.append(words.define(label, 3, f"{hint}class"))
            return Given(numbers, 4)
        return Given(numbers, 3)

    def _terms(self, part: TermsPart, hint: str) -> Given:
        words = self.words
        seen = [self._seen(predictor) for predictor in part.predictors]
        one, zero = words.number(1.0), words.number(0.0)
        named: dict[int, str] = {}
        for term in part.terms:
            for factor in term:
                p = factor.predictor
                if p not in named:
                    named[p] = words.define(seen[p], 0, f"{hint}x{p + 1}")
        products = []
        for j, term in enumerate(part.terms):
            factors = []
            for factor in term:
                x, knot = named[factor.predictor], words.number(float(factor.knot))
                if factor.kind == 2:
                    factors.append(x)
                    continue
                above = words.minus(x, knot) if factor.kind == 1 else words.minus(knot, x)
                sign = ">" if factor.kind == 1 else "<"
                factors.append(words.case([(words.compare(x, sign, knot), above)], zero))
            products.append(
                words.define(words.times(factors) if factors else one, 1, f"{hint}term{j + 1}")
            )
        numbers = [
            words.define(
                self.sum(
                    [
                        words.times([words.number(float(w)), p])
                        for w, p in zip(row, products, strict=True)
                    ],
                    2,
                ),
                2,
                f"{hint}sum{k + 1}",
            )
            for k, row in enumerate(part.weights)
        ]
        return Given(numbers, 3)

    def _seen(self, predictor: Any) -> str:
        words, feature = self.words, predictor.feature
        one, zero = words.number(1.0), words.number(0.0)
        if predictor.role == "category":
            return words.case([(words.member(feature, [predictor.code]), one)], zero)
        if predictor.role == "gap":
            return words.case([(self._is_gap(feature), one)], zero)
        return words.case(
            [(words.gap([feature]), words.number(predictor.fill))], words.value(feature)
        )

    def _is_gap(self, feature: int) -> str:
        n = self.words.categories(feature)
        return self.words.gap([feature]) if n is None else self.words.unlisted(feature, range(n))

    def _inner(self, part: ProgramPart, hint: str) -> Given:
        words = self.words
        numbers, label, level = self.answer(part.program, hint)
        zero = words.number(0.0)
        if part.say == "value":
            out = [zero] * part.width
            for column, number in zip(part.columns, numbers, strict=True):
                is_one = part.on == 1.0
                out[column] = number if is_one else words.times([words.number(part.on), number])
            return Given(out, level)
        assert label is not None
        ref = words.define(label, level, f"{hint}class")
        off = words.number(part.off) if part.say == "vote" else zero
        out = [off] * part.width
        for k, column in enumerate(part.columns):
            own = words.number(part.on) if part.say == "vote" else numbers[k]
            out[column] = words.case([(words.compare(ref, "=", words.whole(k)), own)], off)
        return Given(out, level + 1)


def _is_told(program: Program) -> bool:
    """Whether the class is the largest number that a part gives."""
    decide = program.decide
    is_largest = decide is not None and decide.kind == "largest"
    return is_largest and program.finish.kind == "none" and not program.start
