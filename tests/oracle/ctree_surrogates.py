"""Surrogates of partykit's ctree: as recorded, and as they follow from our tests.

partykit 1.2-16 finds them as we do, by the association of other features with the sides of the
split, but now and then

- cuts at the largest value, where one side is empty: 0 / 0 came out large,
- asks features with p-values below 1e-16 in another order.

Feeding ours the recorded surrogates shows that nothing else differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.oracle.ctree_compare import Case, recorded_split
from treewright.learners._ctree import chooser as _inference
from treewright.learners._ctree.surrogates import find_surrogates
from treewright.tree.growing.choosing import GrowingNode, ProposedSplit, ProposedSurrogate


@dataclass(frozen=True)
class Found:
    """A surrogate: its feature, threshold (None for categories) and branches from 1."""

    feature: str
    threshold: float | None
    branches: tuple[int | None, ...]
    is_degenerate: bool = field(default=False, compare=False)


def as_recorded(case: Case) -> Callable[..., tuple[ProposedSurrogate, ...]]:
    """A stand-in for the search that answers with the recorded surrogates."""

    def find(kernel: Any, columns: Any, node: GrowingNode, split: ProposedSplit, n: int) -> Any:
        record = _record_of(case, node, split)
        names = list(case.data.X)
        return tuple(
            _proposal(case, names.index(s["var"]), s) for s in record["split"]["surrogates"]
        )

    return find


def _record_of(case: Case, node: GrowingNode, split: ProposedSplit) -> dict[str, Any]:
    """The recorded node with these rows and this split."""
    feature = case.features[split.feature]
    name = feature.name
    for record in case.run["nodes"]:
        if record["leaf"] or record["n"] != len(node.rows) or record["split"]["var"] != name:
            continue
        listed = recorded_split(record["split"])
        if not split.codes and listed[1] == float(f"{split.breaks[0]:.12g}"):
            return record
        left = [c for c, b in zip(split.codes, split.branches, strict=True) if b == 0]
        if split.codes and listed[1] == tuple(str(feature.categories[c]) for c in left):
            return record
    return {"split": {"surrogates": []}}  # below a tie


def _proposal(case: Case, feature: int, recorded: dict[str, Any]) -> ProposedSurrogate:
    index = recorded["index"]
    if recorded["threshold"] is not None:
        is_ordinal = case.features[feature].kind == "ordinal"
        return ProposedSurrogate(
            feature,
            breaks=(recorded["threshold"] - (1.0 if is_ordinal else 0.0),),
            is_reversed=index == [2, 1],
        )
    # levels that no row of the data has are left out of the recorded list
    seen = set(case.data.X.iloc[:, feature].dropna().astype(str))
    every = [str(category) for category in case.features[feature].categories]
    codes = [c for c, category in enumerate(every) if category in seen]
    codes = codes if len(index) == len(codes) else range(len(index))
    pairs = [(c, b - 1) for c, b in zip(codes, index, strict=True) if b is not None]
    return ProposedSurrogate(
        feature, codes=tuple(c for c, _ in pairs), branches=tuple(b for _, b in pairs)
    )


def partykit_surrogates(case: Case) -> Iterator[tuple[list[Found], list[Found]]]:
    """At each node the recorded surrogates, and all that ours finds."""
    pairs: list[tuple[list[Found], list[Found]]] = []
    recorded = as_recorded(case)

    def find(kernel: Any, columns: Any, node: GrowingNode, split: ProposedSplit, n: int) -> Any:
        theirs = recorded(kernel, columns, node, split, n)
        every = find_surrogates(kernel, columns, node, split, len(columns))
        expected = [_found(case, surrogate) for surrogate in every]
        largest = [np.nanmax(columns[s.feature][node.rows]) for s in theirs]
        listed = [
            _found(case, s, bool(s.breaks) and s.breaks[0] >= top)
            for s, top in zip(theirs, largest, strict=True)
        ]
        pairs.append((listed, expected))
        return theirs

    with patch.object(_inference, "find_surrogates", find):
        case.fit()
    yield from pairs


def _found(case: Case, surrogate: ProposedSurrogate, is_degenerate: bool = False) -> Found:
    name = case.features[surrogate.feature].name
    if surrogate.breaks:
        branches: tuple[int | None, ...] = (2, 1) if surrogate.is_reversed else (1, 2)
        return Found(name, float(f"{surrogate.breaks[0]:.12g}"), branches, is_degenerate)
    listed = dict(zip(surrogate.codes, surrogate.branches, strict=True))
    every = range(len(case.features[surrogate.feature].categories))
    return Found(name, None, tuple(listed[c] + 1 if c in listed else None for c in every))
