"""Which feature does a tree split first when none of them means anything?

CART tries every cut of every feature, so features with many values win. CTree tests each
feature once, so all have the same chance. Run this file to draw the figure of the documentation:

    python examples/unbiased_selection.py figure.svg
"""

import sys

import numpy as np

from treewright import CARTClassifier, CTreeClassifier

N_ROWS = 200


def draw(rng):
    """Ten features of very different kinds, and a target that has nothing to do with them."""
    columns = {
        "2 categories": rng.integers(0, 2, N_ROWS).astype(str),
        "3 categories": rng.integers(0, 3, N_ROWS).astype(str),
        "5 categories": rng.integers(0, 5, N_ROWS).astype(str),
        "8 categories": rng.integers(0, 8, N_ROWS).astype(str),
        "4 ranks": rng.integers(0, 4, N_ROWS),
        "10 ranks": rng.integers(0, 10, N_ROWS),
        "rounded": rng.normal(size=N_ROWS).round(1),
        "uniform": rng.random(N_ROWS),
        "normal": rng.normal(size=N_ROWS),
        "skewed": rng.exponential(size=N_ROWS),
    }
    return columns, rng.integers(0, 2, N_ROWS)


def first_choices(model, n_sets, seed=0):
    """How often each feature is split first; ``model`` splits once."""
    counts = dict.fromkeys(draw(np.random.default_rng(0))[0], 0)
    for number in range(n_sets):
        X, y = draw(np.random.default_rng([seed, number]))
        counts[model.fit(X, y).tree_.node(0).feature] += 1
    return {name: count / n_sets for name, count in counts.items()}


def shares(n_sets):
    """Shares of the ten features for both learners."""
    return {
        "CTree": first_choices(CTreeClassifier(alpha=1.0, max_depth=1), n_sets),
        "CART": first_choices(CARTClassifier(min_samples_leaf=7, max_depth=1), n_sets),
    }


def figure(table, path):
    """Both learners side by side; the line is the share of a fair choice."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update({"svg.hashsalt": "treewright", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    fig, axes = plt.subplots(1, 2, figsize=(5.6, 3.4), sharey=True, sharex=True)
    for ax, name, colour in zip(axes, table, ("#2b6cb0", "#c05621"), strict=True):
        features = list(table[name])[::-1]
        ax.barh(features, [100 * table[name][feature] for feature in features], color=colour)
        ax.axvline(100 / len(features), color="0.25", linestyle="--", linewidth=1)
        ax.set_title(name)
        ax.set_xlabel("split first, % of data sets")
        ax.spines[["top", "right"]].set_visible(False)
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


if __name__ == "__main__":
    table = shares(n_sets=2000 if len(sys.argv) > 1 else 50)
    print(f"{'':14}" + "".join(f"{name:>8}" for name in table))
    for feature in table["CTree"]:
        print(f"{feature:14}" + "".join(f"{100 * share[feature]:8.1f}" for share in table.values()))
    if len(sys.argv) > 1:
        figure(table, sys.argv[1])
