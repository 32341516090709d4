"""A comparison in words: the sentence that says what may and may not be concluded, and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.evaluation._figures import FIGURES
from treewright.tree.show.tables import text_table

if TYPE_CHECKING:
    from treewright.evaluation._comparison import Comparison, Pair

__all__ = ["amount", "as_dict", "as_text", "caption", "cells", "plain", "score_words", "sentence"]

SHARES = ("accuracy", "error", "precision", "recall", "specificity", "fpr", "f1", "roc_auc")
"""Metrics, and beginnings of such, that are read in percent."""

TESTS = {
    "corrected_t": "corrected resampled t test (Nadeau and Bengio)",
    "paired_t": "paired t test that takes folds for independent",
    "5x2cv": "5 × 2 cv paired t test (Dietterich)",
    "5x2cv_f": "combined 5 × 2 cv F test (Alpaydin)",
    "bayes": "Bayesian correlated t test",
    "mcnemar": "McNemar's test",
    "unpaired": "normal test of unpaired proportions",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "friedman": "Friedman's and Nemenyi's tests",
}

CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "fdr": "false discovery rate",
    None: "no correction",
}


def sentence(result: Comparison) -> str:
    """One sentence: who is better, who is not shown to be, and for what data this holds."""
    if result.settings.test == "bayes":
        return f"{_where(result)}{_bayes(result)}."
    best = result.names[0]
    won = [p for p in result.pairs if p.first == best and result.differs(p)]
    open_ = [p for p in result.pairs if p.first == best and not result.differs(p)]
    rest = [p for p in result.pairs if p.first != best and result.differs(p)]
    parts = []
    if won:
        parts.append(f"{best} is better than {_and([_against(result, p) for p in won])}")
        if open_:
            parts.append(f"it is not shown to be better than {_or([p.second for p in open_])}")
    else:
        parts.append(_nobody(result, open_))
    if rest:
        parts.append(f"of the others, {_and([f'{p.first} beats {p.second}' for p in rest[:3]])}")
        if len(rest) > 3:
            parts[-1] += f" and {len(rest) - 3} more pairs differ"
    said = ", but ".join(parts[:2]) if won and open_ else ", and ".join(parts[:1])
    said += "".join(f"; {part}" for part in parts[2 if won and open_ else 1 :])
    if any(not result.differs(p) for p in result.pairs):
        said += "; what is not shown to differ is not shown to be equal either"
    return f"{_where(result)}{said}{_scope(result)}."


def _where(result: Comparison) -> str:
    level = f"at the {100 * result.alpha:.3g} % level"
    if result.settings.test == "bayes":
        level = f"at {100 * result.settings.confidence:.4g} % probability"
    if len(result.data_sets) > 1:
        return f"Over {len(result.data_sets)} data sets and {level}, "
    n = len(next(iter(result.runs[""].values())).rows)
    return f"By {FIGURES[result.metric].label} on these {n} rows and {level}, "


def _against(result: Comparison, pair: Pair) -> str:
    """Whom a model beats, and by how much."""
    if result.ranking is not None:
        return f"{pair.second} (by {abs(pair.difference):.2g} ranks)"
    low, high = sorted((abs(pair.low), abs(pair.high)))
    if pair.low * pair.high < 0 or not np.isfinite(pair.low):
        return f"{pair.second} (by {amount(result.metric, abs(pair.difference))})"
    unit = amount(result.metric, abs(pair.difference))
    ends = f"{_bare(result.metric, low)} to {_bare(result.metric, high)}"
    return f"{pair.second} (by {unit}, interval {ends})"


def _nobody(result: Comparison, pairs: Sequence[Pair]) -> str:
    """The best is not shown to beat anybody."""
    best = result.names[0]
    others = _or([p.second for p in pairs])
    if result.ranking is not None and result.ranking.f_p_value >= result.alpha:
        p = _p(result.ranking.f_p_value)
        return f"no difference between the {len(result.names)} models is shown (Friedman, p {p})"
    if len(pairs) == 1:
        pair = pairs[0]
        by = (
            f"{abs(pair.difference):.2g} ranks"
            if result.ranking is not None
            else amount(result.metric, abs(pair.difference))
        )
        return f"{best} is not shown to be better than {others} (by {by}, p {_p(pair.p_adjusted)})"
    least = min(pairs, key=lambda p: p.p_adjusted)
    return f"{best} is not shown to be better than {others} (least p {_p(least.p_adjusted)})"


def _bayes(result: Comparison) -> str:
    best, sure = result.names[0], result.settings.confidence
    said = []
    for pair in result.pairs:
        if pair.first != best or pair.posterior is None:
            continue
        found = pair.posterior
        if found.better > sure:
            said.append(f"{best} is better than {pair.second} ({found.better:.3f})")
        elif found.equal > sure:
            said.append(f"{best} and {pair.second} are practically equal ({found.equal:.3f})")
        else:
            said.append(
                f"{best} against {pair.second} is open (better {found.better:.2f}, equal "
                f"{found.equal:.2f}, worse {found.worse:.2f})"
            )
    region = amount(result.metric, result.settings.rope)
    return f"{_and(said)}; differences up to {region} count as none{_scope(result)}"


def _scope(result: Comparison) -> str:
    """What the finding is about."""
    if len(result.data_sets) > 1:
        return "; this is about data sets like these"
    if result.settings.test == "paired_t":
        return "; this test takes folds for independent and finds differences where there are none"
    if result.settings.test in ("mcnemar", "unpaired"):
        return "; this is about these fitted models, not about training anew"
    n = round(float(np.mean([len(s.train) for s in result._splits()])))
    return f"; this is about training on some {n} rows like these, not about other data"


def _and(words: Sequence[str], joint: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


def _or(words: Sequence[str]) -> str:
    return _and(words, "or")


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def _is_share(metric: str) -> bool:
    return metric.startswith((*SHARES, "balanced_accuracy", "average_precision"))


def _bare(metric: str, value: float) -> str:
    return f"{100 * value:.1f}" if _is_share(metric) else f"{value:.4g}"


def amount(metric: str, value: float) -> str:
    """A difference of a metric with its unit: points of a percentage, or plain."""
    return f"{_bare(metric, value)} points" if _is_share(metric) else f"{value:.4g}"


def score_words(metric: str, value: float) -> str:
    """A score with its unit."""
    return f"{100 * value:.1f} %" if _is_share(metric) else f"{value:.4g}"


# Tables


def cells(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """Columns of values as text."""
    return {name: [_cell(name, value) for value in values] for name, values in columns.items()}


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if name in ("p_value", "p_adjusted"):
        return "<0.0001" if value < 0.0001 else f"{value:.4f}"
    if name == "fit_seconds":
        return f"{value:.2g}"
    if not np.isfinite(value):
        return "-"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:.6g}"


def caption(result: Comparison) -> str:
    """What was done."""
    settings = result.settings
    label = FIGURES[result.metric].label
    if len(result.data_sets) > 1:
        what = f"{len(result.data_sets)} data sets"
    else:
        splits = result._splits()
        n_repeats = splits[-1].repeat + 1
        n = len(splits)
        what = f"{n_repeats} × {n // n_repeats} folds" if n > 1 else f"{len(splits[0].test)} rows"
    corrected = ""
    if settings.test not in ("bayes", "friedman") and len(result.pairs) > 1:
        corrected = f", {CORRECTIONS[settings.correction]}"
    return f"{len(result.names)} models by {label} on {what}; {TESTS[settings.test]}{corrected}"


def as_text(result: Comparison) -> str:
    """Tables and the sentence."""
    pairs = cells(result._pair_columns())
    percent = f"{100 * result.settings.confidence:g} %"
    lines = [
        caption(result),
        text_table(cells(result._columns()), left=1),
        "",
        f"Pairs, with {percent} intervals of each pair alone",
        text_table(pairs, left=2),
        "",
        textwrap.fill(result.sentence, 96),
    ]
    if result.ranking is not None:
        found = result.ranking
        lines.insert(
            -1,
            f"Friedman: chi-squared {found.statistic:.4g}, p {_p(found.p_value)}; F "
            f"{found.f_statistic:.4g}, p {_p(found.f_p_value)}; critical difference "
            f"{found.critical_difference:.3f} ranks\n",
        )
    return "\n".join(lines)


def as_dict(result: Comparison) -> dict[str, Any]:
    """Plain values."""
    found: dict[str, Any] = {
        "metric": result.metric,
        "test": result.settings.test,
        "correction": result.settings.correction,
        "confidence": result.settings.confidence,
        "models": records(result._columns()),
        "pairs": records(result._pair_columns()),
        "sentence": result.sentence,
    }
    if result.ranking is not None:
        names = ("statistic", "p_value", "f_statistic", "f_p_value", "critical_difference")
        found["friedman"] = {name: plain(getattr(result.ranking, name)) for name in names}
    return found


def records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows as dicts of plain values."""
    lines = zip(*columns.values(), strict=True)
    return [{n: plain(v) for n, v in zip(columns, line, strict=True)} for line in lines]


def plain(value: Any) -> Any:
    """A value of JSON: numpy's become Python's, what is not finite becomes None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
