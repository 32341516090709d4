"""Exports against their models on every shared data set, each language run where it lives.

    python tools/check_exports.py [NAME …] [--shared FOLDER] [--only c,sqlite]

Each data set gets one model; kinds of models take turns, so that every kind meets many sets. The
rows asked are a sample, half of them with gaps and categories that training did not have. Prints
one line per data set and a table for docs/guide/deploying.md. LibreOffice and PostgreSQL are used
where they are installed, the latter as user ``postgres`` in a cluster of its own. What else is
needed: ``pip install treewright[test,exports]``. tests/exporting/test_shared_data.py runs a part.
"""

from __future__ import annotations

import argparse
import csv
import io
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

import treewright as tw
from tests.exporting import run, zoo
from tests.oracle.recorded import load_data
from treewright.errors import ParameterError
from treewright.exporting._build import program_of
from treewright.exporting._excel import column_name

MOST_TRAINED, ASKED = 800, 40

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "CART, surrogates": lambda: tw.CARTClassifier(missing="surrogate", max_depth=8),
    "C4.5": tw.C45Classifier,
    "forest": lambda: tw.RandomForestClassifier(5, max_depth=8, random_state=0),
    "C5.0 rules": lambda: tw.C50Classifier(rules=True),
    "gradient boosting": lambda: tw.GradientBoostingClassifier(n_estimators=5, random_state=0),
    "CHAID": tw.CHAIDClassifier,
    "MARS": lambda: tw.MARSClassifier(max_terms=9),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "CART, surrogates": lambda: tw.CARTRegressor(missing="surrogate", max_depth=8),
    "forest": lambda: tw.RandomForestRegressor(5, max_depth=8, random_state=0),
    "gradient boosting": lambda: tw.GradientBoostingRegressor(n_estimators=5, random_state=0),
    "CTree": tw.CTreeRegressor,
    "MARS": lambda: tw.MARSRegressor(max_terms=9),
}


