"""Draws the charts of guides and tables:

python docs/scripts/guide_figures.py [NAME ...]        # all, or those named, into docs/img

They are 5.6 inches wide with letters of 10 points, so that a telephone shows them whole. Charts of
tables read the table from its page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

mpl.use("agg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from pictures import draw_boundaries
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import treewright
from treewright import datasets

DOCS = Path(__file__).parents[1]
BLUE, ORANGE, GREEN, PINK, SKY, RED = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
)  # fmt: skip
WIDTH = 5.6
STYLE = {
    "svg.hashsalt": "treewright",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def axes(height: float, rows: int = 1, columns: int = 1, **options):
    """A figure as wide as all of them."""
    return plt.subplots(rows, columns, figsize=(WIDTH, height), layout="constrained", **options)


def table(page: str, heading: str) -> pd.DataFrame:
    """The first table of a page below a line that begins so."""
    text = (DOCS / page).read_text(encoding="utf-8")
    below = text[text.index(heading) :]
    lines = re.search(r"(?:^\|.*\n)+", below, re.M)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return pd.DataFrame(cells[2:], columns=cells[0])


def kinds() -> Figure:
    """The best test on one column of each kind, and the rows on either side."""
    data = datasets.load_titanic()
    figure, all_axes = axes(6, 3)
    ordinal = {"Pclass": [1, 2, 3]}
    columns = {"Fare": "continuous", "Pclass": "ordinal", "Embarked": "nominal"}
    for ax, (name, kind) in zip(all_axes, columns.items(), strict=True):
        known = data.frame[name].notna()
        X, y = data.frame.loc[known, [name]], data.target[known]
        stump = treewright.CARTClassifier(
            max_depth=1, ordinal_features={k: v for k, v in ordinal.items() if k == name}
        ).fit(X, y)
        goes_left = stump.apply(X) == 1
        test = re.match(r".*?: (.*)", str(stump.tree_.path(X[goes_left].iloc[0].to_dict())))
        values = (X[name] // 5 * 5 + 2.5).clip(upper=102.5) if kind == "continuous" else X[name]
        places = sorted(values.unique())
        at = places if kind == "continuous" else range(len(places))
        width = 4.5 if kind == "continuous" else 0.5
        died = np.array([np.sum((values == place) & (y == 0)) for place in places])
        lived = np.array([np.sum((values == place) & (y == 1)) for place in places])
        ax.bar(at, died, width, color=BLUE, label="died")
        ax.bar(at, lived, width, bottom=died, color=ORANGE, label="survived")
        if kind == "continuous":
            cut = stump.tree_.to_dict()["splits"]["breaks"][0]
            ax.axvline(cut, color="#808080", ls="--")
            ax.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100+"])
        else:
            sides = [bool(goes_left[(X[name] == place).to_numpy()][0]) for place in places]
            ax.set_xticks(
                at,
                [
                    f"{place} {'←' if side else '→'}"
                    for place, side in zip(places, sides, strict=True)
                ],
            )
        ax.set_title(f"{name}, {kind}: {test[1].split(' → ')[0]}", loc="left")
        ax.set_ylabel("passengers")
    all_axes[0].legend(loc="upper right")
    return figure


def gaps() -> Figure:
    """Error of pruned trees when more and more cells of training and test rows are emptied."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    shares = (0, 0.1, 0.2, 0.3, 0.4, 0.5)
    names = ("learned", "surrogate", "fractional", "own_branch", "majority")
    ways = dict(zip(names, (BLUE, ORANGE, GREEN, PINK, SKY), strict=True))
    errors = {way: np.zeros((20, len(shares))) for way in (*ways, "means")}
    for seed in range(20):
        for k, share in enumerate(shares):
            emptied = X.mask(np.random.default_rng(seed).random(X.shape) < share)
            parts = train_test_split(emptied, y, test_size=1 / 3, random_state=seed, stratify=y)
            train, test, y_train, y_test = parts
            for way in errors:
                filled = way == "means"
                model = treewright.CARTClassifier(
                    missing="learned" if filled else way, ccp_alpha="cv", random_state=seed
                )
                if filled:
                    model = make_pipeline(SimpleImputer().set_output(transform="pandas"), model)
                model.fit(train, y_train)
                errors[way][seed, k] = np.mean(model.predict(test) != y_test)
    figure, ax = axes(3.6)
    percent = 100 * np.array(shares)
    ax.plot(percent, 100 * errors["means"].mean(0), ":", color="#808080", label="means filled in")
    for way, colour in ways.items():
        mean, around = 100 * errors[way].mean(0), 100 * errors[way].std(0, ddof=1) / np.sqrt(20)
        ax.errorbar(percent, mean, around, color=colour, marker="o", ms=4, lw=1.5, label=way)
    ax.set_xlabel("cells emptied, %")
    ax.set_ylabel("test error, %")
    ax.legend(loc="upper left")
    return figure


