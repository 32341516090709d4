"""Reduced-error pruning against the recorded runs of J48 -R -N 3 (Weka 3.6.14).

Nothing is left to chance there: J48 groups the rows by class, deals them out in turns to three
folds and prunes with the last one. It takes cuts from the values of all rows, and the many-values
rule counts all of them. Trees have the recorded number of leaves and predict the recorded classes
on every row of every data set. (REPTree shuffles the rows with Java's generator, so its runs are
not repeated here.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.oracle.recorded import load_recorded, load_runs, load_small, recorded_datasets
from treewright import C45Classifier
from treewright.pruning._reduced_error import prune_by_validation
from treewright.tree.growing.grow import grow
from treewright.tree.predict import node_values

RUN = "j48_reduced_error"
FOLDS = 3
MOST_ROWS = 2500  # larger ones agree as well, and take longer


def dealt_out(y):
    """Rows grouped by class as J48 groups them (by swapping), then dealt to the folds in turns."""
    order, index = list(range(len(y))), 1
    while index < len(y):
        for j in range(index, len(y)):
            if y[order[j]] == y[order[index - 1]]:
                order[index], order[j] = order[j], order[index]
                index += 1
        index += 1
    return np.array([row for start in range(FOLDS) for row in order[start::FOLDS]])


def reduced_error_as_j48(X, y):
    """The tree grown on two folds and pruned on the third, and the table of all rows."""
    order = dealt_out(y.tolist())
    first = len(y) - len(y) // FOLDS
    model = C45Classifier(variant="j48", pruning=None, collapse=False)
    training = model._encode(X, y, None)
    part, held_out = training.take(order[:first]), training.take(order[first:])
    recipe = model._recipe(training)
    recipe = replace(recipe, quinlan=replace(recipe.quinlan, cases=float(len(y))))
    values = [
        np.unique(column[~np.isnan(column)]).astype(float)
        if column.dtype.kind == "f"
        else np.zeros(0)
        for column in training.table.columns
    ]
    tree = grow(part.table, part.y, recipe, target=training.target, cut_values=values)
    return prune_by_validation(tree, held_out.table, held_out.y, None), training


def names():
    if not SHARED.exists():
        return []
    recorded = {name: load_runs(SHARED, "weka", name) for name in recorded_datasets(SHARED, "weka")}
    return [name for name, file in recorded.items() if is_compared(file)]


def is_compared(file):
    """Whether a recorded file has the run, on few enough rows."""
    run = file["runs"].get(RUN, {"error": "no such run"})
    return "error" not in run and len(run["predictions"]) <= MOST_ROWS


@pytest.mark.parametrize("name", ["iris in repository", *names()])
def test_j48_with_reduced_error_is_reproduced(name):
    small = name.endswith(" in repository")
    recorded = load_small("weka_rep", "iris") if small else load_recorded(SHARED, "weka", name)
    run = recorded.runs[RUN]
    # the order of the classes decides ties
    y = np.array([recorded.classes.index(label) for label in recorded.y])
    tree, training = reduced_error_as_j48(recorded.X, y)
    assert tree.n_leaves == run["n_leaves"]
    shares = node_values(tree, training.table, np.ascontiguousarray(tree.probability))
    np.testing.assert_array_equal(training.classes[shares.argmax(axis=1)], run["predictions"])