def rows_to_ask(X: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """A sample, then the same rows with gaps and new categories."""
    part = X.iloc[np.sort(random.choice(len(X), min(ASKED, len(X)), replace=False))]
    whole = part.astype({name: object for name in X if X[name].dtype == "category"})
    spoiled = whole.copy()
    for name in X:
        hit = random.random(len(part)) < 0.3
        spoiled[name] = spoiled[name].where(~hit, None if whole[name].dtype == object else np.nan)
        if whole[name].dtype == object:
            spoiled.loc[spoiled.index[random.random(len(part)) < 0.1], name] = "never seen"
    return pd.concat([whole, spoiled], ignore_index=True)


def every_name(shared: Path) -> list[str]:
    """The shared data sets; the place of each says its kind of model."""
    return sorted(p.name.removesuffix(".schema.json") for p in shared.glob("data/*.json"))


def case_of(shared: Path, name: str, turn: int) -> tuple[str, zoo.Case]:
    """The model of a data set, and the rows that it is asked."""
    X, y, _ = load_data(shared, name)
    random = np.random.default_rng(0)
    kinds = CLASSIFIERS if y.dtype == object else REGRESSORS
    told = list(kinds)[turn % len(kinds)]
    used = random.permutation(len(X))[:MOST_TRAINED]
    used.sort()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kinds[told]().fit(X.iloc[used], y[used])
    return told, zoo.Case(model, rows_to_ask(X, random))


def libreoffice(model: Any, rows: list[list[Any]], folder: Path) -> run.Said:
    """The formulas filled down in a workbook that LibreOffice works out."""
    from openpyxl import Workbook
    from openpyxl.formula.translate import Translator

    text = str(tw.export(model, format="excel"))
    header, cells = csv.reader(text.splitlines(), dialect="excel-tab")
    program = program_of(model)
    n, classes = len(program.inputs), program.target.classes
    book = Workbook()
    book.active.append(header)
    for place, row in enumerate(rows, start=2):
        filled = [
            Translator(cell, f"{column_name(n + k)}2").translate_formula(
                f"{column_name(n + k)}{place}"
            )
            for k, cell in enumerate(cells[n:])
        ]
        book.active.append([*row, *filled])
    book.save(folder / "book.xlsx")
    # the filter's third number is UTF-8; cells as they are stored, not as they are shown
    filter_ = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false"
    home = f"-env:UserInstallation=file://{folder}/office"
    command = ["soffice", home, "--headless", "--convert-to", filter_, "book.xlsx"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    found = list(csv.reader((folder / "book.csv").open(encoding="utf-8")))[1:]
    width = program.n_numbers
    answers = [row[: len(header)][-(width + bool(classes)) :] for row in found]
    numbers = np.array([row[-width:] for row in answers], float)
    return run.Said(numbers, [row[0] if classes else None for row in answers])


class Postgres:
    """A cluster in a folder of its own, for as long as it is needed."""

    def __init__(self) -> None:
        self.programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.folder = Path(tempfile.mkdtemp(prefix="exports-postgres"))

    def __enter__(self) -> Postgres:
        shutil.chown(self.folder, "postgres")
        self.call("initdb", "-D", f"{self.folder}/data", "-E", "UTF8", "--locale=C.UTF-8")
        options = f"-k {self.folder} -c listen_addresses=''"
        log = f"{self.folder}/log"
        try:
            self.call(
                "pg_ctl", "-D", f"{self.folder}/data", "-w", "-o", options, "-l", log, "start"
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def call(self, program: str, *arguments: str, text: str | None = None) -> str:
        command = ["runuser", "-u", "postgres", "--", f"{self.programs}/{program}", *arguments]
        # pg_ctl leaves a server behind that keeps a pipe open: no pipe for it
        output = subprocess.DEVNULL if program == "pg_ctl" else subprocess.PIPE
        done = subprocess.run(
            command, input=text, stdout=output, stderr=output, text=True, cwd=self.folder
        )
        if done.returncode:
            raise RuntimeError((done.stderr or program)[:2000])
        return done.stdout or ""

    def __call__(self, model: Any, rows: list[list[Any]], folder: Path) -> run.Said:
        program = program_of(model)
        names = ['"' + f.name.replace('"', '""') + '"' for f in program.inputs]
        kinds = ["text" if f.is_categorical else "double precision" for f in program.inputs]
        declared = ", ".join(f"{a} {b}" for a, b in zip(names, kinds, strict=True))
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows(
            [[k, *("\\N" if v is None else v for v in row)] for k, row in enumerate(rows)]
        )
        query = str(tw.export(model, format="sql", dialect="postgresql", keep=["no."]))
        script = (
            f'SET client_min_messages=error; DROP TABLE IF EXISTS data; CREATE TABLE data ("no." '
            f"integer, {declared});\nCOPY data FROM STDIN WITH (FORMAT csv, NULL '\\N');\n"
            f"{lines.getvalue()}\\.\nSET extra_float_digits=3;\n{query.rstrip().rstrip(';')};\n"
        )
        told = self.call(
            "psql", "-h", str(self.folder), "-qX", "--csv", "-v", "ON_ERROR_STOP=1", text=script
        )
        header, *found = csv.reader(io.StringIO(told))
        start = len(program.inputs) + 1
        found.sort(key=lambda row: int(row[0]))
        is_class = any(name.startswith("probability") for name in header[start:])
        numbers = np.array([row[start + is_class :] for row in found], float)
        return run.Said(numbers, [row[start] if is_class else None for row in found])

    def __exit__(self, *_: object) -> None:
        if (self.folder / "data/postmaster.pid").exists():
            self.call("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


def languages(asked: list[str], stack: ExitStack) -> dict[str, Callable[..., run.Said]]:
    """Those asked for, or all that can be run here; ``stack`` ends what they start."""
    found: dict[str, Callable[..., run.Said]] = {
        name: getattr(run, name) for name in ("python", "c", "sqlite", "duckdb", "onnx")
    }
    found["javascript"] = lambda model, rows, folder: run.node([(model, rows)], folder)[0]
    found["pmml"] = lambda model, rows, folder: run.pmml([(model, rows)], folder)[0]
    if shutil.which("soffice"):
        found["libreoffice"] = libreoffice
    has_postgres = bool(list(Path("/usr/lib/postgresql").glob("*/bin")))
    if has_postgres and (not asked or "postgresql" in asked):
        found["postgresql"] = stack.enter_context(Postgres())
    return {name: found[name] for name in asked or found}


def judged(case: zoo.Case, said: run.Said) -> str:
    """``=`` where probabilities agree to 1e-12 and labels but for ties, else by how much not."""
    told = case.numbers
    with np.errstate(invalid="ignore"):
        off = float(np.max(np.abs(said.numbers - told) / np.maximum(1.0, np.abs(told))))
    if not off <= 1e-12:
        return f"{off:.0e}"
    if case.is_classifier:
        differ = np.array([str(a) != str(b) for a, b in zip(said.label, case.label, strict=True)])
        if np.any(differ & ~case.ties):
            return f"{int((differ & ~case.ties).sum())} labels"
    return "="


def tried(speak: Callable[..., run.Said], case: zoo.Case) -> str:
    """The verdict on one language."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return judged(case, speak(case.model, case.rows, Path(folder)))
        except ParameterError as refusal:
            return f"refused: {refusal}"
        except Exception as fault:  # a table of all faults is wanted, not the first
            return f"{type(fault).__name__}: {str(fault)[:300]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    asked = [one for one in options.only.split(",") if one]
    with ExitStack() as stack:  # PostgreSQL ends with it, whatever happens
        compare(options.shared, options.names, languages(asked, stack))


def compare(shared: Path, names: list[str], spoken: dict[str, Callable[..., run.Said]]) -> None:
    """Print a line per data set, and the table."""
    equal, refused = dict.fromkeys(spoken, 0), dict.fromkeys(spoken, 0)
    n_done = 0
    for turn, name in enumerate(every_name(shared)):
        if names and name not in names:
            continue
        kind, case = case_of(shared, name, turn)
        verdicts = {language: tried(speak, case) for language, speak in spoken.items()}
        n_done += 1
        for language, verdict in verdicts.items():
            equal[language] += verdict == "="
            refused[language] += verdict.startswith("refused")
        wrong = {a: b for a, b in verdicts.items() if b != "="}
        print(f"{name:22} {kind:18} {wrong or 'all equal'}", flush=True)
    print("\n| language | data sets | equal | refused |\n|---|---|---|---|")
    for language in spoken:
        print(f"| {language} | {n_done} | {equal[language]} | {refused[language]} |")


if __name__ == "__main__":
    main()
