"""Judging, comparing, tuning and choosing: honest figures for any scikit-learn estimator."""
