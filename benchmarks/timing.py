"""Timing: contenders take turns, the best of several counts.

Turns, because a shared machine is slow for minutes at a time and would punish whoever ran then;
the best, because noise only ever adds. Where others keep the machine busy all the time, processor
time (``use_processor_time``) says more; with one thread it is what a quiet machine would take.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["seconds", "take_turns", "use_processor_time"]

LEAST_SECONDS = 0.02
"""A shorter call is repeated until it takes this long, and the mean counts."""


_clock: Callable[[], float] = time.perf_counter


def use_processor_time() -> None:
    """Count the seconds that processors spend on this process, all threads together."""
    global _clock
    _clock = time.process_time


def seconds(call: Callable[[], Any]) -> float:
    """Time of one call."""
    gc.collect()
    count = 1
    while True:
        start = _clock()
        for _ in range(count):
            call()
        took = _clock() - start
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
