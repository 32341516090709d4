"""Judging models: honest figures, each with its interval, and plain words where one misleads.

Users import the functions from :mod:`treewright`: ``evaluate``, ``cross_validate``, ``compare``,
``tune``, ``select_features`` and others.

    model, rows ──► Predictions ──► Evaluation        _folds.py makes Predictions out of fold

``Predictions`` is all that passes between those who run models (``evaluate``, the fold engine)
and those who make figures of what came out. Every prediction belongs to a row and has a weight;
the weights of a row sum to 1, however often it was predicted, so that repeated cross-validation
and the .632 bootstrap need no figures of their own.
"""
