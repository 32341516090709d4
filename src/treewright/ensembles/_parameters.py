"""The parameters of the ensembles, each described once, as those of the learners are."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions

from treewright.estimator.parameters import PARAMETERS, VERBOSE, Parameter, options

__all__ = ["BAGGING", "CLASSES", "FOREST", "NUMBERS"]

_COUNT = Interval(Integral, 1, None, closed="left")

_SHARED: dict[str, Parameter] = {
    "n_estimators": Parameter([_COUNT], "int", "Number of members."),
    "warm_start": Parameter(
        ["boolean"],
        "bool",
        "Whether a second ``fit`` keeps the members there are and adds to them up to "
        "``n_estimators``, on the same data. The members are those that one fit would have grown.",
    ),
    "random_state": Parameter(
        ["random_state"], "int or RandomState", "Seed of all draws: rows, features, cuts."
    ),
    "n_jobs": Parameter(
        PARAMETERS["n_jobs"].constraints,
        "int",
        "Threads; None is 1, -1 all. Their number does not change the model.",
    ),
    "verbose": VERBOSE,
    "max_samples": Parameter(
        [_COUNT, Interval(RealNotInt, 0.0, None, closed="neither"), None],
        "int or float",
        "Rows drawn for each member: a count, or a share of the rows (of the weight, where "
        "weighted rows are drawn with replacement); None for as many as there are or, without "
        "replacement, 63.2 %, which is what a bootstrap sample has of distinct rows.",
    ),
    "oob_score": Parameter(
        ["boolean", callable],
        "bool or callable",
        "Whether to judge the ensemble by the rows that members did not see; a callable "
        "``f(y_true, y_pred)`` replaces accuracy or R².",
    ),
}

BAGGING: dict[str, Parameter] = {
    **_SHARED,
    "estimator": Parameter(
        [HasMethods(["fit", "predict"]), None],
        "estimator",
        "What is fitted to every sample: a learner of treewright, or any estimator of "
        "scikit-learn's kind. None is the tree of our forests: CART grown to purity, with tests "
        "x <= t.",
    ),
    "max_features": Parameter(
        [_COUNT, Interval(RealNotInt, 0.0, 1.0, closed="right")],
        "int or float",
        "Features drawn for each member: a count or a share.",
    ),
    "bootstrap": Parameter(["boolean"], "bool", "Whether rows are drawn with replacement."),
    "bootstrap_features": Parameter(
        ["boolean"], "bool", "Whether features are drawn with replacement."
    ),
    "method": Parameter(
        [*options("bagging", "pasting", "subspaces", "patches"), None],
        '{"bagging", "pasting", "subspaces", "patches"}',
        'What is drawn, by name: "bagging" draws rows with replacement, "pasting" without (63.2 % '
        'of them), "subspaces" draws half of the features (Ho), "patches" rows and features '
        "(Louppe and Geurts); ``max_samples`` and ``max_features`` change the shares. None leaves "
        "it to the switches above.",
    ),
    "class_weight": Parameter(
        PARAMETERS["class_weight"].constraints,
        PARAMETERS["class_weight"].type,
        PARAMETERS["class_weight"].text
        + " Where rows are drawn, it changes their chance to be drawn.",
    ),
    "aggregation": Parameter(
        options("auto", "mean", "vote"),
        '{"auto", "mean", "vote"}',
        'Mean of the members\' probabilities ("mean"), or one vote for each ("vote"); "auto" '
        "averages where members give probabilities and counts votes where they do not.",
    ),
}

FOREST: dict[str, Parameter] = {
    **_SHARED,
    "bootstrap": Parameter(
        ["boolean"], "bool", "Whether every tree is grown on rows of its own; if not, on all rows."
    ),
    "replace": Parameter(
        ["boolean"], "bool", "Whether rows are drawn with replacement (only with ``bootstrap``)."
    ),
    "redraw": Parameter(
        ["boolean"],
        "bool",
        "Whether more features are drawn where none of those drawn can be split, as scikit-learn "
        "does; if not, the node is a leaf, as in randomForest and ranger, and trees are smaller.",
    ),
    "tree_method": Parameter(
        options("auto", "exact", "hist"),
        '{"auto", "exact", "hist"}',
        'How cuts of continuous features are searched: "exact" tries all, "hist" those between at '
        'most 255 bins in large nodes and all in small ones, "auto" chooses by the size of the '
        "data.",
    ),
    "ccp_alpha": Parameter(
        [Interval(Real, 0.0, None, closed="left")],
        "float",
        "Impurity that a leaf must save; every tree is cut back by its weakest links. 0.0 does "
        "not prune.",
    ),
    "early_stopping": Parameter(
        ["boolean"],
        "bool",
        "Whether to grow no more trees once the out-of-bag error is flat: the last "
        "``n_iter_no_change`` trees did not lower it by ``tol``, relative to its value.",
    ),
    "n_iter_no_change": Parameter(
        [_COUNT], "int", "Trees over which the error is compared (only with ``early_stopping``)."
    ),
    "tol": Parameter(
        [Interval(Real, 0.0, None, closed="left")],
        "float",
        "Least relative decrease of the error that counts (only with ``early_stopping``).",
    ),
    "base": Parameter(
        [HasMethods(["fit", "predict"]), None],
        "estimator",
        "A tree learner of treewright to grow instead of CART, such as ``C45Classifier()`` or "
        "``CTreeClassifier()``. It keeps its own parameters; ``max_features`` features are drawn "
        "at every node.",
    ),
}

CLASSES: dict[str, Parameter] = {
    "criterion": Parameter(
        [StrOptions({"gini", "entropy", "log_loss"})],
        '{"gini", "entropy", "log_loss"}',
        'Impurity that splits lower: Gini\'s index, or entropy ("log_loss" is the same).',
    ),
    "class_weight": Parameter(
        [dict, StrOptions({"balanced", "balanced_subsample"}), None],
        'dict, "balanced" or "balanced_subsample"',
        "Weight of a row of each class, class to number; a class left out has 1. "
        '"balanced" gives every class the same total in the training data, "balanced_subsample" '
        "in the rows drawn for each tree.",
    ),
    "sampling": Parameter(
        [StrOptions({"balanced"}), None],
        '"balanced"',
        '"balanced" draws as many rows of every class for each tree: as the rarest has, or '
        "``max_samples`` in all (Chen, Liaw and Breiman's balanced forest). None draws from all.",
    ),
    "aggregation": Parameter(
        options("mean", "vote"),
        '{"mean", "vote"}',
        "Mean of the trees' probabilities, or one vote for each tree (Breiman).",
    ),
}

NUMBERS: dict[str, Parameter] = {
    "criterion": Parameter(
        [StrOptions({"squared_error", "absolute_error", "poisson"})],
        '{"squared_error", "absolute_error", "poisson"}',
        "Impurity that splits lower: the squared error around the mean, the absolute error "
        "around the median, or half the Poisson deviance around the mean (for counts).",
    ),
    "keep_targets": Parameter(
        ["boolean"],
        "bool",
        "Whether to keep which training rows lie in every leaf, for ``predict_quantiles``.",
    ),
}
