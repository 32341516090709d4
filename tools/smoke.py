"""Try an installed treewright: learn, read, save, load, predict, draw, and the command line.

Runs in an environment that holds the wheel and what it requires, nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import treewright
from treewright.datasets import load_german_credit, load_hitters


def run(*words: object) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "treewright", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def try_commands(folder: Path) -> None:
    """From a table to predictions, a page, a picture and a program."""
    data, model = folder / "titanic.csv", folder / "titanic.tw"
    run("demo", "--data", data)
    run("fit", data, "--target", "Survived", "--output", model)
    run("predict", model, data, "--proba", "--output", folder / "said.csv")
    run("show", model, "--as", "html", "--output", folder / "tree.html")
    run("export", model, "--output", folder / "tree.c")
    run("compare", data, "--target", "Survived", "--learners", "cart,c45", "--repeats", "1")
    run("learners", "cart")
    command = [sys.executable, "-m", "treewright", "fit", str(data)]
    wrong = subprocess.run(command, capture_output=True, text=True)
    if wrong.returncode != 2 or "Missing option '--target'." not in wrong.stderr:
        raise SystemExit(f"smoke test: a missing option is not told:\n{wrong.stderr}")
    ax = treewright.load(model).tree_.plot()
    ax.figure.savefig(folder / "tree.png")


def main() -> None:
    """Raise where something does not work."""
    credit = load_german_credit()
    tree = treewright.CARTClassifier(max_depth=4).fit(credit.data, credit.target)
    if np.mean(tree.predict(credit.data) == credit.target) < 0.7:
        raise SystemExit("smoke test: the tree is no better than guessing.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "credit.tw"
        treewright.save(tree, path)
        loaded = treewright.load(path)
        np.testing.assert_array_equal(
            loaded.predict_proba(credit.data), tree.predict_proba(credit.data)
        )
        if "checking_status" not in run("show", path):
            raise SystemExit("smoke test: the tree does not show its first test.")
        try_commands(Path(folder))
    hitters = load_hitters()
    treewright.CARTRegressor(max_depth=2).fit(hitters.data, hitters.target).predict(hitters.data)
    print(f"treewright {treewright.__version__} works: {treewright.__file__}")


if __name__ == "__main__":
    main()
