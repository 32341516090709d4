"""C50Classifier beside the recorded runs of C5.0: node by node, sizes, errors on the folds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracle.recorded import Recorded, load_recorded, recorded_datasets
from treewright import C50Classifier
from treewright.rules import RuleSet
from treewright.tree.tree import Tree

OPTIONS: dict[str, dict[str, Any]] = {
    "tree": {},
    "tree_noglobal": {"global_pruning": False},
    "CF05_M5": {"confidence": 0.05, "min_samples_leaf": 5},
    "rules": {"rules": True},
    "boost10": {"trials": 10},
    "tree_subset": {"subset": True},
    "fuzzy": {"soft_thresholds": True},
    "winnow": {"winnow": True, "random_state": 1},
    "boost10_noearly": {"trials": 10, "earlystop": False},
    "rules_boost10": {"rules": True, "trials": 10},
    "bands10": {"rules": True, "bands": 10},
    "costs_1_4": {"costs": [[0.0, 1.0], [4.0, 0.0]]},
    "costs_1_4_rules": {"costs": [[0.0, 1.0], [4.0, 0.0]], "rules": True},
}
"""Recorded runs, and the parameters that ask for them; of the costs only those of two classes."""

BOOSTED = {"boost10", "boost10_noearly", "rules_boost10"}

LEAF, CUT, SUBSET = 0, 2, 3


def r_names(names: list[str]) -> list[str]:
    """Column names as R has them: no signs but dots, none twice."""
    plain = [re.sub(r"[^A-Za-z0-9._]", ".", name) for name in names]
    out: list[str] = []
    for name in plain:
        times = 0
        unique = name
        while unique in out:
            times += 1
            unique = f"{name}.{times}"
        out.append(unique)
    return out


def is_same(tree: Tree, recorded: Mapping[str, Any], names: list[str]) -> bool:
    """Whether a tree has the recorded tests, cuts, groups of categories and branches."""
    stack: list[tuple[int, Mapping[str, Any]]] = [(0, recorded)]
    while stack:
        node, other = stack.pop()
        if tree.is_leaf[node] or other["type"] == LEAF:
            if not (tree.is_leaf[node] and other["type"] == LEAF):
                return False
            continue
        children = _branches(other)
        if names[tree.splits.feature[node]] != other["att"] or len(children) != len(
            tree.children(node)
        ):
            return False
        if other["type"] == CUT:
            cut = tree.splits.node_breaks(node)[0]
            if not np.isclose(np.float32(cut), np.float32(other["cut"]), rtol=1e-6, atol=1e-6):
                return False
        if other["type"] == SUBSET:
            recorded_groups = [set(group) for group in other["subsets"] if group != ["N/A"]]
            listed = set().union(*recorded_groups)  # not those that a test above sent elsewhere
            if [group & listed for group in _groups(tree, node)] != recorded_groups:
                return False
        stack.extend(zip(tree.children(node), children, strict=True))
    return True


def _groups(tree: Tree, node: int) -> list[set[str]]:
    """The categories of each branch; those of ordered ones lie between breaks."""
    splits = tree.splits
    categories = [str(c) for c in tree.schema.features[splits.feature[node]].categories]
    breaks = splits.node_breaks(node)
    if len(breaks):
        codes = np.arange(len(categories))
        branches = np.searchsorted(breaks, codes)
    else:
        codes, branches = splits.node_codes(node), splits.node_branches(node)
    groups: list[set[str]] = [set() for _ in tree.children(node)]
    for code, branch in zip(codes, branches, strict=True):
        groups[branch].add(categories[code])
    return groups


def n_leaves(recorded: Mapping[str, Any]) -> int:
    """Leaves of a recorded tree, "not applicable" branches left out."""
    if recorded["type"] == LEAF:
        return 1
    return sum(n_leaves(child) for child in _branches(recorded))


def _branches(recorded: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Children of a recorded node; that for "not applicable", the first if any, is left out."""
    children: list[Mapping[str, Any]] = recorded["children"]
    return children[1:] if recorded.get("subsets", [["N/A"]])[0] == ["N/A"] else children


