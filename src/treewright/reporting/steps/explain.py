"""The seventh step: what the models listen to, leaf by leaf and row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.evaluation._costs import read_costs
from treewright.evaluation.cost_sensitive import CostSensitiveClassifier
from treewright.reporting.steps.choose import Choice
from treewright.reporting.steps.compare import Compared
from treewright.reporting.steps.hold_out import Held
from treewright.reporting.steps.judge import Judged
from treewright.reporting.steps.plan import Plan, Settings, Tell
from treewright.reporting.steps.prune import Pruned
from treewright.reporting.steps.understand import Understanding

__all__ = ["Explained", "Importance", "LeafRow", "Records", "Shapley", "explain"]

SHUFFLES = 3
MOST_SHAPLEY = 12
"""Features whose Shapley values are shown."""
MOST_FEATURES = 30
"""Features whose importance is measured; those that models do not use are not among them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Importance:
    """By how much the loss of each model grows when a column is shuffled."""

    feature: str
    readable: float
    strong: float


@dataclass(frozen=True)
class LeafRow:
    """A leaf: its rule, what it predicts, its training rows, and how it did on the test rows."""

    node: int
    rule: str
    prediction: str
    n_train: int
    n_test: int
    share_train: float
    share_test: float | None


@dataclass(frozen=True, eq=False)
class Records:
    """Some held-out rows: their number, what is true, and what the models say."""

    rows: NDArray[np.int64]
    truth: list[str]
    readable: list[str]
    strong: list[str]
    sure_readable: list[float | None]
    sure_strong: list[float | None]
    values: list[list[Any]]
    is_wrong: list[bool]


@dataclass(frozen=True, eq=False)
class Shapley:
    """Shapley values of the records: what each feature adds to the answer of one model.

    Parameters
    ----------
    learner, output
        Whose answers, and the class whose score is shared out; None for numbers.
    features, mean_abs
        The features that add most, and the mean size of what they add.
    values, base
        Records × features, and the answer where nothing is known.
    """

    learner: str
    output: str | None
    features: tuple[str, ...]
    mean_abs: tuple[float, ...]
    values: Floats
    base: float


@dataclass(frozen=True, eq=False)
class Explained:
    """Importances, leaves, records, Shapley values, and the unit of importance."""

    importances: tuple[Importance, ...]
    unit: str
    leaves: tuple[LeafRow, ...]
    records: Records
    shapley: Shapley | None = None


def explain(
    data: Understanding,
    held: Held,
    compared: Compared,
    choice: Choice,
    pruned: Pruned,
    judged: Judged,
    plan: Plan,
    settings: Settings,
    tell: Tell,
) -> Explained:
    """Explain both models on held-out rows."""
    importances, unit = _importances(data, held, choice, plan, settings, tell)
    leaves = leaf_rows(pruned, data, held)
    records = _records(data, held, choice, judged, plan, settings)
    shapley = _shapley(choice, judged, held, records, tell)
    return Explained(importances, unit, leaves, records, shapley)


# -- Shapley values -----------------------------------------------------------------------------


def _shapley(
    choice: Choice, judged: Judged, held: Held, records: Records, tell: Tell
) -> Shapley | None:
    """Shapley values of the strong model, or of the readable one where that is no sum of trees."""
    where = np.searchsorted(held.test, records.rows - 1)
    for name in dict.fromkeys((choice.strong, choice.readable)):
        model = _inner(choice.models[name])
        if not hasattr(model, "shap_values"):
            continue
        tell("explain", 0, 1)
        try:
            found = model.shap_values(held.X_test.take(where))
        except ParameterError:  # no sum of trees, as the median of AdaBoostRegressor
            continue
        tell("explain", 1, 1)
        output = None if found.output_names is None else judged.strong.positive
        sizes = found.mean_abs(None if output is None else str(output))
        order = np.argsort(-sizes, kind="stable")[:MOST_SHAPLEY]
        order = order[sizes[order] > 0]
        several = found.output_names is not None and output is None
        return Shapley(
            learner=name,
            output=None
            if several or not judged.strong.is_classification
            else _output(found, judged),
            features=tuple(found.feature_names[i] for i in order.tolist()),
            mean_abs=tuple(sizes[order].tolist()),
            values=np.zeros((len(where), 0)) if several else found.of(output)[:, order],
            base=0.0 if several else float(np.mean(found.base_of(output))),
        )
    return None


def _output(found: Any, judged: Judged) -> str:
    """The class that the values speak for; a score of two classes speaks for the last."""
    return str(
        judged.strong.positive if found.output_names is not None else judged.strong.classes[-1]
    )


# -- importances --------------------------------------------------------------------------------


def _importances(
    data: Understanding, held: Held, choice: Choice, plan: Plan, settings: Settings, tell: Tell
) -> tuple[tuple[Importance, ...], str]:
    """Permutation importances on held-out rows (Breiman, 2001; Fisher et al., 2019)."""
    rng = np.random.default_rng(settings.seed + 3)
    rows = np.sort(rng.permutation(len(held.test))[: plan.n_shuffled])
    table = held.X_test.take(rows)
    loss, unit = _loss_of(data, held, rows, settings)
    readable, strong = choice.models[choice.readable], choice.models[choice.strong]
    features = _used(data, readable, strong)
    base = [loss(model, table) for model in (readable, strong)]
    found = []
    for k, name in enumerate(features):
        tell("importances", k, len(features))
        grown = np.zeros(2)
        for _ in range(SHUFFLES):
            place = table.column_names.index(name)
            shuffled = table.set_column(
                place, table.field(place), table.column(place).take(rng.permutation(len(rows)))
            )
            first = loss(readable, shuffled)
            second = first if strong is readable else loss(strong, shuffled)
            grown += [first - base[0], second - base[1]]
        found.append(Importance(name, *(grown / SHUFFLES).tolist()))
    tell("importances", len(features), max(1, len(features)))
    found.sort(key=lambda i: -max(i.strong, i.readable))
    return tuple(found), unit


