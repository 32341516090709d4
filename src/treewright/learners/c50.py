"""C5.0: trees or voting rules by Quinlan's later program, one or many.

A tree is grown by gain ratio with a charge on cuts, pruned from below by expected errors and then
as a whole within one standard error of its training errors. ``rules=True`` turns the tree into
rules that vote. With ``trials`` models are built one after another on reweighted cases and vote.

It follows the published descriptions and what the recorded runs of the program show; where it parts
from them is said in ``docs/learners/c50.md``. ``subset`` is off as in the command-line program; the
R package has it on.

References: Quinlan (1993), *C4.5: Programs for Machine Learning*; Quinlan (1996), *Bagging,
boosting, and C4.5*, AAAI-96.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from treewright.data.schema import Target
from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.base import Pruned, TreeEstimator
from treewright.estimator.costs import expected_cost_labels
from treewright.estimator.explained import Explained
from treewright.estimator.parameters import (
    OTHER_PRUNING,
    PARAMETERS,
    Parameter,
    keep,
    options,
    parameters,
)
from treewright.estimator.progress import reported
from treewright.estimator.scikit import DRAWN
from treewright.estimator.tasks import ClassificationMixin, class_names
from treewright.estimator.training import Training, threads
from treewright.learners._c50.model import Learned, learn, probability
from treewright.learners._c50.soft import is_soft, soft_bounds
from treewright.learners._c50.summary import summary
from treewright.learners._c50.tree import settings_of, tree_recipe
from treewright.learners._c50.votes import leaf_probability, votes_sum
from treewright.learners._c50.winnow import Winnowed
from treewright.rules import RuleSet
from treewright.tree.additive import Additive, tree_sum
from treewright.tree.growing.recipe import Recipe
from treewright.tree.tree import Tree

__all__ = ["C50Classifier"]


@parameters(
    trials=Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        "Most models to build by boosting; 1 builds a single one.",
    ),
    rules=Parameter([bool], "bool", "Turn each tree into a set of rules that vote."),
    bands=Parameter(
        [Interval(Integral, 2, 10000, closed="both"), None],
        "int",
        "Order the rules by their utility on the training rows, and report the errors of the most "
        "useful ones in that many steps. Only with ``rules=True`` and ``trials=1``.",
    ),
    subset=Parameter([bool], "bool", "Group the categories of nominal features in tests."),
    confidence=Parameter(
        [Interval(Real, 0.0, 1.0, closed="right")],
        "float",
        "Confidence of the upper limit of a leaf's errors; smaller values prune more.",
    ),
    min_samples_leaf=Parameter(
        [Interval(Real, 0.0, None, closed="neither")],
        "float",
        "Weight that at least two branches of a test must have: the number of rows, where they "
        "have no weights.",
    ),
    pruning=Parameter(
        [*PARAMETERS["pruning"].constraints, *options("c50")],
        "str or callable",
        'How grown trees are cut back: "c50" as the program does, by expected errors and then '
        '(``global_pruning``) as a whole; "cost_complexity" by weakest links; '
        + OTHER_PRUNING
        + "; by a function of yours from Tree to Tree; or not at all.",
    ),
    global_pruning=Parameter(
        [bool],
        "bool",
        "Prune the whole tree, too, within one standard error of its training errors. Never done "
        'with ``costs``, nor where ``pruning`` is not "c50".',
    ),
    soft_thresholds=Parameter(
        [bool],
        "bool",
        "Let values near a cut take both branches. Only for trees.",
    ),
    winnow=Parameter(
        [bool],
        "bool",
        "Leave out features that do not seem to help, judged on two halves of the rows.",
    ),
    precision=Parameter(
        options("double", "single"),
        '{"double", "single"}',
        "How values are compared where a cut is placed: in double precision, or in single "
        "precision as the program does, to have its trees to the bit. In single precision values "
        "that agree in seven digits (times in seconds, identifiers) are one.",
    ),
    earlystop=Parameter(
        [bool],
        "bool",
        "End boosting with a model that is without errors, or hardly better than a guess.",
    ),
    costs=Parameter(
        ["array-like", dict, None],
        "array-like of shape (n_classes, n_classes) or dict of dicts",
        "``costs[i, j]`` of predicting class j for class i, in the order of ``classes_`` (the R "
        "package has predicted classes in rows). Of two classes the dearer one weighs more in "
        "training; with more, costs act on predictions alone.",
    ),
    random_state=Parameter(
        ["random_state"],
        "int or RandomState",
        "Seed of the halves of ``winnow``, and of rows held out and folds for pruning.",
    ),
)
class C50Classifier(ClassificationMixin, TreeEstimator):
    """Classification by C5.0: a tree, rules that vote, or a boosted sequence of either.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of Tree or RuleSet
        The models that vote; one without boosting.
    tree_ : Tree
        The first tree, also where rules were made of it; ``apply``, ``decision_path``, ``trace``
        and ``feature_importances_`` are about it.
    rules_ : RuleSet
        The first rule set (with ``rules=True``).
    attribute_usage_ : ndarray of shape (n_features,)
        Share of the training rows whose class was decided with each feature.
    winnowed_ : ndarray of shape (n_features,)
        Which features winnowing left out.
    {attributes}

    See Also
    --------
    C45Classifier : Its predecessor.
    treewright.rules.RuleSet : What rule sets can do.

    References
    ----------
    Quinlan (1993), *C4.5: Programs for Machine Learning*. Quinlan (1996), *Bagging, boosting, and
    C4.5*, AAAI-96.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import C50Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = C50Classifier(rules=True).fit(X, y)
    >>> print(model.rules_)
    Rule 1: (50, lift 2.9)
        petal length (cm) <= 1.9
        -> class 0  [0.981]
    <BLANKLINE>
    Rule 2: (48/1, lift 2.9)
        petal length (cm) > 1.9
        petal length (cm) <= 4.9
        petal width (cm) <= 1.7
        -> class 1  [0.960]
    <BLANKLINE>
    Rule 3: (46/1, lift 2.9)
        petal width (cm) > 1.7
        -> class 2  [0.958]
    <BLANKLINE>
    Rule 4: (46/2, lift 2.8)
        petal length (cm) > 4.9
        -> class 2  [0.938]
    <BLANKLINE>
    Default class: 0
    >>> C50Classifier(trials=10).fit(X, y).score(X, y)
    1.0
    """

    estimators_: list[Tree | RuleSet]
    attribute_usage_: NDArray[np.float64]
    winnowed_: NDArray[np.bool_]
    _report: Learned

    _own_pruning = "c50"

    def __init__(
        self,
        *,
        trials: int = 1,
        rules: bool = False,
        bands: int | None = None,
        subset: bool = False,
        confidence: float = 0.25,
        min_samples_leaf: float = 2,
        min_significance: float | None = None,
        pruning: str | Callable[[Tree], Tree] | None = "c50",
        pruning_options: Mapping[str, Any] | None = None,
        global_pruning: bool = True,
        soft_thresholds: bool = False,
        winnow: bool = False,
        precision: Literal["double", "single"] = "double",
        earlystop: bool = True,
        costs: ArrayLike | Mapping[Any, Mapping[Any, float]] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        random_state: Any = None,
        keep_counts: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Build trees or rule sets.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed.
        y : array-like of shape (n_samples,)
            The classes, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at least 0; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        with reported(self, X, y, sample_weight) as progress:
            self._validate()
            training = self._encode(X, y, sample_weight)
            learned = learn(self, training, progress)
            pruned = self._counted(Pruned(learned.tree), training)
            models = [pruned.tree if model is learned.tree else model for model in learned.models]
            self._store(pruned, training)
            return self._keep_models(replace(learned, tree=pruned.tree, models=models))

    def _validate(self) -> None:
        super()._validate()
        if self.bands is not None and (not self.rules or self.trials > 1):
            raise ParameterError(
                f"bands orders the rules of one set, got bands={self.bands} with "
                f"rules={self.rules} and trials={self.trials}; use rules=True and trials=1, or "
                "bands=None."
            )
        if self.soft_thresholds and self.rules:
            raise ParameterError(
                "soft_thresholds are those of a tree, got them with rules=True; choose one."
            )

    def _weights_differ(self) -> str | None:
        return DRAWN if self.winnow else None

    def _recipe(self, training: Training) -> Recipe:
        return tree_recipe(settings_of(self), training.total_weight)

    def _keep_models(self, learned: Learned) -> Self:
        self.estimators_ = learned.models
        self.attribute_usage_ = learned.usage
        n = len(learned.tree.schema)
        found = learned.winnowed
        self.winnowed_ = np.zeros(n, np.bool_) if found is None else found.dropped
        self._report = learned
        first = learned.models[0]
        self.__dict__.pop("rules_", None)
        if isinstance(first, RuleSet):
            self.rules_ = first
        return self

    def rule_set(self) -> RuleSet:
        """The first rule set: ``rules_``, or the first tree as rules.

        Examples
        --------
        >>> from treewright import C50Classifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = C50Classifier().fit(iris.data, iris.target).rule_set()
        >>> len(rules)
        4
        """
        tree = self._fitted()
        return self.rules_ if self.rules else tree.rule_set()

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the most probable one, or the one of least expected cost.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        classes: NDArray[Any]
        found = self.predict_proba(X)
        classes = self.classes_
        return classes[expected_cost_labels(found, self.cost_matrix_)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class: of the leaf, or shares of the votes of rules and models.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        self._fitted()
        table = self._table(X)
        return probability(self.estimators_, table, self.n_classes_, threads(self.n_jobs))

    def _additive(self) -> Additive:
        self._fitted()
        models = self.estimators_
        trees = [model for model in models if isinstance(model, Tree)]
        if not trees:
            return Explained._additive(self)  # rules that vote are no sum
        outputs = class_names(self)
        if len(trees) > 1:
            return votes_sum(trees, outputs)
        probability = leaf_probability(trees[0])
        label = expected_cost_labels(probability, self.cost_matrix_)
        total = tree_sum(trees[0], probability, "probability", outputs, label)
        if not is_soft(trees[0]):
            return total
        return replace(total, parts=(replace(total.parts[0], bounds=soft_bounds(trees[0])),))

    def summary(self) -> str:
        """The report of C5.0: models, sizes, training errors, confusion table, use of features.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from treewright import C50Classifier, datasets
        >>> iris = datasets.load_iris()
        >>> said = C50Classifier().fit(iris.data, iris.target).summary()
        >>> print(said[: said.index("Evaluation")])
        Decision tree:
        <BLANKLINE>
        Petal.Length <= 1.9: setosa (50)
        Petal.Length > 1.9:
        :...Petal.Width > 1.7: virginica (46/1)
            Petal.Width <= 1.7:
            :...Petal.Length <= 4.9: versicolor (48/1)
                Petal.Length > 4.9: virginica (6/2)
        """
        tree = self._fitted()
        names = tree.schema.names
        classes = self.classes_.tolist()
        return summary(self._report, classes, names, self.trials, self.bands or 0)

    # Model files

    def _learned_state(self) -> dict[str, Any]:
        report = self._report
        found = report.winnowed
        return {
            **super()._learned_state(),
            "models": list(self.estimators_),
            "ended": report.ended,
            "errors": report.errors,
            "confusion": report.confusion,
            "usage": report.usage,
            "bands": report.bands,
            "dropped": None if found is None else found.dropped,
            "importance": None if found is None else found.importance,
        }

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        super()._restore_learned(target, learned)
        self._keep_models(_restored(self.tree_, learned))


def _restored(tree: Tree, learned: dict[str, Any]) -> Learned:
    """What ``_learned_state`` gave, checked for what prediction and reports rely on."""
    models, ended = learned["models"], learned["ended"]
    kind = type(models[0]) if isinstance(models, list) and models else None
    fits = kind in (Tree, RuleSet) and all(
        type(model) is kind and model.schema == tree.schema for model in models
    )
    n_classes, n_features = tree.value.shape[1], len(tree.schema)
    shapes = {
        "errors": (len(models) + 1,) if fits else (),
        "confusion": (n_classes, n_classes),
        "usage": (n_features,),
    }
    optional = {
        "bands": (len(models[0]),) if fits else (),
        "dropped": (n_features,),
        "importance": (n_features,),
    }
    shapes |= {name: shape for name, shape in optional.items() if learned[name] is not None}
    if (
        not fits
        or ended not in (None, "accurate", "inaccurate")
        or any(np.shape(learned[name]) != shape for name, shape in shapes.items())
        or any(np.asarray(learned[name]).dtype.kind not in "fb" for name in shapes)
        or (learned["dropped"] is None) != (learned["importance"] is None)
    ):
        raise ModelFileError("its models do not fit its tree")
    found = None
    if learned["dropped"] is not None:
        found = Winnowed(learned["dropped"], learned["importance"])
    return Learned(
        tree,
        models,
        ended,
        learned["errors"],
        learned["confusion"],
        learned["usage"],
        learned["bands"],
        found,
    )
