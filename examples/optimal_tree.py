"""The greedy tree and the best tree of the same depth on a chess board of two by two squares.

No single cut helps on a chess board, so a greedy tree begins with a cut by chance and has no
levels left to make up for it. Run this file to draw the figure of the documentation:

    python examples/optimal_tree.py figure.svg
"""

import sys

import numpy as np

from treewright import CARTClassifier, OptimalTreeClassifier, optimality_gap


def board(n=400, noise=0.05, seed=3):
    """Points on a board; a few have the wrong colour."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = (X[:, 0] < 0.5) ^ (X[:, 1] < 0.5) ^ (rng.random(n) < noise)
    return X, y.astype(int)


def figure(models, X, y, path):
    """What both trees say everywhere, and the points."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update({"svg.hashsalt": "treewright", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    fig, axes = plt.subplots(1, 2, figsize=(5.6, 3.1), sharey=True)
    side = np.linspace(0, 1, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        says = model.predict(grid).reshape(200, 200)
        ax.imshow(says, origin="lower", extent=(0, 1, 0, 1), cmap="coolwarm", alpha=0.35)
        ax.scatter(*X.T, c=y, cmap="coolwarm", s=7)
        wrong = np.count_nonzero(model.predict(X) != y)
        ax.set_title(f"{name}\n{wrong} errors, {model.get_n_leaves()} leaves", fontsize=10)
        ax.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


if __name__ == "__main__":
    X, y = board()
    models = {
        "greedy, depth 2": CARTClassifier(max_depth=2).fit(X, y),
        "optimal, depth 2": OptimalTreeClassifier(max_depth=2).fit(X, y),
    }
    print(optimality_gap(models["greedy, depth 2"], X, y))
    if len(sys.argv) > 1:
        figure(models, X, y, sys.argv[1])
