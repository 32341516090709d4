"""The parameters of gradient boosting, each described once."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions

from treewright.ensembles._parameters import FOREST
from treewright.estimator.parameters import PARAMETERS, Parameter, options

__all__ = ["BOOSTING", "CLASSES", "NUMBERS"]

_COUNT = Interval(Integral, 1, None, closed="left")
_AT_LEAST_ZERO = Interval(Real, 0.0, None, closed="left")
_SHARE = [Interval(Real, 0.0, 1.0, closed="right")]

BOOSTING: dict[str, Parameter] = {
    "learning_rate": Parameter(
        [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"})],
        'float or "auto"',
        'What of each tree\'s values is added to the scores. "auto" fits it to the rounds: '
        "10 / ``n_estimators``, from 10 000 rows on 20 / ``n_estimators``, but at most 0.5; with "
        '``n_estimators="auto"`` and fewer rows it is 0.05 where rows that no tree sees judge.',
    ),
    "n_estimators": Parameter(
        [_COUNT, StrOptions({"auto"})],
        'int or "auto"',
        'Most rounds; early stopping may end before. "auto" lets data of fewer than 10 000 rows '
        "choose: at most 800 rounds, by cross-validation inside the fit (from 50 rows on) or by "
        "rows that judge; otherwise it is 300.",
    ),
    "growth": Parameter(
        options("auto", "leaf", "depth", "symmetric"),
        '{"auto", "leaf", "depth", "symmetric"}',
        'Which leaf is split next: the one that gains most ("leaf"), level by level ("depth"), or '
        'all leaves of a level by one test ("symmetric"). "auto" is "leaf", or "symmetric" where '
        "cross-validation chooses the rounds and finds it better.",
    ),
    "max_leaf_nodes": Parameter(
        [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        'int or "auto"',
        'Most leaves of a tree; None for no limit. "auto" is the root of the number of rows over '
        "3.2, from 8 to 63, and of symmetric trees that cross-validation tries 32, from 1 500 rows "
        "on 64. Symmetric trees have the next lower power of two.",
    ),
    "max_depth": PARAMETERS["max_depth"],
    "min_samples_leaf": Parameter([_COUNT], "int", "Rows that every leaf needs."),
    "min_child_weight": Parameter(
        [_AT_LEAST_ZERO], "float", "Sum of hessians that every leaf needs."
    ),
    "l1_regularization": Parameter(
        [_AT_LEAST_ZERO], "float", "Taken off the sum of gradients of a leaf, towards 0."
    ),
    "l2_regularization": Parameter(
        [_AT_LEAST_ZERO, StrOptions({"auto"})],
        'float or "auto"',
        'Added to the sum of hessians of a leaf; "auto" is 3 (exact trees take none).',
    ),
    "min_gain": Parameter([_AT_LEAST_ZERO], "float", "What a split must lower the loss by."),
    "max_bins": Parameter(
        [Interval(Integral, 2, 255, closed="both")],
        "int",
        "Most bins that a column is cut into; gaps have one more.",
    ),
    "tree_method": Parameter(
        options("hist", "exact"),
        '{"hist", "exact"}',
        'How cuts are searched: between bins ("hist"), or by CART between all values ("exact", '
        "Friedman's algorithm; without regularisation, sampling and constraints).",
    ),
    "subsample": Parameter(_SHARE, "float", "Share of the rows that a round's trees see."),
    "sampling": Parameter(
        options("uniform", "mvs", "goss"),
        '{"uniform", "mvs", "goss"}',
        "How the rows of a round are drawn: all with the same chance; by the size of their slope "
        '("mvs"); or half of them by the largest gradients and the rest by chance ("goss").',
    ),
    "max_features": Parameter(
        [*_SHARE, StrOptions({"auto"})],
        'float or "auto"',
        'Share of the features that a node may be split by; "auto" is one half (exact trees: all).',
    ),
    "max_features_per_tree": Parameter(_SHARE, "float", "Share of the features that a tree sees."),
    "max_features_per_level": Parameter(
        _SHARE, "float", "Share of the tree's features that one of its levels sees."
    ),
    "dropout": Parameter(
        [Interval(Real, 0.0, 1.0, closed="left")],
        "float",
        "Chance of every earlier tree to be left out of a round, which is then scaled so that the "
        "sum stays (DART, Rashmi and Gilad-Bachrach 2015).",
    ),
    "monotonic_cst": PARAMETERS["monotonic_cst"],
    "interaction_cst": Parameter(
        ["array-like", None],
        "list of lists of str or int",
        "Groups of features, by name or number, that may be tested on one path; a feature of no "
        "group stays alone. None sets no limits.",
    ),
    "categorical_features": PARAMETERS["categorical_features"],
    "ordinal_features": PARAMETERS["ordinal_features"],
    "max_categories": Parameter(
        [_COUNT, None],
        "int",
        "Most categories of a nominal column that trees test by themselves; of more, they see "
        "ordered target statistics. None: the ``max_bins`` most frequent ones are tested, others "
        "count as gaps.",
    ),
    "categorical_smoothing": Parameter(
        [_AT_LEAST_ZERO],
        "float",
        "Added to the hessians of each category where categories are put in order; rows that the "
        "mean of all counts for in target statistics.",
    ),
    "categorical_l2": Parameter(
        [_AT_LEAST_ZERO],
        "float",
        "Added to ``l2_regularization`` where a subset of more than two categories is judged.",
    ),
    "init": Parameter(
        [StrOptions({"prior", "zero"}), HasMethods(["fit", "predict"])],
        '{"prior", "zero"} or estimator',
        "Where scores begin: at the best constant, at 0, or at what an estimator predicts that is "
        "fitted to the training rows first.",
    ),
    "warm_start": Parameter(
        ["boolean"],
        "bool",
        "Whether a second ``fit`` keeps the rounds there are and adds to them up to "
        '``n_estimators`` (with "auto" to those that were chosen first), on the same data.',
    ),
    "early_stopping": Parameter(
        ["boolean", StrOptions({"auto"})],
        'bool or "auto"',
        "Whether to end when rows that the trees do not see gain nothing more, and keep the best "
        'rounds. "auto": with an ``eval_set``, or from 10 000 rows on; below, folds may choose the '
        "rounds (``n_estimators``), which False prevents.",
    ),
    "validation_fraction": Parameter(
        [Interval(RealNotInt, 0.0, 1.0, closed="neither"), _COUNT],
        "float or int",
        "Rows set aside for early stopping, a share or a count (not with an ``eval_set``).",
    ),
    "n_iter_no_change": Parameter([_COUNT], "int", "Rounds without a gain that end the fit."),
    "tol": Parameter([_AT_LEAST_ZERO], "float", "Least gain that counts."),
    "scoring": Parameter(
        [str, callable],
        "str or callable",
        'What early stopping looks at: "loss", a scorer of scikit-learn by name, or a callable '
        "``scorer(estimator, X, y)``, the larger the better.",
    ),
    "snapshot": Parameter(
        [str, HasMethods(["__fspath__"]), None],
        "path",
        "File to which the fit is written every ``every`` rounds; a fit that finds it there goes "
        "on from it to the same model. Removed at the end.",
    ),
    "every": Parameter([_COUNT], "int", "Rounds between two snapshots."),
    "verbose": Parameter(
        ["verbose"], "int", "Rounds between two lines about the loss; 0 for none."
    ),
    "random_state": Parameter(
        ["random_state"], "int or RandomState", "Seed of all draws: rows, features, dropped trees."
    ),
    "n_jobs": FOREST["n_jobs"],
}

CLASSES: dict[str, Parameter] = {
    "loss": Parameter(
        [StrOptions({"log_loss", "exponential"}), callable],
        '{"log_loss", "exponential"} or callable',
        "What is lowered: logistic loss (for more than two classes multinomial), the exponential "
        "loss of AdaBoost (two classes), or a function ``f(y, score)`` that returns gradient and "
        "hessian of each row's loss in its score; ``y`` holds class numbers.",
    ),
    "class_weight": PARAMETERS["class_weight"],
}

NUMBERS: dict[str, Parameter] = {
    "loss": Parameter(
        [
            StrOptions(
                {
                    "squared_error",
                    "absolute_error",
                    "huber",
                    "quantile",
                    "poisson",
                    "gamma",
                    "tweedie",
                }
            ),
            callable,
        ],
        "str or callable",
        'What is lowered: "squared_error", "absolute_error", "huber", "quantile", "poisson", '
        '"gamma" or "tweedie"; the last three predict means through their logarithm. A function '
        "``f(y, score)`` returns gradient and hessian of each row's loss in its score.",
    ),
    "quantile": Parameter(
        [Interval(Real, 0.0, 1.0, closed="neither")],
        "float",
        'The quantile that ``loss="quantile"`` fits.',
    ),
    "alpha": Parameter(
        [Interval(Real, 0.0, 1.0, closed="neither")],
        "float",
        'Share of the residuals that ``loss="huber"`` squares; larger ones count as they are.',
    ),
    "power": Parameter(
        [Interval(Real, 1.0, 2.0, closed="neither")],
        "float",
        'Power of the mean that the variance grows with, for ``loss="tweedie"``.',
    ),
}
