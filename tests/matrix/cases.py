"""A case: an estimator with options, a table and acts; how it is drawn, run, shrunk and printed."""

from __future__ import annotations

import json
import re
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.matrix.acts import ACTS, AGAIN, RARE, BrokenLawError, fit, hold_sentence
from tests.matrix.options import ESTIMATORS, draw_parameters
from tests.matrix.tables import Description, build, draw
from treewright.errors import TreewrightError


@dataclass(frozen=True)
class Case:
    """Plain data, so that a case can be sent to a child process and kept in a file."""

    estimator: str
    parameters: dict[str, str]  # to Python expressions
    table: Description
    acts: tuple[str, ...]

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Case:
        found = json.loads(text)
        table = found["table"]
        table["columns"] = tuple((name, kind) for name, kind in table["columns"])
        table["rows"] = None if table["rows"] is None else tuple(table["rows"])
        return cls(
            found["estimator"], found["parameters"], Description(**table), tuple(found["acts"])
        )


def draw_case(seed: int, number: int) -> Case:
    """The case of a number, always the same."""
    random = np.random.default_rng([seed, number])
    name = str(random.choice(ESTIMATORS))
    table = draw(random, is_classes=name.endswith(("Classifier", "Rules")))
    parameters = draw_parameters(random, name, table)
    # A search that a clock ends has another answer each time.
    names = [act for act in ACTS if act not in AGAIN or "time_limit" not in parameters]
    odds = np.array([RARE.get(act, 1.0) for act in names])
    # Acts on rows take long where there are many; a fit and its answers are enough there.
    n_acts = 5 if table.n <= 200 else 0
    acts = random.choice(names, n_acts, replace=False, p=odds / odds.sum())
    return Case(name, parameters, table, ("predict", *(str(a) for a in acts if a != "predict")))


def run(case: Case) -> dict[str, str]:
    """The first fault of a case: how it showed, in which act and where; empty if there is none."""
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = fit(case.estimator, case.parameters, case.table, Path(folder))
        except Exception as error:
            return {"ended": "refused", **_fault("fit", error)}
        for act in case.acts:
            try:
                ACTS[act](fitted)
            except Exception as error:
                if fault := _fault(act, error):
                    return {"ended": "fitted", **fault}
    return {"ended": "fitted"}


def _fault(act: str, error: Exception) -> dict[str, str]:
    if isinstance(error, TreewrightError):
        try:
            hold_sentence(error)
        except BrokenLawError as broken:
            error = broken
        else:
            return {}
    told = re.sub(r"[-+]?[0-9][0-9.e+-]*", "#", str(error))
    if isinstance(error, BrokenLawError):
        told = re.sub(r"'.*", "", told)
        return {"act": act, "kind": "broken", "where": told, "told": str(error)}
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "treewright" in f.filename] or list(frames)
    last = f"{Path(ours[-1].filename).name}:{ours[-1].name}"
    text = "".join(traceback.format_exception(error)[-6:])
    return {"act": act, "kind": type(error).__name__, "where": last, "told": text}


def signature(case: Case, fault: dict[str, str]) -> tuple[str, ...]:
    """Faults with the same signature probably have one cause."""
    if fault["kind"] in ("broken", "signal", "hang"):
        return (fault["kind"], fault["act"], fault["where"], case.estimator)
    return (fault["kind"], fault["where"])


def smaller(case: Case, act: str) -> Iterator[Case]:
    """Cases with less in them, the largest steps first."""
    only = () if act == "fit" else (act,)
    if case.acts != only:
        yield replace(case, acts=only)
    for parameter in case.parameters:
        if parameter not in ("estimators", "costs", "random_state"):
            rest = {k: v for k, v in case.parameters.items() if k != parameter}
            yield replace(case, parameters=rest)
    table = case.table
    if table.weights != "none":
        yield replace(case, table=replace(table, weights="none"))
    if table.container != "pandas":
        yield replace(case, table=replace(table, container="pandas"))
    for column in table.columns[1:] if len(table.columns) > 1 else ():
        rest_of = tuple(c for c in table.columns if c != column)
        yield replace(case, table=replace(table, columns=rest_of))
    rows = list(range(table.n)) if table.rows is None else list(table.rows)
    size = len(rows) // 2
    while size >= 1:
        for start in range(0, len(rows), size):
            kept = rows[:start] + rows[start + size :]
            if kept:
                yield replace(case, table=table.keep(kept))
        size //= 2


def snippet(case: Case) -> str:
    """What a user would type; large tables stay a call of the builder."""
    data = build(case.table)
    given = ", ".join(f"{key}={text}" for key, text in case.parameters.items())
    lines = ["import numpy as np, pandas as pd, treewright as tw"]
    if len(data.y) <= 24:
        lines.append("X = pd.DataFrame({")
        for name in data.frame:
            column = data.frame[name]
            dtype = column.dtype
            if hasattr(dtype, "categories"):
                levels = f"{list(dtype.categories)!r}, ordered={dtype.ordered}"
                values: Any = [
                    None if code < 0 else dtype.categories[code] for code in column.cat.codes
                ]
                lines.append(f"    {name!r}: pd.Categorical({values!r}, {levels}),")
            else:
                values = column.astype(str).tolist() if dtype.kind == "M" else column.tolist()
                said = repr(values).replace("nan", "np.nan").replace("'NaT'", "None")
                lines.append(f"    {name!r}: pd.Series({said}, dtype={str(dtype)!r}),")
        lines.append("})")
        lines.append(f"y = np.array({data.y.tolist()!r}, dtype={str(data.y.dtype)!r})")
        if data.weight is not None:
            lines.append(f"weight = np.array({data.weight.tolist()!r})")
    else:
        lines.append("from tests.matrix.tables import Description, build")
        lines.append(f"data = build({case.table!r})")
        lines.append("X, y, weight = data.frame, data.y, data.weight")
    if case.table.container != "pandas":
        lines.append("from tests.matrix.tables import contained")
        lines.append(f"X = contained(X, {case.table.container!r})")
    weight = ", sample_weight=weight" if data.weight is not None else ""
    lines.append(f"model = tw.{case.estimator}({given}).fit(X, y{weight})")
    lines.append(f"# then: {', '.join(case.acts) or 'nothing more'}")
    return "\n".join(lines)
