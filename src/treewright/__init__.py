"""treewright: the tree learners of the textbooks, whole, fast and explained.

Trees and rules
    CART, C4.5 (also its rules), C5.0, CHAID, CTree, ID3, Hunt's algorithm with every choice open,
    oblique, optimal, Hoeffding trees, SLIQ and SPRINT; MARS.
Ensembles
    Random forests, extra trees, bagging, AdaBoost, gradient boosting, voting, stacking.
Judging
    ``evaluate``, ``cross_validate``, ``compare``, ``tune``, ``report`` and more.
Files
    ``save`` and ``load``; ``export`` for use without treewright; ``from_sklearn`` and its like.
Rooms
    :mod:`treewright.datasets`, :mod:`treewright.explain`, :mod:`treewright.pruning`,
    :mod:`treewright.rules`, :mod:`treewright.scale` and :mod:`treewright.errors`.

Estimators follow scikit-learn, and take tables with text and gaps as they are:

>>> from treewright import CARTClassifier
>>> model = CARTClassifier(max_depth=2).fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
>>> model.predict([[2.9]])
array(['b'], dtype=object)

Names are imported when they are first used, so that ``import treewright`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from treewright import datasets, errors, explain, pruning, rules, scale
    from treewright.ensembles.adaboost import AdaBoostClassifier
    from treewright.ensembles.adaboost_r2 import AdaBoostRegressor
    from treewright.ensembles.bagging import BaggingClassifier, BaggingRegressor
    from treewright.ensembles.boosting.gradient_boosting import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
    )
    from treewright.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from treewright.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor
    from treewright.ensembles.stacking import StackingClassifier, StackingRegressor
    from treewright.ensembles.voting import VotingClassifier, VotingRegressor
    from treewright.estimator.scikit import expected_failed_checks
    from treewright.evaluation._bias_variance import bias_variance
    from treewright.evaluation._boundary import decision_boundary
    from treewright.evaluation._compare import compare
    from treewright.evaluation._comparison import Comparison
    from treewright.evaluation._cross_validate import cross_validate
    from treewright.evaluation._curves import complexity_curve, learning_curve
    from treewright.evaluation._evaluate import evaluate
    from treewright.evaluation._evaluation import Evaluation
    from treewright.evaluation._generalization import generalization_error
    from treewright.evaluation._intervals import accuracy_interval
    from treewright.evaluation._optimality import optimality_gap
    from treewright.evaluation._threshold import choose_threshold
    from treewright.evaluation._tune import tune
    from treewright.evaluation._tuning import Tuning
    from treewright.evaluation.cost_sensitive import CostSensitiveClassifier
    from treewright.evaluation.selection.selector import FeatureSelector, select_features
    from treewright.exporting import (
        export,
        from_catboost,
        from_lightgbm,
        from_sklearn,
        from_xgboost,
        to_sklearn,
    )
    from treewright.io import load, save
    from treewright.learners.c45 import C45Classifier
    from treewright.learners.c45_rules import C45Rules
    from treewright.learners.c50 import C50Classifier
    from treewright.learners.cart import CARTClassifier, CARTRegressor
    from treewright.learners.chaid import CHAIDClassifier, CHAIDRegressor
    from treewright.learners.ctree import CTreeClassifier, CTreeRegressor
    from treewright.learners.hoeffding import HoeffdingTreeClassifier, HoeffdingTreeRegressor
    from treewright.learners.hunt import HuntClassifier, HuntRegressor
    from treewright.learners.id3 import ID3Classifier
    from treewright.learners.oblique import ObliqueTreeClassifier, ObliqueTreeRegressor
    from treewright.learners.optimal import OptimalTreeClassifier, OptimalTreeRegressor
    from treewright.learners.sliq import SLIQClassifier
    from treewright.learners.sprint import SPRINTClassifier
    from treewright.mars.mars import MARSClassifier, MARSRegressor
    from treewright.reporting._report import Report, report
    from treewright.tree.tree import Tree

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "C45Classifier",
    "C45Rules",
    "C50Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "CTreeClassifier",
    "CTreeRegressor",
    "Comparison",
    "CostSensitiveClassifier",
    "Evaluation",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FeatureSelector",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HoeffdingTreeClassifier",
    "HoeffdingTreeRegressor",
    "HuntClassifier",
    "HuntRegressor",
    "ID3Classifier",
    "MARSClassifier",
    "MARSRegressor",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Report",
    "SLIQClassifier",
    "SPRINTClassifier",
    "StackingClassifier",
    "StackingRegressor",
    "Tree",
    "Tuning",
    "VotingClassifier",
    "VotingRegressor",
    "__version__",
    "accuracy_interval",
    "bias_variance",
    "choose_threshold",
    "compare",
    "complexity_curve",
    "cross_validate",
    "datasets",
    "decision_boundary",
    "errors",
    "evaluate",
    "expected_failed_checks",
    "explain",
    "export",
    "from_catboost",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "generalization_error",
    "learning_curve",
    "load",
    "optimality_gap",
    "pruning",
    "pruning_curve",
    "report",
    "rules",
    "save",
    "scale",
    "select_features",
    "to_sklearn",
    "tune",
]

_HOMES = {
    "AdaBoostClassifier": "treewright.ensembles.adaboost",
    "AdaBoostRegressor": "treewright.ensembles.adaboost_r2",
    "BaggingClassifier": "treewright.ensembles.bagging",
    "BaggingRegressor": "treewright.ensembles.bagging",
    "C45Classifier": "treewright.learners.c45",
    "C45Rules": "treewright.learners.c45_rules",
    "C50Classifier": "treewright.learners.c50",
    "CARTClassifier": "treewright.learners.cart",
    "CARTRegressor": "treewright.learners.cart",
    "CHAIDClassifier": "treewright.learners.chaid",
    "CHAIDRegressor": "treewright.learners.chaid",
    "CTreeClassifier": "treewright.learners.ctree",
    "CTreeRegressor": "treewright.learners.ctree",
    "Comparison": "treewright.evaluation._comparison",
    "CostSensitiveClassifier": "treewright.evaluation.cost_sensitive",
    "Evaluation": "treewright.evaluation._evaluation",
    "ExtraTreesClassifier": "treewright.ensembles.extra_trees",
    "ExtraTreesRegressor": "treewright.ensembles.extra_trees",
    "FeatureSelector": "treewright.evaluation.selection.selector",
    "GradientBoostingClassifier": "treewright.ensembles.boosting.gradient_boosting",
    "GradientBoostingRegressor": "treewright.ensembles.boosting.gradient_boosting",
    "HoeffdingTreeClassifier": "treewright.learners.hoeffding",
    "HoeffdingTreeRegressor": "treewright.learners.hoeffding",
    "HuntClassifier": "treewright.learners.hunt",
    "HuntRegressor": "treewright.learners.hunt",
    "ID3Classifier": "treewright.learners.id3",
    "MARSClassifier": "treewright.mars.mars",
    "MARSRegressor": "treewright.mars.mars",
    "ObliqueTreeClassifier": "treewright.learners.oblique",
    "ObliqueTreeRegressor": "treewright.learners.oblique",
    "OptimalTreeClassifier": "treewright.learners.optimal",
    "OptimalTreeRegressor": "treewright.learners.optimal",
    "RandomForestClassifier": "treewright.ensembles.random_forest",
    "RandomForestRegressor": "treewright.ensembles.random_forest",
    "Report": "treewright.reporting._report",
    "SLIQClassifier": "treewright.learners.sliq",
    "SPRINTClassifier": "treewright.learners.sprint",
    "StackingClassifier": "treewright.ensembles.stacking",
    "StackingRegressor": "treewright.ensembles.stacking",
    "Tree": "treewright.tree.tree",
    "Tuning": "treewright.evaluation._tuning",
    "VotingClassifier": "treewright.ensembles.voting",
    "VotingRegressor": "treewright.ensembles.voting",
    "accuracy_interval": "treewright.evaluation._intervals",
    "compare": "treewright.evaluation._compare",
    "bias_variance": "treewright.evaluation._bias_variance",
    "choose_threshold": "treewright.evaluation._threshold",
    "complexity_curve": "treewright.evaluation._curves",
    "cross_validate": "treewright.evaluation._cross_validate",
    "decision_boundary": "treewright.evaluation._boundary",
    "evaluate": "treewright.evaluation._evaluate",
    "expected_failed_checks": "treewright.estimator.scikit",
    "export": "treewright.exporting",
    "from_catboost": "treewright.exporting",
    "from_lightgbm": "treewright.exporting",
    "from_sklearn": "treewright.exporting",
    "from_xgboost": "treewright.exporting",
    "to_sklearn": "treewright.exporting",
    "generalization_error": "treewright.evaluation._generalization",
    "learning_curve": "treewright.evaluation._curves",
    "load": "treewright.io",
    "optimality_gap": "treewright.evaluation._optimality",
    "pruning_curve": "treewright.evaluation._pruning_curve",
    "report": "treewright.reporting._report",
    "save": "treewright.io",
    "select_features": "treewright.evaluation.selection.selector",
    "tune": "treewright.evaluation._tune",
}
_ROOMS = {"datasets", "errors", "explain", "pruning", "rules", "scale"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = import_module(f"treewright.{name}")
    elif name == "__version__":
        value = _version()
    else:
        raise AttributeError(f"module 'treewright' has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("treewright")
    except PackageNotFoundError:  # run from the source tree
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
