"""What rules decide about rows: by the first that holds, or by the votes of all that do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.errors import DataError
from treewright.rules._matching import make_matcher, table_rows
from treewright.tree.show.rules import Rule

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.data.table import Table

__all__ = ["Decider"]

Floats = NDArray[np.float64]


class Decider:
    """The compiled side of a rule set, made once.

    Arrays over rules have one entry more, that of the default, so that −1 (no rule holds) finds it.
    """

    def __init__(
        self,
        schema: Schema,
        rules: Sequence[Rule],
        default: Any,
        default_value: tuple[float, ...],
    ) -> None:
        target = schema.target
        assert target is not None
        self.matcher = make_matcher((rule.conditions for rule in rules), schema)
        self._vote = np.array([rule.vote for rule in rules], np.float64)
        self._values = np.array([*(rule.value for rule in rules), default_value], np.float64)
        self._n_classes = len(target.classes)
        if not target.is_classification:
            return
        code = {value: i for i, value in enumerate(target.classes)}
        outcomes = [*(rule.outcome for rule in rules), default]
        self._labels = np.array([code[outcome] for outcome in outcomes], np.int32)
        weighted = self._values
        if target.class_factor:
            weighted = weighted * np.asarray(target.class_factor)
        total = weighted.sum(axis=1, keepdims=True)
        sure = np.eye(weighted.shape[1])[self._labels]  # of a rule that covered no row
        self._shares = np.asarray(np.divide(weighted, total, out=sure, where=total > 0))

    def first(self, table: Table, n_threads: int) -> NDArray[np.int32]:
        """The first rule that holds for each row, −1 where none does."""
        try:
            return self.matcher.first(table_rows(table), n_threads)
        except ValueError as error:
            raise DataError(str(error)) from None

    def matches(self, table: Table, n_threads: int) -> csr_matrix:
        """Which rules (columns) hold for which rows."""
        from scipy.sparse import csr_matrix

        indptr, indices = self.matcher.matches(table_rows(table), n_threads)
        ones = np.ones(len(indices), np.int64)
        return csr_matrix((ones, indices, indptr), shape=(table.n_rows, len(self._vote)))

    def coverage(self, table: Table, n_threads: int) -> NDArray[np.int64]:
        """How many rows each rule holds for."""
        one_class = np.zeros(table.n_rows, np.int32)
        return self.matcher.cover(table_rows(table), one_class, np.empty(0), 1, n_threads)[0]

    def first_labels(self, table: Table, n_threads: int) -> NDArray[np.int64]:
        """Class code of the first rule."""
        return np.asarray(self._labels[self.first(table, n_threads)], np.int64)

    def first_shares(self, table: Table, n_threads: int) -> Floats:
        """Class probabilities of the first rule."""
        return np.asarray(self._shares[self.first(table, n_threads)])

    def first_numbers(self, table: Table, n_threads: int) -> Floats:
        """Means of the first rule."""
        return np.asarray(self._values[self.first(table, n_threads)])

    def votes(self, table: Table, n_threads: int) -> Floats:
        """Sum of the votes for each class."""
        votes = np.zeros((len(self._vote), self._n_classes))
        votes[np.arange(len(self._vote)), self._labels[:-1]] = self._vote
        return self.matcher.sums(table_rows(table), votes, n_threads)

    def vote_labels(self, table: Table, n_threads: int) -> NDArray[np.int64]:
        """Class code with the most votes, the default's without any."""
        votes = self.votes(table, n_threads)
        won = np.where(votes.any(axis=1), votes.argmax(axis=1), self._labels[-1])
        return np.asarray(won, np.int64)

    def vote_shares(self, table: Table, n_threads: int) -> Floats:
        """Shares of the votes, the default's probabilities without any."""
        votes = self.votes(table, n_threads)
        total = votes.sum(axis=1, keepdims=True)
        default = np.broadcast_to(self._shares[-1], votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=default, where=total > 0))

    def mean_numbers(self, table: Table, n_threads: int) -> Floats:
        """Means of the rules that hold, weighted by their votes."""
        vote = self._vote.reshape(-1, 1)
        weighted = np.ascontiguousarray(np.hstack([self._values[:-1] * vote, vote]))
        found = self.matcher.sums(table_rows(table), weighted, n_threads)
        default = np.broadcast_to(self._values[-1], found[:, :-1].shape).copy()
        return np.asarray(
            np.divide(found[:, :-1], found[:, -1:], out=default, where=found[:, -1:] > 0)
        )
