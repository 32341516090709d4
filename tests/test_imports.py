"""What ``import treewright`` needs, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("matplotlib", "pandas", "polars", "pyarrow", "typer", "rich", "jinja2", "numba")


def import_without_heavy_modules(statement: str) -> subprocess.CompletedProcess[str]:
    # None in sys.modules makes an import fail; scikit-learn, which loads pandas and pyarrow
    # where they are installed, then goes without them
    code = f"import sys\nsys.modules.update(dict.fromkeys({HEAVY!r}))\n{statement}\n"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize(
    "statement",
    [
        "import treewright",
        "from treewright import CARTClassifier, CARTRegressor, save, load",
        "import treewright.datasets",
        "import treewright.cli",
    ],
)
def test_importing_needs_no_heavy_module(statement):
    done = import_without_heavy_modules(statement)
    assert done.returncode == 0, done.stderr


def test_the_check_above_notices_a_heavy_import():
    assert import_without_heavy_modules("import pyarrow").returncode != 0
