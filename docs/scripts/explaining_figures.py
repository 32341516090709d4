"""The pictures of docs/guide/explaining.md: ``python docs/scripts/explaining_figures.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

import treewright as tw
from treewright import explain

mpl.rcParams.update({"svg.hashsalt": "treewright", "svg.fonttype": "none"})
WIDTH = 5.6
TO = Path(__file__).resolve().parents[1] / "img" / "explaining"


def save(name: str, ax: Any) -> None:
    """One picture, small enough for a telephone; many dots are one image."""
    width, height = ax.figure.get_size_inches()
    ax.figure.set_size_inches(WIDTH, max(2.4, WIDTH * height / width))
    for artist in ax.collections:
        artist.set_rasterized(len(artist.get_offsets()) > 100)
    for artist in ax.lines if len(ax.lines) > 50 else ():
        artist.set_rasterized(True)
    ax.figure.savefig(TO / f"{name}.svg", dpi=200, metadata={"Date": None})
    plt.close(ax.figure)


def main() -> None:
    """Draw all of them from the bundled Titanic passengers."""
    TO.mkdir(parents=True, exist_ok=True)
    titanic = tw.datasets.load_titanic()
    X, y = titanic.data, titanic.target
    booster = tw.GradientBoostingClassifier(n_estimators=60, random_state=0).fit(X, y)
    values = booster.shap_values(X)
    save("summary", values.plot())
    save("waterfall", values.plot("waterfall", row=3))
    save("dependence", values.plot("dependence", feature="Age", colour_by="Sex"))
    forest = tw.RandomForestClassifier(n_estimators=40, min_samples_leaf=5, random_state=0)
    forest.fit(X, y)
    save("ice", explain.partial_dependence(forest, X, "Age", max_rows=200).plot())
    save("importances", explain.importances(forest, X, y, n_repeats=5).plot())
    save("surrogate", explain.surrogate_tree(forest, X).plot())
    tree = tw.CARTClassifier(max_depth=3).fit(X, y)
    save("trace", tree.trace(0, X, y).plot())


if __name__ == "__main__":
    main()
