"""Where boxes stand and how the ribbons between them run.

Boxes of one level lie in one band, and between two bands there is first room where ribbons bend,
then room for the words on them. A ribbon leaves its box straight to the end of the band, bends in
the room between, and arrives straight: it meets no box but its own two. Ribbons are as wide as
the rows that pass. Written once for trees that grow down and to the right: *along* is the
direction of growth, *across* the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from treewright.tree.show.boxes import LABEL_LINE, Box
from treewright.tree.show.layout import tidy_positions
from treewright.tree.show.scene import Command

__all__ = ["Placed", "Ribbon", "place"]

THINNEST = 1.2


@dataclass
class Ribbon:
    """The way to one box, and where its words stand (the middle of the first line's top)."""

    child: int
    commands: list[Command]
    width: float
    label_at: tuple[float, float]


@dataclass
class Placed:
    """Boxes with the top left corner of each, the ribbons, and the extent of all."""

    boxes: list[Box]
    is_down: bool
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    ribbons: list[Ribbon] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


@dataclass
class _Slot:
    """A box, or room kept for a ribbon that passes a level (``box`` is −1)."""

    box: int
    level: int
    size: float
    children: list[int] = field(default_factory=list)


def place(boxes: list[Box], *, is_down: bool, align_leaves: bool, ribbon: float) -> Placed:
    """Boxes and ribbons; ``ribbon`` is the width of one with all rows."""
    slots, first_slot = _slots(boxes, is_down, align_leaves, ribbon)
    gap = 14.0 if is_down else 8.0
    centre = tidy_positions([slot.children for slot in slots], [slot.size for slot in slots], gap)
    bands = _Bands(boxes, slots, is_down)
    placed = Placed(boxes, is_down, [0.0] * len(boxes), [0.0] * len(boxes))
    across = [0.0] * len(boxes)
    for slot, at in zip(slots, centre, strict=True):
        if slot.box >= 0:
            box = boxes[slot.box]
            across[slot.box] = at
            start = bands.start[slot.level]
            placed.x[slot.box] = at - box.width / 2 if is_down else start
            placed.y[slot.box] = start if is_down else at - box.height / 2
    level_of = {slot.box: slot.level for slot in slots if slot.box >= 0}
    for i, box in enumerate(boxes):
        widths = [max(THINNEST, ribbon * boxes[child].facts.share) for child in box.part.children]
        port = across[i] - sum(widths) / 2
        for child, width in zip(box.part.children, widths, strict=True):
            port += width / 2
            turn = (slots[first_slot[child]].level, level_of[child])
            placed.ribbons.append(
                bands.ribbon(i, level_of[i], child, port, across[child], width, turn)
            )
            port += width / 2
    far = max(at + slot.size / 2 for slot, at in zip(slots, centre, strict=True))
    end = max(
        bands.start[level_of[i]] + (box.height if is_down else box.width)
        for i, box in enumerate(boxes)
    )
    placed.width, placed.height = (far, end) if is_down else (end, far)
    return placed


def _slots(
    boxes: list[Box], is_down: bool, align_leaves: bool, ribbon: float
) -> tuple[list[_Slot], list[int]]:
    """Slots of all boxes, parents first; and the first slot on the way to each box."""
    deepest = max(box.part.level for box in boxes)
    slots: list[_Slot] = []
    first: list[int] = []
    own: list[int] = []
    for i, box in enumerate(boxes):
        passes = max(ribbon * box.facts.share + 4, 8.0)
        size = max(
            box.width if is_down else box.height,
            box.label_width + 8 if is_down else box.label_height,
            passes if is_down else 0.0,
        )
        level = box.part.level
        last = deepest if align_leaves and not box.part.children else level
        first.append(len(slots))
        for passed in range(level, last):
            room = max(passes, box.label_width + 8 if passed == level and is_down else 0.0)
            slots.append(_Slot(-1, passed, room, [len(slots) + 1]))
        own.append(len(slots))
        slots.append(_Slot(i, last, size))
        if box.part.parent >= 0:
            slots[own[box.part.parent]].children.append(first[i])
    return slots, first


class _Bands:
    """Where the band of every level starts and ends, and the room for words before it."""

    def __init__(self, boxes: list[Box], slots: list[_Slot], is_down: bool) -> None:
        self.boxes, self.is_down = boxes, is_down
        depth = 1 + max(slot.level for slot in slots)
        self.size, self.words = [0.0] * depth, [0.0] * depth
        for slot in slots:
            if slot.box >= 0:
                box = boxes[slot.box]
                extent = box.height if is_down else box.width
                self.size[slot.level] = max(self.size[slot.level], extent)
        for box in boxes:  # words stand on the first level behind the parent
            room = box.label_height + 8 if is_down else box.label_width + 14
            level = box.part.level
            if box.label:
                self.words[level] = max(self.words[level], room)
        bend = 30.0 if is_down else 34.0
        self.start = [0.0]
        for level in range(1, depth):
            self.start.append(self.start[-1] + self.size[level - 1] + bend + self.words[level])

    def ribbon(
        self,
        parent: int,
        level: int,
        child: int,
        port: float,
        goal: float,
        width: float,
        turn: tuple[int, int],
    ) -> Ribbon:
        """From a port of the parent to the middle of the child."""
        box = self.boxes[parent]
        leave = self.start[level] + (box.height if self.is_down else box.width)
        bend_from = self.start[level] + self.size[level]
        bend_to = self.start[turn[0]] - self.words[turn[0]]
        arrive = self.start[turn[1]]
        half = (bend_to - bend_from) * 0.55
        points: list[tuple[float, ...]] = [
            (leave, port),
            (bend_from, port),
            (bend_from + half, port, bend_to - half, goal, bend_to, goal),
            (arrive, goal),
        ]
        letters = ("M", "L", "C", "L")
        commands: list[Command] = [
            (letter, *self._turned(point))  # type: ignore[misc]
            for letter, point in zip(letters, points, strict=True)
            if point != (leave, port) or letter == "M"
        ]
        return Ribbon(child, commands, width, self._label_at(child, bend_to, turn[0], goal))

    def _turned(self, point: tuple[float, ...]) -> tuple[float, ...]:
        """(along, across) pairs as (x, y)."""
        if not self.is_down:
            return point
        return tuple(x for k in range(0, len(point), 2) for x in (point[k + 1], point[k]))

    def _label_at(
        self, child: int, words_from: float, level: int, goal: float
    ) -> tuple[float, float]:
        box = self.boxes[child]
        if self.is_down:
            return goal, self.start[level] - 5 - box.label_height
        return (
            words_from + 4 + box.label_width / 2,
            goal - box.label_height / 2 + LABEL_LINE * 0.04,
        )
