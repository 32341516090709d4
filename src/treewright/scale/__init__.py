"""Data larger than memory: predictions from files to files.

Gradient boosting, CART and forests take the same sources in ``fit``: a folder, a pattern, a Dask
frame.
"""

from treewright.scale._predict import Predicted, predict_files

__all__ = ["Predicted", "predict_files"]
