"""The spine: three very different learners through one loop, one Tree and one predictor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import treewright
from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.datasets import load_play_tennis
from treewright.errors import ParameterError
from treewright.tree.check import check_structure
from treewright.tree.growing.choosing import GrowingLevel, GrowingNode, LevelAnswer, ProposedSplit
from treewright.tree.growing.grow import grow
from treewright.tree.growing.recipe import Recipe
from treewright.tree.predict import apply, node_values
from treewright.tree.split import GAP_FRACTION, SplitKind


@pytest.fixture(scope="module")
def tennis():
    data = load_play_tennis()
    table = encode(data.data)
    classes, y = np.unique(data.target, return_inverse=True)
    return table, y.astype(np.int32), Target("play", tuple(classes))


def test_id3_grows_the_tennis_tree_by_information_gain(tennis):
    table, y, target = tennis
    recipe = Recipe("entropy", nominal_split="multiway", zero_gain=False)
    tree = grow(table, y, recipe, target=target)
    assert tree.schema.names[tree.splits.feature[0]].lower() == "outlook"
    assert tree.gain[0] == pytest.approx(0.24675, abs=1e-5)
    assert tree.n_leaves == 5
    assert tree.depth == 2
    assert np.array_equal(tree.label[apply(tree, table)], y)


def entropy(weights):
    p = weights[weights > 0] / weights.sum()
    return -(p * np.log2(p)).sum()


def test_a_c45_node_sends_gaps_down_every_branch_with_the_branchs_share(tennis):
    table, y, target = tennis
    outlook = [name.lower() for name in table.schema.names].index("outlook")
    columns = list(table.columns)
    columns[outlook] = columns[outlook].copy()
    columns[outlook][6] = -1  # an overcast day, as in Quinlan (1993), section 3.3
    gapped = type(table)(
        schema=table.schema,
        columns=tuple(columns),
        n_rows=table.n_rows,
        has_gaps=np.array([i == outlook for i in range(len(columns))]),
    )

    def best_gain(node: GrowingNode) -> ProposedSplit | None:
        """C4.5's gain of a nominal feature: over the known rows, scaled by their share."""
        weights = np.ones(len(node.rows)) if node.weights is None else node.weights
        labels, best = y[node.rows], None
        for feature, column in enumerate(gapped.columns):
            codes = column[node.rows]
            known = codes >= 0
            seen = np.unique(codes[known])
            if len(seen) < 2:
                continue
            parent = np.bincount(labels[known], weights[known], minlength=2)
            within = sum(
                weights[codes == code].sum()
                * entropy(np.bincount(labels[codes == code], weights[codes == code], minlength=2))
                for code in seen
            )
            share = weights[known].sum() / weights.sum()
            gain = share * (entropy(parent) - within / weights[known].sum())
            if best is None or gain > best.gain + 1e-9:
                best = ProposedSplit(
                    feature, gain, codes=tuple(seen), branches=tuple(range(len(seen)))
                )
        return best if best is not None and best.gain > 1e-3 else None

    recipe = Recipe("entropy", missing="fractional", choose=best_gain)
    tree = grow(gapped, y, recipe, target=target)
    assert tree.splits.feature[0] == outlook
    assert tree.gain[0] == pytest.approx(0.199, abs=5e-4)
    assert tree.default[0] == GAP_FRACTION
    shares = tree.weight[list(tree.children(0))]
    assert shares.sum() == pytest.approx(14)
    # 13 known days: 5 sunny, 3 overcast, 5 rainy; each branch gets its share of the 14th.
    assert sorted(shares) == pytest.approx([n * (1 + 1 / 13) for n in (3, 5, 5)])
    proba = node_values(tree, gapped, tree.probability)
    assert proba.shape == (14, 2)
    assert 0 < proba[6].max() < 1


def test_a_ctree_split_goes_through_the_same_loop():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 3))
    y = (X[:, 1] > 0.3).astype(np.int32)
    table = encode(X)

    def permutation_test(node: GrowingNode) -> ProposedSplit | None:
        """The variable by a permutation test's p-value, then the best cut of that variable."""
        rows = node.rows
        statistic = np.array(
            [(len(rows) - 1) * np.corrcoef(X[rows, j], y[rows])[0, 1] ** 2 for j in range(3)]
        )
        p = stats.chi2.sf(statistic, 1)
        adjusted = 1 - (1 - p) ** 3
        if not adjusted.min() <= 0.05:
            return None
        feature = int(np.argmin(adjusted))
        values = np.unique(X[rows, feature])[6:-7]
        scores = [abs(y[rows][X[rows, feature] <= v].mean() - y[rows].mean()) for v in values]
        return ProposedSplit(
            feature,
            float(statistic[feature]),
            breaks=(float(values[np.argmax(scores)]),),
            extras={"p_value": float(adjusted[feature]), "statistic": float(statistic[feature])},
        )

    tree = grow(
        table,
        y,
        Recipe("gini", choose=permutation_test, min_samples_split=20),
        target=Target("y", (0, 1)),
    )
    assert tree.splits.feature[0] == 1
    assert tree.splits.closed[0]
    assert tree.extras["p_value"][0] < 1e-6
    assert np.isnan(tree.extras["p_value"][tree.first_child < 0]).all()
    assert (tree.label[apply(tree, table)] == y).mean() > 0.9


