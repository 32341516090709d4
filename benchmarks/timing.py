"""Timing: contenders take turns, the best of several counts.

Turns, because a shared machine is slow for minutes at a time and would punish whoever ran then;
the best, because noise only ever adds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["seconds", "take_turns"]

LEAST_SECONDS = 0.02
"""A shorter call is repeated until it takes this long, and the mean counts."""


def seconds(call: Callable[[], Any]) -> float:
    """Time of one call."""
    gc.collect()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        took = time.perf_counter() - start
        if took >= LEAST_SECONDS:
            return took / count
        count = max(2 * count, int(count * LEAST_SECONDS / max(took, 1e-9)))


def take_turns(contenders: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Times of every contender, each called once per round."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, call in contenders.items():
            times[name].append(seconds(call))
    return times
