"""Reading the output of c4.5rules: final rules, default class, and the table of their use."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Condition", "Output", "PrintedRule", "parse_output"]

Condition = tuple[int, str, str]
"""Column number, sign (<=, >, =, in), and the value as printed."""


@dataclass(frozen=True)
class PrintedRule:
    """A rule as printed; ``accuracy`` is the percentage in brackets."""

    number: int
    conditions: frozenset[Condition]
    label: int
    accuracy: float


@dataclass(frozen=True)
class Output:
    """What c4.5rules said of one tree.

    ``used`` are the numbers of the rules that are left after the last drop, in order;
    ``dropped`` those it dropped for their training errors.
    """

    rules: tuple[PrintedRule, ...]
    default: int
    dropped: tuple[int, ...]
    n_errors: int
    n_cases: int

    @property
    def used(self) -> tuple[int, ...]:
        return tuple(r.number for r in self.rules if r.number not in self.dropped)


_RULE = re.compile(r"^Rule (\d+):\n((?:    \t.*\n)*)\t->  class c(\d+)  \[([\d.]+)%\]", re.M)
_TEST = re.compile(r"    \ta(\d+) (<=|>|=|in) (.*)")


def parse_output(text: str) -> Output:
    """The final rules of the last tree in ``text``."""
    final = text[text.rindex("Final rules from tree") :]
    rules = []
    for number, tests, label, accuracy in _RULE.findall(final):
        conditions = frozenset((int(a), sign, value) for a, sign, value in _TEST.findall(tests))
        rules.append(PrintedRule(int(number), conditions, int(label), float(accuracy)))
    default = re.search(r"Default class: c(\d+)", final)
    tested = re.search(r"Tested (\d+), errors (\d+)", final)
    assert default is not None
    assert tested is not None
    dropped = tuple(int(n) for n in re.findall(r"^Drop rule (\d+)", final, re.M))
    return Output(tuple(rules), int(default[1]), dropped, int(tested[2]), int(tested[1]))
