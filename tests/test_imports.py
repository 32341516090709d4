"""What ``import treewright`` needs and leaves for later, and which room imports which."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import treewright

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


LAYERS = (
    ("errors",),
    ("arguments",),
    ("kernels",),
    ("data", "criteria"),
    ("datasets",),
    ("tree",),
    ("rules",),
    ("pruning",),
    ("estimator",),
    ("explain",),
    ("learners", "mars"),
    ("ensembles",),
    ("treewright",),
    ("io", "evaluation", "scale"),
    ("exporting",),
    ("reporting",),
    ("cli",),
)
"""The rooms, as docs/architecture.md orders them: each may import those above it."""

HANDED_ON = {
    ("tree", "rules"): "Tree.rule_set",
    ("tree", "reporting"): "Tree.to_html",
    ("rules", "reporting"): "RuleSet.to_html",
    ("mars", "reporting"): "to_html of MARS",
    ("estimator", "reporting"): "to_html of estimators with trees",
    ("estimator", "explain"): "TreeEstimator.trace, lesson, shap_values",
    ("explain", "learners"): "surrogate_tree, which fits a CART tree",
    ("ensembles", "scale"): "fits on sources of blocks",
    ("estimator", "scale"): "fits on sources of blocks, predictions of collections",
    ("ensembles", "io"): "snapshots of a fit, in the format of model files",
    ("scale", "io"): "predictions, written whole or not at all as model files are",
}
"""What reaches up all the same, from inside a function: methods that another room carries out."""


def room_of(module: str) -> str:
    """The room of ``treewright.room.module``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "treewright"


def room_imports() -> Iterator[tuple[str, str, str, bool]]:
    """Importing file, its room, the room it imports, and whether at the top of the file."""
    root = Path(treewright.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root.parent).with_suffix("").as_posix().replace("/", ".")
        if name in ("treewright.__init__", "treewright.__main__"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module == "treewright":
                modules = [f"treewright.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            for module in modules:
                if module.split(".")[0] == "treewright":
                    yield name, room_of(name), room_of(module), node in tree.body


def test_rooms_import_one_way():
    rank = {room: i for i, rooms in enumerate(LAYERS) for room in rooms}
    found = list(room_imports())
    assert len({room for _, room, _, _ in found}) > 10
    wrong = [
        f"{name} imports {other}"
        for name, room, other, is_at_top in found
        if room != other
        and rank.get(other, rank["treewright"]) >= rank[room]
        and (is_at_top or (room, other) not in HANDED_ON)
    ]
    assert wrong == []