def _loss_of(data: Understanding, held: Held, rows: Any, settings: Settings) -> tuple[Any, str]:
    """A loss that feels small changes: log-loss for classes, squared error for numbers."""
    truth = data.codes[held.test][rows]
    if not data.is_class:
        return (
            lambda model, X: float(np.sqrt(np.mean((model.predict(X) - truth) ** 2))),
            "root mean squared error",
        )
    if settings.costs is not None:
        costs = np.asarray(read_costs(settings.costs, data.classes))
        place = {c: k for k, c in enumerate(data.classes)}

        def cost(model: Any, X: Any) -> float:
            said = [place[c] for c in model.predict(X).tolist()]
            return float(np.mean(costs[truth, said]))

        return cost, "cost per row"

    def log_loss(model: Any, X: Any) -> float:
        proba = model.predict_proba(X)[np.arange(len(truth)), truth]
        return float(-np.mean(np.log(np.clip(proba, 1e-3, 1.0))))

    return log_loss, "log-loss"


def _inner(model: Any) -> Any:
    """The model whose answers costs decide: they change decisions, not probabilities."""
    return model.estimator_ if isinstance(model, CostSensitiveClassifier) else model


def _used(data: Understanding, *models: Any) -> list[str]:
    """Features by their importance in training, those without any left out."""
    total = np.zeros(len(data.table.schema))
    for model in models:
        own = getattr(_inner(model), "feature_importances_", None)
        total += np.ones_like(total) if own is None else np.asarray(own) / max(1e-12, np.sum(own))
    order = np.argsort(-total, kind="stable")[:MOST_FEATURES]
    return [data.table.schema.names[i] for i in order.tolist() if total[i] > 0]


# -- leaves -------------------------------------------------------------------------------------


def leaf_rows(pruned: Pruned, data: Understanding, held: Held) -> tuple[LeafRow, ...]:
    """Every leaf in reading order, with the test rows that reach it."""
    tree, model = pruned.tree, pruned.model
    rules = _rule_words(tree)
    reached = model.apply(held.X_test)
    truth = data.codes[held.test]
    found = []
    for node in (n for n in tree.walk() if tree.first_child[n] < 0):
        here = truth[reached == node]
        if data.is_class:
            label = int(tree.label[node])
            share = float(tree.probability[node, label])
            tested = float(np.mean(here == label)) if len(here) else None
            said = str(data.classes[label])
        else:
            share = float(tree.value[node, 0])
            tested = float(np.mean(here)) if len(here) else None
            said = ""
        found.append(
            LeafRow(
                node,
                rules[node],
                said,
                int(tree.n_samples[node]),
                len(here),
                share,
                tested,
            )
        )
    return tuple(found)


def _rule_words(tree: Any) -> dict[int, str]:
    """The rule of each leaf in words."""
    from treewright.tree.show.describe import Wording, features_with_gaps

    rules = tree.rules()
    gap_names = features_with_gaps(tree, None)
    every = [c for rule in rules for c in rule.conditions]
    wording = Wording.over(every, digits=4, pretty=True, gap_names=gap_names)
    return {
        rule.node: " and ".join(wording.text(c) for c in rule.conditions) or "all rows"
        for rule in rules
    }


# -- records ------------------------------------------------------------------------------------


def _records(
    data: Understanding, held: Held, choice: Choice, judged: Judged, plan: Plan, settings: Settings
) -> Records:
    """A random part of the held-out rows, in their order."""
    rng = np.random.default_rng(settings.seed + 4)
    rows = np.sort(rng.permutation(len(held.test))[: plan.n_explained])
    tables = data.table.take(held.test[rows])
    said = [_said(evaluation, data, rows) for evaluation in (judged.readable, judged.strong)]
    truth = data.codes[held.test][rows]
    wrong = (
        (judged.readable.predictions.predicted[rows] != truth).tolist()  # type: ignore[union-attr]
        if data.is_class
        else [False] * len(rows)
    )
    return Records(
        rows=held.test[rows] + 1,
        truth=[_word(data, x) for x in truth.tolist()],
        readable=said[0][0],
        strong=said[1][0],
        sure_readable=said[0][1],
        sure_strong=said[1][1],
        values=_values(tables),
        is_wrong=wrong,
    )


def _said(evaluation: Any, data: Understanding, rows: Any) -> tuple[list[str], list[float | None]]:
    found = evaluation.predictions
    predicted = found.predicted[rows]
    words = [_word(data, x) for x in predicted.tolist()]
    if not data.is_class or found.proba is None or not found.is_probability:
        return words, [None] * len(rows)
    return words, found.proba[rows, predicted].tolist()


def _word(data: Understanding, x: Any) -> str:
    from treewright.tree.show.words import format_number, format_value

    return format_value(data.classes[x]) if data.is_class else format_number(float(x), 4)


def _values(table: Any) -> list[list[Any]]:
    """Values by feature as the tree of the page reads them: numbers, codes, None for gaps."""
    columns: list[list[Any]] = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        values = np.asarray(column)
        gaps = values < 0 if feature.is_categorical else np.isnan(values)
        if feature.is_categorical:
            columns.append([None if g else int(x) for x, g in zip(values, gaps, strict=True)])
        else:
            columns.append(
                [
                    None if g else float(f"{x:.7g}")
                    for x, g in zip(values.tolist(), gaps, strict=True)
                ]
            )
    return columns
