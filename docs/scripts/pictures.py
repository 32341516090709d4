"""Draws the pictures of the learner pages and guides:

python docs/scripts/pictures.py [NAME ...]        # all, or those named, into docs/img
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap

import treewright
from treewright import datasets

IMAGES = Path(__file__).parents[1] / "img"
mpl.rcParams.update(
    {
        "svg.hashsalt": "treewright",
        "svg.fonttype": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)
PAGE = 925
"""Pixels of a tree that a page shows at 85 % and can still be read."""
BLUE, ORANGE = "#0072b2", "#e69f00"


def above(ax) -> None:
    """The legend over the axes, where it hides nothing."""
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.1, 1), ncols=2, fontsize=9)


def titanic(learner, **options):
    """A learner on the passengers of the Titanic."""
    data = datasets.load_titanic()
    X, y = data.frame.drop(columns="Survived"), data.frame["Survived"]
    return learner(**data.schema_hints, **options).fit(X, y.map({0: "died", 1: "survived"}))


def cart_titanic() -> str:
    model = titanic(
        treewright.CARTClassifier, cp="cv", rule="1se", min_samples_leaf=7, random_state=0
    )
    return model.tree_.to_svg(width=PAGE)


def start_titanic() -> str:
    """The tree of docs/start.md, whose classes are those of the file."""
    data = datasets.load_titanic()
    model = treewright.CARTClassifier(cp="cv", rule="1se", random_state=0)
    return model.fit(data.data, data.frame["Survived"]).tree_.to_svg(width=PAGE)


def id3_tennis() -> str:
    data = datasets.load_play_tennis()
    return treewright.ID3Classifier().fit(data.data, data.target).tree_.to_svg(width=PAGE)


def c45_titanic() -> str:
    return titanic(treewright.C45Classifier).tree_.to_svg(width=PAGE)


def c50_credit() -> str:
    data = datasets.load_german_credit()
    model = treewright.C50Classifier(min_samples_leaf=25, **data.schema_hints)
    return model.fit(data.data, data.target).tree_.to_svg(width=PAGE)


def ctree_titanic() -> str:
    return titanic(treewright.CTreeClassifier, max_depth=3).tree_.to_svg(width=PAGE)


def chaid_titanic() -> str:
    return titanic(treewright.CHAIDClassifier).tree_.to_svg(width=PAGE)


def hunt_titanic() -> str:
    model = titanic(treewright.HuntClassifier, criterion="entropy", max_depth=2)
    return model.tree_.to_svg(width=PAGE)


def forest_importances():
    data = datasets.load_titanic()
    forest = treewright.RandomForestClassifier(500, random_state=0, **data.schema_hints)
    forest.fit(data.data, data.target)
    ax = forest.permutation_importance_oob(data.data, data.target).plot()
    ax.figure.set_size_inches(5.6, 2.8)
    return ax


def c45rules_titanic():
    """Rules by the rows they cover and how often they are right."""
    data = datasets.load_titanic()
    rules = treewright.C45Rules().fit(data.data, data.target).rules_
    table = rules.frame()
    fig, ax = plt.subplots(figsize=(5.6, 3.4))
    colours = {0: BLUE, 1: ORANGE}
    for label, colour in colours.items():
        mine = table[table["outcome"].astype(str) == str(label)]
        ax.scatter(mine["n_samples"], mine["confidence"], color=colour, label=f"Survived = {label}")
    for rule in range(len(table)):
        row = table.iloc[rule]
        ax.annotate(
            str(rule + 1),
            (row["n_samples"], row["confidence"]),
            (4, 3),
            textcoords="offset points",
            fontsize=9,
        )
    ax.set_xlabel("training rows that the rule covers")
    ax.set_ylabel("confidence")
    ax.set_xscale("log")
    ax.set_xticks([3, 10, 30, 100, 300], ["3", "10", "30", "100", "300"])
    ax.minorticks_off()
    ax.legend(frameon=False)
    return fig


def gradient_boosting_rounds():
    """Loss on training and held-out rows, for two learning rates."""
    data = datasets.load_german_credit()
    fig, ax = plt.subplots(figsize=(5.6, 3.2))
    for rate, colour in ((0.02, BLUE), (0.2, ORANGE)):
        model = treewright.GradientBoostingClassifier(
            n_estimators=300,
            learning_rate=rate,
            early_stopping=True,
            n_iter_no_change=300,
            validation_fraction=0.3,
            random_state=0,
        ).fit(data.data, data.target)
        ax.plot(model.train_score_, color=colour, ls=":", label=f"training, learning rate {rate}")
        ax.plot(model.validation_score_, color=colour, label=f"held out, learning rate {rate}")
        best = int(np.argmin(model.validation_score_))
        ax.plot(best, model.validation_score_[best], "o", color=colour)
    ax.set_xlabel("rounds")
    ax.set_ylabel("log-loss")
    above(ax)
    return fig


def agrawal(learner, function: int) -> str:
    """A learner on rows of Agrawal's generator with a tenth of noise."""
    data = datasets.make_agrawal(20_000, function, noise=0.1, random_state=0)
    return learner().fit(data.data, data.target).tree_.to_svg(width=PAGE)


