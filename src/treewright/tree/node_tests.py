"""Significance tests at the nodes: what every tested feature scored there.

Some learners choose the feature of a split by a test and stop where no test is significant.
:class:`NodeTests` keeps what they found, for leaves too, as flat arrays beside the tree's own;
:class:`NodeTestTable` shows it. P-values are kept as logarithms, because those of a large node
are often too small for a number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.errors import ParameterError
from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.show.words import clean, clip, format_number

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["TEST_DTYPES", "NodeTestTable", "NodeTests", "format_p"]

TEST_DTYPES: dict[str, type[np.generic]] = {
    "node": np.int32,
    "feature": np.int32,
    "statistic": np.float64,
    "df": np.float64,
    "log_p": np.float64,
    "log_adjusted_p": np.float64,
}
"""The dtype of every array of :class:`NodeTests`, in field order."""

SHOWN_ROWS = 200
"""Most rows that ``str`` and a notebook show."""


@dataclass(frozen=True, eq=False)
class NodeTests:
    """Tests of single features at nodes, in the order of the nodes.

    Parameters
    ----------
    node, feature
        Where, and of which feature (a column number of the schema).
    statistic
        The test statistic.
    df
        Its degrees of freedom; NaN where its distribution has none.
    log_p, log_adjusted_p
        Natural logarithm of the p-value, and of the one adjusted for the number of tests;
        NaN where none was computed.

    Examples
    --------
    >>> from treewright import CTreeClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tests = CTreeClassifier(max_depth=1).fit(iris.data, iris.target).tree_.tests
    >>> len(tests.node), tests.node[:4].tolist(), tests.feature[:4].tolist()
    (4, [0, 0, 0, 0], [0, 1, 2, 3])
    """

    node: NDArray[np.int32]
    feature: NDArray[np.int32]
    statistic: NDArray[np.float64]
    df: NDArray[np.float64]
    log_p: NDArray[np.float64]
    log_adjusted_p: NDArray[np.float64]

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that copies are read-only too
        return NodeTests, tuple(self.arrays().values())

    def __len__(self) -> int:
        return len(self.node)

    @classmethod
    def of_node(
        cls,
        feature: ArrayLike,
        statistic: ArrayLike,
        df: ArrayLike,
        log_p: ArrayLike,
        log_adjusted_p: ArrayLike,
    ) -> NodeTests:
        """The tests at one node, whose number is not known yet; arrays become read-only."""
        columns = (feature, statistic, df, log_p, log_adjusted_p)
        dtypes = list(TEST_DTYPES.values())[1:]
        arrays = [np.asarray(c, dtype) for c, dtype in zip(columns, dtypes, strict=True)]
        return cls(np.zeros(len(arrays[0]), np.int32), *arrays)

    @classmethod
    def join(cls, parts: Iterable[tuple[int | NDArray[np.int32], NodeTests]]) -> NodeTests:
        """All tests of a tree, from those of single nodes or levels.

        Each part comes with the node, or the nodes that its numbers stand for (−1: gone).
        """
        listed = [(np.atleast_1d(np.asarray(ids, np.int32)), tests) for ids, tests in parts]
        nodes = [ids[tests.node] for ids, tests in listed]
        node = np.concatenate([np.empty(0, np.int32), *nodes])
        order = np.argsort(node, kind="stable")[np.count_nonzero(node < 0) :]
        arrays: dict[str, Any] = {
            name: np.concatenate([np.empty(0, dtype), *(getattr(t, name) for _, t in listed)])
            for name, dtype in TEST_DTYPES.items()
        }
        arrays["node"] = node
        return cls(**{name: array[order] for name, array in arrays.items()})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by field name, in field order."""
        return {name: getattr(self, name) for name in TEST_DTYPES}

    def renumbered(self, new_id: NDArray[np.int32]) -> NodeTests:
        """The tests of nodes that remain, under their new ids; a negative one is gone."""
        node = new_id[self.node]
        kept = node >= 0
        arrays = {name: array[kept] for name, array in self.arrays().items()}
        return NodeTests(**arrays | {"node": node[kept]})

    def p_of_nodes(self, features: NDArray[np.int32]) -> NDArray[np.float64]:
        """Log of the adjusted p-value of ``features[node]``, or the node's least if that is −1.

        NaN for a node without tests.
        """
        log_p = np.full(len(features), np.nan)
        usable = ~np.isnan(self.log_adjusted_p)
        chosen = features[self.node]
        usable &= (chosen < 0) | (chosen == self.feature)
        np.fmin.at(log_p, self.node[usable], self.log_adjusted_p[usable])
        return log_p


