"""Overhead of cross_validate over scikit-learn's own, on the same folds.

    python benchmarks/judging.py

Both get the same estimator, data and splits. scikit-learn computes one figure, accuracy; ours
keeps classes and probabilities of all rows, and "all figures" makes every one of them with its
interval. Ratios above 1 mean that ours is slower.
"""

from __future__ import annotations

import argparse

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.model_selection import StratifiedKFold
from sklearn.model_selection import cross_validate as theirs
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import take_turns
from treewright import (
    C45Classifier,
    CARTClassifier,
    RandomForestClassifier,
    cross_validate,
    datasets,
)


def contenders(model, X, y, folds):
    """The same work by both, and ours with everything shown."""
    return {
        "scikit-learn": lambda: theirs(model, X, y, cv=folds),
        "cross_validate": lambda: cross_validate(model, X, y, folds=folds),
        "all figures": lambda: cross_validate(model, X, y, folds=folds).frame(),
    }


def main() -> None:
    """Print a table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    credit = datasets.load_german_credit()
    frame = credit.data.to_pandas()
    X, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    cases = {
        "scikit-learn's tree, 569 × 30": (DecisionTreeClassifier(random_state=0), X, y),
        "scikit-learn's forest of 100, 569 × 30": (TheirForest(random_state=0), X, y),
        "CART, 569 × 30": (CARTClassifier(), X, y),
        "CART, German credit (frame)": (CARTClassifier(), frame, credit.target),
        "C4.5, German credit (frame)": (C45Classifier(), frame, credit.target),
        "forest of 100, German credit (frame)": (
            RandomForestClassifier(random_state=0),
            frame,
            credit.target,
        ),
    }
    for name, (model, X, y) in cases.items():
        best = {k: min(v) for k, v in take_turns(contenders(model, X, y, folds), repeats).items()}
        base = best["scikit-learn"]
        told = ", ".join(f"{k} {v / base:.2f}" for k, v in best.items() if k != "scikit-learn")
        print(f"{name}: scikit-learn {base:.3f} s; {told}", flush=True)


if __name__ == "__main__":
    main()
