"""The parameters that both AdaBoost estimators have."""

from __future__ import annotations

from numbers import Real

from sklearn.utils._param_validation import Interval

from treewright.ensembles._parameters import BAGGING
from treewright.estimator.parameters import Parameter, options

__all__ = ["SHARED"]

SHARED = {
    **BAGGING,
    "n_estimators": Parameter(
        BAGGING["n_estimators"].constraints, "int", "Most rounds; each adds a member."
    ),
    "learning_rate": Parameter(
        [Interval(Real, 1e-100, 1e100, closed="both")],
        "float",
        "Factor for the weight of every member: less than 1 learns more slowly, in more rounds.",
    ),
    "method": Parameter(
        options("reweight", "resample"),
        '{"reweight", "resample"}',
        "Give the weights of the rows to the member, or draw as many rows by their weights, for "
        "estimators that take no weights.",
    ),
    "random_state": Parameter(
        ["random_state"], "int or RandomState", "Seed of the draws and of the members."
    ),
}
