"""``tree.to_html()`` and ``model.to_html()``: the interactive tree as one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.reporting._book import Measure, Steps, book_of, shown, steps_of, tree_entry
from treewright.reporting._candidates import node_candidates, tested_candidates
from treewright.reporting._html import render, script_json
from treewright.reporting._sizes import errors_by_size
from treewright.tree.show.colours import Palette
from treewright.tree.tree import Tree

__all__ = ["TreePage", "framed", "in_notebook", "model_page", "tree_page"]

STATIC_LEAVES = 25
"""Most leaves of the picture that stands where scripts do not run."""
LEGEND_CLASSES = 12
BUDGET = 170_000
"""Characters of the trees of an ensemble; those that do not fit are left out."""
MOST_MEMBERS = 50
NOTEBOOK_NODES, NOTEBOOK_CODES = 5_000, 100_000
"""Most nodes, and categories listed in splits, of a tree whose page goes into a notebook: 1 MB."""


@dataclass(frozen=True, eq=False)
class TreePage:
    """What the tree part of a page needs: the book, a picture without script, and words."""

    book: dict[str, Any]
    picture: str
    cut: bool
    members: Sequence[str]
    legend: Sequence[tuple[str, str]]
    summary: str
    n_leaves: int
    note: str = ""
    name: str = field(default="")

    def values(self, *, alone: bool) -> dict[str, Any]:
        """Values for the template of the tree part."""
        from markupsafe import Markup

        return {
            "picture": Markup(self.picture),
            "cut": self.cut,
            "members": self.members,
            "legend": self.legend,
            "n_leaves": f"{self.n_leaves:,}".replace(",", " "),
            "alone": alone,
        }


def tree_page(
    tree: Tree, *, title: str | None = None, embedded: bool = False, model: Any = None
) -> str:
    """The page of one tree; see :meth:`Tree.to_html`."""
    return _whole(build([tree], model=model), title, embedded)


def model_page(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    test: tuple[Any, Any] | None = None,
    title: str | None = None,
    embedded: bool = False,
) -> str:
    """The page of a fitted model; see ``to_html`` of the estimators."""
    if (X is None) != (y is None):
        raise ParameterError("to_html takes the training rows as X and y; pass both, or neither.")
    page = build(trees_of(model), model=model, X=X, y=y, test=test)
    return _whole(page, title, embedded)


def trees_of(model: Any) -> list[Tree]:
    """The trees of a fitted model: its one, or those of its members."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if isinstance(getattr(model, "tree_", None), Tree):
        return [model.tree_]
    members = getattr(model, "estimators_", None)
    if members is not None and len(members):
        n = min(len(members), MOST_MEMBERS)
        found = [getattr(members[i], "tree_", members[i]) for i in range(n)]
        if all(isinstance(tree, Tree) for tree in found):
            return found
    raise ParameterError(
        f"to_html draws trees, but {type(model).__name__} has none; print(model) or "
        "treewright.report show other models."
    )


def build(
    trees: Sequence[Tree],
    *,
    model: Any = None,
    X: Any = None,
    y: Any = None,
    test: tuple[Any, Any] | None = None,
    steps: Steps | None = None,
    start: int = 0,
    static: Tree | None = None,
) -> TreePage:
    """Gather what the page of these trees needs.

    ``steps`` of a single tree may be known; ``static`` is drawn where scripts do not run.
    """
    tree = trees[0]
    drawn = tree if static is None else static
    is_single = len(trees) == 1
    costs = _costs(model) if is_single else None
    measure = Measure.of(tree, costs)
    palette = Palette.of(tree)
    entries: list[dict[str, Any]] = []
    size = 0
    for member in trees:
        known = steps or steps_of(member, errors_by_size(model, test) if is_single else None)
        found = tested_candidates(member)
        if is_single and X is not None and found is None:
            found = node_candidates(model, member, X, y)
        entry = tree_entry(member, measure, known, start=start, candidates=found)
        size += len(script_json({k: v for k, v in entry.items() if k != "uses"}))
        if entries and size > BUDGET:
            break
        entries.append(entry)
    book = book_of(entries, tree.schema, palette, measure, costs=costs, ranges=_ranges(model, X))
    n_all = _n_members(model) if not is_single else 1
    return TreePage(
        book=book,
        picture=drawn.to_svg(max_leaves=STATIC_LEAVES),
        cut=drawn.n_leaves > STATIC_LEAVES,
        members=[f"{i + 1} of {n_all}" for i in range(len(entries))],
        legend=_legend(book),
        summary=_summary(tree, n_all, len(entries)),
        n_leaves=tree.n_leaves,
        name=_name(tree, model),
    )


