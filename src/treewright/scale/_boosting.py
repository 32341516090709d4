"""Gradient boosting on a source: the same model as in memory, from blocks of rows.

``fit`` is: look at the target, set rows aside, look at the features, bin blocks, do the rounds.
What needs more than sums of the rows of a leaf (medians, a scorer, the user's own loss) is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.data.sources import Source
from treewright.data.table import Table
from treewright.data.weights import EXACT, on_scale
from treewright.ensembles.boosting.base import Plan
from treewright.ensembles.boosting.material import Material
from treewright.ensembles.boosting.settings import growths, length
from treewright.ensembles.boosting.statistics import many_categories
from treewright.ensembles.boosting.stopping import AUTO_ROWS, is_on, rows_aside
from treewright.ensembles.boosting.tasks import Aim
from treewright.errors import DataError, ParameterError
from treewright.estimator.costs import class_weights
from treewright.estimator.parameters import check_parameters
from treewright.estimator.progress import reported
from treewright.estimator.training import drawn_seed, threads
from treewright.kernels.blocks import make_planner
from treewright.kernels.boosting import MOST_ROWS, MOST_TALL_ROWS
from treewright.scale._engine import (
    Engine,
    firsts,
    make_engine,
    require_target,
    survey_classes,
    survey_features,
    survey_targets,
    weigh,
    weighs,
)
from treewright.scale._few_rows import choose_rounds
from treewright.scale._memory import make_budget
from treewright.scale._rounds import BlockRun, Pool
from treewright.scale._share import Fitting, Placed, Weighs
from treewright.scale._survey import (
    Look,
    Reading,
    TargetPart,
    aside_windows,
    bin_maps_of,
    class_totals,
    draw_aside,
    settle_aside,
)

__all__ = ["fit_source"]

Floats = NDArray[np.float64]
SUMS_ONLY = (
    "squared_error",
    "poisson",
    "gamma",
    "tweedie",
    "logistic",
    "multinomial",
    "exponential",
)
"""Losses whose leaves need nothing but sums."""


def fit_source(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    target: Any,
    eval_set: Any = None,
    memory_limit: Any = None,
    temp_dir: Any = None,
    client: Any = None,
    drops_gaps: bool = False,
) -> Any:
    """Fit a gradient booster on a source; see :meth:`Boosting.fit`."""
    require_target(y, target)
    _check(estimator, eval_set)
    check_parameters(estimator)
    engine = make_engine(X, client)
    try:
        with reported(estimator, X, y, sample_weight, n_parts=1) as progress:
            plan, run = _prepare(
                estimator,
                engine,
                X,
                sample_weight,
                target,
                eval_set,
                memory_limit,
                temp_dir,
                progress,
                drops_gaps,
            )
            interrupt = run.run(estimator._patience(plan.aim, plan.aside))
            estimator._store(plan, run)
            estimator.block_run_ = {
                "n_rows": estimator._n_rows,
                "n_bytes": run.pool.n_bytes,
                "n_lost": run.n_lost,
            }
            if interrupt is not None:
                raise interrupt
    finally:
        engine.close()
    estimator._name_target(target)
    return estimator


def _check(estimator: Any, eval_set: Any) -> None:
    """Refuse what blocks cannot do, one sentence each."""
    given = {
        "tree_method": (estimator.tree_method == "exact", "blocks are binned"),
        "sampling": (
            estimator.subsample < 1 and estimator.sampling != "uniform",
            "goss and mvs need the slopes of all rows in order, and blocks draw rows uniformly",
        ),
        "dropout": (estimator.dropout > 0, "blocks keep no earlier trees apart"),
        "warm_start": (estimator.warm_start, "a fit on blocks begins anew"),
        "snapshot": (estimator.snapshot is not None, "a fit on blocks begins anew"),
        "init": (not isinstance(estimator.init, str), "blocks begin with a constant"),
        "scoring": (estimator.scoring != "loss", "blocks judge rounds by the loss"),
        "eval_set": (isinstance(eval_set, tuple | list), "rows that judge are a source too"),
    }
    for name, (is_given, why) in given.items():
        if is_given:
            raise ParameterError(
                f"{name} must be left out where X is read in blocks: {why}; leave it out, or read "
                "the data into memory."
            )


def _check_loss(aim: Aim) -> None:
    if aim.name not in SUMS_ONLY:
        name = "a function" if aim.own is not None else repr(aim.name)
        raise ParameterError(
            "loss must be one whose leaves need only sums where X is read in blocks "
            f"({', '.join(SUMS_ONLY[:4])}, log_loss, exponential), got {name}; choose one of "
            "these, or read the data into memory."
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Which rows are learned from: where pieces begin, what is set aside, and who judges."""

    placed: list[Placed]
    counts: NDArray[Any]
    aside: Any
    judged: Source | None

    @property
    def n_learned(self) -> int:
        return int(self.counts.sum())


