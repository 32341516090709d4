"""Shapley values of trees; the arrays are checked where a tree is made ready for them.

See ``core/explain/``. Twin: ``tests/twins/shap.py``.
"""

from __future__ import annotations

from treewright.kernels._core import TreeExplainer

__all__ = ["TreeExplainer"]
