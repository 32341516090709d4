"""C4.5: multiway trees grown by gain ratio and pruned by expected errors.

Nominal features (ordinal ones too, which C4.5 does not know) have a branch per category and are
used once on a path; continuous ones are cut at a value of the data (x <= t). A test is chosen by
gain ratio among those of at least average information gain, and a cut is charged with the
logarithm of the cuts that were tried. A gap goes down every branch with a share of its weight.

``variant`` names what is followed: the rules of C4.5 in double precision ("c45"), Quinlan's
release 8 to the bit, which has values, weights and scores in single precision, or J48 of Weka.
All differ from the programs in that class labels of tied leaves go to the first class, and from
J48 in that sums do not depend on the order of the rows. In release 8 they do where rows have gaps,
in the last bit; that is followed (``core/quinlan/in_place``) unless rows have weights, features
are drawn or categories are grouped.

References: Quinlan (1993), *C4.5: Programs for Machine Learning*; Quinlan (1996), *Improved use of
continuous attributes in C4.5*, Journal of Artificial Intelligence Research 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Literal

from sklearn.utils._param_validation import Interval

from treewright.errors import ParameterError
from treewright.estimator.base import Pruned, TreeEstimator, prune_by
from treewright.estimator.parameters import (
    OTHER_PRUNING,
    PARAMETERS,
    Parameter,
    keep,
    options,
    parameters,
)
from treewright.estimator.progress import Progress
from treewright.estimator.scikit import DRAWN
from treewright.estimator.tasks import ClassificationMixin
from treewright.estimator.training import Training
from treewright.learners._windowing import best_of_windows
from treewright.pruning._error_based import (
    Variant,
    collapse_training_errors,
    error_rules,
    prune_table,
)
from treewright.tree.growing.recipe import QuinlanRules, Recipe
from treewright.tree.tree import Tree

__all__ = ["C45Classifier"]

J48_TOLERANCE = 1e-6
"""Numbers that J48 takes to be equal."""

TIE = 1e-9
"""Scores that count as equal in double precision, so that rounding does not decide."""

APART = 1e-5
"""Release 8 and J48 do not cut between values that differ by no more."""

VARIANT = Parameter(
    options("c45", "release8"),
    '{"c45", "release8"}',
    'The rules of C4.5 in double precision ("c45"), or Quinlan\'s program, release 8, to the bit: '
    "it keeps values, weights and scores in single precision, so that values that agree in "
    "seven digits (times in seconds, identifiers) are one to it, and does not cut between values "
    "that differ by less than 1e-5.",
)
"""What C4.5's trees and rules follow."""

_TOLERANCE = {"c45": TIE, "release8": 0.0, "j48": J48_TOLERANCE}


