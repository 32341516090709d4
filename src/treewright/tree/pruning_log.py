"""What was cut from a tree and why: one row per cut, in the order in which they were made.

A cut replaces the subtree at a node by a leaf, by one of its branches, or by the answer of its
parent. A row holds the estimate by which the pruner judged the subtree and that of what took its
place; the rule in words stands once per pruner, and rows refer to it by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["LOG_DTYPES", "PruningLog"]

LOG_DTYPES: dict[str, type[np.generic]] = {
    "node": np.int32,
    "was": np.int32,
    "n_samples": np.int64,
    "weight": np.float64,
    "n_leaves": np.int64,
    "before": np.float64,
    "after": np.float64,
    "rule": np.int32,
}
"""The dtype of every array of :class:`PruningLog`, in field order."""

SHOWN_ROWS = 200
"""Most rows that ``str`` and a notebook show."""


@dataclass(frozen=True, eq=False, repr=False)
class PruningLog:
    """The cuts that made a tree what it is.

    Parameters
    ----------
    node
        Where the cut is in this tree; −1 if the place itself was cut away later.
    was
        Its number in the tree that was pruned; −1 if it was grown again in between.
    n_samples, weight
        Training rows at the node, and their weight.
    n_leaves
        Leaves of the subtree that gave way.
    before, after
        Estimate for the subtree, and for what took its place; what is estimated depends on the
        method, and the rule names it.
    rule
        Which of ``rules`` decided.
    rules
        Pairs of the method and its rule in words; also of methods that found nothing to cut.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import pessimistic
    >>> X, y = load_iris(return_X_y=True)
    >>> log = pessimistic(CARTClassifier().fit(X, y).tree_).pruning_log
    >>> len(log), log.frame()["after"].tolist()[-1]
    (1, 1.5)
    """

    node: NDArray[np.int32]
    was: NDArray[np.int32]
    n_samples: NDArray[np.int64]
    weight: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    rule: NDArray[np.int32]
    rules: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that copies are read-only too
        return PruningLog, (*self.arrays().values(), self.rules)

    def __len__(self) -> int:
        return len(self.node)

    @classmethod
    def of(cls, rules: Sequence[tuple[str, str]], **columns: Any) -> PruningLog:
        """A log from columns of any integers and floats; an absent ``rule`` is the first."""
        columns.setdefault("rule", np.zeros(len(columns["node"]), np.int32))
        arrays = {
            name: np.ascontiguousarray(columns[name], dtype) for name, dtype in LOG_DTYPES.items()
        }
        return cls(**arrays, rules=tuple((str(m), str(words)) for m, words in rules))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by field name, in field order."""
        return {name: getattr(self, name) for name in LOG_DTYPES}

    def renumbered(self, new_id: NDArray[np.int32]) -> PruningLog:
        """The log of a tree in which node ``i`` is now ``new_id[i]``; a negative one is gone."""
        node = np.where(self.node >= 0, new_id[self.node], -1).astype(np.int32)
        return PruningLog(**self.arrays() | {"node": node}, rules=self.rules)

    def then(self, later: PruningLog) -> PruningLog:
        """This log, whose nodes are numbered as in the later tree, and a later one after it."""
        ours, theirs = self.arrays(), later.arrays()
        arrays = {name: np.concatenate([ours[name], theirs[name]]) for name in LOG_DTYPES}
        shifted = [self.rule, later.rule + np.int32(len(self.rules))]
        arrays["rule"] = np.concatenate(shifted).astype(np.int32)
        return PruningLog(**arrays, rules=self.rules + later.rules)

    # -- reading ---------------------------------------------------------------------------

    def columns(self) -> dict[str, NDArray[Any]]:
        """The log as columns of equal length."""
        methods = np.array([method for method, _ in self.rules] + [""], dtype=object)
        words = np.array([rule for _, rule in self.rules] + [""], dtype=object)
        return {
            "node": self.node,
            "was": self.was,
            "rows": self.n_samples,
            "weight": self.weight,
            "leaves": self.n_leaves,
            "before": self.before,
            "after": self.after,
            "method": methods[self.rule],
            "rule": words[self.rule],
        }

    def frame(self) -> Any:
        """One row per cut, as a data frame."""
        return as_frame(self.columns())

    def _caption(self) -> str:
        if not self.rules:
            return "Nothing was pruned."
        names = list(dict.fromkeys(method for method, _ in self.rules))
        cuts = "no cut" if not len(self) else "1 cut" if len(self) == 1 else f"{len(self)} cuts"
        return f"Pruned by {', then '.join(names)}: {cuts}"

    def _notes(self) -> list[str]:
        """The rules that decided, or, where none did, all of them."""
        used = set(self.rule.tolist()) or range(len(self.rules))
        notes = [f"{self.rules[k][0]}: {self.rules[k][1]}" for k in sorted(used)]
        left_out = len(self) - SHOWN_ROWS
        return notes + ([f"{left_out} more rows in frame()"] if left_out > 0 else [])

    def _cells(self) -> dict[str, list[str]]:
        shown = {name: values[:SHOWN_ROWS] for name, values in self.columns().items()}
        return {
            "node": ["" if node < 0 else str(node) for node in shown["node"].tolist()],
            "was": ["" if node < 0 else str(node) for node in shown["was"].tolist()],
            "rows": [str(n) for n in shown["rows"].tolist()],
            "leaves": [str(n) for n in shown["leaves"].tolist()],
            "before": significant(shown["before"]),
            "after": significant(shown["after"]),
            "method": list(shown["method"]),
        }

    def __str__(self) -> str:
        table = [text_table(self._cells())] if len(self) else []
        return "\n".join([self._caption(), *table, *self._notes()])

    def __repr__(self) -> str:
        return f"<PruningLog: {self._caption()}>"

    def _repr_html_(self) -> str:
        caption = ". ".join([self._caption(), *self._notes()])
        return html_table(self._cells(), caption)

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimate after each cut against the one before it.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from treewright import CARTClassifier
        >>> from treewright.pruning import pessimistic
        >>> X, y = load_iris(return_X_y=True)
        >>> axes = pessimistic(CARTClassifier().fit(X, y).tree_).pruning_log.plot()
        """
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        for k, (method, _) in enumerate(self.rules):
            mine = self.rule == k
            if mine.any():
                ax.scatter(self.before[mine], self.after[mine], s=12, label=method)
        finite = self.before[np.isfinite(self.before)]
        if len(finite):
            ends = [finite.min(), finite.max()]
            ax.plot(ends, ends, color="0.7", linestyle=":", label="equal")
            ax.legend()
        ax.set_xlabel("estimate for the subtree")
        ax.set_ylabel("estimate for what took its place")
        return ax
