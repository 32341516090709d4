"""Choosing features: scores of every column by eight methods, and a transformer around them.

``filters`` look at one column at a time, ``relief`` at neighbours, ``wrappers`` at a model on
folds, ``boruta`` at a forest with shadows of all columns. Each gives a ``Scored``; ``selector``
keeps it.
"""
