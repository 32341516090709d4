"""Files: the model file, and what other programs read."""

from treewright.io._model_file import load, save

__all__ = ["load", "save"]
