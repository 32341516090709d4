"""From a tree to a picture: what is drawn, in which detail, which way, so that it can be read.

Forms are tried from the richest on, and the first that fits the room is taken: full, card or chip,
growing down or to the right. If none fits, more of the tree is folded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from treewright.errors import ParameterError
from treewright.tree.show.boxes import DETAILS, Detail, Style, make_boxes
from treewright.tree.show.colours import Palette
from treewright.tree.show.fold import fold
from treewright.tree.show.lit import Lit
from treewright.tree.show.paint import paint
from treewright.tree.show.place import Placed, place
from treewright.tree.show.scene import Scene
from treewright.tree.show.split_picture import Pictures
from treewright.tree.show.text import check_view
from treewright.tree.show.words import clip_middle, exact
from treewright.tree.tree import Tree

__all__ = ["MAX_LEAVES", "View", "draw", "named_classes"]

MAX_LEAVES = 25
"""Ends of a diagram; of larger trees small subtrees fold."""
WIDTH = 1300.0
HEIGHT = 1500.0
RIBBON: dict[Detail, float] = {"full": 34.0, "card": 30.0, "chip": 13.0}
LARGE = 60
"""Ends above which only the shortest form is tried."""
FEWER = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.12, 0.08)
SHORT = 16
"""Characters of a class that a leaf has room for."""
A4 = (1300.0, 892.0)
"""Room on A4, in pixels that are 0.604 points each: 10 of them are 6 points."""


@dataclass(frozen=True)
class View:
    """What a picture shows; see :meth:`Tree.to_svg`."""

    max_leaves: int | Literal["auto"] | None = "auto"
    max_depth: int | None = None
    detail: Literal["auto", "chip", "card", "full"] = "auto"
    orientation: Literal["auto", "down", "right"] = "auto"
    align: Literal["levels", "leaves"] = "levels"
    width: float = WIDTH
    digits: int = 4
    gaps: bool | None = None
    class_names: Any = None
    highlight: Any = None
    theme: Literal["auto", "light", "dark", "print"] = "auto"

    def __post_init__(self) -> None:
        check_view(self.max_depth, self.digits)
        _choice("detail", self.detail, ("auto", "chip", "card", "full"))
        _choice("orientation", self.orientation, ("auto", "down", "right"))
        _choice("align", self.align, ("levels", "leaves"))
        _choice("theme", self.theme, ("auto", "light", "dark", "print"))
        most = self.max_leaves
        if most is not None and most != "auto" and (not isinstance(most, int) or most < 2):
            raise ParameterError(
                f'max_leaves must be "auto", an integer of at least 2 or None, got {most!r}.'
            )
        if not 300 <= self.width <= 100_000:
            raise ParameterError(f"width must be from 300 to 100000 pixels, got {self.width!r}.")


def _choice(name: str, given: Any, known: tuple[str, ...]) -> None:
    if given not in known:
        listed = ", ".join(repr(word) for word in known[:-1])
        raise ParameterError(f"{name} must be {listed} or {known[-1]!r}, got {given!r}.")


def draw(tree: Tree, view: View) -> Scene:
    """The scene of a tree."""
    tree = _told_apart(named_classes(tree, view.class_names))
    palette = Palette.of(tree)
    lit = None if view.highlight is None else Lit.of(tree, view.highlight)
    pictures = Pictures(tree, None if lit is None else lit.values, view.digits)
    style = Style(tree, palette, view.digits, view.gaps, pictures)
    rooms = [(view.width, HEIGHT)] if view.theme != "print" else [A4, A4[::-1]]
    scene = None
    for placed in _tries(style, view, () if lit is None else lit.nodes):
        for width, height in rooms:
            if scene is not None and placed.width > width:
                continue
            scene = paint(tree, palette, placed, width, lit)
            if scene.width <= width and scene.height <= height:
                return scene
    assert scene is not None
    return scene


def _tries(style: Style, view: View, keep_open: Collection[int]) -> Iterator[Placed]:
    """Pictures from the richest to the poorest."""
    details = DETAILS if view.detail == "auto" else (view.detail,)
    ways = {"auto": (True, False), "down": (True,), "right": (False,)}[view.orientation]
    for share in FEWER:
        is_auto = view.max_leaves == "auto"
        most = round(share * MAX_LEAVES) if is_auto else view.max_leaves
        parts = fold(style.tree, most, view.max_depth, keep_open)  # type: ignore[arg-type]
        is_large = sum(not part.children for part in parts) > LARGE
        for detail in details[-1:] if is_large else details:
            for is_down in ways[-1:] if is_large else ways:
                boxes = make_boxes(style, parts, detail, is_down)
                yield place(
                    boxes,
                    is_down=is_down,
                    align_leaves=view.align == "leaves",
                    ribbon=RIBBON[detail],
                )
        if not is_auto:
            return


def _told_apart(tree: Tree) -> Tree:
    """The tree with shorter names for its classes where long ones begin and end alike."""
    target = tree.schema.target
    if target is None or not target.is_classification:
        return tree
    names = [exact(c) for c in target.classes]
    if len({clip_middle(name, SHORT) for name in names}) == len(names):
        return tree
    words = [name.split() for name in names]
    before = _n_common(words)
    after = _n_common([list(reversed(own[before:])) for own in words])
    middle = [" ".join(own[before : len(own) - after]) for own in words]
    parts = tuple(f"{'…' if before else ''}{said}{'…' if after else ''}" for said in middle)
    if len({clip_middle(part, SHORT) for part in parts}) < len(names):
        return tree
    return replace(tree, schema=replace(tree.schema, target=replace(target, classes=parts)))


def _n_common(words: list[list[str]]) -> int:
    """How many words all lists begin with."""
    n = 0
    while n < min(map(len, words)) and len({own[n] for own in words}) == 1:
        n += 1
    return n


def named_classes(tree: Tree, names: Any) -> Tree:
    """The tree with other names for its classes: a mapping, or a list in their order."""
    target = tree.schema.target
    if names is None or target is None:
        return tree
    if not target.is_classification:
        raise ParameterError("class_names are for classes, got a regression tree; leave them out.")
    if hasattr(names, "items"):
        known = dict(names.items())
        unknown = [key for key in known if key not in target.classes]
        if unknown:
            raise ParameterError(
                f"class_names must map classes of the tree, got {unknown[0]!r}, which is none."
            )
        renamed = tuple(known.get(c, c) for c in target.classes)
    else:
        renamed = tuple(names)
    if len(renamed) != len(target.classes):
        raise ParameterError(
            f"class_names must have {len(target.classes)} names, got {len(renamed)}."
        )
    return replace(tree, schema=replace(tree.schema, target=replace(target, classes=renamed)))
