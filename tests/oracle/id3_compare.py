"""ID3 beside Weka's Id3: the same tests, leaves and predictions, fold by fold."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.oracle.recorded import SMALL, Recorded, load_recorded, load_runs, recorded_datasets
from treewright import ID3Classifier

BUNDLED = ["contact_lenses", "play_tennis"]


def load_bundled(name: str) -> tuple[Recorded, list[str]]:
    """A run kept in this repository with its data, and Weka's order of the classes."""
    path = SMALL / "oracle" / "weka_id3" / f"{name}.json.gz"
    with gzip.open(path, "rt") as stream:
        held = json.load(stream)
    columns = {
        column: pd.Categorical.from_codes(entry["codes"], entry["levels"])
        for column, entry in held["columns"].items()
    }
    target, fold = np.array(held["target"], object), np.array(held["fold"])
    recorded = Recorded(name, pd.DataFrame(columns), target, fold, held["runs"])
    return recorded, held["classes"]


def load_shared(shared: Path, name: str) -> tuple[Recorded, list[str]]:
    """A run of the shared folder, and Weka's order of the classes."""
    return load_recorded(shared, "weka", name), load_runs(shared, "weka", name)["classes"]


def datasets_with_id3(shared: Path) -> list[str]:
    """Data sets that Weka's Id3 ran on."""
    return [
        name
        for name in recorded_datasets(shared, "weka")
        if "error" not in load_runs(shared, "weka", name)["runs"].get("id3", {"error": ""})
    ]


@dataclass
class Differences:
    """Where two trees differ; ties are leaves with as many rows of either class."""

    nodes: list[str] = field(default_factory=list)
    ties: list[str] = field(default_factory=list)
    n_nodes: int = 0


def compare_trees(model: ID3Classifier, recorded: Any) -> Differences:
    """Walk both trees at once."""
    found = Differences()
    stack = [(0, recorded, "root")]
    while stack:
        at, theirs, where = stack.pop()
        node = model.tree_.nodes[at]
        found.n_nodes += 1
        if node.is_leaf or theirs["leaf"]:
            _compare_leaves(model, at, theirs, where, found)
            continue
        if node.feature != theirs["attribute"]:
            found.nodes.append(f"{where}: {node.feature} here, {theirs['attribute']} there")
            continue
        values = model.tree_.schema.features[model.tree_.schema.index(node.feature)].categories
        children = dict(zip(values, model.tree_.children(at), strict=True))
        for branch in theirs["branches"]:
            value = branch["value"]
            stack.append((children[value], branch["child"], f"{where}, {node.feature}={value}"))
    return found


def _compare_leaves(
    model: ID3Classifier, at: int, theirs: Any, where: str, found: Differences
) -> None:
    tree = model.tree_
    if not (tree.is_leaf[at] and theirs["leaf"]):
        found.nodes.append(f"{where}: a leaf on one side only")
        return
    if theirs.get("class") is None:  # Weka leaves such rows without a class
        if tree.n_samples[at]:
            found.nodes.append(f"{where}: empty there only")
        return
    counts = dict(zip(model.classes_.tolist(), tree.value[at].tolist(), strict=True))
    label = model.classes_[tree.label[at]]
    if label == theirs["class"]:
        return
    is_tie = counts[label] == counts[theirs["class"]]
    (found.ties if is_tie else found.nodes).append(
        f"{where}: {label} here, {theirs['class']} there, of {counts}"
    )
