"""The figures of docs/guide/judging.md.

python docs/scripts/judging_figures.py        # writes docs/img/judging-*.svg
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from treewright import (
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    RandomForestClassifier,
    bias_variance,
    complexity_curve,
    cross_validate,
    datasets,
    decision_boundary,
    learning_curve,
)

mpl.use("Agg")
mpl.rcParams.update({"svg.hashsalt": "treewright", "axes.titlesize": 10, "legend.fontsize": 9.6})

IMAGES = Path(__file__).parents[1] / "img"


def credit() -> None:
    """Five figures of one cross-validation."""
    data = datasets.load_german_credit()
    model = RandomForestClassifier(random_state=0)
    result = cross_validate(model, data.data, data.target, positive="bad", random_state=0)
    figure, axes = plt.subplots(3, 2, figsize=(5.6, 7.8), layout="constrained")
    for kind, ax in zip(("roc", "pr", "confusion", "calibration", "gain"), axes.flat, strict=False):
        result.plot(kind, ax)
    for ax in axes.flat[:2]:  # what the legend would say twice, and too long for a small picture
        ax.set_title(ax.get_legend().get_texts()[0].get_text().replace("bad", ax.get_title()))
        ax.get_legend().remove()
    axes.flat[3].get_legend().set_loc("upper left")
    axes.flat[3].set_ylim(-0.05, 1.4)  # room for it
    axes.flat[-1].remove()
    _save(figure, "judging-credit")


def curves() -> None:
    """Size of a tree, number of rows, regions, bias and variance."""
    rings = datasets.two_rings(1000, random_state=0)
    figure, grid = plt.subplots(2, 2, figsize=(5.6, 5.2), layout="constrained")
    axes = grid.flat
    sizes = [2, 4, 8, 12, 16, 24, 32, 64, 128, 250]
    complexity_curve(
        CARTClassifier(), rings.data, rings.target, "max_leaf_nodes", sizes, random_state=0
    ).plot(axes[0])
    model = CARTClassifier(max_leaf_nodes=16)
    learning_curve(model, rings.data, rings.target, random_state=0).plot(axes[1])
    decision_boundary(model.fit(rings.data, rings.target), rings.data, rings.target, ax=axes[2])
    bias_variance(
        {"tree": CARTRegressor(), "bag": BaggingRegressor(n_estimators=25, random_state=0)},
        function=lambda X: np.sin(6 * X[:, 0]),
        noise=0.3,
        random_state=0,
    ).plot(axes[3])
    axes[3].set_ylim(0, 0.26)  # room for the legend
    for dots in axes[2].collections[1:]:
        dots.set_sizes([5])
    _save(figure, "judging-curves")


def _save(figure: plt.Figure, name: str) -> None:
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    credit()
    curves()
