"""A sloping border: steps of tests on single features, or one test on a weighted sum.

Run this file to draw the figure of the documentation:

    python examples/oblique_line.py figure.svg
"""

import sys

import numpy as np

from treewright import CARTClassifier, ObliqueTreeClassifier


def triangle(n=300, seed=2):
    """Points in the unit square, and whether they lie below x + y = 1."""
    X = np.random.default_rng(seed).random((n, 2))
    return X, (X.sum(axis=1) < 1).astype(int)


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
        ax.set_title(f"{name}: {model.get_n_leaves()} leaves", fontsize=10)
        ax.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


if __name__ == "__main__":
    X, y = triangle()
    models = {
        "CART": CARTClassifier().fit(X, y),
        "oblique": ObliqueTreeClassifier(random_state=0).fit(X, y),
    }
    print(models["oblique"].tree_.to_text())
    if len(sys.argv) > 1:
        figure(models, X, y, sys.argv[1])