def _prepare(
    estimator: Any,
    engine: Engine,
    X: Any,
    sample_weight: Any,
    target: str,
    eval_set: Any,
    memory_limit: Any,
    temp_dir: Any,
    progress: Any,
    drops_gaps: bool,
) -> tuple[Plan, BlockRun]:
    """Look at the target, then at the features, then lay out the blocks."""
    source = engine.source(X)
    source.require(target)
    source, weight = weigh(source, sample_weight, target)
    n_threads = threads(estimator.n_jobs)
    n_features = len(source.names) - 1 - (weight is not None)
    if n_features < 1:
        raise DataError(f"There must be columns beside the target {target!r}, got none; add some.")
    n_places = n_features * (estimator.max_bins + 1)
    budget = make_budget(memory_limit, source.row_bytes, n_features, n_places, n_threads)
    reading = Reading(
        target,
        hasattr(estimator, "predict_proba"),
        budget.rows,
        estimator.categorical_features,
        estimator.ordinal_features,
        drops_gaps,
        weight,
    )
    reading, parts, found = survey_targets(engine, source, reading)
    factors, kind = _factors(estimator, found), weighs(found)
    if factors is not None:
        reading, kind = survey_classes(engine, source, reading, found, factors)
    aim = _aim(estimator, target, found)
    _check_loss(aim)
    seed = drawn_seed(estimator.random_state)
    rows = _set_aside(estimator, engine, source, reading, parts, found, eval_set, seed)
    schema, look = survey_features(
        engine, reading, found, rows.placed, rows.n_learned, rows.aside, estimator.max_bins
    )
    _check_categories(estimator, schema)
    maps = bin_maps_of(look.features, estimator.max_bins)
    learn = _learned(schema, target, found, rows.n_learned)
    is_judged = rows.aside is not None or rows.judged is not None
    start = np.zeros((1, aim.n_columns))
    size = length(estimator, found.n_rows, is_judged and estimator.early_stopping is not False)
    aside = learn if is_judged else None
    plan = Plan(
        aim, seed, found.n_rows, *size, learn, aside, None, start, None, growths(estimator)[0]
    )
    if not is_judged and estimator.n_estimators == "auto" and found.n_rows < AUTO_ROWS:
        plan = choose_rounds(plan, estimator, engine, source.pieces, reading)
    rounds = estimator._rounds(plan, progress)
    params = {
        **rounds.growth,
        "loss": aim.name,
        "n_columns": aim.n_columns,
        "loss_number": aim.number,
        "seed": seed,
    }
    n_counted, most_factor = _weight_sizes(kind, reading, look, rows.counts)
    is_tall = (n_counted or rows.n_learned) > MOST_ROWS
    planner = make_planner(maps, params, rows.n_learned, n_counted, most_factor, is_tall)
    fitting = Fitting(
        reading,
        schema,
        maps,
        found.values,
        rows.aside,
        params,
        kind,
        most_factor,
        planner.offsets(),
        planner.width(),
        planner.sum_bytes(),
        rows.n_learned,
        n_counted,
        is_tall,
        n_threads,
        budget.resident,
        None if temp_dir is None else str(temp_dir),
    )
    pieces = () if rows.judged is None else rows.judged.pieces
    pool = engine.pool(fitting, [*rows.placed, *(Placed(p, 0, 0, judges=True) for p in pieces)])
    if estimator.init == "prior":
        is_weighed = most_factor > 0 or n_counted is not None
        start = _start(aim, pool, rows.counts, look.most, is_weighed)[None, :]
        plan = replace(plan, start=start)
    return plan, BlockRun(pool, planner, aim, rounds, schema, plan.start[0])


def _weight_sizes(
    kind: Weighs, reading: Reading, look: Look, rows: NDArray[np.int64]
) -> tuple[int | None, float]:
    """How often rows count together (None: once each), and the largest factor (0: none)."""
    parts = look.weights
    most = np.array([1.0 if part is None else part.most for part in parts or [None] * len(rows)])
    total = rows if parts is None else np.array([p.total / EXACT if p else 0.0 for p in parts])
    own = np.ones(len(rows)) if reading.factors is None else reading.factors
    if kind is None:
        return None, 0.0
    if kind == "counts":
        return int((total * own).sum()), 0.0
    if kind == "both":
        return int(total.sum()), float(own.max())
    each = most * own
    scale = reading.factor_scale
    return None, float(np.max(each if scale is None else on_scale(each, scale)))


