"""Work in a thread of its own, so that Ctrl-C is answered while it lasts.

Python sees a signal only between the steps of its main thread. A fit of another library may take
minutes for one step; here it runs beside, and the main thread waits. After Ctrl-C the work is left
alone: nothing of it is used, and its thread ends with it or with the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sklearn import config_context, get_config

__all__ = ["in_background"]

LOOK_UP = 0.1
"""Seconds between two looks for a signal."""


def in_background(work: Callable[..., Any], *args: Any) -> Any:
    """``work(*args)``, or the exception it raised, from another thread.

    Examples
    --------
    >>> in_background(max, 1, 2)
    2
    """
    if threading.current_thread() is not threading.main_thread():
        return work(*args)
    found: list[Any] = []
    failed: list[BaseException] = []
    settings = get_config()  # scikit-learn keeps them by thread

    def run() -> None:
        try:
            with config_context(**settings):
                found.append(work(*args))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True, name="treewright")
    thread.start()
    while thread.is_alive():
        thread.join(LOOK_UP)
    if failed:
        raise failed[0]
    return found[0]
