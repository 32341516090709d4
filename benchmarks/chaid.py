"""CHAID beside the PyPI package of that name, on categories of ten levels each.

Both take a pandas frame. Ours has categories, half of them ordered; the peer wants an ordered
predictor as numbers and takes any other as it is, so it gets numbers for the one kind and text
for the other, made before the clock starts. Both times hold the whole call from frame to tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd
from results import Result, Skipped, count, faster
from speed import Settings
from timing import take_turns

from treewright import CHAIDClassifier

PEER = "CHAID (PyPI)"
LEAST = 50.0
N_ROWS, N_FEATURES, N_LEVELS = 100_000, 20, 10
DEPTH, PARENT, CHILD = 4, 100, 50


def chaid(settings: Settings) -> Iterator[Result | Skipped]:
    """100 000 rows, 20 predictors of ten levels, every other one ordered."""
    try:
        peer = f"{PEER} {version('CHAID')}"
    except PackageNotFoundError:
        yield Skipped("chaid", "the package CHAID is not installed (treewright[bench] names it).")
        return
    levels, y = _data(N_ROWS // settings.shrink)
    ordered = [f"x{k}" for k in range(0, N_FEATURES, 2)]
    ours = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(codes, list("abcdefghij"), ordered=name in ordered)
            for name, codes in levels.items()
        }
    )
    theirs = pd.DataFrame(
        {n: c if n in ordered else np.array(list("abcdefghij"))[c] for n, c in levels.items()}
    ).assign(y=y)
    model = CHAIDClassifier(
        max_depth=DEPTH,
        min_samples_split=PARENT,
        min_samples_leaf=CHILD,
        adjust=False,  # as the peer
        n_jobs=settings.n_jobs,
    )
    model.fit(ours.iloc[:500], y[:500])  # whatever is loaded on first use
    kinds = {name: "ordinal" if name in ordered else "nominal" for name in levels}
    sizes = {}

    def fit_theirs() -> None:
        tree = _peer_tree(theirs, kinds)
        sizes["theirs"] = len(tree.tree_store)

    calls = {"treewright": lambda: model.fit(ours, y), peer: fit_theirs}
    times = take_turns(calls, settings.repeats)
    nodes = f"{model.tree_.n_nodes} and {sizes['theirs']} nodes"
    what = (
        f"fit CHAID, {count(len(y))} × {N_FEATURES} of {N_LEVELS} levels, depth {DEPTH} ({nodes})"
    )
    yield faster("chaid", what, peer, times, LEAST)


def _peer_tree(frame: pd.DataFrame, kinds: dict[str, str]) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it misses optional packages for pictures
        from CHAID import Tree

    tree = Tree.from_pandas_df(
        frame,
        kinds,
        "y",
        max_depth=DEPTH,
        min_parent_node_size=PARENT,
        min_child_node_size=CHILD,
    )
    tree.build_tree()
    return tree


def _data(n_rows: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Codes of the predictors, and classes that depend on seven of them."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, N_LEVELS, (N_FEATURES, n_rows))
    signal = 0.8 * (x[0] == 1) + 0.5 * (x[1] > 6) + 0.4 * (x[2] % 3 == 0)
    signal = signal + 1.0 * (x[3] > 6) * (x[4] == 0) + 0.3 * (x[5] > 7) + 0.2 * (x[6] > 4)
    y = (signal + rng.normal(0, 1, n_rows) > 1).astype(int)
    return {f"x{k}": codes for k, codes in enumerate(x)}, y