def _set_aside(
    estimator: Any,
    engine: Engine,
    source: Source,
    reading: Reading,
    parts: Sequence[TargetPart],
    found: TargetPart,
    eval_set: Any,
    seed: int,
) -> _Rows:
    """Where the rows of each piece begin, and which of them judge instead of being learned."""
    begins = firsts([part.n_rows for part in parts])
    placed = [
        Placed(piece, first, first) for piece, first in zip(source.pieces, begins, strict=True)
    ]
    counts = found.counts if found.counts is not None else np.array([found.n_rows])
    aside, judged = None, None
    if eval_set is not None:
        judged = engine.source(eval_set)
        judged.require(reading.target, "target")
    elif is_on(estimator.early_stopping, found.n_rows, False):
        wanted = rows_aside(counts, estimator.validation_fraction)
        window = aside_windows(counts, wanted)
        pieces = _with([(piece,) for piece in source.pieces], begins)
        drawn = engine.each(draw_aside, pieces, reading, found.values, window, seed)
        aside, taken = settle_aside(drawn, wanted, seed)
        learned = [part.n_rows - int(t.sum()) for part, t in zip(parts, taken, strict=True)]
        counts = counts - sum(taken)
        placed = [
            replace(each, first_learned=first)
            for each, first in zip(placed, firsts(learned), strict=True)
        ]
    rows = _Rows(placed, counts, aside, judged)
    if rows.n_learned > MOST_TALL_ROWS:
        raise DataError(
            f"Blocks must have at most {MOST_TALL_ROWS} rows to learn from, beyond which sums of "
            f"64 bits may overflow, got {rows.n_learned}; learn from some of the files."
        )
    return rows


def _check_categories(estimator: Any, schema: Schema) -> None:
    """Refuse columns that would be read as target statistics."""
    for k in many_categories(schema, estimator.max_categories):
        raise ParameterError(
            f"max_categories must be None where X is read in blocks and column "
            f"{schema.names[k]!r} has {len(schema.features[k].categories)} categories, got "
            f"{estimator.max_categories}: target statistics follow an order of all rows; set it to "
            "None, or read the data into memory."
        )


def _aim(estimator: Any, target: str, found: TargetPart) -> Aim:
    """The loss, checked against what is known of the target."""
    ends = found.values if found.values is not None else np.array([found.low, found.high])
    classes = found.values
    y = np.arange(len(ends)) if classes is not None else ends
    about = Target(target, () if classes is None else tuple(classes.tolist()))
    table = Table(Schema((), True), 0, np.zeros(0, np.bool_), ())
    aim: Aim = estimator._make_aim(Material(None, None, table, y, None, None, None, about, classes))
    return aim


def _learned(schema: Schema, target: str, found: TargetPart, n_rows: int) -> Material:
    """What a fit keeps of its rows: how many, and what their columns are."""
    classes = found.values
    about = Target(target, () if classes is None else tuple(classes.tolist()))
    table = Table(schema, n_rows, np.zeros(len(schema), np.bool_), ())
    return Material(None, None, table, np.empty(0), None, None, None, about, classes)


def _factors(estimator: Any, found: TargetPart) -> Floats | None:
    """Weights of the classes, from all rows."""
    weight = getattr(estimator, "class_weight", None)
    if weight is None or found.values is None or found.counts is None:
        return None
    return np.asarray(class_weights(weight, found.values.tolist(), class_totals(found)), np.float64)


def _with(pieces: Sequence[tuple[Any, ...]], firsts: Sequence[int]) -> list[tuple[Any, ...]]:
    return [(*piece, first) for piece, first in zip(pieces, firsts, strict=True)]


# -- the start ----------------------------------------------------------------------------------


def _start(aim: Aim, pool: Pool, rows: NDArray[np.int64], most: float, is_weighed: bool) -> Floats:
    """The best constant score of each column, as a fit in memory finds it."""
    if is_weighed:
        sums = _weighed_sums(pool)
    elif aim.is_shared:
        sums = rows.astype(np.float64)
    elif aim.name in ("logistic", "exponential"):
        sums = np.array([rows[1], rows.sum()], np.float64)
    else:
        n = int(rows.sum())
        unit = 1.0 if most == 0 else _unit(most, n)
        sums = np.array([sum(part[0] for part in pool.call("sum_targets", unit)) * unit, n])
    if aim.is_shared:
        log = np.log(sums / sums.sum())
        return np.asarray(log - log.mean())
    mean = float(sums[0] / sums[1])
    if aim.name in ("logistic", "exponential"):
        odds = float(np.log(mean / (1 - mean)))
        return np.array([odds if aim.name == "logistic" else odds / 2])
    return np.array([mean if aim.name == "squared_error" else float(np.log(mean))])


def _weighed_sums(pool: Pool) -> Floats:
    """Weights of all classes; or the weighed target and the weight."""
    sizes = np.array(pool.call("weighed_sizes"))  # by share: largest number, and how many
    units = [
        _unit(most, int(n)) if most else 1.0
        for most, n in zip(sizes[:, 0].max(0), sizes[:, 1].sum(0), strict=True)
    ]
    parts = pool.call("weighed_sums", units)
    totals = [sum(part[k] for part in parts) for k in range(len(units))]
    return np.array([float(t) * unit for t, unit in zip(totals, units, strict=True)])


def _unit(most: float, n: int) -> float:
    """The unit in which so many numbers are summed; see ``order_free_sum``."""
    return float(2.0 ** (math.ceil(math.log2(most)) + math.ceil(math.log2(n + 1)) - 62))