def test_an_error_in_a_chooser_reaches_the_caller(tennis):
    table, y, target = tennis

    def broken(node):
        raise ZeroDivisionError("the chooser's own")

    with pytest.raises(ZeroDivisionError, match="own"):
        grow(table, y, Recipe("gini", choose=broken), target=target)


def test_a_chooser_of_levels_is_asked_once_per_level_and_grows_the_same_tree():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    y = rng.integers(0, 2, 300).astype(np.int32)

    def halve(node: GrowingNode) -> ProposedSplit | None:
        if len(node.rows) < 20 or node.depth % 3 == 2:
            return None
        feature = node.depth % 2
        return ProposedSplit(feature, breaks=(float(np.median(X[node.rows, feature])),))

    class Halver:
        def __init__(self) -> None:
            self.asked: list[tuple[int, int]] = []

        def choose_level(self, level: GrowingLevel) -> LevelAnswer:
            self.asked.append((level.depth, len(level)))
            return LevelAnswer([halve(node) for node in level])

    by_level = Halver()
    trees = [
        grow(encode(X), y, Recipe("gini", choose=chooser), target=Target("y", ("a", "b")))
        for chooser in (halve, by_level)
    ]
    assert by_level.asked == [(0, 1), (1, 2), (2, 4)]
    assert trees[0].to_dict() == trees[1].to_dict()


def test_a_chooser_that_skips_a_node_of_its_level_is_refused():
    class Silent:
        def choose_level(self, level: GrowingLevel) -> LevelAnswer:
            return LevelAnswer([])

    recipe = Recipe("gini", choose=Silent())
    with pytest.raises(ValueError, match="answer for every node"):
        grow(
            encode(np.arange(6.0)[:, None]),
            np.arange(6, dtype=np.int32) % 2,
            recipe,
            target=Target("y", ("a", "b")),
        )


# A linear test: which side of a line


@pytest.fixture(scope="module")
def line():
    """Two classes on either side of x + 2 y = 1, a column that says nothing, and some gaps."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 2 * X[:, 2] > 1).astype(np.int32)
    X[:5, 2] = np.nan
    return encode({"x": X[:, 0], "noise": X[:, 1], "y": X[:, 2]}), y, Target("side", ("a", "b"))


def by_line(node: GrowingNode) -> ProposedSplit | None:
    if node.depth:
        return None
    return ProposedSplit(terms=((0, 1.0, -1), (2, 2.0, -1)), breaks=(1.0,), gap_branch=1)


def test_a_linear_test_goes_through_loop_tree_predictor_and_text(line, tmp_path):
    table, y, target = line
    tree = grow(table, y, Recipe("gini", missing="majority", choose=by_line), target=target)
    check_structure(tree)
    assert tree.splits.kind[0] == SplitKind.LINEAR
    assert tree.gain[0] == pytest.approx(
        tree.impurity[0] - tree.impurity[1:] @ (tree.weight[1:] / 200)
    )
    leaf = apply(tree, table)
    value = table.columns[0] + 2 * table.columns[2]
    known = ~np.isnan(value)
    assert np.array_equal(leaf[known], 1 + (value[known] > 1))
    assert np.all(leaf[~known] == 2)  # a gap in any term is a gap
    assert np.array_equal(np.bincount(leaf, minlength=3)[1:], tree.n_samples[1:])
    assert np.array_equal(leaf[known] - 1, y[known])
    assert "x + 2*y <= 1" in tree.to_text(ascii=True).replace("·", "*").replace("2 y", "2*y")
    assert "x" in tree.to_svg()
    assert tree.feature_importances().tolist() == pytest.approx([0.5, 0.0, 0.5])
    rules = tree.rule_set().labels_of(table, 1)
    assert np.array_equal(rules[known], y[known])
    treewright.save(tree, tmp_path / "line")
    assert np.array_equal(apply(treewright.load(tmp_path / "line"), table), leaf)


@pytest.mark.parametrize(
    ("proposal", "message"),
    [
        (ProposedSplit(terms=((0, 1.0, -1), (9, 1.0, -1)), breaks=(1.0,)), "one of the 3 features"),
        (ProposedSplit(terms=((0, np.nan, -1),), breaks=(1.0,)), "finite weights"),
        (ProposedSplit(terms=((0, 1.0, -1),), breaks=(1.0, 2.0)), "one break"),
        (ProposedSplit(terms=((0, 1.0, 0),), breaks=(1.0,)), "of continuous features with code -1"),
        (ProposedSplit(1, terms=((0, 1.0, -1),), breaks=(1.0,)), "leave feature"),
    ],
)
def test_an_impossible_linear_test_is_refused(line, proposal, message):
    table, y, target = line
    with pytest.raises(ParameterError, match=message):
        grow(table, y, Recipe("gini", choose=lambda node: proposal), target=target)
