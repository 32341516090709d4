"""Gradient boosting: losses, rounds, early stopping, and the two estimators."""
