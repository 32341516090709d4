"""The third step: a panel of learners on the same folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import treewright
from treewright.evaluation._comparison import Comparison, Pair
from treewright.evaluation._figures import FIGURES
from treewright.evaluation._learners import LEARNERS
from treewright.reporting.steps.hold_out import Held
from treewright.reporting.steps.plan import Plan, Settings, Tell
from treewright.reporting.steps.understand import Understanding

__all__ = ["Compared", "compare_learners", "make_learner"]

IMBALANCED = 0.75
"""Share of the largest of two classes from which accuracy says little."""


@dataclass(frozen=True, eq=False)
class Compared:
    """The comparison, what it was made by and on how many rows."""

    comparison: Comparison | None
    metric: str
    n_rows: int
    only: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The learners, the best first."""
        if self.comparison is None:
            return (self.only,)
        short = {learner.title: name for name, learner in LEARNERS.items()}
        return tuple(short[title] for title in self.comparison.names)

    def pair(self, one: str, other: str) -> tuple[Pair | None, bool]:
        """Two learners, and whether a difference between them is shown."""
        if self.comparison is None or one == other:
            return None, False
        pair = self.comparison.pair(LEARNERS[one].title, LEARNERS[other].title)
        return pair, self.comparison.differs(pair)

    @property
    def is_low_better(self) -> bool:
        """Whether less of the metric is better."""
        return FIGURES[self.metric].better == "low"


def pick_metric(data: Understanding, settings: Settings) -> str:
    """The figure that fits the target: cost, ROC AUC of unequal classes, accuracy, RMSE."""
    if settings.metric is not None:
        return settings.metric
    if not data.is_class:
        return "rmse"
    if settings.costs is not None:
        return "mean_cost"
    is_unequal = max(data.counts) / data.n_rows > IMBALANCED
    return "roc_auc" if len(data.classes) == 2 and is_unequal else "accuracy"


def make_learner(name: str, data: Understanding, plan: Plan, settings: Settings) -> Any:
    """A learner by its name, with what the report sets: size, seed, costs, kinds of columns."""
    named = LEARNERS[name]
    model = getattr(treewright, named.classifier if data.is_class else named.regressor)()
    own = model.get_params(deep=False)
    leaf = max(3, min(100, data.n_rows // 200))
    wished: dict[str, Any] = {
        "random_state": settings.seed,
        "n_estimators": plan.n_trees,
        "categorical_features": settings.kinds.get("categorical_features"),
        "ordinal_features": settings.kinds.get("ordinal_features"),
    }
    if name in ("cart", "hunt"):
        wished |= {"max_leaf_nodes": settings.max_leaves, "min_samples_leaf": leaf}
        folds = 10 if data.n_rows >= 200 else 5 if data.n_rows >= 20 else 2
        wished |= {"ccp_alpha": "cv", "cv": folds, "rule": "1se"}
    given = {k: v for k, v in wished.items() if k in own and v is not None}
    model.set_params(**given)
    if settings.costs is None or not data.is_class:
        return model
    if "costs" in own:
        return model.set_params(costs=settings.costs)
    return treewright.CostSensitiveClassifier(model, costs=settings.costs)


def compare_learners(
    data: Understanding, held: Held, plan: Plan, settings: Settings, positive: Any, tell: Tell
) -> Compared:
    """Compare the panel on training rows, or on a sample of them where there are very many."""
    metric = pick_metric(data, settings)
    rows = np.arange(len(held.train))
    if plan.n_compared < len(rows):
        rng = np.random.default_rng(settings.seed + 1)
        rows = np.sort(_sample(rng, data.codes[held.train], plan.n_compared, data.is_class))
    if len(plan.learners) == 1:
        return Compared(None, metric, len(rows), plan.learners[0])
    models = [
        (LEARNERS[name].title, make_learner(name, data, plan, settings)) for name in plan.learners
    ]
    found = treewright.compare(
        models,
        held.X_train.take(rows),
        held.y_train[rows],
        folds=plan.folds,
        repeats=plan.repeats,
        metric=metric,
        costs=settings.costs if data.is_class else None,
        positive=positive,
        random_state=settings.seed,
        n_jobs=settings.n_jobs,
        progress=lambda done, all_: tell("compare", done, all_),
    )
    return Compared(found, metric, len(rows))


def _sample(rng: Any, codes: Any, n: int, is_class: bool) -> Any:
    """Rows in the shares of the classes, two of each at least."""
    rows = rng.permutation(len(codes))
    if not is_class:
        return rows[:n]
    share = n / len(codes)
    parts = [rows[codes[rows] == k] for k in range(int(codes.max()) + 1)]
    return np.concatenate([part[: max(2, round(share * len(part)))] for part in parts])
