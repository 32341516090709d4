"""Ensembles: many models that decide together.

``bagging``, ``random_forest``, ``extra_trees``, ``adaboost``, ``boosting``, ``voting`` and
``stacking`` hold the estimators; users import them from :mod:`treewright`. What forests share: the
fit (``_ensemble``), how rows are drawn and members grown and asked (``members``), and what the rows
left out tell (``insights``).
"""
