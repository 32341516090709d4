"""MARS: a model that is a sum of products of hinges.

    Table ─predictors─► matrix ─forward─► Basis ─prune─► Subsets ─fit─► coefficients

``_predictors.py`` turns columns into numbers, ``kernels/mars.py`` adds terms, ``_prune.py`` takes
them away again, ``_solve.py`` finds the coefficients. A fitted model is a :class:`Basis` and one
row of coefficients per output; what shows it is in ``_show.py``, ``_plot.py`` and ``_python.py``.
"""
