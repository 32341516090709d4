"""The model file: one file for any model, without pickle."""

from treewright.io._model_file import load, save

__all__ = ["load", "save"]
