"""What members say of the rows that they did not see (out of bag, OOB).

A row of a bootstrap sample is left out by about a third of the members (1/e). Their joint answer
for it is an honest one, as from a test set, without holding any row back.

References: Breiman (1996), *Out-of-bag estimation*; Breiman (2001), *Random forests*.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.ensembles.members.bodies import Answer, Body
from treewright.ensembles.members.draws import Draws
from treewright.errors import OutOfBagWarning, ParameterError
from treewright.tree.forest.grow import OutOfBag
from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["OobErrorPath", "OobSums", "check_left_out", "is_flat"]

Floats = NDArray[np.float64]


def check_left_out(draws: Draws, what: str) -> None:
    """Refuse a question about rows left out where none is."""
    if draws.takes_all:
        raise ParameterError(
            f"{what} needs rows that members did not see, but every member sees all of them; set "
            "bootstrap=True, or max_samples below 1.0."
        )


class OobSums:
    """Sums of the out-of-bag answers, member by member.

    Parameters
    ----------
    y
        Class codes, or numbers of shape (n,) or (n, n_outputs).
    n_classes
        0 for regression.
    keep_path
        Whether to note the error after every member.
    """

    def __init__(self, y: NDArray[Any], n_classes: int, keep_path: bool = False) -> None:
        n_outputs = n_classes or (1 if y.ndim == 1 else y.shape[1])
        self._y = y
        self._n_classes = n_classes
        self._keep_path = keep_path
        self.total = np.zeros((len(y), n_outputs))
        self.votes = np.zeros(len(y), np.int64)
        self.errors: list[Floats] = []

    def add(
        self, body: Body, first: int, rows: Any, draws: Draws, kind: Answer, n_threads: int
    ) -> None:
        """Add the answers of ``body``, whose members have numbers from ``first`` on."""
        for k, answer in body.each(rows, kind, range(len(body)), n_threads):
            left_out = draws.left_out(first + k)
            self.total[left_out] += answer[left_out]
            self.votes[left_out] += 1
            if self._keep_path:
                self.errors.append(self._error())

    def absorb(self, found: OutOfBag) -> None:
        """Take the sums that growth went on from :meth:`so_far` with."""
        self.total, self.votes = found.total, found.n_trees.astype(np.int64)
        self.errors.extend(np.array([error]) for error in found.errors)

    def so_far(self) -> OutOfBag:
        """The sums as growth can go on with them."""
        return OutOfBag(self.total, self.votes.astype(np.int32), np.zeros(0))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Rows that some member did not see."""
        return self.votes > 0

    def mean(self) -> Floats:
        """Mean answer for each row; NaN where no member left it out."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.total / self.votes[:, None])

    def _error(self) -> Floats:
        """Error over all known rows and, for classes, over those of each class."""
        known = self.known
        if not self._n_classes:
            mean = self.total[known] / self.votes[known, None]
            residual = self._y.reshape(len(self._y), -1)[known] - mean
            return np.array([np.mean(residual**2) if len(residual) else np.nan])
        y = self._y[known]
        wrong = (np.argmax(self.total[known], axis=1) != y).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = np.bincount(y, minlength=self._n_classes)
            by_class = np.bincount(y, wrong, self._n_classes) / total
            return np.concatenate([[wrong.sum() / len(y)], by_class])

    def warn_unknown(self) -> None:
        """Say how many rows have no answer."""
        n_unknown = int(np.count_nonzero(~self.known))
        if n_unknown:
            warnings.warn(
                f"{n_unknown} of {len(self.votes)} rows were seen by every member, so that they "
                "have no out-of-bag answer; raise n_estimators.",
                OutOfBagWarning,
                stacklevel=4,
            )


def is_flat(errors: list[Floats], n_last: int, tol: float) -> bool:
    """Whether the last ``n_last`` members did not lower the error by the share ``tol``."""
    if len(errors) <= n_last:
        return False
    path = np.array([error[0] for error in errors])
    before, after = np.nanmin(path[:-n_last]), np.nanmin(path[-n_last:])
    return bool(after >= before * (1.0 - tol))


@dataclass(frozen=True, eq=False)
class OobErrorPath:
    """Out-of-bag error against the number of members.

    Parameters
    ----------
    errors
        After 1, 2, … members: error rate or mean squared error, NaN before any row was left out.
    by_class
        Error rates of the rows of each class, one column per class; empty for regression.
    classes
        The classes.

    Examples
    --------
    >>> from treewright import RandomForestClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> forest = RandomForestClassifier(20, random_state=0).fit(iris.data, iris.target)
    >>> path = forest.oob_error_path(iris.data, iris.target)
    >>> len(path.errors), path.by_class.shape
    (20, (20, 3))
    >>> bool(path.errors[-1] < 0.1)
    True
    >>> axes = path.plot()
    >>> path.frame().columns.tolist()
    ['members', 'error', 'error(setosa)', 'error(versicolor)', 'error(virginica)']
    """

    errors: Floats
    by_class: Floats
    classes: tuple[Any, ...]

    @classmethod
    def of(cls, sums: OobSums, classes: tuple[Any, ...]) -> OobErrorPath:
        """The path that sums noted."""
        table = np.array(sums.errors)
        return cls(table[:, 0], table[:, 1:], classes)

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def measure(self) -> str:
        """What the error is."""
        return "error rate" if self.classes else "mean squared error"

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"members": np.arange(1, len(self) + 1), "error": self.errors}
        return columns | {f"error({c})": self.by_class[:, k] for k, c in enumerate(self.classes)}

    def frame(self) -> Any:
        """The path as a data frame."""
        return as_frame(self._columns())

    def _cells(self) -> dict[str, list[str]]:
        # at most some twenty lines, the last among them
        step = max(1, len(self) // 20)
        shown = np.arange(len(self) - 1, -1, -step)[::-1]
        return {
            name: [str(n) for n in values[shown]]
            if name == "members"
            else significant(values[shown], 4)
            for name, values in self._columns().items()
        }

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())

    def _caption(self) -> str:
        return f"Out-of-bag {self.measure} against the number of members"

    def plot(self, ax: Any = None) -> Any:
        """Draw the error, for classes also that of each class, against the number of members.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        n = np.arange(1, len(self) + 1)
        ax.plot(n, self.errors, color="black", label="all rows")
        for k, label in enumerate(self.classes):
            ax.plot(n, self.by_class[:, k], linewidth=1, alpha=0.8, label=str(label))
        if self.classes:
            ax.legend()
        ax.set_xlabel("members")
        ax.set_ylabel(f"out-of-bag {self.measure}")
        return ax
