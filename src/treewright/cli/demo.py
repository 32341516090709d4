"""``treewright demo``: a pruned tree on German credit, and how good it is.

Of the thousand customers 300 are held out. A tree is grown on the others and pruned by
ten-fold cross-validation, to the smallest one within a standard error of the best, as Breiman
et al. (1984) advise. It is judged on the 300 by its accuracy and by what its mistakes cost the
bank, beside a tree that knows the costs and beside no tree at all.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.table import Table

__all__ = ["run"]

COSTS = {"bad": {"good": 5.0, "bad": 0.0}, "good": {"bad": 1.0, "good": 0.0}}
"""What a decision costs, by true class and predicted class."""


def run(
    output_dir: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="For the diagram and the model; made if absent."),
    ] = Path("demo-output"),
) -> None:
    """Fit and prune a tree on German credit, show it and judge it."""
    import numpy as np
    from rich.console import Console
    from sklearn.model_selection import train_test_split

    import treewright
    from treewright.cli._files import make_folder, page_width, write_text
    from treewright.datasets import load_german_credit

    make_folder(output_dir)
    credit = load_german_credit()
    rows = np.arange(len(credit.target))
    train, test = train_test_split(rows, test_size=300, stratify=credit.target, random_state=0)
    X, y = credit.data.take(train), credit.target[train]
    estimator = _fit(X, y)
    new, truth = credit.data.take(test), credit.target[test]

    print(f"German credit: {len(train)} customers to learn from, {len(test)} held out.")
    print("A CART tree, pruned by 10-fold cross-validation:\n")
    print(estimator.tree_.to_text(width=page_width(), gaps=False).rstrip())
    decisions = {
        "this tree": estimator.predict(new),
        "a tree grown for the costs": _fit(X, y, costs=COSTS).predict(new),
        "every customer called good": np.full(len(truth), "good", dtype=object),
    }
    print(f"\nOn the {len(test)} customers held out:\n")
    Console(width=page_width(), highlight=False).print(_verdicts(truth, decisions))
    print("\nCost: 5 for a bad customer called good, 1 for a good one called bad.")
    diagram, model = output_dir / "german-credit.svg", output_dir / "german-credit.tw"
    write_text(estimator.tree_.to_svg(gaps=False), diagram)
    treewright.save(estimator, model)
    print(f"Diagram: {diagram}")
    print(f"Model:   {model}")


def _fit(X: Any, y: NDArray[Any], **options: Any) -> Any:
    import treewright
    from treewright.cli._target import name_target

    estimator = treewright.CARTClassifier(
        cp="cv", cv=10, rule="1se", min_samples_leaf=7, random_state=0, **options
    )
    name_target(estimator.fit(X, y), "class")
    return estimator


def _verdicts(truth: NDArray[Any], decisions: dict[str, NDArray[Any]]) -> Table:
    """Accuracy with its interval (Wilson) and cost of each way to decide."""
    from rich.table import Table
    from scipy.stats import binomtest

    table = Table(box=None)
    table.add_column("")
    for heading in ("accuracy", "95 % interval", "cost"):
        table.add_column(heading, justify="right")
    for name, decided in decisions.items():
        right = int((truth == decided).sum())
        interval = binomtest(right, len(truth)).proportion_ci(0.95, method="wilson")
        cost = sum(COSTS[t][d] for t, d in zip(truth, decided, strict=True))
        between = f"{interval.low:.1%} to {interval.high:.1%}"
        table.add_row(name, f"{right / len(truth):.1%}", between, f"{cost:.0f}")
    return table
