"""The one tree of all learners: flat, immutable, n-ary.

Node 0 is the root, parents come before their children, siblings are adjacent: branch ``b``
of node ``i`` is node ``first_child[i] + b``. Everything that reads a tree (prediction, text,
rules, diagrams, files) needs this structure and its schema, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.tree.split import GAP_FRACTION, Splits

if TYPE_CHECKING:
    from treewright.rules import RuleSet
    from treewright.tree.growing.stopped import Stopping
    from treewright.tree.node_tests import NodeTests, NodeTestTable
    from treewright.tree.pruning_log import PruningLog
    from treewright.tree.show.nodes import Node, Nodes
    from treewright.tree.show.paths import Path
    from treewright.tree.show.rules import Rules
    from treewright.tree.split_counts import SplitCounts

__all__ = ["TREE_DTYPES", "Tree"]

TREE_DTYPES: dict[str, type[np.generic]] = {
    "first_child": np.int32,
    "n_children": np.int32,
    "default": np.int32,
    "surrogate_offset": np.int64,
    "surrogate_agreement": np.float64,
    "surrogate_adjusted": np.float64,
    "n_samples": np.int64,
    "weight": np.float64,
    "value": np.float64,
    "label": np.int32,
    "impurity": np.float64,
    "gain": np.float64,
    "risk": np.float64,
}
"""The dtype of every array of :class:`Tree` itself, splits and extras apart."""

EMPTY_PROBABILITY = "empty_probability"
"""Extra column with class probabilities of nodes without rows that are not those of the parent."""

STR_NODES = 400
"""Most lines that ``str(tree)`` prints."""


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A fitted tree.

    Parameters
    ----------
    schema
        Features and target.
    first_child, n_children
        Children of each node; −1 and 0 at a leaf.
    splits
        One split per node.
    default
        Branch of a row whose value is a gap and that no surrogate decides:
        a branch number, ``GAP_FRACTION`` or ``GAP_STOP``; −2 at a leaf.
    surrogate_offset, surrogates
        Node ``i`` consults ``surrogates[surrogate_offset[i]:surrogate_offset[i + 1]]`` in order.
    surrogate_agreement, surrogate_adjusted
        Share of rows each surrogate sends as the primary split does, and that share
        adjusted for the majority direction.
    n_samples, weight
        Training rows that reached each node, and their weight.
    value
        Class weights (classification) or means, one column per class or output.
    label
        Predicted class index of each node (classification; empty for regression).
    impurity, gain
        Impurity of the node's rows, and by how much the split lowers the node's impurity
        times its weight share (``weight / weight[0]``); 0 at a leaf.
    risk
        Contribution of the node, as a leaf, to the tree's risk: expected cost or squared
        error times the weight share.
    extras
        Further columns over nodes, such as ``statistic`` and ``p_value``. ``n_gaps``, the
        training rows whose value the split of a node lacked, tells the text forms which
        features need a word about gaps; ``empty_probability`` see :attr:`probability`.
    tests
        Significance tests at the nodes; None for a learner that makes none.
    pruning_log
        What was cut and why, with ``frame()`` and ``str()``; None for a tree that no pruner saw.
    stopping
        When growth stopped; the nodes say which of it held (``tree.node(3).stopped``).
    counts
        What passed the splits, by bins of the tested value, for small pictures; None if it was
        not kept.

    Notes
    -----
    The arrays become read-only, without a copy, when a tree is made of them.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
    >>> tree.n_leaves, tree.depth
    (3, 2)
    >>> [node.n_samples for node in tree.nodes if node.is_leaf]
    [50, 54, 46]
    """

    schema: Schema
    first_child: NDArray[np.int32]
    n_children: NDArray[np.int32]
    splits: Splits
    default: NDArray[np.int32]
    surrogate_offset: NDArray[np.int64]
    surrogates: Splits
    surrogate_agreement: NDArray[np.float64]
    surrogate_adjusted: NDArray[np.float64]
    n_samples: NDArray[np.int64]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]
    label: NDArray[np.int32]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    risk: NDArray[np.float64]
    extras: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    tests: NodeTests | None = None
    pruning_log: PruningLog | None = None
    stopping: Stopping | None = None
    counts: SplitCounts | None = None

    def __post_init__(self) -> None:
        for name in TREE_DTYPES:
            getattr(self, name).flags.writeable = False
        for array in self.extras.values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: copies are read-only too, and caches stay behind
        return Tree, tuple(getattr(self, f.name) for f in fields(self))

    def __len__(self) -> int:
        return len(self.first_child)

    # -- structure -------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.first_child)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.first_child < 0))

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return self.first_child < 0

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """Parent of each node, −1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        inner = np.flatnonzero(self.first_child >= 0)
        count = self.n_children[inner]
        start = np.repeat(self.first_child[inner] - (np.cumsum(count) - count), count)
        parent[start + np.arange(count.sum())] = np.repeat(inner, count)
        return parent

    @cached_property
    def node_depth(self) -> NDArray[np.int32]:
        """Depth of each node, 0 for the root."""
        # Pointer doubling: a chain of a million nodes takes twenty rounds, not a million.
        depth = (self.parent >= 0).astype(np.int32)
        above = np.maximum(self.parent, 0)
        while above.any():
            depth += depth[above]
            above = above[above]
        return depth

    @property
    def depth(self) -> int:
        """Length of the longest path from the root to a leaf."""
        return int(self.node_depth.max(initial=0))

    def children(self, node: int) -> range:
        """Ids of the children of ``node``, in branch order.

        Parameters
        ----------
        node
            Id of a node.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> list(tree.children(0)), list(tree.children(1))
        ([1, 2], [])
        """
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node])) if first >= 0 else range(0)

    def walk(self, node: int = 0, max_depth: int | None = None) -> Iterator[int]:
        """Node ids below and including ``node``, depth first, branches in order.

        Parameters
        ----------
        node
            Where to start.
        max_depth
            Levels below ``node`` to visit; None for all.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> list(tree.walk()), list(tree.walk(2)), list(tree.walk(max_depth=1))
        ([0, 1, 2, 3, 4], [2, 3, 4], [0, 1, 2])
        """
        stack = [(node, 0)]
        while stack:
            current, level = stack.pop()
            yield current
            if max_depth is None or level < max_depth:
                stack.extend((child, level + 1) for child in reversed(self.children(current)))

    # -- values ----------------------------------------------------------------------------

    @cached_property
    def is_fractional(self) -> bool:
        """Whether a gap may send a row down several branches."""
        return bool(np.any((self.default == GAP_FRACTION) & (self.first_child >= 0)))

    @cached_property
    def probability(self) -> NDArray[np.float64]:
        """Class probabilities of each node under the priors (classification).

        A node that no training row reached has those of its parent, unless it keeps others.
        """
        target = self.schema.target
        weighted = self.value
        if target is not None and target.class_factor:
            weighted = weighted * np.asarray(target.class_factor)
        total = weighted.sum(axis=1, keepdims=True)
        empty = total[:, 0] <= 0
        shares = np.divide(weighted, total, out=np.zeros_like(weighted), where=~empty[:, None])
        if empty.any():
            kept = self.extras.get(EMPTY_PROBABILITY)
            parent = shares[np.maximum(self.parent[empty], 0)]
            shares[empty] = parent if kept is None else kept[empty]
            shares[shares.sum(axis=1) <= 0] = 1.0 / max(weighted.shape[1], 1)
        return np.asarray(shares)

    @cached_property
    def log_p(self) -> NDArray[np.float64]:
        """Log of the adjusted p-value of each node: of its split, or at a leaf the least.

        NaN where nothing was tested.
        """
        if self.tests is None:
            return np.full(self.n_nodes, np.nan)
        return self.tests.p_of_nodes(np.where(self.is_leaf, -1, self.splits.feature))

    def feature_importances(
        self, *, normalize: bool = True, surrogates: bool = False
    ) -> NDArray[np.float64]:
        """How much each feature lowers the impurity, in column order.

        Parameters
        ----------
        normalize
            Divide by the sum, so that the importances add up to one.
        surrogates
            Credit each surrogate's feature too, with the gain of the split times the
            surrogate's adjusted agreement (rpart's rule), where that is above zero.

        Returns
        -------
        ndarray
            One number per feature; all zero for a tree that is a single leaf.

        Notes
        -----
        The gain of a linear test is shared equally among its features.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> tree.feature_importances().round(3)
        array([0.   , 0.   , 0.562, 0.438])
        >>> tree.feature_importances(normalize=False).round(3)
        array([0.   , 0.   , 0.333, 0.26 ])
        """
        from treewright.tree.importances import impurity_importances

        return impurity_importances(self, normalize=normalize, surrogates=surrogates)

    # -- reading ---------------------------------------------------------------------------

    def node(self, node: int) -> Node:
        """A readable view of one node.

        Parameters
        ----------
        node
            Id of the node, 0 for the root.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> tree.node(2).test, tree.node(2).n_samples
        ('Petal.Width < 1.75 (or gap)', 100)
        """
        return self.nodes[node]

    @property
    def nodes(self) -> Nodes:
        """All nodes as readable views, in id order."""
        from treewright.tree.show.nodes import Nodes

        return Nodes(self)

    def to_text(
        self,
        *,
        style: Literal["treewright", "c45", "c50", "j48"] = "treewright",
        max_depth: int | None = None,
        digits: int = 6,
        width: int = 96,
        gaps: bool | None = None,
        surrogates: bool = False,
        stopped: bool = False,
        ascii: bool = False,
    ) -> str:
        """The tree as text, one line per node.

        Parameters
        ----------
        style
            ``"c45"``, ``"c50"`` and ``"j48"`` print a classification tree as these programs do:
            a line per branch, with the cases and errors of the leaves. Of the other parameters
            they take ``max_depth`` and ``digits``.
        max_depth
            Deepest level shown; None for all.
        digits
            Significant digits of thresholds and means. Thresholds of one feature that would
            read the same get as many more as tell them apart.
        width
            Columns to keep to; long lists of categories are shortened.
        gaps
            Whether to say which branch takes the gaps; None says so for the features that
            had gaps in training, as far as the tree knows.
        surrogates
            Whether to list the surrogate splits below each test.
        stopped
            Whether to say at each leaf why it was not split.
        ascii
            Draw the guides with plain characters.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> print(tree.to_text())
        Classification tree for y: 150 rows, 5 nodes, 3 leaves, depth 2
        node, test, n, class, (share of setosa, versicolor, virginica); * is a leaf
        <BLANKLINE>
        0 root                       150  setosa      (0.33 0.33 0.33)
        1 ├─ Petal.Length < 2.45      50  setosa      (1.00 0.00 0.00) *
        2 └─ Petal.Length >= 2.45    100  versicolor  (0.00 0.50 0.50)
        3    ├─ Petal.Width < 1.75    54  versicolor  (0.00 0.91 0.09) *
        4    └─ Petal.Width >= 1.75   46  virginica   (0.00 0.02 0.98) *
        >>> print(tree.to_text(style="c50"))
        Petal.Length < 2.45: setosa (50)
        Petal.Length >= 2.45:
        :...Petal.Width < 1.75: versicolor (54/5)
            Petal.Width >= 1.75: virginica (46/1)
        """
        from treewright.tree.show.text import render_text

        return render_text(
            self,
            style=style,
            max_depth=max_depth,
            digits=digits,
            width=width,
            gaps=gaps,
            surrogates=surrogates,
            stopped=stopped,
            ascii=ascii,
        )

    def node_tests(self, node: int | None = None) -> NodeTestTable:
        """Significance tests at the nodes: statistic, p and adjusted p of every tested feature.

        Leaves that were tested and not split are among them. Only learners that choose
        features by a test, such as CTree and CHAID, keep any.

        Parameters
        ----------
        node
            Node whose tests are wanted; None for all.

        Examples
        --------
        >>> from treewright import CTreeClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CTreeClassifier(max_depth=1).fit(iris.data, iris.target).tree_
        >>> tests = tree.node_tests(0).frame()
        >>> tests[tests.is_split].feature.tolist()
        ['Petal.Length']
        """
        from treewright.tree.node_tests import NodeTestTable

        return NodeTestTable.of_tree(self, node)

    def rules(self) -> Rules:
        """One rule per leaf, the tests on the way merged per feature.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> print(tree.rules())
        3 rules for y; in brackets the rows and share of the class in training
        1. Petal.Length < 2.45 → setosa  (n 50, 1.00)
        2. Petal.Length >= 2.45 and Petal.Width < 1.75 → versicolor  (n 54, 0.91)
        3. Petal.Length >= 2.45 and Petal.Width >= 1.75 → virginica  (n 46, 0.98)
        """
        from treewright.tree.show.rules import extract_rules

        return extract_rules(self)

    def rule_set(self) -> RuleSet:
        """The tree as a model made of rules, one per leaf.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> rules = tree.rule_set()
        >>> len(rules), rules.coverage(iris.data).tolist()
        (3, [50, 54, 46])
        """
        from treewright.rules import RuleSet

        return RuleSet.from_tree(self)

    def to_svg(
        self,
        *,
        max_leaves: int | Literal["auto"] | None = "auto",
        max_depth: int | None = None,
        detail: Literal["auto", "chip", "card", "full"] = "auto",
        orientation: Literal["auto", "down", "right"] = "auto",
        align: Literal["levels", "leaves"] = "levels",
        width: float = 1300,
        theme: Literal["auto", "light", "dark", "print"] = "auto",
        digits: int = 4,
        gaps: bool | None = None,
        class_names: Any = None,
        highlight: Any = None,
    ) -> str:
        """The tree as a self-contained SVG picture.

        Parameters
        ----------
        max_leaves
            Ends of the picture. Of a larger tree the subtrees with fewest rows fold into one box
            each, and an overview of the whole tree stands beside it. ``"auto"`` draws at most 25,
            and fewer where they would not fit the width; None draws all, up to 2000.
        max_depth
            Deepest level drawn; None for all.
        detail
            How much a box says: a ``"chip"`` is one line, a ``"card"`` has the rows and the class
            bar or box plot, ``"full"`` the small picture of the split as well. ``"auto"`` takes the
            most that fits.
        orientation
            Whether the tree grows down or to the right; ``"auto"`` takes what fits.
        align
            ``"leaves"`` puts all ends on one base line.
        width
            Pixels that there are for the picture; those with ``max_leaves`` of your own may be
            wider.
        theme
            ``"light"``, ``"dark"``, ``"print"`` (black on white, one page of A4), or ``"auto"``:
            light or dark as the reader's screen or notebook is. Colours are CSS variables
            (``--tw-ink``, ``--tw-class0``), which a page can set.
        digits
            Significant digits of thresholds and means.
        gaps
            Whether to say which branch takes the gaps, as in :meth:`to_text`.
        class_names
            Other names for the classes: a list in their order, or a mapping.
        highlight
            A row, as :meth:`path` takes it: its way is lit, its values are marked on the small
            pictures, and every step is explained below.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> tree.to_svg(theme="light", orientation="right")[:4]
        '<svg'
        """
        from treewright.tree.show.diagram import View
        from treewright.tree.show.svg import render_svg

        return render_svg(
            self,
            View(
                max_leaves=max_leaves,
                max_depth=max_depth,
                detail=detail,
                orientation=orientation,
                align=align,
                width=width,
                theme=theme,
                digits=digits,
                gaps=gaps,
                class_names=class_names,
                highlight=highlight,
            ),
        )

    def plot(self, ax: Any = None, **view: Any) -> Any:
        """The picture of :meth:`to_svg` on matplotlib axes.

        Parameters
        ----------
        ax
            Axes to fill; None makes a figure of the right size.
        view
            What :meth:`to_svg` takes; the theme ``"auto"`` is light.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> axes = tree.plot()
        """
        from treewright.tree.show.canvas import render_plot
        from treewright.tree.show.diagram import View

        return render_plot(self, View(**view), ax)

    def to_png(self, **view: Any) -> bytes:
        """The picture of :meth:`to_svg` as a PNG file, two of its pixels to one of the SVG's.

        Parameters
        ----------
        view
            What :meth:`to_svg` takes; the theme ``"auto"`` is light.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> tree.to_png(max_depth=1)[1:4]
        b'PNG'
        """
        from treewright.tree.show.canvas import render_file
        from treewright.tree.show.diagram import View

        return render_file(self, View(**view), "png")

    def to_pdf(self, **view: Any) -> bytes:
        """The picture of :meth:`to_svg` as a PDF file.

        Parameters
        ----------
        view
            What :meth:`to_svg` takes; the theme ``"auto"`` is light.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> tree.to_pdf(max_depth=1)[:4]
        b'%PDF'
        """
        from treewright.tree.show.canvas import render_file
        from treewright.tree.show.diagram import View

        return render_file(self, View(**view), "pdf")

    def to_html(self, *, title: str | None = None) -> str:
        """The tree as an interactive page: one HTML file that loads nothing.

        It can be folded, searched, cut back along the weakest-link sequence, and asked for
        the way of a row. The ``to_html`` of an estimator knows more: errors on other rows, and
        the candidates that splits won against.

        Parameters
        ----------
        title
            Title of the page.

        Examples
        --------
        >>> from treewright import CARTClassifier
        >>> model = CARTClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
        >>> model.tree_.to_html(title="Three rows")[:15]
        '<!DOCTYPE html>'
        """
        from treewright.reporting._page import tree_page

        return tree_page(self, title=title)

    def path(self, row: Any) -> Path:
        """The way of one row from the root to its leaf, and why it took each branch.

        Parameters
        ----------
        row
            A mapping from feature name to value, a sequence in column order, or a frame
            with one row.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> print(tree.path(iris.data.slice(60, 1)))
        node 0: Petal.Length >= 2.45 → node 2  (Petal.Length is 3.5)
        node 2: Petal.Width < 1.75 → node 3  (Petal.Width is 1)
        node 3: versicolor  (a leaf)
        """
        from treewright.tree.show.paths import trace_row

        return trace_row(self, row)

    # -- reshaping and storing -------------------------------------------------------------

    def collapse(self, nodes: Any) -> Tree:
        """A new tree in which ``nodes`` are leaves and everything below them is gone.

        Parameters
        ----------
        nodes
            A boolean mask over the nodes, or node ids.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> print(tree.collapse([2]))
        Classification tree for y: 150 rows, 3 nodes, 2 leaves, depth 1
        node, test, n, class, (share of setosa, versicolor, virginica); * is a leaf
        <BLANKLINE>
        0 root                     150  setosa      (0.33 0.33 0.33)
        1 ├─ Petal.Length < 2.45    50  setosa      (1.00 0.00 0.00) *
        2 └─ Petal.Length >= 2.45  100  versicolor  (0.00 0.50 0.50) *
        """
        from treewright.tree.collapse import collapse_nodes

        return collapse_nodes(self, nodes)

    def to_dict(self) -> dict[str, Any]:
        """The tree as a dict that JSON can hold, exactly.

        Examples
        --------
        >>> from treewright import CARTClassifier, Tree, datasets
        >>> iris = datasets.load_iris()
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
        >>> data = tree.to_dict()
        >>> str(Tree.from_dict(data)) == str(tree)
        True
        """
        from treewright.tree.serialize import tree_to_dict

        return tree_to_dict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """The tree that :meth:`to_dict` made ``data`` of, after checking every part of it.

        Parameters
        ----------
        data
            What :meth:`to_dict` made.
        """
        from treewright.tree.serialize import tree_from_dict

        return tree_from_dict(data)

    # -- display ---------------------------------------------------------------------------

    def _depth_for(self, max_nodes: int) -> int | None:
        """The deepest level up to which at most ``max_nodes`` nodes lie; None for all."""
        if self.n_nodes <= max_nodes:
            return None
        within = np.cumsum(np.bincount(self.node_depth))
        return max(1, int(np.searchsorted(within, max_nodes, side="right")) - 1)

    def __repr__(self) -> str:
        target = self.schema.target
        name = "" if target is None else f"{target.name!r}: "
        return (
            f"<Tree {name}{self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.depth}, "
            f"{int(self.n_samples[0])} rows>"
        )

    def __str__(self) -> str:
        return self.to_text(max_depth=self._depth_for(STR_NODES))

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        from treewright.reporting._page import in_notebook

        return in_notebook(self)
