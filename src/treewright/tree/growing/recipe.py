"""Recipe: what makes a learner that learner.

Tests per attribute kind × score × gap policy × stopping. Pruning works on a grown tree and
is described by the estimator. A recipe holds plain values only; it is checked where it is
made, at the estimator.

A growth parameter is one field of :class:`Recipe`, with the name and the form in which the core
reads it (``core/base/parameters.inc``). An estimator whose parameter has the name of a field hands
it on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from treewright.tree.growing.choosing import LevelChooser

__all__ = ["FIELDS", "ClassCosts", "Missing", "ObliqueRules", "QuinlanRules", "Recipe"]

Missing = Literal["learned", "surrogate", "fractional", "own_branch", "majority"]

_GAPS = {"learned": 0, "surrogate": 1, "fractional": 2, "own_branch": 3, "majority": 4}
_NO_LIMIT = 2**31 - 1


def _read_as(default: Any, **forms: Callable[[Any], Any]) -> Any:
    """A field, and what the core gets of it: names, each with what makes its value."""
    return field(default=default, metadata={"core": forms})


def _count(value: int | None) -> int:
    """A number as the core holds it: none is 0, and no tree comes near the largest."""
    return min(int(value or 0), _NO_LIMIT)


def _is(option: str) -> Callable[[Any], bool]:
    return lambda value: value == option


@dataclass(frozen=True)
class QuinlanRules:
    """How the programs of Quinlan choose among the tests of a node.

    Parameters
    ----------
    min_items
        Weight that at least two branches of a test must have.
    ratio
        Choose by gain ratio among the tests of at least average gain; otherwise by gain.
    subset
        Group the categories of nominal features instead of giving each a branch.
    single
        Compute in single precision, as release 8 of C4.5 does; its rounding decides ties, and
        whether a branch has the least weight.
    zero_gain
        Whether a test that gains nothing may win (it does in C4.5, not in J48).
    tolerance
        A later cut or test wins if it is better by more than this.
    count_rows
        Count rows, whatever their weights, where J48 does: a continuous feature is cut only if
        its known values are twice the least weight of a side in number, too, and a nominal one is
        left out of the average gain if its categories are 0.3 times the rows.
    apart
        Values that differ by no more are not cut apart.
    c50
        Follow C5.0 where it parts from C4.5: the charge on cuts, the least gain, scores that are
        almost tied.
    cases
        Rows of the whole training set, where a part of it is grown; 0 for the rows given.
    """

    min_items: float = 2.0
    ratio: bool = True
    subset: bool = False
    single: bool = False
    zero_gain: bool = False
    tolerance: float = 0.0
    count_rows: bool = False
    apart: float = 0.0
    c50: bool = False
    cases: float = 0.0


_METHODS = ("sparse", "stepwise", "given")
_TERMS = (None, "target", "indicators")


@dataclass(frozen=True)
class ObliqueRules:
    """How linear tests of a node are searched, which compete with those of single features.

    Parameters
    ----------
    method
        Where directions come from: ``"sparse"`` random sums and differences of a few columns,
        ``"stepwise"`` changes of one coefficient after another, or ``"given"`` by ``directions``.
    nominal_terms
        How nominal features enter sums: by the target's means, by indicators, or not.
    n_projections
        Random sums at a node; None for two for each column, or for each feature drawn.
    n_restarts, n_jumps
        Random starts, and random directions tried where no coefficient helps, of ``"stepwise"``.
    deletion
        Share of the gain that may be lost for a coefficient less.
    directions
        A function of the columns of a node (a row each, mean 0 and spread 1), its class codes or
        numbers and its weights; it returns directions, one per row.
    """

    method: Literal["sparse", "stepwise", "given"]
    nominal_terms: Literal["target", "indicators"] | None = "target"
    n_projections: int | None = None
    n_restarts: int = 0
    n_jumps: int = 0
    deletion: float = 0.0
    directions: Callable[..., NDArray[np.float64]] | None = None

    @property
    def is_random(self) -> bool:
        """Whether the search draws anything."""
        return self.method == "sparse" or self.n_restarts > 0 or self.n_jumps > 0

    def core_values(self) -> dict[str, Any]:
        """The fields in the form in which the core reads them."""
        return {
            "method": _METHODS.index(self.method),
            "nominal_terms": _TERMS.index(self.nominal_terms),
            "n_projections": _count(self.n_projections),
            "n_restarts": _count(self.n_restarts),
            "n_jumps": _count(self.n_jumps),
            "deletion": float(self.deletion),
            "directions": self.directions,
        }


@dataclass(frozen=True)
class Recipe:
    """Everything the growth loop needs to know.

    Parameters
    ----------
    criterion
        A name in :data:`treewright.criteria.CRITERIA`, or the user's own function: a Python
        callable ``f(left, right) -> scores`` over all cuts of an attribute, or an object with
        an ``address`` (a numba ``cfunc``) called once per cut.
    nominal_split
        ``"subset"``: two branches; ``"multiway"``: one branch per category seen at the node,
        the feature used once on a path.
    ordinal_split
        ``"cut"``: two branches that keep the order; ``"multiway"`` as for nominal.
    continuous_split
        ``"below"``: ``x < midpoint``; ``"at_most"``: ``x <= midpoint``.
    threshold
        Where the cut between two values is: at their ``"midpoint"``, or at the largest value of
        the training set that does not exceed it, compared in double or single precision
        (``"data_value"``, ``"data_value32"``).
    threshold_slack
        By how much a ``"data_value"`` may exceed the midpoint.
    empty_branches
        Whether a multiway split has a branch for every declared category, or only for those
        seen at the node. An empty branch is a leaf with the label of its parent.
    intervals
        Whether a continuous feature is cut, at the node, into as many intervals as pay for their
        description (Fayyad and Irani) instead of two; ``criterion`` must be ``"entropy"``.
    once
        Whether a feature is tested at most once on a path.
    splitter
        ``"best"`` or ``"random"`` (one random cut per feature).
    missing
        What happens to a gap.
    max_surrogates, surrogate_style
        Surrogates kept per node (only with ``missing="surrogate"``); style ``"count"`` ranks by
        rows sent correctly, ``"share"`` by the share of rows known to both.
    surrogate_fallback
        After the surrogates: ``"majority"`` or ``"stop"`` (the row ends at the node).
    surrogate_errors
        Whether a nominal surrogate must send at least two rows wrongly, as in rpart.
    max_exhaustive
        Most categories at a node for which every subset is tried when ordering by rate is not
        known to be optimal (three or more classes).
    min_weight_leaf
        Least weight of a leaf, in units of ``sample_weight``.
    min_gain
        Least weighted impurity decrease, relative to the total weight.
    min_significance
        Largest p-value of the test of independence of target and branch at which a split is
        made; None for no test.
    leaf_price
        Splits that do not lower the risk (share of the total) by more than this per leaf are
        not grown, as weakest-link pruning would cut them again; below 0 all are.
    slack
        Weights that differ by no more count as equal where a node is pure or too light.
    pure_share
        A node is a leaf if no larger share of its weight lies outside its majority class.
    zero_gain
        Whether a split that gains nothing may stand (scikit-learn does so, rpart does not).
    max_features
        Features drawn at each node; None for all.
    redraw
        Whether more features are drawn where none of those drawn can be split (scikit-learn), or
        the node is a leaf then (randomForest). Features that do not vary count as drawn.
    monotonic
        Per feature −1, 0 or 1; None for no constraint.
    quinlan
        Choose as Quinlan's programs do; ``criterion`` must be ``"entropy"``.
    oblique
        Linear tests compete with those of single features; ``criterion`` must be ``"gini"`` or
        ``"squared_error"``, ``missing`` ``"learned"``.
    choose
        A Python chooser instead of the compiled search: a callable entered once per node, or an
        object with ``choose_level``; see :mod:`treewright.tree.growing.choosing`.
    """

    criterion: str | Callable[..., Any]
    nominal_split: Literal["subset", "multiway"] = "subset"
    ordinal_split: Literal["cut", "multiway"] = "cut"
    continuous_split: Literal["below", "at_most"] = _read_as("below", closed=_is("at_most"))
    threshold: Literal["midpoint", "data_value", "data_value32"] = _read_as(
        "midpoint",
        data_thresholds=lambda value: value != "midpoint",
        single_thresholds=_is("data_value32"),
    )
    threshold_slack: float = _read_as(0.0, threshold_slack=float)
    empty_branches: bool = _read_as(False, all_branches=bool)
    intervals: bool = _read_as(False, intervals=bool)
    once: bool = _read_as(False, once=bool)
    splitter: Literal["best", "random"] = _read_as("best", random_cut=_is("random"))
    missing: Missing = _read_as("learned", gaps=_GAPS.__getitem__)  # noqa: RUF009
    max_surrogates: int = _read_as(5, max_surrogates=_count)
    surrogate_style: Literal["count", "share"] = _read_as("count", surrogate_share=_is("share"))
    surrogate_fallback: Literal["majority", "stop"] = _read_as(
        "majority", surrogate_stop=_is("stop")
    )
    surrogate_errors: bool = _read_as(False, surrogate_errors=bool)
    max_exhaustive: int = _read_as(15, max_exhaustive=_count)
    max_depth: int | None = _read_as(
        None, max_depth=lambda value: _NO_LIMIT if value is None else _count(value)
    )
    max_leaf_nodes: int | None = _read_as(None, max_leaves=_count)
    min_samples_split: int = _read_as(2, min_split=_count)
    min_samples_leaf: int = _read_as(1, min_leaf=_count)
    min_weight_leaf: float = _read_as(0.0, min_weight_leaf=float)
    min_gain: float = _read_as(0.0, min_gain=float)
    min_significance: float | None = _read_as(
        None, max_p_value=lambda limit: 1.0 if limit is None else float(limit)
    )
    leaf_price: float = _read_as(-1.0, leaf_price=float)
    slack: float = _read_as(0.0, slack=float)
    pure_share: float = _read_as(0.0, pure_share=float)
    zero_gain: bool = _read_as(True, zero_gain=bool)
    max_features: int | None = _read_as(None, max_features=_count)
    redraw: bool = _read_as(True, redraw=bool)
    monotonic: tuple[int, ...] | None = _read_as(None, monotonic=lambda signs: list(signs or ()))
    quinlan: QuinlanRules | None = _read_as(  # noqa: RUF009
        None,
        quinlan=lambda rules: None if rules is None else asdict(rules),
        single_shares=lambda rules: rules is not None and rules.single,
    )
    oblique: ObliqueRules | None = _read_as(  # noqa: RUF009
        None, oblique=lambda rules: None if rules is None else rules.core_values()
    )
    choose: Callable[..., Any] | LevelChooser | None = None

    def core_values(self) -> dict[str, Any]:
        """The fields under the names and in the form in which the core reads them."""
        return {name: form(getattr(self, field)) for field, name, form in _READ_BY_THE_CORE}


FIELDS = tuple(field.name for field in fields(Recipe))
_READ_BY_THE_CORE = tuple(
    (field.name, name, form)
    for field in fields(Recipe)
    for name, form in field.metadata.get("core", {}).items()
)


@dataclass(frozen=True, eq=False)
class ClassCosts:
    """How class weights become split scores, probabilities and risks.

    Parameters
    ----------
    split_factor
        Multiplies the class weights inside the criterion (priors altered by losses).
    proba_factor
        Multiplies the class weights for probabilities, labels and risks (the priors alone).
    loss
        ``loss[i, j]``: true class i, predicted j; None for 0/1.
    generalized
        Score splits by ``sum loss[i, j] p_i p_j`` instead of Gini's index.
    """

    split_factor: NDArray[np.float64]
    proba_factor: NDArray[np.float64]
    loss: NDArray[np.float64] | None = None
    generalized: bool = False
