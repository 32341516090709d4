"""Ensembles: many models that decide together.

``bagging``, ``random_forest`` and ``extra_trees`` hold the estimators. What they share: how rows
are drawn (``_draws``), how members are grown (``_members``) and asked (``_bodies``), the fit
(``_ensemble``), and what the rows left out tell (``_oob``, ``_insights``).
"""