@dataclass(frozen=True, eq=False, repr=False)
class NodeTestTable:
    """The tests of a tree for reading: ``frame()``, ``str()`` and a notebook display.

    Parameters
    ----------
    tree
        The tree.
    tests
        Those of its tests that are shown.

    Examples
    --------
    >>> from treewright import CTreeClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tree = CTreeClassifier(max_depth=1).fit(iris.data, iris.target).tree_
    >>> table = tree.node_tests(0)
    >>> frame = table.frame()
    >>> frame.feature.tolist()
    ['Sepal.Length', 'Sepal.Width', 'Petal.Length', 'Petal.Width']
    >>> frame[frame.is_split].feature.tolist()
    ['Petal.Length']
    """

    tree: Tree
    tests: NodeTests

    @classmethod
    def of_tree(cls, tree: Tree, node: int | None) -> NodeTestTable:
        """All tests of a tree, or those of one node."""
        tests = tree.tests
        if tests is None:
            raise ParameterError(
                "node_tests needs a tree whose splits were chosen by tests, but this one was "
                "grown without any; fit a CTree or CHAID estimator."
            )
        if node is None:
            return cls(tree, tests)
        if not 0 <= node < tree.n_nodes:
            raise ParameterError(f"node must be an id from 0 to {tree.n_nodes - 1}, got {node}.")
        only = np.full(tree.n_nodes, -1, np.int32)
        only[node] = node
        return cls(tree, tests.renumbered(only))

    def __len__(self) -> int:
        return len(self.tests)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table as columns of equal length."""
        tests = self.tests
        names = np.array(self.tree.schema.names, dtype=object)
        return {
            "node": tests.node,
            "feature": names[tests.feature],
            "statistic": tests.statistic,
            "df": tests.df,
            "p_value": np.exp(tests.log_p),
            "adjusted_p_value": np.exp(tests.log_adjusted_p),
            "log_p": tests.log_p,
            "log_adjusted_p": tests.log_adjusted_p,
            "is_split": self.tree.splits.feature[tests.node] == tests.feature,
        }

    def frame(self) -> Any:
        """The table as a data frame, one row per test; ``is_split`` marks the feature taken."""
        return as_frame(self.columns())

    def __repr__(self) -> str:
        return f"<{len(self)} tests at the nodes of {self.tree!r}>"

    def __str__(self) -> str:
        if not len(self):
            return "no tests"
        more = self._left_out()
        return text_table(self._cells()) + (f"\n… {more} more" if more else "")

    def _repr_html_(self) -> str:
        more = self._left_out()
        caption = "Tests at the nodes"
        return html_table(self._cells(), caption) + (f"<p>… {more} more</p>" if more else "")

    def _left_out(self) -> int:
        return max(0, len(self) - SHOWN_ROWS)

    def _cells(self) -> dict[str, list[str]]:
        shown = {name: values[:SHOWN_ROWS].tolist() for name, values in self.columns().items()}
        return {
            "node": [str(node) for node in shown["node"]],
            "feature": [clip(clean(name), 30) for name in shown["feature"]],
            "statistic": [f"{x:.4f}" for x in shown["statistic"]],
            "df": ["" if np.isnan(x) else format_number(x) for x in shown["df"]],
            "p": [_p_cell(x) for x in shown["log_p"]],
            "adjusted p": [_p_cell(x) for x in shown["log_adjusted_p"]],
            "": ["chosen" if taken else "" for taken in shown["is_split"]],
        }


def _p_cell(log_p: float) -> str:
    """A p-value with three digits, also where it is too small for a number.

    Examples
    --------
    >>> [_p_cell(x) for x in (0.0, -3.0, -2000.0)]
    ['1', '0.0498', '2.58e-869']
    """
    if np.isnan(log_p):
        return ""
    if log_p > -700:
        return f"{np.exp(log_p):.3g}"
    if log_p == -np.inf:
        return "0"
    exponent = int(np.floor(log_p / np.log(10)))
    return f"{np.exp(log_p - exponent * np.log(10)):.2f}e{exponent}"


def format_p(log_p: float) -> str:
    """A p-value for a text or a picture.

    Examples
    --------
    >>> [format_p(x) for x in (0.0, -3.0, -2000.0)]
    ['p = 1.000', 'p = 0.050', 'p < 0.001']
    """
    p = float(np.exp(log_p))
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
