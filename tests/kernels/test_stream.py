"""Stream trees against their twin: the same tests, sums and answers, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.twins import stream as twin
from treewright.kernels.stream import StreamTree

OPTIONS = {
    "n_codes": [0, 3, 0, 2],
    "grace": 50.0,
    "delta": 1e-3,
    "tau": 0.05,
    "max_depth": 20,
    "leaf": 2,
    "fast": False,
    "again": 60.0,
    "drift": False,
    "drift_delta": 0.01,
    "max_bytes": np.inf,
    "gini": False,
}
CASES = [
    {},
    {"gini": True, "leaf": 1},
    {"leaf": 0, "max_depth": 2},
    {"fast": True},
    {"fast": True, "gini": True, "leaf": 0},
    {"drift": True},
    {"drift": True, "fast": True},
]


def rows(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with gaps whose rule changes half-way."""
    draw = np.random.default_rng(seed)
    x = np.column_stack(
        [
            draw.normal(size=n),
            draw.integers(0, 3, n),
            draw.exponential(5, n),
            draw.integers(0, 2, n),
        ]
    ).astype(float)
    first = np.arange(n) < n // 2
    z = np.where(first, x[:, 0] + x[:, 1], x[:, 2] / 4 - x[:, 0]) + draw.normal(size=n) / 4
    x[draw.random(x.shape) < 0.05] = np.nan
    y = np.digitize(z, [0.3, 1.5][: n_classes - 1]).astype(float) if n_classes else z
    return x, y, draw.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_stream_tree_is_its_twin(options, n_classes):
    options = {**OPTIONS, "n_classes": n_classes, **options}
    tree, other = StreamTree(options), twin.StreamTree(options)
    x, y, weight = rows(1500, n_classes, seed=n_classes)
    for part in np.array_split(np.arange(1500), 3):
        w = None if n_classes == 2 else weight[part]
        found = tree.learn(x[part], y[part], w, True)
        assert_allclose(found, other.learn(x[part], y[part], w, True), rtol=1e-6, atol=1e-9)
    arrays, expected = tree.arrays(), other.arrays()
    for name in ("n_children", "feature"):
        assert_array_equal(arrays[name], expected[name])
    assert len(arrays["feature"]) > 1
    for name in ("threshold", "totals"):
        assert_allclose(arrays[name], expected[name], rtol=1e-9, atol=1e-9)
    assert_allclose(tree.answer(x[:100]), other.answer(x[:100]), rtol=1e-6, atol=1e-9)


def test_wild_values_widen_the_bins_as_in_the_twin():
    options = {**OPTIONS, "n_classes": 2, "n_codes": [0], "leaf": 0}
    tree, other = StreamTree(options), twin.StreamTree(options)
    draw = np.random.default_rng(0)
    x = np.concatenate([[3.0, 3.0], 10.0 ** draw.uniform(-8, 8, 300) * draw.choice([-1, 1], 300)])
    y = (x > 50).astype(float)
    for model in (tree, other):
        model.learn(x[:, None], y, None, False)
    assert_array_equal(tree.arrays()["feature"], other.arrays()["feature"])
    assert_allclose(tree.arrays()["threshold"], other.arrays()["threshold"])
