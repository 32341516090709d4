"""REPTree's recorded runs (Weka 3.6.14).

Without pruning (-P) nothing is left to chance: the trees have the recorded sizes and predictions,
and where they differ, the recorded test and ours have the same gain. With pruning the rows are
shuffled before a third is held out, so errors are compared by ``python -m
tests.oracle.reptree_table``, within a standard error.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy

from tests.conftest import SHARED
from tests.oracle.recorded import load_recorded, load_runs, load_small, recorded_datasets
from tests.oracle.reptree import Chooser, encoded, predictions, unpruned
from tests.oracle.reptree_nodes import Reached, differences
from treewright import C45Classifier

RUN = "reptree_noprune"
MOST_ROWS = 600  # those of up to 1 000 rows agree as well, and take longer
WITH_GAPS = ("pima2", "titanic")  # longer, but the ones that show how gaps weigh
TIED = {"birthwt": 0, "boston_housing": 5, "titanic": 0}
"""Where tests tie, rounding decides and the sizes differ: rows that are predicted otherwise."""


def names():
    if not SHARED.exists():
        return []
    runs = {n: load_runs(SHARED, "weka", n)["runs"] for n in recorded_datasets(SHARED, "weka")}
    sizes = {name: len(run.get(RUN, {}).get("predictions", ())) for name, run in runs.items()}
    return [name for name, size in sizes.items() if 0 < size <= MOST_ROWS or name in WITH_GAPS]


@pytest.mark.parametrize("name", ["iris in repository", *names()])
def test_the_unpruned_tree_is_reproduced(name):
    small = name.endswith(" in repository")
    recorded = load_small("weka_rep", "iris") if small else load_recorded(SHARED, "weka", name)
    run = recorded.runs[RUN]
    training = encoded(recorded)
    tree = unpruned(training)
    ours, theirs = predictions(tree, training), np.asarray(run["predictions"], float)
    assert np.count_nonzero(~np.isclose(ours, theirs, rtol=1e-6)) <= TIED.get(name, 0)
    if name not in TIED:
        assert tree.n_nodes == run["measures"]["measureTreeSize"]


@pytest.mark.parametrize("name", sorted({*TIED, *WITH_GAPS}) if SHARED.exists() else [])
def test_wherever_a_recorded_node_is_otherwise_both_tests_gain_the_same(name):
    recorded = load_recorded(SHARED, "weka", name)
    training = encoded(recorded)
    found = differences(training, recorded.runs[RUN]["text"])
    assert len(found) == {"boston_housing": 9}.get(name, 1)
    for node in found:
        assert node.recorded == pytest.approx(node.ours, rel=1e-11), node.path


def test_a_cut_is_chosen_by_known_rows_and_weighed_with_gaps():
    # Known rows: 1 | 2 3 4 5 of classes a | b b b b; five gaps of class b.
    x = np.array([1.0, 2, 3, 4, 5, np.nan, np.nan, np.nan, np.nan, np.nan])
    y = np.array([0, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    training = C45Classifier(variant="j48")._encode(x[:, None], y, None)
    node = Reached(np.arange(10), np.ones(10))
    gain, heavy, proposal = Chooser(training).candidate(0, node)
    # The five gaps go 1 : 4, so the branches are (1, 1) and (0, 8) and both weigh 2.
    assert proposal.breaks == (1.5,)
    assert heavy
    assert gain == pytest.approx(10 * entropy([0.1, 0.9], base=2) - 2)