def costs() -> Figure:
    """What a decision costs, by the probability from which a credit is called bad."""
    credit = datasets.load_german_credit()
    parts = train_test_split(
        credit.data, credit.target, test_size=0.5, random_state=0, stratify=credit.target
    )
    train, rest, y_train, y_rest = parts
    forest = treewright.RandomForestClassifier(200, random_state=0).fit(train, y_train)
    prices = {"bad": {"good": 5}, "good": {"bad": 1}}
    found = treewright.choose_threshold(
        forest, rest, y_rest, by="cost", costs=prices, positive="bad"
    )
    figure, ax = axes(3.2)
    found.plot(ax)
    return figure


def teams() -> Figure:
    """Members and teams of them on the same folds."""
    data = datasets.load_titanic()
    members = [
        ("c45", treewright.C45Classifier()),
        ("ctree", treewright.CTreeClassifier()),
        ("forest", treewright.RandomForestClassifier(random_state=0)),
    ]
    models = {
        **dict(members),
        "voting": treewright.VotingClassifier(members, voting="soft", random_state=0),
        "learned weights": treewright.VotingClassifier(
            members, voting="soft", weights="learned", random_state=0
        ),
        "stacking": treewright.StackingClassifier(
            members, final_estimator=LogisticRegression(), random_state=0
        ),
    }
    found = treewright.compare(
        models, data.data, data.target, metric="log_loss", folds=10, repeats=2, random_state=0
    )
    table = found.frame().reset_index()
    figure, ax = axes(2.8)
    for place, row in table.iterrows():
        colour = ORANGE if row["model"] in dict(members) else BLUE
        ax.plot([row["low"], row["high"]], [place, place], color=colour, lw=2)
        ax.plot(row["log_loss"], place, "o", color=colour)
    ax.set_yticks(range(len(table)), table["model"])
    ax.invert_yaxis()
    ax.set_xlabel("log-loss, 95 % interval; less is better")
    ax.plot([], [], "o-", color=ORANGE, label="members")
    ax.plot([], [], "o-", color=BLUE, label="teams of the three")
    ax.legend(loc="upper right")
    return figure


def rules() -> Figure:
    """The rules of a small tree: how many rows each holds for, and of which class."""
    people = datasets.load_titanic()
    model = treewright.CARTClassifier(max_depth=3, **people.schema_hints)
    found = model.fit(people.data, people.target).rule_set()
    held = found.matches(people.data).toarray().astype(bool)
    y = np.asarray(people.target)
    order = np.argsort(-held.sum(axis=0))
    figure, ax = axes(0.5 * len(order) + 0.6)
    for place, rule in enumerate(order):
        died, lived = (int(np.sum(held[:, rule] & (y == c))) for c in (0, 1))
        ax.barh(place, died, 0.4, color=BLUE, label="" if place else "died")
        ax.barh(place, lived, 0.4, left=died, color=ORANGE, label="" if place else "survived")
        words = str(list(found)[rule]).replace(" (or gap)", "").replace(" and ", ", ")
        words = re.sub(r" → (\d).*", lambda m: f" → {('died', 'survived')[int(m[1])]}", words)
        words = words.replace(">=", "≥").replace("<=", "≤")
        ax.text(0, place - 0.25, words, va="bottom")
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.invert_yaxis()
    ax.set_xlabel("passengers for whom the rule holds")
    ax.legend(loc="lower right")
    return figure


def scale() -> Figure:
    """Processor time against rows, from the table of the guide."""
    found = table("guide/scale.md", "| learner | 1 million rows")
    figure, ax = axes(3.4)
    colours = (SKY, PINK, BLUE, ORANGE, GREEN)
    for (_, row), colour in zip(found.iterrows(), colours, strict=True):
        points = [
            (int(re.match(r"\d+", name)[0]), float(match[1]))
            for name, cell in row.items()
            if "million" in name and (match := re.match(r"([\d.]+) s", cell))
        ]
        ax.plot(*zip(*points, strict=True), "o-", color=colour, ms=4, label=row["learner"])
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks([1, 4, 8, 20], ["1", "4", "8", "20"])
    ax.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    ax.minorticks_off()
    ax.set_xlabel("million rows, under a limit of 400 MB")
    ax.set_ylabel("processor time, s")
    ax.legend(fontsize=9)
    return figure


