"""The parameters of voting and stacking, each described once."""

from __future__ import annotations

from numbers import Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from treewright.estimator.parameters import PARAMETERS, VERBOSE, Parameter, options

__all__ = ["STACKING", "VOTING"]

_SHARED: dict[str, Parameter] = {
    "estimators": Parameter(
        [list],
        "list of (str, estimator)",
        "Names and estimators, treewright's or any of scikit-learn's kind. "
        '``set_params(name="drop")`` leaves one out.',
    ),
    "random_state": Parameter(["random_state"], "int or RandomState", "Seed of the rows held out."),
    "n_jobs": Parameter(
        PARAMETERS["n_jobs"].constraints,
        "int",
        "Members fitted at the same time; None is 1, -1 all cores. It does not change the model.",
    ),
    "verbose": VERBOSE,
}

VOTING: dict[str, Parameter] = {
    **_SHARED,
    "voting": Parameter(
        options("hard", "soft"),
        '{"hard", "soft"}',
        'One vote for each member ("hard"), or the mean of their probabilities ("soft").',
    ),
    "weights": Parameter(
        ["array-like", StrOptions({"learned"}), None],
        'array-like of shape (n_members,) or "learned"',
        'What each member counts; None counts all alike. "learned" takes the weights from rows '
        "that were held out of the members: for hard votes the log odds of being right, which is "
        "best for voters that err independently, for means those of least squared error, none "
        "negative (Breiman).",
    ),
    "cv": Parameter(
        ["cv_object"],
        "int, splitter or iterable of splits",
        'Folds that hold rows out, shuffled and stratified (only with ``weights="learned"``); '
        "None is 5.",
    ),
    "flatten_transform": Parameter(
        ["boolean"],
        "bool",
        "Whether ``transform`` of a soft vote gives one matrix, members side by side.",
    ),
}

STACKING: dict[str, Parameter] = {
    **_SHARED,
    "final_estimator": Parameter(
        [HasMethods(["fit", "predict"]), None],
        "estimator",
        "What learns from the members' answers, the blender. None is logistic regression, or "
        "ridge regression for numbers.",
    ),
    "method": Parameter(
        options("out_of_fold", "blending"),
        '{"out_of_fold", "blending"}',
        'Where the blender\'s rows come from. "out_of_fold": members answer for every fold '
        'fitted to the others, and are fitted to all rows in the end. "blending": part A of the '
        "rows trains the members, part B the blender.",
    ),
    "holdout": Parameter(
        [Interval(Real, 0.0, 1.0, closed="neither")],
        "float",
        'Share of the rows that train the blender, part B (only with ``method="blending"``).',
    ),
    "cv": Parameter(
        ["cv_object"],
        "int, splitter or iterable of splits",
        'Folds, shuffled and stratified (only with ``method="out_of_fold"``); None is 5.',
    ),
    "stack_method": Parameter(
        options("auto", "predict_proba", "decision_function", "predict"),
        '{"auto", "predict_proba", "decision_function", "predict"}',
        'What the blender sees of a member; "auto" takes the first of these that it has. Classes '
        "become one column each.",
    ),
    "passthrough": Parameter(
        ["boolean"], "bool", "Whether the blender sees the columns of ``X`` as well."
    ),
}