@parameters(
    confidence=Parameter(
        [Interval(Real, 0.0, 1.0, closed="right")],
        "float",
        "Confidence of the upper limit of a leaf's errors; smaller values prune more. At most "
        '0.5 for ``variant="j48"``.',
    ),
    min_samples_leaf=Parameter(
        [Interval(Real, 0.0, None, closed="neither")],
        "float",
        "Weight that at least two branches of a test must have: the number of rows, where they "
        "have no weights. A node is split if it has twice as much.",
    ),
    criterion=Parameter(
        options("gain_ratio", "gain"),
        '{"gain_ratio", "gain"}',
        "Choose tests by gain ratio, or by information gain alone.",
    ),
    subset=Parameter(
        [bool],
        "bool",
        "Group the categories of nominal features, as long as that raises the criterion, instead "
        "of giving each a branch.",
    ),
    pruning=Parameter(
        PARAMETERS["pruning"].constraints,
        "str or callable",
        'How the grown tree is cut back: "error_based" by expected errors, as the program does; '
        '"cost_complexity" by its weakest links; '
        + OTHER_PRUNING.replace('"error_based", ', "")
        + "; by a function of yours from Tree to Tree; or not at all.",
    ),
    subtree_raising=Parameter(
        [bool], "bool", "Whether pruning may put the largest branch of a node in its place."
    ),
    collapse=Parameter(
        [bool],
        "bool",
        "Whether subtrees that make no fewer training errors than a leaf are taken away after "
        "growth, whatever ``pruning`` is.",
    ),
    variant=Parameter(
        options("c45", "release8", "j48"),
        '{"c45", "release8", "j48"}',
        VARIANT.text + ' "j48": J48 of Weka.',
    ),
    missing=Parameter(
        options("fractional", "majority"),
        '{"fractional", "majority"}',
        "Where a row with a gap in the tested feature goes: down every branch with a share of "
        "its weight, or with most rows.",
    ),
    trials=Parameter(
        [Interval(Integral, 1, None, closed="left"), None],
        "int",
        "Grow that many trees by windowing, each from a random part of the rows to which those it "
        "misclassifies are added until it is right or no longer gets better; the one with the "
        "fewest expected errors is kept. None grows one tree from all rows.",
    ),
    random_state=Parameter(
        ["random_state"], "int or RandomState", "Seed of the windows (only with ``trials``)."
    ),
)
class C45Classifier(ClassificationMixin, TreeEstimator):
    """Classification tree by C4.5.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the information gained.
    {attributes}

    See Also
    --------
    treewright.pruning.error_based : Its pruning, for any classification tree.
    CARTClassifier : Binary splits and cost-complexity pruning.

    References
    ----------
    Quinlan (1993), *C4.5: Programs for Machine Learning*.

    Examples
    --------
    >>> from treewright import C45Classifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> model = C45Classifier().fit(tennis.data, tennis.target)
    >>> print(model.tree_.to_text(style="c45"))
    Outlook = Overcast: Yes (4.0/1.2)
    Outlook = Rain:
    |   Wind = Strong: No (2.0/1.0)
    |   Wind = Weak: Yes (3.0/1.1)
    Outlook = Sunny:
    |   Humidity = High: No (3.0/1.1)
    |   Humidity = Normal: Yes (2.0/1.0)
    """

    _own_pruning = "error_based"

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        min_samples_leaf: float = 2,
        criterion: Literal["gain_ratio", "gain"] = "gain_ratio",
        subset: bool = False,
        min_significance: float | None = None,
        pruning: str | Callable[[Tree], Tree] | None = "error_based",
        pruning_options: Mapping[str, Any] | None = None,
        subtree_raising: bool = True,
        collapse: bool = True,
        variant: Literal["c45", "release8", "j48"] = "c45",
        missing: Literal["fractional", "majority"] = "fractional",
        trials: int | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
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
        if self.variant == "j48" and self.subset:
            raise ParameterError(
                'subset=True is an option of C4.5, got variant="j48" beside it, which J48 lacks; '
                'use variant="c45".'
            )
        self._error_rules()

    def _weights_differ(self) -> str | None:
        return None if self.trials is None else DRAWN

    def _recipe(self, training: Training) -> Recipe:
        j48, single = self.variant == "j48", self.variant == "release8"
        least = float(self.min_samples_leaf)
        return Recipe(
            criterion="entropy",
            nominal_split="multiway",
            ordinal_split="multiway",
            continuous_split="at_most",
            threshold="data_value32" if single else "data_value",
            threshold_slack=J48_TOLERANCE if j48 else 0.0,
            empty_branches=True,
            missing=self.missing,
            min_weight_leaf=least,
            min_significance=self.min_significance,
            slack=J48_TOLERANCE,
            quinlan=QuinlanRules(
                min_items=least,
                ratio=self.criterion == "gain_ratio",
                subset=self.subset,
                single=single,
                zero_gain=not j48,
                tolerance=_TOLERANCE[self.variant],
                count_rows=j48,
                apart=0.0 if self.variant == "c45" else APART,
            ),
        )

    def _grow(
        self,
        training: Training,
        progress: Progress | None = None,
        recipe: Recipe | None = None,
    ) -> Tree:
        if self.trials is None or recipe is not None:
            return super()._grow(training, progress, recipe)
        whole = self._recipe(training)

        def grow(rows: Any) -> Tree:
            return super(C45Classifier, self)._grow(training.take(rows), None, whole)

        return best_of_windows(training, grow, self._finish, self.trials, self.random_state)

    def _error_rules(self) -> dict[str, Any]:
        followed: Variant = "j48" if self.variant == "j48" else "release8"
        return error_rules(self.confidence, followed, self.subtree_raising)

    def _finish(self, tree: Tree, training: Training) -> Tree:
        """Collapse and prune a grown tree."""
        if self.collapse:
            tree = collapse_training_errors(tree)
        if self.pruning != "error_based":
            return tree
        return prune_table(
            tree,
            training.table,
            training.y,
            training.sample_weight,
            self._error_rules(),
            keep_empty=self.variant != "j48",
        )

    def _before_pruning(self, tree: Tree, training: Training) -> Tree:
        return self._finish(tree, training)

    def _prune(self, tree: Tree, training: Training, progress: Progress | None = None) -> Pruned:
        finished = self._finish(tree, training)
        return Pruned(prune_by(self.pruning, finished) if callable(self.pruning) else finished)
