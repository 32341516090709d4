"""Runs exported models where they are at home, and returns what they say of rows."""

from __future__ import annotations

import ctypes
import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import treewright


class Said(NamedTuple):
    """Numbers of each row, and its label where there is one."""

    numbers: np.ndarray
    label: list[Any]


def python(model: Any, rows: list[list[Any]], folder: Path) -> Said:
    found: dict[str, Any] = {}
    exec(compile(str(treewright.export(model, format="python")), "exported", "exec"), found)
    numbers = [found["_run"](found["MODEL"], found["_encode"](row))[0] for row in rows]
    return Said(np.array(numbers), [found["predict"](row) for row in rows])


def node(models: list[tuple[Any, list[list[Any]]]], folder: Path) -> list[Said]:
    """Several models at once, because node takes its time to start."""
    for i, (model, rows) in enumerate(models):
        treewright.export(model, folder / f"model{i}.js")
        (folder / f"rows{i}.json").write_text(json.dumps(rows))
    script = f"""
        console.log(JSON.stringify([...Array({len(models)}).keys()].map((i) => {{
          const m = require(`./model${{i}}.js`);
          return require(`./rows${{i}}.json`).map((r) => [m.predict_proba(r), m.predict(r)]);
        }})))"""
    done = subprocess.run(["node", "-e", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [
        Said(np.array([numbers for numbers, _ in said]), [label for _, label in said])
        for said in json.loads(done.stdout)
    ]


def compiled(model: Any, folder: Path, *flags: str) -> ctypes.CDLL:
    """The C export as a library."""
    source, library = folder / "model.c", folder / "model.so"
    treewright.export(model, source)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", *flags]
    strict += ["-Wno-overlength-strings"]  # C99 promises 4095 characters, compilers take any name
    command = ["gcc", *strict, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library))


def c(model: Any, rows: list[list[Any]], folder: Path) -> Said:
    from treewright.exporting._build import program_of

    library = compiled(model, folder)
    program = program_of(model)
    library.model_code.restype = ctypes.c_double
    numbers = np.empty((len(rows), program.n_numbers))
    codes = [
        library.model_predict(
            _doubles([_c_cell(library, program, i, v) for i, v in enumerate(row)]),
            out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
        )
        for row, out in zip(rows, numbers, strict=True)
    ]
    classes = program.target.classes
    return Said(numbers, [classes[code] if classes else None for code in codes])


def _doubles(values: list[float]) -> Any:
    return (ctypes.c_double * max(len(values), 1))(*values)


def _c_cell(library: ctypes.CDLL, program: Any, place: int, value: Any) -> float:
    if value is None:
        return float("nan")
    if program.inputs[place].is_categorical:
        return float(library.model_code(place, str(value).encode()))
    return float(value)


def duckdb(model: Any, rows: list[list[Any]], folder: Path) -> Said:
    import duckdb as db

    frame = _frame(model, rows)
    connection = db.connect()
    connection.register('hostile "table', frame)
    query = str(treewright.export(model, format="sql", table='hostile "table', keep=["no."]))
    return _said_by_sql(connection.execute(query), len(frame.columns))


def sqlite(model: Any, rows: list[list[Any]], folder: Path) -> Said:
    import sqlite3

    frame = _frame(model, rows)
    connection = sqlite3.connect(":memory:")
    frame.to_sql("data", connection, index=False)
    query = str(treewright.export(model, format="sql", dialect="sqlite", keep=["no."]))
    return _said_by_sql(connection.execute(query), len(frame.columns))


def _frame(model: Any, rows: list[list[Any]]) -> Any:
    import pandas as pd

    from treewright.exporting._build import program_of

    inputs = program_of(model).inputs
    columns = {f.name: [row[i] for row in rows] for i, f in enumerate(inputs)}
    return pd.DataFrame({"no.": range(len(rows)), **columns})


def _said_by_sql(cursor: Any, n_given: int) -> Said:
    found = sorted(cursor.fetchall())
    answers = [row[n_given:] for row in found]
    names = [column[0] for column in cursor.description][n_given:]
    if any(name.startswith("probability") for name in names):
        return Said(np.array([row[1:] for row in answers], float), [row[0] for row in answers])
    return Said(np.array(answers, float), [None] * len(answers))


def onnx(model: Any, rows: list[list[Any]], folder: Path) -> Said:
    import onnxruntime

    from treewright.exporting._build import program_of

    data = treewright.export(model, format="onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options)
    columns = list(zip(*rows, strict=True))
    inputs = session.get_inputs()
    if [i.name for i in inputs] == ["X"]:
        given = {"X": np.array([[np.nan if v is None else v for v in row] for row in rows], float)}
    else:
        given = {i.name: _onnx_column(i.type, c) for i, c in zip(inputs, columns, strict=True)}
    *label, numbers = session.run(None, given)
    assert program_of(model).n_numbers == numbers.shape[1]
    return Said(numbers, label[0].tolist() if label else [None] * len(rows))


def _onnx_column(kind: str, column: Any) -> np.ndarray:
    if kind == "tensor(string)":
        return np.array([["<gap>" if v is None else str(v)] for v in column], object)
    return np.array([[np.nan if v is None else float(v)] for v in column])


def excel(model: Any, rows: list[list[Any]], folder: Path) -> Said:
    """The cells of each row, worked out by the package formulas."""
    import csv

    import formulas

    from treewright.exporting._build import program_of
    from treewright.exporting._excel import column_name

    text = str(treewright.export(model, format="excel"))
    _, cells = csv.reader(text.splitlines(), dialect="excel-tab")
    program = program_of(model)
    n = len(program.inputs)
    compiled = [formulas.Parser().ast(cell)[1].compile() for cell in cells[n:]]
    classes, width = program.target.classes, program.n_numbers
    numbers, labels = [], []
    for row in rows:
        known = {f"{column_name(i)}2": _excel_cell(v) for i, v in enumerate(row)}
        for k, cell in enumerate(compiled):
            given = [known[name] for name in cell.inputs]
            known[f"{column_name(n + k)}2"] = np.asarray(cell(*given), object).ravel()[0]
        answers = list(known.values())[-(width + bool(classes)) :]
        labels.append(answers[0] if classes else None)
        numbers.append([float(v) for v in answers[-width:]])
    return Said(np.array(numbers), labels)


def _excel_cell(value: Any) -> Any:
    from formulas.functions import sh

    return sh.EMPTY if value is None else value


def pmml(models: list[tuple[Any, list[list[Any]]]], folder: Path) -> list[Said]:
    """Several models read back by JPMML, in one Java machine."""
    import pandas as pd
    from jpmml_evaluator import make_backend, make_evaluator

    from treewright.exporting._build import program_of

    backend = make_backend("jpype")
    answers = []
    for i, (model, rows) in enumerate(models):
        path = folder / f"model{i}.pmml"
        treewright.export(model, path)
        evaluator = make_evaluator(str(path), backend=backend).verify()
        program = program_of(model)
        names = [f.name for f in program.inputs]
        frame = pd.DataFrame(rows, columns=names, dtype=object)
        found = evaluator.evaluateAll(frame.where(frame.notna(), None))
        classes = program.target.classes
        if classes:
            said = found[[f"probability({c!s})" for c in classes]]
            answers.append(Said(said.to_numpy(float), found["prediction"].tolist()))
        else:
            answers.append(Said(found.iloc[:, :1].to_numpy(float), [None] * len(rows)))
    return answers
