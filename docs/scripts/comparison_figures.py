"""Draws the charts of docs/comparisons from the tables of these pages:

python docs/scripts/comparison_figures.py [NAME ...]        # all, or those named, into docs/img
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from guide_figures import BLUE, GREEN, ORANGE, RED, SKY, axes, main, table
from matplotlib.figure import Figure

GREY = "#8794a3"
EQUAL_TO_RANDOM = {"equal": BLUE, "a tie decides": SKY, "different": RED, "drawn at random": GREY}


def numbers(row: pd.Series, *names: str) -> list[int]:
    """Counts of a row, an empty cell as none."""
    return [int(re.sub(r"\D", "", str(row[name])) or 0) for name in names]


def shares(
    labels: list[str], counts: list[list[int]], colours: dict[str, str], about: str
) -> Figure:
    """A bar for each label, cut into the shares of its counts."""
    figure, ax = axes(0.36 * len(labels) + 0.9)
    parts = np.array([np.array(row) / sum(row) for row in counts])
    left = np.zeros(len(labels))
    for share, (name, colour) in zip(parts.T, colours.items(), strict=True):
        ax.barh(range(len(labels)), 100 * share, 0.6, left=100 * left, color=colour, label=name)
        left += share
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlabel(about)
    figure.legend(loc="outside upper right", ncols=4, fontsize=9, columnspacing=1, handlelength=1)
    return figure


def agreement() -> Figure:
    """Of the runs of each original program, how many models are the same here."""
    rpart = table("comparisons/cart.md", "| compared | equal").iloc[0]
    c45 = table("comparisons/c45.md", "| program, run")
    rules = table("comparisons/c45rules.md", "| | data sets |")["data sets"].astype(int)
    c50 = table("comparisons/c50.md", "| run | data sets | equal").iloc[0]
    ctree = table("comparisons/ctree.md", "| run | parameters").iloc[-1]
    earth = table("comparisons/mars.md", "| data set | rows | predictors")
    runs = " ".join(earth["heuristics off"] + " " + earth["on"])
    id3 = table("comparisons/id3.md", "| data set | rows")["tree"]
    j48, release8 = c45.iloc[0], c45[c45["compared"] == "pruned trees"].iloc[0]
    parts = {  # equal, tied, different, random
        "rpart": [*numbers(rpart, "equal", "tied", "different"), 0],
        "partykit's ctree": numbers(ctree, "equal", "tied", "different", "random"),
        "earth": [sum(map(int, re.findall(rf"(\d+) {sign}", runs))) for sign in "=~≠"] + [0],
        "J48": [*numbers(j48, "equal", "tied", "different"), 0],
        "C4.5 release 8": [*numbers(release8, "equal", "tied", "different"), 0],
        "c4.5rules": [rules[0], 0, rules[1], 0],
        "C5.0, trees": [int(c50["equal"]), 0, int(c50["data sets"]) - int(c50["equal"]), 0],
        "Weka's Id3": [int((id3 == "equal").sum()), 0, int((id3 != "equal").sum()), 0],
    }
    labels = [f"{name}, {sum(counts)}" for name, counts in parts.items()]
    return shares(labels, list(parts.values()), EQUAL_TO_RANDOM, "% of the recorded runs")


def forests() -> Figure:
    """Errors of forests beside R's, in standard errors, a dot for each data set."""
    found = table("comparisons/forests.md", "| data set | program | rows")
    figure, ax = axes(4.2)
    sets = list(dict.fromkeys(found["data set"]))
    ax.axvspan(-1, 1, color="#8794a3", alpha=0.2, lw=0)
    ax.axvline(0, color="#808080", lw=0.8)
    programs = {"randomForest": (BLUE, 0.15), "ranger": (ORANGE, -0.15)}
    for program, (colour, shift) in programs.items():
        mine = found[found["program"] == program]
        places = [sets.index(name) - shift for name in mine["data set"]]
        ax.plot(mine["in se"].iloc[:, 0].astype(float), places, "o", color=colour, label=program)
    ax.set_yticks(range(len(sets)), sets)
    ax.invert_yaxis()
    ax.set_xlim(-1.4, 1.4)
    ax.set_xlabel("out-of-bag error, ours less theirs, in standard errors")
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def cart() -> Figure:
    """What was compared with rpart, and how much of it is equal."""
    found = table("comparisons/cart.md", "| compared | equal")
    short = ("trees", "surrogates", "importances", "cp tables", "their folds", "out of fold")
    counts = [numbers(row, "equal", "tied", "different") for _, row in found.iterrows()]
    labels = [f"{name}, {sum(row)}" for name, row in zip(short, counts, strict=True)]
    colours = {name: EQUAL_TO_RANDOM[name] for name in ("equal", "a tie decides", "different")}
    return shares(labels, counts, colours, "%")


