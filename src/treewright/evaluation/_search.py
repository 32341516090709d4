"""Searches over parameters: which candidates are tried, and which of them is taken.

A search asks ``score(candidates, share)`` for the scores of candidates on all inner folds, with a
share of the training rows, and knows nothing of models or data.

References: Bergstra and Bengio (2012) for random search; Jamieson and Talwalkar (2016),
*Non-stochastic best arm identification* for successive halving; Breiman et al. (1984), section
3.4.3 for the rule of one standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError, suggest

__all__ = ["SEARCHES", "Searched", "Tried", "check_grid", "choose", "n_candidates_of"]

Floats = NDArray[np.float64]
Candidate = dict[str, Any]
Score = Callable[[Sequence[Candidate], float], list["Tried"]]

FACTOR = 3
"""Successive halving keeps one candidate of so many, and gives it so many times the rows."""

FEWEST_ROWS = 50
"""Training rows of the first round of halving."""

MAX_PASSES = 10
"""Passes of the greedy search over all parameters."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate, its score on every inner fold, the mean size of its models, its rows' share."""

    parameters: Candidate
    scores: Floats
    size: float = float("nan")
    share: float = 1.0

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean score, folds taken for independent."""
        return float(self.scores.std(ddof=1) / np.sqrt(len(self.scores)))


@dataclass(frozen=True, eq=False)
class Searched:
    """All that was tried, and what was taken."""

    tried: tuple[Tried, ...]
    best: Tried
    chosen: Tried


def choose(tried: Sequence[Tried], sign: float, within: str | float | None) -> Searched:
    """The best of those tried on all rows, or the smallest model that is nearly as good."""
    whole = [one for one in tried if one.share == max(t.share for t in tried)]
    best = max(whole, key=lambda one: sign * one.mean)
    if within is None:
        return Searched(tuple(tried), best, best)
    margin = best.standard_error if within == "1se" else float(within)
    near = [one for one in whole if sign * (best.mean - one.mean) <= margin + 1e-12]
    chosen = min(near, key=lambda one: (one.size, -sign * one.mean))
    return Searched(tuple(tried), best, chosen)


# The searches


def _grid(grid: Any, score: Score, sign: float, settings: Mapping[str, Any]) -> list[Tried]:
    return score(_listed(grid), 1.0)


def _random(grid: Any, score: Score, sign: float, settings: Mapping[str, Any]) -> list[Tried]:
    from sklearn.model_selection import ParameterSampler

    n, seed = settings["n_candidates"], settings["seed"]
    drawn = ParameterSampler(grid, n_iter=_at_most(grid, n), random_state=seed)
    return score(_distinct(list(drawn)), 1.0)


def _greedy(grid: Any, score: Score, sign: float, settings: Mapping[str, Any]) -> list[Tried]:
    """One parameter after the other, each at its best while the others stay."""
    now: Candidate = {name: settings["start"].get(name) for name in grid}
    for name, values in grid.items():
        if not any(_same(now[name], value) for value in values):
            now[name] = next(iter(values))
    known: dict[str, Tried] = {}

    def scored(candidates: list[Candidate]) -> list[Tried]:
        fresh = [one for one in candidates if _key(one) not in known]
        for one in score(fresh, 1.0) if fresh else []:
            known[_key(one.parameters)] = one
        return [known[_key(one)] for one in candidates]

    for _ in range(MAX_PASSES):
        before = _key(now)
        for name, values in grid.items():
            found = scored([{**now, name: value} for value in values])
            now = max(found, key=lambda one: sign * one.mean).parameters
        if _key(now) == before:
            break
    return list(known.values())


def _halving(grid: Any, score: Score, sign: float, settings: Mapping[str, Any]) -> list[Tried]:
    """All candidates on few rows, the best third of them on three times as many, and so on."""
    left = _listed(grid)
    n_rounds = n_rounds_of(len(left), settings["n_rows"])
    tried: list[Tried] = []
    for k in range(n_rounds):
        share = float(FACTOR) ** -(n_rounds - 1 - k)
        found = score(left, share)
        tried += found
        found.sort(key=lambda one: -sign * one.mean)
        keep = max(math.ceil(len(left) / FACTOR), 1)
        left = [one.parameters for one in found[:keep]]
    return tried


SEARCHES: dict[str, Callable[..., list[Tried]]] = {
    "grid": _grid,
    "random": _random,
    "greedy": _greedy,
    "halving": _halving,
}


# Grids


def check_grid(grid: Any, known: Sequence[str], search: str, owner: str) -> None:
    """Refuse what is no grid, and parameters that the model does not have."""
    parts = grid if isinstance(grid, list | tuple) and search in ("grid", "halving") else [grid]
    if not parts or not all(isinstance(part, Mapping) and part for part in parts):
        raise ParameterError(
            "grid must be a dict of parameters and the values to try, got "
            f"{type(grid).__name__}{' with nothing in it' if isinstance(grid, Mapping) else ''}."
        )
    for part in parts:
        for name, values in part.items():
            if name not in known:
                raise ParameterError(
                    f"grid names a parameter that {owner} does not have: {name!r}."
                    f"{suggest(str(name), sorted(known))}"
                )
            is_list = hasattr(values, "__len__") and not isinstance(values, str)
            if not is_list and not (search == "random" and hasattr(values, "rvs")):
                raise ParameterError(
                    f"grid[{name!r}] must be a list of values, got {values!r}; write [{values!r}]."
                )
            if is_list and len(values) == 0:
                raise ParameterError(f"grid[{name!r}] must hold a value or more, got none.")


def n_candidates_of(grid: Any, search: str, n_candidates: int, n_rows: int) -> int:
    """How many candidates a search tries, as far as it can be known beforehand."""
    if search == "random":
        return _at_most(grid, n_candidates)
    if search == "greedy":
        return sum(map(len, grid.values())) * 2
    n = len(_listed(grid))
    if search == "grid":
        return n
    total = n
    for _ in range(n_rounds_of(n, n_rows) - 1):
        n = math.ceil(n / FACTOR)
        total += n
    return total


def n_rounds_of(n_candidates: int, n_rows: int) -> int:
    """Rounds of halving: as many as leave one candidate, but none on fewer than FEWEST_ROWS."""
    wanted = math.ceil(math.log(n_candidates, FACTOR) - 1e-9)
    possible = math.floor(math.log(max(n_rows / FEWEST_ROWS, 1), FACTOR) + 1e-9)
    return min(wanted, possible) + 1


def _listed(grid: Any) -> list[Candidate]:
    from sklearn.model_selection import ParameterGrid

    return list(ParameterGrid(grid))


def _at_most(grid: Any, n: int) -> int:
    if any(hasattr(values, "rvs") for values in grid.values()):
        return n
    return min(n, math.prod(len(values) for values in grid.values()))


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    return list({_key(one): one for one in candidates}.values())


def _key(candidate: Candidate) -> str:
    return repr(sorted(candidate.items(), key=lambda item: item[0]))


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and repr(a) == repr(b)
