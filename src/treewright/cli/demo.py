"""``treewright demo``: the report of German credit, with what its mistakes cost the bank."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from treewright.cli._arguments import Seed

__all__ = ["COSTS", "run"]

COSTS = {"bad": {"good": 5.0, "bad": 0.0}, "good": {"bad": 1.0, "good": 0.0}}
"""What a decision costs, by true class and predicted class."""


def run(
    output_dir: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="For the report and the models; made if absent."),
    ] = Path("demo-output"),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a bundled data set, titanic.csv, and nothing else."
        ),
    ] = None,
    time: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time that the work may take, about.")
    ] = 60.0,
    seed: Seed = 0,
) -> None:
    """Report on German credit: a tree to read and a model to win, judged by what they cost.

    Examples: treewright demo --data titanic.csv; treewright demo --output-dir demo --time 30
    """
    if data is not None:
        from treewright.cli._example import write_example

        write_example(data)
        return
    import treewright
    from treewright.cli._files import make_folder
    from treewright.cli._target import name_target
    from treewright.cli.report import write
    from treewright.datasets import load_german_credit

    make_folder(output_dir)
    credit = load_german_credit()
    found = treewright.report(
        credit,
        costs=COSTS,
        title="German credit",
        time=time,
        seed=seed,
        progress=sys.stderr.isatty(),
        command=f"treewright demo --seed {seed}",
    )
    print(f"German credit: {len(credit.target)} customers, {len(found.held.test)} held out.")
    print("Cost: 5 for a bad customer called good, 1 for a good one called bad.\n")
    model = found.readable_model
    name_target(model, credit.target_name)
    print(model.tree_.to_text(gaps=False).rstrip() + "\n")
    treewright.save(model, output_dir / "german-credit.tw")
    write(found, output_dir / "german-credit.html")
    print(f"Model:  {output_dir / 'german-credit.tw'}")
