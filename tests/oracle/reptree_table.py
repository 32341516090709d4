"""Errors of reduced-error pruning beside REPTree's: ``python -m tests.oracle.reptree_table``.

REPTree shuffles its rows before it holds a third out, so its trees are chance; errors over the
recorded folds are compared. Ours grow by the same rules (``reptree.py``), hold a stratified third
out by a seed of their own, prune with it and give the leaves the counts of all rows.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.model_selection import train_test_split

from tests.conftest import SHARED
from tests.oracle.recorded import load_recorded, load_runs, recorded_datasets
from tests.oracle.reptree import encoded, predictions, unpruned
from treewright.pruning._reduced_error import prune_by_validation
from treewright.pruning._rows import refit

SEEDS = range(5)
MOST_ROWS = 1000


def fitted(training, seed):
    """A tree grown on two thirds, pruned by the rest, with the leaf values of all rows."""
    rows = np.arange(training.n_rows)
    classes = training.y if training.target.is_classification else None
    stratify = None if classes is None or np.bincount(classes).min() < 2 else classes
    kept, held_out = train_test_split(rows, test_size=1 / 3, random_state=seed, stratify=stratify)
    tree, rest = unpruned(training.take(kept)), training.take(held_out)
    pruned = prune_by_validation(tree, rest.table, rest.y, rest.sample_weight)
    criterion = "entropy" if training.target.is_classification else "squared_error"
    return refit(pruned, training.table, training.y, training.sample_weight, criterion)


def cross_validated(recorded, seed):
    """Loss of every row: an error, or a squared one."""
    training = encoded(recorded)
    loss = np.empty(training.n_rows)
    for train, test in recorded.splits:
        part = training.take(test)
        answer = predictions(fitted(training.take(train), seed), part)
        truth = training.classes[part.y] if training.target.is_classification else part.y.ravel()
        loss[test] = answer != truth if training.target.is_classification else (answer - truth) ** 2
    return loss


def main(names: list[str]) -> None:
    """Print a row for each data set."""
    print("| data set | rows | REPTree | ours | standard error |\n|---|---|---|---|---|")
    for name in names or recorded_datasets(SHARED, "weka"):
        run = load_runs(SHARED, "weka", name)["runs"].get("reptree", {})
        if not 0 < len(run.get("predictions", ())) <= MOST_ROWS or "cv" not in run:
            continue
        recorded = load_recorded(SHARED, "weka", name)
        losses = np.array([cross_validated(recorded, seed) for seed in SEEDS])
        theirs = recorded_error(run["cv"], recorded)
        spread = losses.mean(axis=0).std() / np.sqrt(losses.shape[1])
        print(
            f"| {name} | {losses.shape[1]} | {theirs:.4g} | {losses.mean():.4g} | {spread:.2g} |",
            flush=True,
        )


def recorded_error(cv, recorded):
    """The error, or squared error, of the recorded answers for rows held out."""
    if recorded.y.dtype.kind == "f":
        return float(np.mean((np.array(cv["oof"], float) - recorded.y) ** 2))
    truth = np.array([recorded.classes.index(label) for label in recorded.y])
    return float(np.mean(np.array(cv["oof"]) != truth))


if __name__ == "__main__":
    main(sys.argv[1:])
