"""ID3: a branch for every value of the feature that gains most information.

Nominal and ordinal features have a branch for each declared category, and a feature is tested
at most once on a path. A branch that no training row takes is a leaf with the majority class
of its parent. Growth ends at pure nodes, where no feature gains anything, and where none is
left; nothing is pruned unless ``pruning`` says so.

ID3 knows nominal features without gaps only. Continuous ones are therefore cut into intervals
(``discretize``): at each node by Fayyad and Irani's description length, or once before growth
into bins of equal width or weight. For gaps ``missing`` offers what Quinlan (1986, section 6)
found best, a share of the row down every branch, and two plainer ways. Of several features that
gain the same, the first wins.

References: Quinlan (1986), *Induction of Decision Trees*, Machine Learning 1; Fayyad and Irani
(1993), *Multi-interval Discretization of Continuous-Valued Attributes*, IJCAI-93.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from treewright.data.binning import BINNINGS, bin_table, table_edges
from treewright.data.schema import Target
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.base import Pruned, TreeEstimator, prune_by
from treewright.estimator.parameters import (
    OTHER_PRUNING,
    PARAMETERS,
    Parameter,
    keep,
    options,
    parameters,
)
from treewright.estimator.scikit import PURE
from treewright.estimator.tasks import ClassificationMixin
from treewright.estimator.training import Training
from treewright.tree.binned import unbin
from treewright.tree.growing.recipe import Recipe
from treewright.tree.growing.stopping import samples_to_split
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.estimator.progress import Progress

__all__ = ["ID3Classifier"]

DEFAULT_BINS = 10


@parameters(
    discretize=Parameter(
        [*options("mdl", *BINNINGS), None],
        '{"mdl", "equal_width", "equal_frequency"}',
        'How continuous features become intervals. "mdl": at each node, as many as pay for '
        'their description (Fayyad and Irani), none where no cut pays. "equal_width" and '
        '"equal_frequency": ``n_bins`` bins of one width, or of about the same weight, fixed '
        "before growth. None refuses continuous features.",
    ),
    n_bins=Parameter(
        [Interval(Integral, 2, 1000, closed="both"), None],
        "int",
        'Bins of each continuous feature with ``discretize="equal_width"`` and '
        '"equal_frequency"; None for 10.',
    ),
    pruning=Parameter(
        PARAMETERS["pruning"].constraints,
        "str or callable",
        'How the grown tree is cut back, if at all: "cost_complexity" by its weakest links; '
        + OTHER_PRUNING
        + "; or by a function of yours from Tree to Tree.",
    ),
    random_state=Parameter(
        ["random_state"], "int or RandomState", "Seed of rows held out and folds for pruning."
    ),
    missing=Parameter(
        options("fractional", "own_branch", "majority"),
        '{"fractional", "own_branch", "majority"}',
        'Where a row with a gap in the tested feature goes: "fractional" down every branch with '
        'a share of the weight; "own_branch" to a branch for gaps, where training had some; '
        '"majority" with most rows. A category that training did not have is a gap.',
    ),
)
class ID3Classifier(ClassificationMixin, TreeEstimator):
    """Classification tree with a branch per value, by information gain.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    bin_edges_ : dict
        Edges of the bins that were fixed before growth, by the feature's name.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of entropy.
    {attributes}

    See Also
    --------
    HuntClassifier : The recipe in your own hands.
    CARTClassifier : Binary splits and pruning.

    References
    ----------
    Quinlan (1986), *Induction of Decision Trees*, Machine Learning 1, 81-106.

    Examples
    --------
    >>> from treewright import ID3Classifier
    >>> from treewright.datasets import load_play_tennis
    >>> days = load_play_tennis()
    >>> model = ID3Classifier().fit(days.data, days.target)
    >>> print(model.tree_.to_text(ascii=True))
    Classification tree for y: 14 rows, 8 nodes, 5 leaves, depth 2
    node, test, n, class, (share of No, Yes); * is a leaf
    <BLANKLINE>
    0 root                     14  Yes  (0.36 0.64)
    1 |- Outlook = Overcast     4  Yes  (0.00 1.00) *
    2 |- Outlook = Rain         5  Yes  (0.40 0.60)
    4 |  |- Wind = Strong       2  No   (1.00 0.00) *
    5 |  `- Wind = Weak         3  Yes  (0.00 1.00) *
    3 `- Outlook = Sunny        5  No   (0.60 0.40)
    6    |- Humidity = High     3  No   (1.00 0.00) *
    7    `- Humidity = Normal   2  Yes  (0.00 1.00) *
    """

    bin_edges_: dict[str, NDArray[np.float64]]

    def __init__(
        self,
        *,
        discretize: Literal["mdl", "equal_width", "equal_frequency"] | None = "mdl",
        n_bins: int | None = None,
        missing: Literal["fractional", "own_branch", "majority"] = "fractional",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0,
        min_significance: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        pruning: str | Callable[[Tree], Tree] | None = None,
        pruning_options: Mapping[str, Any] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        random_state: Any = None,
        keep_counts: bool = True,
        teach: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _validate(self) -> None:
        super()._validate()
        if self.n_bins is not None and self.discretize not in BINNINGS:
            raise ParameterError(
                f"n_bins counts bins that are fixed before growth, got n_bins={self.n_bins} with "
                f"discretize={self.discretize!r}; leave n_bins at None, or choose "
                'discretize="equal_width" or "equal_frequency".'
            )

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Training:
        training = super()._encode(X, y, sample_weight)
        if self.discretize is None:
            _refuse_continuous(training)
        self.bin_edges_ = {}
        if self.discretize in BINNINGS:
            self.bin_edges_ = table_edges(
                training.table,
                training.sample_weight,
                self.discretize,
                DEFAULT_BINS if self.n_bins is None else self.n_bins,
            )
        return training

    def _grow(
        self,
        training: Training,
        progress: Progress | None = None,
        recipe: Recipe | None = None,
    ) -> Tree:
        known = training.table.schema
        edges = {name: e for name, e in self.bin_edges_.items() if name in known.names}
        binned = replace(training, table=bin_table(training.table, edges))
        return unbin(super()._grow(binned, progress, recipe), known, edges)

    def _prune(self, tree: Tree, training: Training, progress: Progress | None = None) -> Pruned:
        return Pruned(prune_by(self.pruning, tree) if callable(self.pruning) else tree)

    def _heaviest_may_lose(self) -> str | None:
        return None if self.discretize == "mdl" else PURE

    def _recipe(self, training: Training) -> Recipe:
        return Recipe(
            criterion="entropy",
            nominal_split="multiway",
            ordinal_split="multiway",
            continuous_split="at_most",
            empty_branches=True,
            intervals=self.discretize == "mdl",
            once=True,
            missing=self.missing,
            max_depth=self.max_depth,
            min_samples_split=samples_to_split(self.min_samples_split, 1, training.n_rows),
            min_gain=self.min_impurity_decrease,
            min_significance=self.min_significance,
            zero_gain=False,
        )

    def _learned_state(self) -> dict[str, Any]:
        return {**super()._learned_state(), "edges": self.bin_edges_}

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        super()._restore_learned(target, learned)
        self.bin_edges_ = _checked_edges(learned["edges"], self.tree_)


def _refuse_continuous(training: Training) -> None:
    for feature in training.table.schema.features:
        if feature.kind == "continuous":
            raise DataError(
                f"ID3 handles nominal features only, but {feature.name!r} is continuous; set "
                'discretize to "mdl", "equal_width" or "equal_frequency", name the column in '
                "categorical_features, or use another learner such as CARTClassifier."
            )


def _checked_edges(edges: Any, tree: Tree) -> dict[str, NDArray[np.float64]]:
    continuous = {f.name for f in tree.schema.features if f.kind == "continuous"}
    if type(edges) is not dict or not set(edges) <= continuous:
        raise ModelFileError("its bins are not those of continuous features")
    for cuts in edges.values():
        if not isinstance(cuts, np.ndarray) or cuts.dtype != np.float64 or cuts.ndim != 1:
            raise ModelFileError("the edges of its bins are not an array of numbers")
        if not np.all(np.isfinite(cuts)) or np.any(np.diff(cuts) <= 0):
            raise ModelFileError("the edges of its bins do not ascend")
    return edges
