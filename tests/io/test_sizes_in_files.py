"""Numbers in model files are no proof of what they count: memory follows the size of the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import treewright
from tests.contract.estimators import NAMES, defaults, mixed_columns, seed, target_for
from treewright.io import save

PACKED = [
    treewright.RandomForestRegressor(5, base=treewright.CTreeRegressor()),
    treewright.GradientBoostingRegressor(n_estimators=5, tree_method="exact"),
]
"""Models whose trees are written in the form that holds equal numbers once."""
RECORDED = Path(__file__).parents[1] / "exporting" / "recorded"


def load_apart(folder: Path, at_least: int) -> list[str]:
    """Faults of loading what can be forged of the files in a folder."""
    child = subprocess.run(
        [sys.executable, "-m", "tests.io.load_forged", str(folder)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    lines = child.stdout.splitlines()
    assert child.returncode == 0, f"ended after {lines[-1:]}: {child.stderr[-2000:]}"
    assert len(lines) >= at_least
    return [line for line in lines if not line.endswith('""')]


def test_no_integer_in_a_header_makes_a_model_large(tmp_path: Path) -> None:
    columns = mixed_columns(40)
    for k, estimator in enumerate([*defaults(), *PACKED]):
        name = type(estimator).__name__
        if name.startswith("ID3"):
            estimator.set_params(missing="majority")
        seed(estimator)
        X = columns
        if name.startswith(("MARS", "Stacking")):
            X = {"age": np.nan_to_num(columns["age"]), "member": columns["member"]}
        model = estimator.fit(X, target_for(estimator, columns))
        save(model, tmp_path / f"{name}{k}.treewright")
    assert load_apart(tmp_path, 50 * len(NAMES)) == []


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_no_integer_in_a_file_of_others_makes_a_model_large(tmp_path: Path, library: str) -> None:
    for path in RECORDED.glob(f"{library}*"):
        suffixes = {"lightgbm": [".txt"], "xgboost": [".json", ".ubj"], "catboost": [".cat"]}
        for suffix in suffixes[library]:
            (tmp_path / path.with_suffix(suffix).name).write_bytes(path.read_bytes())
    assert load_apart(tmp_path, 50) == []
