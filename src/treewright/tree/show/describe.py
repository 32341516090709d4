"""How tests read, the same in text, rules and pictures."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.schema import Feature
from treewright.tree.conditions import Bounds, Condition, Interval, Linear, Members
from treewright.tree.show.words import (
    clean,
    clip_middle,
    display_width,
    format_category,
    format_number,
    separate,
)
from treewright.tree.split import NO_CODE

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["PLENTY", "Wording", "code_range", "features_with_gaps", "number_text"]

SHORTEST_NAME = 8
"""Columns that a name keeps, however little room there is."""
PLENTY = 10**9


def number_text(x: float, feature: Feature | None, digits: int = 6) -> str:
    """A value of a continuous feature: a date or time where it is one."""
    if feature is None or not feature.time or not math.isfinite(x):
        return format_number(x, digits)
    from treewright.data.moments import moment_text

    return moment_text(x, feature)


def features_with_gaps(tree: Tree, gaps: bool | None) -> frozenset[str]:
    """Names of the features whose gaps deserve a word.

    With ``gaps=None`` those that had gaps at a split in training, if the tree says so, and
    otherwise all.
    """
    everything = frozenset(tree.schema.names)
    if gaps is not None:
        return everything if gaps else frozenset()
    counts = tree.extras.get("n_gaps")
    if counts is None:
        return everything
    seen = np.flatnonzero(counts > 0)
    index = set(tree.splits.feature[seen].tolist())
    for node in seen.tolist():
        index.update(f for f, _, _ in tree.splits.node_terms(node))
    return frozenset(tree.schema.features[i].name for i in index if i >= 0)


@dataclass(frozen=True)
class Wording:
    """How conditions read: digits, symbols, and which gaps are worth a word.

    Parameters
    ----------
    digits
        Significant digits.
    ascii
        Plain characters only, apart from those of the data.
    pretty
        ``≤`` and ``≥`` instead of ``<=`` and ``>=``.
    gap_names
        Features for which "(or gap)" is said; None for all.
    numbers
        Words for the bounds of each subject, made by :meth:`over`.
    """

    digits: int = 6
    ascii: bool = False
    pretty: bool = False
    gap_names: frozenset[str] | None = None
    numbers: Mapping[tuple[Any, ...], Mapping[float, str]] = field(default_factory=dict)

    @classmethod
    def over(
        cls,
        conditions: Iterable[Condition],
        *,
        digits: int = 6,
        ascii: bool = False,
        pretty: bool = False,
        gap_names: frozenset[str] | None = None,
    ) -> Wording:
        """Wording that tells all bounds among ``conditions`` apart."""
        values: dict[tuple[Any, ...], set[float]] = defaultdict(set)
        moments: dict[tuple[Any, ...], Feature] = {}
        for condition in conditions:
            if not isinstance(condition, Members):
                ends = (condition.bounds.low, condition.bounds.high)
                values[condition.subject].update(x for x in ends if math.isfinite(x))
                if isinstance(condition, Interval) and condition.feature.time:
                    moments[condition.subject] = condition.feature
        numbers = {
            subject: {x: number_text(x, moments[subject]) for x in found}
            if subject in moments
            else separate(found, digits)
            for subject, found in values.items()
        }
        return cls(digits, ascii, pretty, gap_names, numbers)

    @property
    def ellipsis(self) -> str:
        """What stands for things left out."""
        return "..." if self.ascii else "…"

    def text(self, condition: Condition, room: int = PLENTY) -> str:
        """The condition as a sentence with its subject, in ``room`` columns if possible."""
        note = self._gap_note(condition)
        room -= len(note)
        if condition.is_gap_only:
            return f"{self._subject(condition, room - 9)} is a gap"
        if isinstance(condition, Members):
            if not condition.codes:
                return f"{self._subject(condition, room - 14)} is never known"
            subject = self._subject(condition, room - 12)
            return f"{subject} {self._members(condition, room - display_width(subject) - 1)}{note}"
        before, after, _ = self._range(condition)
        subject = self._subject(condition, room - display_width(before) - display_width(after))
        return f"{before}{subject}{after}{note}"

    def label(self, condition: Condition, room: int = PLENTY) -> str:
        """The condition without its subject, as on an edge of a diagram."""
        note = self._gap_note(condition)
        room -= len(note)
        if condition.is_gap_only:
            return "gap"
        if isinstance(condition, Members):
            return self.listing(condition.feature, condition.codes, room) + note
        return self._range(condition)[2] + note

    def subject(self, condition: Condition, room: int = PLENTY) -> str:
        """What the condition is about: a feature's name, or a weighted sum."""
        return clip_middle(self._subject(condition, room), room, self.ellipsis)

    def listing(self, feature: Feature, codes: Sequence[int], room: int = PLENTY) -> str:
        """Categories between commas, those that do not fit counted."""
        words: list[str] = []
        used = 0
        for position, code in enumerate(codes):
            rest = len(codes) - position - 1
            tail = len(f", {self.ellipsis} {rest} more") if rest else 0
            if not words:
                left = max(SHORTEST_NAME, room - tail)
                words.append(format_category(feature.categories[code], left, self.ellipsis))
                used = display_width(words[0])
                continue
            word = format_category(feature.categories[code])
            used += 2 + display_width(word)
            if used + tail > room:
                words.append(f"{self.ellipsis} {rest + 1} more")
                break
            words.append(word)
        return ", ".join(words)

    def _members(self, condition: Members, room: int) -> str:
        if len(condition.codes) == 1:
            return f"= {self.listing(condition.feature, condition.codes, room - 2)}"
        return f"in {{{self.listing(condition.feature, condition.codes, room - 5)}}}"

    def says_gap(self, condition: Condition) -> bool:
        """Whether the text of a condition says that gaps satisfy it as well."""
        if not condition.gap or condition.is_gap_only:
            return False
        if self.gap_names is None:
            return True
        if isinstance(condition, Linear):
            return any(feature.name in self.gap_names for feature, _, _ in condition.terms)
        return condition.feature.name in self.gap_names

    def _gap_note(self, condition: Condition) -> str:
        return " (or gap)" if self.says_gap(condition) else ""

    def _subject(self, condition: Condition, room: int) -> str:
        if isinstance(condition, Linear):
            return self._sum(condition, room)
        return clip_middle(clean(condition.feature.name), max(SHORTEST_NAME, room), self.ellipsis)

    def _sum(self, condition: Linear, room: int) -> str:
        """A weighted sum; terms that do not fit are counted."""
        times, minus = (" ", "-") if self.ascii else ("·", "−")
        text = ""
        for position, (feature, weight, code) in enumerate(condition.terms):
            size = format_number(abs(weight), self.digits)
            term = clean(feature.name)
            if code != NO_CODE:
                term = f"[{term} = {format_category(feature.categories[code])}]"
            if size != "1":
                term = f"{size}{times}{term}"
            if position:
                term = f" {minus if weight < 0 else '+'} {term}"
            elif weight < 0:
                term = f"{minus}{term}"
            rest = len(condition.terms) - position
            tail = f" + {self.ellipsis} {rest - 1} more" if rest > 1 else ""
            if position and display_width(text) + display_width(term) + len(tail) > room:
                return f"{text} + {self.ellipsis} {rest} more"
            text += term
        return text

    def _range(self, condition: Interval | Linear) -> tuple[str, str, str]:
        """What stands before and after the subject, and what stands without it."""
        bounds = condition.bounds
        if isinstance(condition, Interval) and condition.feature.kind == "ordinal":
            return self._ordinal_range(condition)
        if bounds.is_empty or bounds.is_unbounded:
            return self._no_range(condition)
        words = self.numbers.get(condition.subject, {})
        feature = condition.feature if isinstance(condition, Interval) else None
        low, high = (
            words.get(x) or number_text(x, feature, self.digits) for x in (bounds.low, bounds.high)
        )
        below = self._sign("<=" if bounds.includes_high else "<")
        if bounds.low == -math.inf:
            return "", f" {below} {high}", f"{below} {high}"
        if bounds.high == math.inf:
            above = self._sign(">=" if bounds.includes_low else ">")
            return "", f" {above} {low}", f"{above} {low}"
        above = self._sign("<=" if bounds.includes_low else "<")
        label = f"{'(['[bounds.includes_low]}{low}, {high}{')]'[bounds.includes_high]}"
        return f"{low} {above} ", f" {below} {high}", label

    def _ordinal_range(self, condition: Interval) -> tuple[str, str, str]:
        """Category names for bounds that lie between codes."""
        categories = condition.feature.categories
        first, last = code_range(condition.bounds, len(categories))
        if first > last or (first == 0 and last == len(categories) - 1):
            return self._no_range(condition)
        at_most = self._sign("<=")
        if first == last:
            label = f"= {format_category(categories[first])}"
        elif first == 0:
            label = f"{at_most} {format_category(categories[last])}"
        elif last == len(categories) - 1:
            label = f"> {format_category(categories[first - 1])}"
        else:
            low, high = (format_category(categories[code]) for code in (first, last))
            return f"{low} {at_most} ", f" {at_most} {high}", f"{low} to {high}"
        return "", f" {label}", label

    @staticmethod
    def _no_range(condition: Interval | Linear) -> tuple[str, str, str]:
        """Bounds that hold everything or nothing."""
        if condition.bounds.is_unbounded:
            word = "anything" if condition.gap else "known"
            return "", f" is {word}", word
        return "", " is never so", "never"

    def _sign(self, sign: str) -> str:
        return {"<=": "≤", ">=": "≥"}.get(sign, sign) if self.pretty else sign


def code_range(bounds: Bounds, n_codes: int) -> tuple[int, int]:
    """First and last code inside ``bounds``; first > last if there is none."""
    first, last = 0, n_codes - 1
    if bounds.low > -math.inf:
        if bounds.low >= n_codes:
            return n_codes, last
        first = math.ceil(bounds.low)
        first = max(0, first + (first == bounds.low and not bounds.includes_low))
    if bounds.high < math.inf:
        if bounds.high < 0:
            return first, -1
        last = math.floor(min(bounds.high, n_codes))
        last = min(n_codes - 1, last - (last == bounds.high and not bounds.includes_high))
    return first, last
