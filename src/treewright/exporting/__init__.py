"""Models out into the world: languages, formats and other libraries."""

from treewright.exporting._catboost import from_catboost
from treewright.exporting._export import export
from treewright.exporting._lightgbm import from_lightgbm
from treewright.exporting._sklearn import from_sklearn, to_sklearn
from treewright.exporting._xgboost import from_xgboost

__all__ = [
    "export",
    "from_catboost",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "to_sklearn",
]
