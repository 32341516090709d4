"""A line on stderr that says what takes so long, where a person is looking."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from treewright.cli._session import SESSION

__all__ = ["waiting"]

PATIENCE = 2.0
"""Seconds without a word."""


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say ``what`` is being done, and for how long, once it takes longer than two seconds."""
    if SESSION.quiet or not sys.stderr.isatty():
        yield
        return
    begin, done = time.monotonic(), threading.Event()

    def tell() -> None:
        if done.wait(PATIENCE):
            return
        while not done.wait(0.5):
            print(f"\r{what} … {time.monotonic() - begin:.0f} s", end="", file=sys.stderr)
            sys.stderr.flush()
        print("\r\x1b[K", end="", file=sys.stderr)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