def size(model: Tree | RuleSet, run: str) -> int:
    """Leaves or rules; of boosted trees C5.0 counts only leaves with cases."""
    if isinstance(model, RuleSet):
        return len(model)
    if run in BOOSTED:
        return int(np.count_nonzero(model.is_leaf & (model.weight > 0)))
    return model.n_leaves


@dataclass(frozen=True)
class Outcome:
    """One run on one data set, ours and C5.0's."""

    dataset: str
    run: str
    n_rows: int
    same: bool | None
    size: int
    their_size: int
    training_errors: int
    their_training_errors: int
    errors: int | None
    their_errors: int | None
    n_equal: int = 0
    n_models: int = 0

    @property
    def difference(self) -> float:
        """Of the cross-validated error rates; positive where C5.0 is better."""
        assert self.errors is not None
        assert self.their_errors is not None
        return (self.errors - self.their_errors) / self.n_rows


def numbered(data: Recorded) -> np.ndarray:
    """Classes as numbers in the order that C5.0 had them in, which decides ties."""
    order = {value: i for i, value in enumerate(data.classes)}
    return np.array([order[value] for value in data.y.astype(str)])


def fit(data: Recorded, run: str, rows: Any = slice(None)) -> C50Classifier:
    """Our answer to a recorded run."""
    model = C50Classifier(precision="single", **OPTIONS[run], **data.hints)
    return model.fit(data.X.iloc[rows], numbered(data)[rows])


def their_size(data: Recorded, run: str) -> int:
    """Leaves or rules of the recorded models together."""
    recorded = data.runs[run]
    if None in recorded["size"]:  # boosting was given up for the first tree
        trees = recorded.get("trees")
        return n_leaves(trees[0]) if trees else 0
    return sum(recorded["size"])


def compare(data: Recorded, run: str) -> Outcome:
    """Fit all rows, and all but each fold."""
    recorded = data.runs[run]
    y = numbered(data)
    model = fit(data, run)
    same = None
    trees = recorded.get("trees") or ()
    names = r_names(list(data.X.columns))
    equal = [
        is_same(ours, theirs, names)
        for ours, theirs in zip(model.estimators_, trees, strict=False)
        if isinstance(ours, Tree)
    ]
    if len(trees) == 1 and run not in BOOSTED:
        same = equal[0]
    folds = recorded.get("cv")
    errors = None
    if folds is not None:
        errors = sum(
            int(np.sum(fit(data, run, train).predict(data.X.iloc[test]) != y[test]))
            for train, test in data.splits
        )
    return Outcome(
        data.name,
        run,
        len(y),
        same,
        sum(size(model, run) for model in model.estimators_),
        their_size(data, run),
        int(np.sum(model.predict(data.X) != y)),
        int(recorded["resubstitution_n_errors"]),
        errors,
        None if folds is None else int(folds["n_errors"]),
        sum(equal),
        len(trees),
    )


@lru_cache(maxsize=16)
def outcomes(shared: Path, run: str) -> tuple[Outcome, ...]:
    """A run on every recorded data set."""
    return tuple(_outcomes(shared, run))


def _outcomes(shared: Path, run: str) -> Iterator[Outcome]:
    for name in recorded_datasets(shared, "c50"):
        data = load_recorded(shared, "c50", name)
        if run in data.runs:
            yield compare(data, run)


def paired(found: tuple[Outcome, ...]) -> tuple[float, float]:
    """Mean difference of the cross-validated error rates over data sets, and its standard error."""
    differences = np.array([o.difference for o in found if o.errors is not None])
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))


def sizes(found: tuple[Outcome, ...]) -> tuple[int, int]:
    """Leaves or rules over all data sets, ours and theirs."""
    return sum(o.size for o in found), sum(o.their_size for o in found)