def hoeffding_drift():
    """Share of right answers on a stream whose rule changes three times."""
    blocks = [
        datasets.make_agrawal(500, function, random_state=100 * k + function)
        for k, function in enumerate(np.repeat([1, 4, 5, 2], 20))
    ]
    fig, ax = plt.subplots(figsize=(5.6, 3.2))
    for name, options, colour in (
        ("as it was learned", {}, BLUE),
        ("drift watched by ADWIN", {"drift": "adwin"}, ORANGE),
    ):
        model = treewright.HoeffdingTreeClassifier(**options)
        right = [
            np.mean(
                np.asarray(model.predict_then_learn(b.data, b.target, classes=["A", "B"]))
                == b.target
            )
            for b in blocks
        ]
        smooth = np.convolve(right, np.ones(4) / 4, mode="valid")
        ax.plot(500 * np.arange(4, len(right) + 1), smooth, color=colour, label=name)
    for change in (10_000, 20_000, 30_000):
        ax.axvline(change, color="0.7", lw=0.8, ls="--")
    ax.set_xlabel("rows seen; dashed where the rule changes")
    ax.set_ylabel("right answers on the next rows")
    ax.set_xticks(
        [0, 10_000, 20_000, 30_000, 40_000], ["0", "10 000", "20 000", "30 000", "40 000"]
    )
    above(ax)
    return fig


def boundaries(models) -> plt.Figure:
    """What models say everywhere between two rings, side by side."""
    fig, axes = plt.subplots(1, len(models), figsize=(5.6, 2.5), sharey=True)
    draw_boundaries(models, axes, 250)
    fig.tight_layout()
    return fig


def draw_boundaries(models, axes, n_points: int) -> None:
    """What each model says everywhere between two rings, at so many points along each side."""
    train = datasets.two_rings(1000, noise=0.1, random_state=0)
    side = np.linspace(-1.5, 1.5, n_points)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    test = datasets.two_rings(4000, noise=0.0, random_state=1)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        model.fit(np.asarray(train.data), train.target)
        says = model.predict(grid) == model.classes_[1]
        error = np.mean(model.predict(np.asarray(test.data)) != test.target)
        ax.imshow(
            says.reshape(n_points, n_points),
            origin="lower",
            extent=(-1.5, 1.5) * 2,
            cmap=ListedColormap([BLUE, ORANGE]),
            alpha=0.8,
            interpolation="nearest",
        )
        ax.set_title(f"{name}\n{error:.1%} wrong", fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)


def bagging_rings():
    tree = treewright.CARTClassifier()
    return boundaries(
        {
            "one tree": treewright.CARTClassifier(),
            "bag of 10": treewright.BaggingClassifier(tree, 10, random_state=0),
            "bag of 200": treewright.BaggingClassifier(tree, 200, random_state=0),
        }
    )


def adaboost_rings():
    base = treewright.CARTClassifier(max_depth=3)
    return boundaries(
        {
            f"{n} round{'s' * (n > 1)}": treewright.AdaBoostClassifier(base, n_estimators=n)
            for n in (1, 10, 100)
        }
    )


def learners_rings():
    return boundaries(
        {
            "CART, pruned": treewright.CARTClassifier(ccp_alpha="cv", random_state=0),
            "oblique tree": treewright.ObliqueTreeClassifier(random_state=0, max_depth=6),
            "forest of 200": treewright.RandomForestClassifier(200, random_state=0),
        }
    )


PICTURES: dict[str, Callable] = {
    "cart-titanic": cart_titanic,
    "start-titanic": start_titanic,
    "id3-tennis": id3_tennis,
    "c45-titanic": c45_titanic,
    "c50-credit": c50_credit,
    "ctree-titanic": ctree_titanic,
    "chaid-titanic": chaid_titanic,
    "hunt-titanic": hunt_titanic,
    "forest-importances": forest_importances,
    "c45rules-titanic": c45rules_titanic,
    "gradient-boosting-rounds": gradient_boosting_rounds,
    "sliq-agrawal": lambda: agrawal(treewright.SLIQClassifier, 2),
    "sprint-agrawal": lambda: agrawal(treewright.SPRINTClassifier, 3),
    "hoeffding-drift": hoeffding_drift,
    "bagging-rings": bagging_rings,
    "adaboost-rings": adaboost_rings,
    "learners-rings": learners_rings,
}


def main() -> None:
    """Draw what is named."""
    for name in sys.argv[1:] or PICTURES:
        made = PICTURES[name]()
        path = IMAGES / f"{name}.svg"
        if isinstance(made, str):
            path.write_text(made, encoding="utf-8")
        else:
            figure = getattr(made, "figure", made)
            figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
        print(path.relative_to(IMAGES.parents[1]))


if __name__ == "__main__":
    main()
