"""The command line: ``treewright fit | predict | show | evaluate | compare | tune | select | …``.

One thin file per command: parse, call the library, print. Errors become one sentence and an
exit code in ``_exit.py``; nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Parameters
    ----------
    arguments
        The words after ``treewright``; those of the process by default.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from treewright.cli._app import build_app
        from treewright.cli._exit import run

        code = run(build_app(), words or ["--help"])
    except KeyboardInterrupt:  # before the command began, while its modules were read
        print("treewright: Interrupted.", file=sys.stderr)
        code = 130
    if code == 130:
        # Threads that still work in the core, such as fits of a comparison, would find the
        # interpreter gone and abort.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