def exports() -> Figure:
    """One row through a forest of 100 trees as C, from the table of the guide."""
    found = table("guide/deploying.md", "| trees | ours")
    figure, ax = axes(3.6)
    for k, (who, colour) in enumerate({"ours": BLUE, "m2cgen": ORANGE, "treelite": GREEN}.items()):
        times = [float(cell.split()[0]) for cell in found[who]]
        places = np.arange(len(found)) + 0.27 * (k - 1)
        ax.barh(places, times, 0.25, color=colour, label=who)
    ax.set_yticks(range(len(found)), found["trees"])
    ax.invert_yaxis()
    ax.set_xlabel("µs for one row, 100 trees")
    ax.legend(loc="upper right")
    return figure


def speed() -> Figure:
    """How many times as fast as the peer, with the bound, from the tables of benchmarks."""
    page = "benchmarks.md"
    rows = [
        *table(page, "| what | treewright | peer").to_dict("records"),
        *table(page, "Other learners:").to_dict("records"),
        *table(page, "Forests (").to_dict("records"),
    ]
    chosen = {
        "fit, classification, 200 000 × 28, full tree, 2 threads": "full tree",
        "fit, regression, 200 000 × 28, full tree, 2 threads": "regression tree",
        "fit, adult, 32 561 × 14 mixed, cp=0.01 (5 and 5 leaves)": "CART, adult",
        "C4.5, adult, 16 281 × 14 (292 and 292 leaves), 2 threads": "C4.5, adult",
        "C4.5, mixed columns, 100 000 × 16 (9422 and 9422 leaves), 2 threads": "C4.5, 100 000 × 16",
        "CTree, classification, 20 000 × 20 (62 and 62 leaves), 2 threads": "CTree, 20 000 × 20",
        "CHAID, 100 000 × 20 of 10 levels, depth 4 (206 and 205 nodes)": "CHAID, 100 000 × 20",
        "fit, forest of 20, 200 000 × 28, 2 threads, bins; scikit-learn 1.9.1": "forest of 20",
        "fit, forest of 20, 200 000 × 28, 2 threads, bins; intelex 2026.2.0": "forest of 20",
        "fit, forest of 20, 200 000 × 28, 2 threads, bins; ranger": "forest of 20",
        "predict_proba, forest of 20, 1 000 000 rows": "forest's predictions",
    }
    figure, ax = axes(4.4)
    labels = []
    found = {row["what"]: row for row in reversed(rows)}
    for place, (what, label) in enumerate(chosen.items()):
        row = found[what]
        times, bound = (float(re.search(r"[\d.]+", row[k])[0]) for k in ("figure", "target"))
        peer = re.match(r"[\w-]+", row["peer"])[0]
        labels.append(f"{label} | {peer}")
        ax.barh(place, times, 0.6, color=BLUE)
        ax.plot([bound, bound], [place - 0.4, place + 0.4], color=ORANGE, lw=2)
        ax.annotate(f"{times:g}×", (times, place), (4, 0), textcoords="offset points", va="center")
    ax.plot([], [], color=ORANGE, lw=2, label="what a release must keep")
    ax.set_xscale("log")
    ax.set_xlim(1, 200)
    ax.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    ax.minorticks_off()
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlabel("times as fast as the peer")
    figure.legend(loc="outside upper right")
    return figure


def regions() -> Figure:
    """What a dozen learners say everywhere between two rings."""
    models = {
        "CART": treewright.CARTClassifier(ccp_alpha="cv", random_state=0),
        "C4.5": treewright.C45Classifier(),
        "C5.0, boosted": treewright.C50Classifier(trials=10),
        "CHAID": treewright.CHAIDClassifier(),
        "CTree": treewright.CTreeClassifier(),
        "oblique": treewright.ObliqueTreeClassifier(random_state=0, max_depth=6),
        "optimal, depth 3": treewright.OptimalTreeClassifier(max_depth=3),
        "Hoeffding": treewright.HoeffdingTreeClassifier(),
        "MARS, degree 2": treewright.MARSClassifier(degree=2),
        "bag of 100": treewright.BaggingClassifier(
            treewright.CARTClassifier(), 100, random_state=0
        ),
        "forest of 200": treewright.RandomForestClassifier(200, random_state=0),
        "boosting": treewright.GradientBoostingClassifier(random_state=0),
    }
    figure, all_axes = axes(8.4, 4, 3)
    draw_boundaries(models, all_axes.flat, 150)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "data-kinds": kinds,
    "gaps-ways": gaps,
    "costs-threshold": costs,
    "teams-titanic": teams,
    "rules-titanic": rules,
    "scale-time": scale,
    "exports-time": exports,
    "speed": speed,
    "learners-regions": regions,
}


def main(pictures: dict[str, Callable[[], Figure]]) -> None:
    """Draw what is named."""
    mpl.rcParams.update(STYLE)
    for name in sys.argv[1:] or pictures:
        path = DOCS / "img" / f"{name}.svg"
        figure = pictures[name]()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main(PICTURES)
