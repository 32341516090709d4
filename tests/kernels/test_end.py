"""The process ends while threads still fit: with its own exit code, and without waiting long."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, time
import numpy as np
import treewright as tw

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
begun = threading.Event()

def work():
    tw.CARTClassifier(max_depth=1).fit(X, y)
    begun.set()
    while True:
        {model}.fit(X, y)

threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.2)
sys.exit(7)
"""
MODELS = [
    "tw.CARTClassifier()",
    "tw.RandomForestClassifier(500, n_jobs=2)",
    "tw.GradientBoostingClassifier(n_estimators=2000)",
    "tw.MARSClassifier(degree=2)",
]


@pytest.mark.parametrize("model", MODELS)
def test_a_process_ends_well_while_a_thread_fits(model: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(model=model)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (child.returncode, child.stderr) == (7, "")


def test_functions_that_run_at_exit_may_fit() -> None:
    # registered before treewright is imported, so they run after its own
    program = "import atexit\natexit.register(lambda: print(fit()))\n" + PROGRAM.format(
        model="tw.RandomForestClassifier(500)"
    ).replace("sys.exit(7)", "fit = lambda: tw.MARSClassifier().fit(X, y).predict(X[:2]).shape")
    child = subprocess.run(
        [sys.executable, "-c", program], timeout=60, capture_output=True, text=True
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "(2,)\n", "")


def test_a_child_that_was_forked_ends_while_its_parent_works() -> None:
    program = PROGRAM.format(model="tw.RandomForestClassifier(500)")
    program = program.replace(
        "sys.exit(7)",
        "import os\nchild = os.fork()\nif child == 0: sys.exit(5)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
    )
    child = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True)
    assert child.returncode == 5
