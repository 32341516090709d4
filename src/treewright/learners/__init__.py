"""The learners: each a recipe and its parameters, in a file of its own name.

Users import them from :mod:`treewright`. What several share is in the files with a leading
underscore: parameters and their documentation, the two tasks, costs, folds, pruning.
"""