def c45() -> Figure:
    """Trees by program and options, pruned where the program prunes."""
    found = table("comparisons/c45.md", "| program, run")
    found["run"] = found["program, run"].replace("", None).ffill()
    trees = found[found["compared"].isin(["trees", "pruned trees"])]
    names = ("equal", "tied", "at the least weight", "different")
    counts = [numbers(row, *names) for _, row in trees.iterrows()]
    labels = [
        f"{re.sub(r'`| [(].*', '', run)}, {sum(row)}"
        for run, row in zip(trees["run"], counts, strict=True)
    ]
    kept = [[row[0], row[1] + row[2], row[3]] for row in counts]
    colours = {name: EQUAL_TO_RANDOM[name] for name in ("equal", "a tie decides", "different")}
    return shares(labels, kept, colours, "% of the data sets, trees after pruning")


def c45rules() -> Figure:
    """Rules of the data sets that differ: printed by both, or by one alone."""
    found = table("comparisons/c45rules.md", "| data set | rules here")
    here, there, both = (
        found[name].astype(int) for name in ("rules here", "rules there", "in both")
    )
    figure, ax = axes(2.3)
    left = np.zeros(len(found))
    parts = {
        "in both": (both, BLUE),
        "only here": (here - both, ORANGE),
        "only c4.5rules": (there - both, GREY),
    }
    for name, (counts, colour) in parts.items():
        ax.barh(range(len(found)), counts, 0.6, left=left, color=colour, label=name)
        left += counts
    ax.set_yticks(range(len(found)), found["data set"])
    ax.invert_yaxis()
    ax.set_xlabel("rules of the data sets that differ")
    figure.legend(loc="outside upper right", ncols=3, fontsize=9, columnspacing=1, handlelength=1)
    return figure


def ctree() -> Figure:
    """Trees by setting."""
    found = table("comparisons/ctree.md", "| run | parameters").iloc[:-1]
    counts = [numbers(row, "equal", "tied", "different", "random") for _, row in found.iterrows()]
    labels = [f"{name}, {sum(row)}" for name, row in zip(found["run"], counts, strict=True)]
    return shares(labels, counts, EQUAL_TO_RANDOM, "% of the runs")


def chaid() -> Figure:
    """Splits at the nodes of the PyPI package by data set."""
    found = table("comparisons/chaid.md", "| data set | equal | split above alpha").iloc[:-1]
    rules = ("split above alpha", "values not consecutive", "pure pair", "small group")
    counts = [numbers(row, "equal", *rules) for _, row in found.iterrows()]
    labels = [f"{name}, {sum(row)}" for name, row in zip(found["data set"], counts, strict=True)]
    kept = [[row[0], sum(row[1:])] for row in counts]
    colours = {"equal": BLUE, "a rule of the package's own": ORANGE}
    return shares(labels, kept, colours, "% of the recorded nodes of the PyPI package")


def earth() -> Figure:
    """Runs by data set, with the fast heuristics on and off."""
    found = table("comparisons/mars.md", "| data set | rows | predictors")
    runs = found["heuristics off"] + " " + found["on"]
    counts = [
        [sum(map(int, re.findall(rf"(\d+) {sign}", cell))) for sign in "=~≠"] for cell in runs
    ]
    labels = [f"{name}, {sum(row)}" for name, row in zip(found["data set"], counts, strict=True)]
    colours = {name: EQUAL_TO_RANDOM[name] for name in ("equal", "a tie decides", "different")}
    return shares(labels, counts, colours, "% of the runs, fast heuristics off and on")


def c50() -> Figure:
    """Errors on the held-out folds beside C5.0's, a dot for each data set."""
    found = table("comparisons/c50.md", "| data set | rows | tree")
    errors = found["errors"]
    figure, ax = axes(4.6)
    ax.plot([3, 3000], [3, 3000], color="#808080", lw=0.8)
    kinds = {"trees": BLUE, "rules": ORANGE, "boosted trees": GREEN}
    for k, (kind, colour) in enumerate(kinds.items()):
        pairs = [re.findall(r"\d+", cell) for cell in errors.iloc[:, k]]
        ours, theirs = np.array([list(map(int, p)) for p in pairs if len(p) == 2]).T
        ax.plot(theirs, ours, "o", ms=5, alpha=0.8, color=colour, label=f"{kind}, {len(ours)}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ticks = [3, 10, 30, 100, 300, 1000]
    ax.set_xticks(ticks, map(str, ticks))
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.set_xlabel("errors of C5.0 on the held-out folds")
    ax.set_ylabel("errors of C50Classifier")
    ax.legend(loc="upper left")
    return figure


PICTURES = {
    "agreement": agreement,
    "forests-beside": forests,
    "cart-beside": cart,
    "c45-beside": c45,
    "c45rules-beside": c45rules,
    "c50-beside": c50,
    "ctree-beside": ctree,
    "chaid-beside": chaid,
    "mars-beside": earth,
}

if __name__ == "__main__":
    main(PICTURES)