def _legend(book: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and colours of the classes; of very many, those that come first."""
    classes = book["target"].get("classes", [])
    named = list(zip(classes, book["target"].get("colours", []), strict=True))[:LEGEND_CLASSES]
    rest = len(classes) - len(named)
    return [*named, (f"… {rest} more", "transparent")] if rest else named


def _whole(page: TreePage, title: str | None, embedded: bool) -> str:
    return render(
        "page.html",
        ("base", "tree", "alone"),
        page.book,
        title=page.name if title is None else title,
        summary=page.summary,
        embedded=embedded,
        note=page.note,
        **page.values(alone=not embedded),
    )


def in_notebook(model: Any) -> str:
    """What a notebook shows of a tree or model: the page, or a picture of a very large tree."""
    is_tree = isinstance(model, Tree)
    trees = [model] if is_tree else trees_of(model)
    tree = trees[0]
    if tree.n_nodes <= NOTEBOOK_NODES and len(tree.splits.codes) <= NOTEBOOK_CODES:
        page = tree_page if is_tree else model_page
        return framed(page(model, embedded=True))
    summary = _summary(tree, _n_members(model) if len(trees) > 1 else 1, 1)
    return (
        f"<p>{summary} Folded, as it is large; "
        "<code>to_html()</code> gives the page on which it can be followed.</p>"
        + tree.to_svg(max_leaves=STATIC_LEAVES)
    )


def framed(page: str, height: int = 700) -> str:
    """A page inside a frame of its own, for notebooks."""
    import html

    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="Decision tree" '
        f'style="width:100%;height:{height}px;border:0" loading="lazy"></iframe>'
    )


def _costs(model: Any) -> NDArray[np.float64] | None:
    """The cost matrix, if it says more than right and wrong."""
    costs = getattr(model, "cost_matrix_", None)
    if costs is None:
        return None
    matrix = np.asarray(costs, np.float64)
    return None if np.array_equal(matrix, 1.0 - np.eye(len(matrix))) else matrix


def _n_members(model: Any) -> int:
    return len(getattr(model, "estimators_", [None]))


def _name(tree: Tree, model: Any) -> str:
    target = tree.schema.target
    what = shown(target.name) if target is not None else "y"
    return f"{what}: {type(model).__name__}" if model is not None else f"Tree for {what}"


def _summary(tree: Tree, n_all: int, n_shown: int) -> str:
    def count(n: int, one: str, many: str) -> str:
        return f"{n:,} {one if n == 1 else many}".replace(",", " ")

    words = [
        count(int(tree.n_samples[0]), "training row", "training rows"),
        count(len(tree.schema), "feature", "features"),
    ]
    if n_all > 1:
        some = "" if n_shown == n_all else f", of which the first {n_shown} are shown here"
        return (
            f"{', '.join(words)}; {n_all} trees{some}. One tree of an ensemble is not its answer."
        )
    leaves = count(tree.n_leaves, "leaf", "leaves")
    return f"{', '.join(words)}; {leaves}, depth {tree.depth}."


def _ranges(model: Any, X: Any) -> dict[int, tuple[float, float, float]] | None:
    """Least, middle and largest value of the continuous features."""
    if X is None or not hasattr(model, "_table"):
        return None
    table = model._table(X)
    found = {}
    for i, feature in enumerate(table.schema.features):
        if feature.is_categorical:
            continue
        column = np.asarray(table.columns[i], np.float64)
        known = column[~np.isnan(column)]
        if len(known):
            found[i] = (float(known.min()), float(np.median(known)), float(known.max()))
    return found
