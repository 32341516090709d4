"""C4.5's rules: a tree grown by C4.5, told as an ordered list of rules.

The unpruned tree is only a source of rules: conditions are dropped from each where that does not
raise its pessimistic error rate, and a few rules of each class are kept. The list is read from
the top; the first rule that holds decides, the default class where none does. A condition on a
gap is false.

It follows c4.5rules of release 8, as far as the book, a paper and the program's output tell how it
works; ``docs/comparisons/c45rules.md`` says how far. What differs on purpose: rules are counted on
words of 64 rows, so that the time stays far from the square of the rows.

References: Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 5; Quinlan (1995), *MDL
and categorical theories (continued)*, ICML-95.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from treewright.errors import ModelFileError
from treewright.estimator.base import Pruned, TreeEstimator
from treewright.estimator.explained import Explained
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.tasks import ClassificationMixin
from treewright.estimator.training import Training, threads
from treewright.learners.c45 import VARIANT, C45Classifier
from treewright.pruning._error_based import error_rules
from treewright.rules import RuleSet
from treewright.rules._candidates import ErrorRules, TrainingRows
from treewright.rules._learn import learn_rules

if TYPE_CHECKING:
    from typing import Self

    from treewright.data.schema import Target
    from treewright.estimator.progress import Progress
    from treewright.tree.additive import Additive
    from treewright.tree.growing.recipe import Recipe
    from treewright.tree.tree import Tree

__all__ = ["C45Rules"]


@parameters(
    confidence=Parameter(
        [Interval(Real, 0.0, 1.0, closed="right")],
        "float",
        "Confidence of the upper limit of a rule's errors; smaller values drop fewer conditions.",
    ),
    theory_share=Parameter(
        [Interval(Real, 0.0, None, closed="left")],
        "float",
        "Weight of the bits that the rules take against those of their exceptions; larger values "
        "keep fewer rules.",
    ),
    min_samples_leaf=Parameter(
        [Interval(Real, 0.0, None, closed="neither")],
        "float",
        "Weight that at least two branches of a test of the tree must have.",
    ),
    criterion=Parameter(
        options("gain_ratio", "gain"),
        '{"gain_ratio", "gain"}',
        "Choose the tests of the tree by gain ratio, or by information gain alone.",
    ),
    subset=Parameter(
        [bool], "bool", "Group the categories of nominal features in the tests of the tree."
    ),
    variant=VARIANT,
)
class C45Rules(ClassificationMixin, TreeEstimator):
    """Ordered rules made from a tree by C4.5.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    rules_ : RuleSet
        The rules, which predict.
    tree_ : Tree
        The unpruned tree that they were made from; ``apply``, ``decision_path``, ``trace`` and
        ``feature_importances_`` are about it.
    {attributes}

    See Also
    --------
    C45Classifier : The tree itself, pruned.
    treewright.rules.RuleSet : What ``rules_`` can do.

    References
    ----------
    Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import C45Rules
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = C45Rules().fit(X, y)
    >>> print(model.rules_)
    Rule 1:
        petal width (cm) <= 0.6
        -> class 0  [97.3%]
    <BLANKLINE>
    Rule 2:
        petal width (cm) > 0.6
        petal width (cm) <= 1.7
        petal length (cm) <= 4.9
        -> class 1  [94.6%]
    <BLANKLINE>
    Rule 3:
        petal width (cm) > 1.7
        -> class 2  [94.4%]
    <BLANKLINE>
    Rule 4:
        petal length (cm) > 4.9
        -> class 2  [91.8%]
    <BLANKLINE>
    Default class: 0
    """

    rules_: RuleSet

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        theory_share: float = 0.5,
        min_samples_leaf: float = 2,
        criterion: Literal["gain_ratio", "gain"] = "gain_ratio",
        subset: bool = False,
        variant: Literal["c45", "release8"] = "c45",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        keep_counts: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _tree_learner(self) -> C45Classifier:
        return C45Classifier(
            min_samples_leaf=self.min_samples_leaf,
            criterion=self.criterion,
            subset=self.subset,
            variant=self.variant,
            pruning=None,
            n_jobs=self.n_jobs,
        )

    def _recipe(self, training: Training) -> Recipe:
        return self._tree_learner()._recipe(training)

    def _prune(self, tree: Tree, training: Training, progress: Progress | None = None) -> Pruned:
        return self._tree_learner()._prune(tree, training, progress)

    def _store(self, pruned: Pruned, training: Training) -> Self:
        found = error_rules(self.confidence, "release8", subtree_raising=False)
        rows = TrainingRows(
            training.table,
            training.y,
            training.sample_weight,
            len(training.target.classes),
            threads(self.n_jobs),
        )
        errors = ErrorRules(found["confidence"], found["z"], found["tail"])
        rules = learn_rules(pruned.tree, rows, errors, self.theory_share)
        super()._store(pruned, training)
        self.rules_ = rules
        return self

    def to_html(  # type: ignore[override]
        self, *, title: str | None = None
    ) -> str:
        """The rules as a page: one HTML file that loads nothing.

        Parameters
        ----------
        title : str, default=None
            Title of the page; by default what the rules predict.

        Returns
        -------
        page : str

        Examples
        --------
        >>> from treewright import C45Rules, datasets
        >>> iris = datasets.load_iris()
        >>> C45Rules().fit(iris.data, iris.target).to_html()[:15]
        '<!DOCTYPE html>'
        """
        return self.rule_set().to_html(title=title)

    def rule_set(self) -> RuleSet:
        """The rules, ``rules_``.

        Examples
        --------
        >>> from treewright import C45Rules, datasets
        >>> iris = datasets.load_iris()
        >>> rules = C45Rules().fit(iris.data, iris.target).rule_set()
        >>> print(rules[0])
        Petal.Width <= 0.6 → setosa  (n 50, 0.97)
        """
        self._fitted()
        return self.rules_

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: that of the first rule that holds, or the default.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        self._fitted()
        labels = self.rules_.labels_of(self._table(X), threads(self.n_jobs))
        classes: NDArray[Any] = self.classes_
        return classes[labels]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of each class among the training rows of the deciding rule, or of the default.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        self._fitted()
        return self.rules_.probability_of(self._table(X), threads(self.n_jobs))

    def _additive(self) -> Additive:
        return Explained._additive(self)  # rules in an order are no sum

    def _learned_state(self) -> dict[str, Any]:
        return {**super()._learned_state(), "rules": self.rules_}

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        super()._restore_learned(target, learned)
        rules = learned["rules"]
        if (
            type(rules) is not RuleSet
            or rules.schema.features != self.tree_.schema.features
            or rules.classes.tolist() != np.asarray(self.classes_).tolist()
        ):
            raise ModelFileError("its rules do not fit its tree")
        self.rules_ = rules
