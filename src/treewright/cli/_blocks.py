"""Commands on data that are read in blocks: patterns, and anything under a limit of memory."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

from treewright.errors import ParameterError

__all__ = ["fit_blocks", "is_blocks", "predict_blocks"]

LEARNERS = ("gradient_boosting", "random_forest", "cart", "sliq", "sprint")
"""Learners that go over blocks; the last two by lists, in a limit of their own."""


def is_blocks(data: Path, memory: str | None) -> bool:
    """Whether the data are to be read in blocks: under a limit, or named by a pattern."""
    return memory is not None or (glob.has_magic(str(data)) and not data.exists())


def fit_blocks(
    data: Path,
    target: str,
    learner: str | None,
    task: Any,
    settings: list[str],
    memory: str | None,
    **options: Any,
) -> tuple[Any, str]:
    """A fitted estimator, and what is to be said of it."""
    from treewright.cli.fit import make
    from treewright.data.sources import open_source

    learner = learner or LEARNERS[0]
    if learner not in LEARNERS:
        raise ParameterError(
            f"--learner must be {' or '.join(LEARNERS)} where data are read in blocks, got "
            f"{learner!r}; leave --memory out to read all of the data."
        )
    source = open_source(str(data))
    source.require(target, "--target")
    estimator = make(learner, _task(task, source, target), settings, **options)
    if "oob_score" in estimator.get_params():
        estimator.set_params(oob_score=False)  # rows left out are not judged in blocks
    if learner in LEARNERS[-2:]:
        n_rows = source.n_rows
        estimator.set_params(memory_limit=memory).fit(str(data), target=target)
    else:
        fit = _trees_fit if learner != "gradient_boosting" else _boosting_fit
        fit(estimator, str(data), target, memory)
        n_rows = estimator.block_run_["n_rows"]
    lines = [
        f"{type(estimator).__name__} of {target!r} on {n_rows} rows and "
        f"{estimator.n_features_in_} features, read in blocks",
        _size(estimator),
    ]
    if hasattr(estimator, "train_score_"):
        loss = estimator.train_score_[estimator.n_iter_ - 1]
        lines.append(f"Loss of the training rows: {loss:.6g}")
    if source.n_rows > n_rows:
        n = source.n_rows - n_rows
        lines.insert(0, f"{n} {'row' if n == 1 else 'rows'} without a target left out.")
    return estimator, "\n".join(lines)


def _boosting_fit(estimator: Any, data: str, target: str, memory: str | None) -> None:
    from treewright.scale._boosting import fit_source

    fit_source(estimator, data, None, None, target=target, memory_limit=memory, drops_gaps=True)


def _trees_fit(estimator: Any, data: str, target: str, memory: str | None) -> None:
    from treewright.scale._trees import fit_source

    fit_source(estimator, data, None, None, target=target, memory_limit=memory, drops_gaps=True)


def _size(estimator: Any) -> str:
    if not hasattr(estimator, "tree_"):
        return f"Size: {estimator.size()}"
    return f"Size: {estimator.get_n_leaves()} leaves, depth {estimator.get_depth()}"


def _task(task: Any, source: Any, target: str) -> Any:
    """The task asked for, or the one that the values of the target speak for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from treewright.cli.fit import MOST_NUMBERED_CLASSES, choose_task

    kind = source.types.field(target).type
    values = pa.chunked_array([], kind)
    for piece in source.pieces:
        for block in piece.read([target], 1 << 20):
            unique = pc.unique(block.column(target))
            values = pc.unique(pa.chunked_array([*values.chunks, unique]))
            values = pa.chunked_array([values])
        if len(values) > MOST_NUMBERED_CLASSES:
            break
    return choose_task(task, values)


def predict_blocks(model: Any, data: Path, output: Path, proba: bool, memory: str | None) -> str:
    """Write predictions; what is to be said of them."""
    from treewright.scale import predict_files

    return f"{predict_files(model, str(data), output, proba=proba, memory_limit=memory)}: {output}"
