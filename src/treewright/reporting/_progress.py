"""The progress of a report: bars on stderr, a function of one's own, or silence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treewright.reporting.steps.plan import Tell

__all__ = ["teller"]


@contextmanager
def teller(progress: Any) -> Iterator[Tell]:
    """What the steps tell their progress to."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda step, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<14}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def tell(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield tell
