"""``python -m treewright``: the command line."""

from __future__ import annotations

from treewright.cli import main

if __name__ == "__main__":
    main()
