"""Kernels of rule learning behind their checks; the matcher checks its own arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core

__all__ = ["choose_rules", "choose_voting_rules", "error_rate", "rank_rules"]

Floats = NDArray[np.float64]


def choose_rules(
    rule_offset: NDArray[Any],
    rows: NDArray[Any],
    is_class: NDArray[np.bool_],
    weight: Floats,
    bits: Floats,
    share: float,
    most_exhaustive: int,
    n_random: int,
) -> NDArray[np.bool_]:
    """Rules of a class that tell it in the fewest bits; see ``core/rules/choice.cpp``.

    Rule ``r`` covers ``rows[rule_offset[r]:rule_offset[r + 1]]``; an empty ``weight`` means ones.
    """
    flags = _core.choose_rules(
        np.ascontiguousarray(rule_offset, np.int64),
        np.ascontiguousarray(rows, np.int32),
        np.ascontiguousarray(is_class, np.bool_),
        np.ascontiguousarray(weight, np.float64),
        np.ascontiguousarray(bits, np.float64),
        share,
        most_exhaustive,
        n_random,
    )
    return flags.astype(np.bool_)


def choose_voting_rules(
    rule_offset: NDArray[Any],
    rows: NDArray[Any],
    label: NDArray[Any],
    strength: Floats,
    y: NDArray[Any],
    weight: Floats,
    bits: Floats,
    n_classes: int,
    share: float,
) -> NDArray[np.bool_]:
    """Rules that vote which tell the classes in the fewest bits; ``core/rules/vote_choice.cpp``.

    Rule ``r`` covers ``rows[rule_offset[r]:rule_offset[r + 1]]`` and votes for ``label[r]`` with
    its ``strength``; an empty ``weight`` means ones.
    """
    flags = _core.choose_voting_rules(
        np.ascontiguousarray(rule_offset, np.int64),
        np.ascontiguousarray(rows, np.int32),
        np.ascontiguousarray(label, np.int32),
        np.ascontiguousarray(strength, np.float64),
        np.ascontiguousarray(y, np.int32),
        np.ascontiguousarray(weight, np.float64),
        np.ascontiguousarray(bits, np.float64),
        n_classes,
        share,
    )
    return flags.astype(np.bool_)


def error_rate(covered: Floats, wrong: Floats, confidence: float, z: float, tail: float) -> Floats:
    """Pessimistic error rate of rules: an upper limit of ``wrong`` among ``covered``."""
    return _core.error_rate(
        np.ascontiguousarray(covered, np.float64),
        np.ascontiguousarray(wrong, np.float64),
        confidence,
        z,
        tail,
    )


def rank_rules(
    rule_offset: NDArray[Any],
    rows: NDArray[Any],
    label: NDArray[Any],
    strength: Floats,
    y: NDArray[Any],
    weight: Floats,
    n_classes: int,
    other: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Rules that vote, the least useful first, and the errors before each is taken away.

    Rule ``r`` covers ``rows[rule_offset[r]:rule_offset[r + 1]]``, votes for ``label[r]`` with its
    ``strength``; a row without votes is of class ``other``. See ``core/rules/utility.cpp``.
    """
    return _core.rank_rules(
        np.ascontiguousarray(rule_offset, np.int64),
        np.ascontiguousarray(rows, np.int32),
        np.ascontiguousarray(label, np.int32),
        np.ascontiguousarray(strength, np.float64),
        np.ascontiguousarray(y, np.int32),
        np.ascontiguousarray(weight, np.float64),
        n_classes,
        other,
    )
