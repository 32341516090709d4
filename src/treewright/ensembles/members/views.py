"""Members as a sequence; trees of a forest as fitted estimators, made when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from treewright.estimator.base import Pruned
from treewright.tree.forest.grow import Forest

__all__ = ["Indexed", "TreeViews"]


class Indexed:
    """An ensemble that is a sequence of its ``estimators_``, as scikit-learn's are."""

    estimators_: Any

    def __len__(self) -> int:
        """Number of members."""
        check_is_fitted(self)
        return len(self.estimators_)

    def __getitem__(self, k: Any) -> Any:
        """Member ``k``, or those of a slice."""
        check_is_fitted(self)
        return self.estimators_[k]

    def __iter__(self) -> Iterator[Any]:
        """The members, one after another."""
        check_is_fitted(self)
        return iter(self.estimators_)

    def __bool__(self) -> bool:
        """True, fitted or not, so that ``model or other`` is what it was without a length."""
        return True


class TreeViews(Sequence[Any]):
    """The trees of ``forest`` as estimators like ``learner``."""

    def __init__(self, forest: Forest, learner: Any, classes: NDArray[Any] | None) -> None:
        self._forest = forest
        self._learner = learner
        self._classes = classes

    def __len__(self) -> int:
        return len(self._forest)

    @overload
    def __getitem__(self, k: int) -> Any: ...
    @overload
    def __getitem__(self, k: slice) -> list[Any]: ...
    def __getitem__(self, k: int | slice) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"there are {len(self)} members, got number {k}")
        tree = self._forest.tree(k % len(self))
        model = clone(self._learner)
        model._keep_target(tree.schema.target, self._classes)
        model._keep(Pruned(tree))
        return model

    def __repr__(self) -> str:
        return f"<{len(self)} members like {self._learner!r}>"
