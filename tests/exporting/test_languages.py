"""Exports predict as the model does: Python, JavaScript, C, SQL and JSON, run where they live."""

from __future__ import annotations

import ctypes
import json
import math
import platform
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import treewright as tw
from tests import hostile as names
from tests.exporting import run, zoo
from treewright.errors import ParameterError
from treewright.exporting._export import FORMATS

WRITABLE = [name for name in names.HOSTILE if name.isprintable() or name == "\n#include"]
"""Without characters that a format refuses in one sentence, which has tests of its own."""


def check(said: run.Said, case: zoo.Case) -> None:
    assert_allclose(said.numbers, case.numbers, rtol=0, atol=1e-12)
    if case.is_classifier:
        differ = [str(a) != str(b) for a, b in zip(said.label, case.label, strict=True)]
        # sums in another order may break an exact tie the other way
        assert not np.any(np.array(differ) & ~case.ties)


@pytest.mark.parametrize("name", zoo.ALL)
def test_python_source_predicts_as_the_model(name, tmp_path):
    case = zoo.case(name)
    check(run.python(case.model, case.rows, tmp_path), case)


@pytest.mark.parametrize("name", zoo.ALL)
def test_sqlite_predicts_as_the_model(name, tmp_path):
    case = zoo.case(name)
    check(run.sqlite(case.model, case.rows, tmp_path), case)


@pytest.mark.parametrize(
    "name", ["cart surrogates", "c50", "c50 boosted rules", "forest", "boosting", "mars", "oblique"]
)
def test_duckdb_predicts_as_the_model(name, tmp_path):
    pytest.importorskip("duckdb")
    case = zoo.case(name)
    check(run.duckdb(case.model, case.rows, tmp_path), case)


@pytest.mark.parametrize("name", zoo.ALL)
def test_onnx_predicts_as_the_model(name, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    case = zoo.case(name)
    check(run.onnx(case.model, case.rows, tmp_path), case)


def test_onnx_tells_neighbouring_doubles_apart(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    x = np.array([0.1, np.nextafter(0.1, 1), 1e300, np.nextafter(1e300, 0)])
    X = pd.DataFrame({"x": x})
    case = zoo.Case(tw.CARTClassifier(min_samples_split=2).fit(X, ["a", "b", "c", "d"]), X)
    check(run.onnx(case.model, case.rows, tmp_path), case)
    forest = tw.RandomForestRegressor(n_estimators=5, random_state=0).fit(X, [1.0, 2.0, 3.0, 4.0])
    check(run.onnx(forest, case.rows, tmp_path), zoo.Case(forest, X))


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_javascript_predicts_as_the_models(tmp_path):
    cases = [zoo.case(name) for name in zoo.ALL]
    for case, said in zip(
        cases, run.node([(c.model, c.rows) for c in cases], tmp_path), strict=True
    ):
        check(said, case)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
@pytest.mark.parametrize(
    "name",
    [
        "cart costs", "cart surrogates", "c45", "c50 boosted rules", "c50 soft", "forest",
        "adaboost regressor", "mars",
    ],
)  # fmt: skip
def test_c_compiles_without_a_warning_and_predicts_as_the_model(name, tmp_path):
    case = zoo.case(name)
    check(run.c(case.model, case.rows, tmp_path), case)


@pytest.mark.parametrize("name", zoo.ALL)
def test_json_follows_its_schema(name):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((files("treewright.exporting") / "program.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    program = json.loads(str(tw.export(zoo.case(name).model, format="json")))
    jsonschema.Draft202012Validator(schema).validate(program)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
def test_c_of_a_tree_of_one_leaf_compiles_without_a_warning(tmp_path):
    X = pd.DataFrame({"x": [1.0, 2.0, None]})
    case = zoo.Case(tw.C45Classifier(min_samples_leaf=9).fit(X, ["a", "b", "b"]), X)
    check(run.c(case.model, case.rows, tmp_path), case)


def hostile(named: Sequence[str] = WRITABLE) -> zoo.Case:
    """A tree whose columns, categories and classes are written to break out of their quotes."""
    random = np.random.default_rng(0)
    words = [word for word in named for _ in range(4)]
    X = pd.DataFrame({word: random.normal(size=len(words)) for word in named if word})
    X[named[0]] = pd.Series(words, dtype=object)
    y = np.array(words, object)
    model = tw.C45Classifier(min_samples_leaf=1).fit(X, y)
    return zoo.Case(model, X.iloc[::5].reset_index(drop=True))


@pytest.mark.parametrize("language", ["python", "sqlite", "duckdb", "c", "javascript", "onnx"])
def test_hostile_names_stay_inside_their_quotes(language, tmp_path):
    for needed in {"duckdb": ["duckdb"], "onnx": ["onnx", "onnxruntime"]}.get(language, []):
        pytest.importorskip(needed)
    step = 12 if language == "duckdb" else len(WRITABLE)  # it plans many classes for a long time
    for k in range(0, len(WRITABLE), step):
        case = hostile(WRITABLE[k : k + step])
        if language == "javascript":
            check(run.node([(case.model, case.rows)], tmp_path)[0], case)
        else:
            check(getattr(run, language)(case.model, case.rows, tmp_path), case)


def cancelling() -> zoo.Case:
    """A MARS model two of whose three terms are 1e15 times as large as their sum."""
    random = np.random.default_rng(0)
    steps = random.integers(0, 9, (40, 2)).astype(float)
    X = pd.DataFrame({"a": steps[:, 0], "b": 1 + steps[:, 1] * np.finfo(float).eps})
    y = steps @ [9.3, 3.1] + random.normal(size=40)
    case = zoo.Case(tw.MARSRegressor(linear_features=["a", "b"]).fit(X, y), X)
    assert case.model.basis_.labels() == ["(Intercept)", "a", "b"]
    return case


@pytest.mark.parametrize("language", ["python", "sqlite", "duckdb", "c", "javascript", "onnx"])
def test_terms_that_cancel_are_added_to_the_bit_as_the_model_adds_them(language, tmp_path):
    for needed in {"duckdb": ["duckdb"], "onnx": ["onnx", "onnxruntime"]}.get(language, []):
        pytest.importorskip(needed)
    case = cancelling()
    if language == "javascript":
        said = run.node([(case.model, case.rows)], tmp_path)[0]
    else:
        said = getattr(run, language)(case.model, case.rows, tmp_path)
    np.testing.assert_array_equal(said.numbers.ravel(), case.numbers.ravel())


def test_python_source_adds_from_left_to_right_whatever_sum_does():
    case = cancelling()
    found: dict[str, Any] = {"sum": math.fsum}  # that of Python 3.12 rounds less than a loop
    exec(str(tw.export(case.model, format="python")), found)
    assert [found["predict"](row) for row in case.rows] == case.numbers.ravel().tolist()


def fuses_products() -> bool:
    cpu = Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and cpu.exists() and " fma " in cpu.read_text()


@pytest.mark.skipif(not fuses_products(), reason="the processor has no fused products")
def test_c_for_a_processor_that_fuses_products_predicts_to_the_bit(tmp_path):
    case = cancelling()
    library = run.compiled(case.model, tmp_path, "-std=gnu99", "-O2", "-mfma")
    found = np.empty(len(case.rows))
    for row, out in zip(case.rows, found.reshape(-1, 1), strict=True):
        place = out.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        library.model_predict((ctypes.c_double * len(row))(*row), place)
    np.testing.assert_array_equal(found, case.numbers.ravel())


def test_onnx_adds_the_shares_of_divided_rows_to_the_bit_as_the_model_does(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(120, 3)), columns=list("abc"))
    y = random.integers(0, 7, 120)  # many classes with equal shares, whose ties decide a vote
    X = X.mask(random.random(X.shape) < 0.3)
    case = zoo.Case(tw.C45Classifier(pruning=None, min_samples_leaf=1).fit(X, y), X)
    said = run.onnx(case.model, case.rows, tmp_path)
    np.testing.assert_array_equal(said.numbers, case.numbers)


def test_onnx_keeps_a_label_that_ends_in_nul(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    X = pd.DataFrame({"x": [1.0, 2.0], "c": pd.Series(["a\0", "a"], dtype=object)})
    for inputs in (X[["x"]], X[["c"]]):
        case = zoo.Case(tw.CARTClassifier().fit(inputs, np.array(["n\0", "n"], object)), inputs)
        assert run.onnx(case.model, case.rows, tmp_path).label == ["n\0", "n"]


def test_text_that_a_language_cannot_hold_is_refused_in_one_sentence():
    X = {"a\0b": [1.0, 2.0, 3.0, 4.0]}
    model = tw.CARTClassifier().fit(X, ["x", "x", "y", "y"])
    with pytest.raises(ParameterError, match="SQL cannot hold the character NUL"):
        tw.export(model, format="sql")
    for format, title in {"c": "C", "sql": "SQL", "excel": "Excel"}.items():
        category = tw.CARTClassifier().fit({"x": ["a\0b", "a\0c"] * 2}, ["x", "y"] * 2)
        label = tw.CARTClassifier().fit({"x": [1.0, 2.0]}, ["a\0b", "a\0c"])
        for model in (category, label):
            with pytest.raises(ParameterError, match=f"{title} cannot hold the character NUL"):
                tw.export(model, format=format)
    unnamed = tw.CARTClassifier().fit({"": [1.0, 2.0, 3.0, 4.0]}, ["x", "x", "y", "y"])
    with pytest.raises(ParameterError, match="SQL has no column of an empty name"):
        tw.export(unnamed, format="sql")


@pytest.mark.parametrize(
    ("dialect", "names"),
    [("duckdb", ["Age", "age"]), ("sqlite", ["Age", "age"]), ("postgresql", ["x" * 63, "x" * 64])],
)
def test_sql_refuses_columns_that_are_one_to_the_database(dialect, names):
    X = pd.DataFrame(np.eye(4)[:, :2], columns=names)
    model = tw.CARTClassifier().fit(X, ["x", "y", "z", "z"])
    with pytest.raises(ParameterError, match=f"{dialect} reads .* and '{names[1]}'; rename one"):
        tw.export(model, format="sql", dialect=dialect)
    other = "duckdb" if dialect == "postgresql" else "postgresql"
    assert names[1] in str(tw.export(model, format="sql", dialect=other))


@pytest.mark.parametrize("form", ["javascript", "onnx", "pmml", "excel"])
def test_integers_that_a_language_would_round_are_refused(form):
    if form == "onnx":
        pytest.importorskip("onnx")
    numbers = [2**53 + 1, 2**53 + 3]
    X = pd.DataFrame({"id": numbers * 4})
    model = tw.CARTClassifier(categorical_features=["id"]).fit(X, ["a", "b"] * 4)
    with pytest.raises(ParameterError, match=r"has integers up to \d+, but .* is 9007199254740993"):
        tw.export(model, format=form)
    assert "9007199254740993" in str(tw.export(model, format="c"))


DAYS = ["2020-01-01", "2021-05-04"]
FRACTIONS = [0.1, -2.5, 1e46, -1e235, 1e-57, -5e-324]
TRAINED = {
    "booleans": [False, True],
    "numbers": [0, 1, 2.0, *FRACTIONS],
    "whole numbers": [-1e17, 2.0**63],
    "texts": ["a", "b", "0", "1", "True"],
    "dates": pd.to_datetime(DAYS),
}
ASKED = [[False, True], [0, 1], [0.0, 1.0], FRACTIONS, [-1e17, 2.0**63], ["a", "0", "True", *DAYS]]
"""Columns of one type each, as a database has them."""


@pytest.mark.parametrize("language", ["python", "c", "javascript", "sqlite", "duckdb", "onnx"])
@pytest.mark.parametrize("trained", TRAINED)
def test_a_category_is_known_by_its_value_not_by_its_type(trained, language, tmp_path):
    needed = {"onnx": ["onnx", "onnxruntime"], "duckdb": ["duckdb"]}
    for module in needed.get(language, ()):
        pytest.importorskip(module)
    program = {"c": "gcc", "javascript": "node"}.get(language)
    if program and shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    values = list(TRAINED[trained])
    X = pd.DataFrame({"x": values * 4})
    model = tw.CARTRegressor(categorical_features=["x"]).fit(X, list(range(len(values))) * 4)
    if language in ("onnx", "javascript") and trained == "whole numbers":
        with pytest.raises(ParameterError, match="has integers up to"):
            tw.export(model, format=language)
        return
    is_text = trained in ("texts", "dates")
    columns = [column for column in ASKED if isinstance(column[0], str) == is_text]
    if language not in ("sqlite", "duckdb"):
        columns = [[value for column in columns for value in column]]
    for column in columns:
        case = zoo.Case(model, pd.DataFrame({"x": pd.Series(column, dtype=object)}))
        if language == "javascript":
            check(run.node([(model, case.rows)], tmp_path)[0], case)
        else:
            check(getattr(run, language)(model, case.rows, tmp_path), case)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
def test_c_reads_a_number_however_it_is_written(tmp_path):
    library = run.compiled(
        tw.CARTClassifier(categorical_features=["flag", "id", "name"]).fit(
            {"flag": [False, True] * 2, "id": [2**53, 2**53 + 1] * 2, "name": ["1", "true"] * 2},
            ["x", "y"] * 2,
        ),
        tmp_path,
    )
    library.model_code.restype = ctypes.c_double

    def code(place: int, text: str) -> float | None:
        found = library.model_code(place, text.encode())
        return None if np.isnan(found) else found

    assert [code(0, t) for t in ("True", "true", "1", "1.0", "1e0", "+1")] == [1] * 6
    assert [code(0, t) for t in ("False", "0", "-0.0")] == [0] * 3
    assert [code(0, t) for t in ("", "2", "nan", "inf", "1 ", "1,0", "yes")] == [None] * 7
    assert [code(1, t) for t in (str(2**53), str(2**53 + 1), f"{2.0**53}")] == [0, 1, 0]
    assert [code(1, t) for t in (str(2**53 + 2), str(2**53 - 1))] == [None] * 2
    assert [code(2, t) for t in ("1", "true", "1.0", "True")] == [0, 1, None, None]


def test_a_number_and_a_text_that_a_language_cannot_tell_apart_are_refused():
    X = pd.DataFrame({"x": pd.Categorical([1, "1"] * 4, [1, "1"])})
    model = tw.CARTRegressor().fit(X, [10.0, 20.0] * 4)
    for format, title in {"c": "C", "sql": "SQL", "pmml": "PMML", "excel": "Excel"}.items():
        with pytest.raises(ParameterError, match=f"{title} reads categories as text, but .* 'x'"):
            tw.export(model, format=format)
    assert run.python(model, [[1], ["1"]], Path()).numbers.ravel().tolist() == [10.0, 20.0]


def test_a_sheet_reads_true_and_one_as_the_same_category():
    text = str(
        tw.export(tw.CARTClassifier().fit({"x": [True, False] * 4}, [1, 0] * 4), format="excel")
    )
    assert "OR(A2=TRUE,A2=1)" in text or "OR(A2=FALSE,A2=0)" in text


@pytest.mark.parametrize("value", ["only", True])
def test_onnx_takes_anything_in_a_column_whose_training_had_no_category(value, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    X = pd.DataFrame({"x": pd.Series([value, None, None], dtype=object), "n": [0.0, 1.0, 2.0]})
    model = tw.SPRINTClassifier().fit(X, ["a", "b", "c"], sample_weight=[0.0, 1.0, 1.0])
    case = zoo.Case(model, X)
    check(run.onnx(model, case.rows, tmp_path), case)


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
@pytest.mark.parametrize("language", ["python", "sqlite"])
def test_dates_and_times_are_days_to_an_export(language, tmp_path):
    from treewright.data.encode import encode

    random = np.random.default_rng(0)
    days = pd.to_datetime(random.integers(0, 20_000, 200), unit="D")
    instants = pd.to_datetime(random.integers(0, 10**9, 200), unit="s", utc=True)
    X = pd.DataFrame({"day": days.date, "at": instants})
    y = np.where((days.year > 2000) ^ (instants.hour > 12), "late", "early")
    model = tw.CARTClassifier(max_depth=6).fit(X, y)
    table = encode(X, schema=model.tree_.schema)
    assert table.columns[0][0] == (days[0] - pd.Timestamp(0)).days
    case = zoo.Case(model, X)
    rows = np.column_stack(table.columns).tolist()
    check(getattr(run, language)(model, rows, tmp_path), case)


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_diagrams_quote_every_name(form):
    text = str(tw.export(hostile().model, format=form))
    assert "\n#include" not in text
    assert "<x" not in text.replace("</script><x", "") if form == "dot" else "<x" not in text
    if form == "dot" and shutil.which("dot"):
        done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_diagrams_show_names_that_their_languages_would_read_otherwise():
    names = ["&lt;", "C:\\new", "</style>*{display:none}"]
    model = tw.ID3Classifier().fit({"x": names * 4}, names * 4)
    dot, mermaid = (str(tw.export(model, format=form)) for form in ("dot", "mermaid"))
    assert '"&amp;lt;\\nn 4, 1.00"' in dot  # Graphviz reads &lt; as <
    assert "C#58;#92;#8203;new" in mermaid  # Mermaid breaks lines at \n
    assert all(":" not in line for line in mermaid.splitlines())  # style…:…; loses its end


def test_a_diagram_has_a_line_for_every_node_and_branch():
    tree = zoo.case("c45").model.tree_
    text = str(tw.export(tree, format="dot"))
    assert text.count("label=") == 2 * tree.n_nodes - 1
    assert text.count("->") == tree.n_nodes - 1
    assert str(tw.export(tree, format="mermaid")).count("-->") == tree.n_nodes - 1
    assert str(tw.export(tree, format="dot", max_depth=0)).count("->") == 0


def test_diagrams_are_for_trees():
    with pytest.raises(ParameterError, match="has none"):
        tw.export(zoo.case("mars").model, format="dot")


def test_the_ending_of_a_file_says_the_format(tmp_path):
    model = zoo.case("cart").model
    for name in ("json", "python", "javascript", "c", "sql", "dot", "mermaid"):
        path = tmp_path / f"model{FORMATS[name].endings[0]}"
        assert tw.export(model, path) == path
        assert path.read_text() == tw.export(model, format=name)


def test_wrong_arguments_give_one_sentence(tmp_path):
    model = zoo.case("cart").model
    with pytest.raises(ParameterError, match=r"no format 'sqll'. Did you mean 'sql'"):
        tw.export(model, format="sqll")
    with pytest.raises(ParameterError, match=r"ending of the file .*got 'model.xyz'"):
        tw.export(model, "model.xyz")
    with pytest.raises(ParameterError, match="has no option 'table'"):
        tw.export(model, format="c", table="data")
    with pytest.raises(ParameterError, match="no dialect 'oracle'"):
        tw.export(model, format="sql", dialect="oracle")
    with pytest.raises(ParameterError, match="name must be letters"):
        tw.export(model, format="c", name="int; main")
    with pytest.raises(ParameterError, match="cannot write"):
        tw.export(model, tmp_path / "no" / "model.c")
    with pytest.raises(ParameterError, match="needs a path or a format"):
        tw.export(model)
    with pytest.raises(ParameterError, match="got list"):
        tw.export([], format="c")


def test_models_that_cannot_be_said_are_refused():
    X, labels, _ = zoo.mixed()
    stack = tw.StackingClassifier(
        [("a", tw.CARTClassifier(max_depth=2))], tw.CARTClassifier(max_depth=2), cv=2
    )
    with pytest.raises(ParameterError, match=r"takes a blender of scikit-learn .*CARTClassifier"):
        tw.export(stack.fit(X, labels), format="json")
    stack = tw.StackingClassifier([("a", tw.CARTClassifier(max_depth=2))], cv=2)
    with pytest.raises(ParameterError, match="takes two classes or one number, got 3"):
        tw.export(stack.fit(X, labels), format="json")
    boosted = tw.AdaBoostClassifier(tw.C45Classifier(), algorithm="real", n_estimators=2)
    with pytest.raises(ParameterError, match="without divided rows, got C45Classifier"):
        tw.export(boosted.fit(X, labels), format="json")


def test_rules_that_vote_with_another_default_keep_their_label(tmp_path):
    rules = zoo.case("c50 rules").model.rules_
    X = zoo.case("c50 rules").X
    from dataclasses import replace

    other = replace(rules, default=rules.classes[-1], default_value=(5.0, 1.0, 1.0))
    said = run.python(other, zoo.case("c50 rules").rows, tmp_path)
    assert said.label == other.predict(X).tolist()
    assert_allclose(said.numbers, other.predict_proba(X), atol=1e-12)


def test_the_command_writes_what_the_function_does(tmp_path, capsys):
    from treewright.cli import main

    path = tmp_path / "model.tw"
    tw.save(zoo.case("cart").model, path)

    def command(*words: Any) -> int:
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        return int(end.value.code or 0)

    assert command("export", path, "--to", "sql", "--dialect", "sqlite") == 0
    assert capsys.readouterr().out == tw.export(
        zoo.case("cart").model, format="sql", dialect="sqlite"
    )
    assert command("export", path, "--output", tmp_path / "model.c") == 0
    assert (tmp_path / "model.c").read_text().startswith("/* A model made by treewright")
    assert command("export", path, "--output", tmp_path / "model.c") == 2  # it exists
    assert command("export", path) == 2
    capsys.readouterr()
    assert command("export", path, "--to", "sql", "--keep", "id, day") == 0
    assert 'SELECT\n  "id",\n  "day",' in capsys.readouterr().out
    assert command("export", path, "--to", "c", "--table", "data") == 2
    assert "no option 'table'; it takes name." in capsys.readouterr().err
    assert Path(tmp_path / "model.c").exists()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize(
    ("depth", "n_trees", "form"), [(3, 9, 5), (3, 101, 0), (6, 9, 0), (30, 9, 0)]
)
def test_c_walks_shallow_and_deep_trees_as_the_model(depth, n_trees, form, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1], nan=2.0) + rng.normal(0, 0.1, 600)
    model = tw.RandomForestRegressor(n_trees, max_depth=depth, random_state=0).fit(X, y)
    assert (max(member.tree_.depth for member in model) > 12) == (depth > 12)
    said = run.c(model, X.tolist(), tmp_path)
    assert_allclose(said.numbers[:, 0], model.predict(X), rtol=0, atol=1e-12)
    table = (tmp_path / "model.c").read_text().partition("tw_parts[")[2]
    assert table.partition("{")[2].strip().startswith(f"{{{form}, ")


@pytest.mark.parametrize("language", ["sqlite", "duckdb"])
def test_sql_finds_one_of_many_categories_by_its_place(language, tmp_path):
    if language == "duckdb":
        pytest.importorskip("duckdb")
    random = np.random.default_rng(0)
    code = random.integers(0, 60, 500)
    X = pd.DataFrame({"city": [f"c{k}'" for k in code], "x": random.normal(size=500)})
    model = tw.CARTClassifier(min_samples_leaf=20).fit(X, np.where(code % 2, "a", "b"))
    X.loc[:9, "city"], X.loc[10:19, "city"] = None, "never seen"
    dialect = {"dialect": language}
    assert "SUBSTR('" in str(tw.export(model, format="sql", **dialect))
    case = zoo.Case(model, X[:60])
    check(getattr(run, language)(case.model, case.rows, tmp_path), case)


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1.0, 1e300])
def test_sqlite_reads_numbers_to_the_last_bit(scale):
    import sqlite3

    from treewright.exporting._sql import _for_sqlite

    drawn = np.random.default_rng(0).normal(size=20_000) * scale
    database = sqlite3.connect(":memory:")
    for numbers in np.array_split(drawn, 40):
        listed = ", ".join(map(_for_sqlite, numbers.tolist()))
        assert database.execute(f"SELECT {listed}").fetchone() == tuple(numbers.tolist())


DEEP = {
    "noise": (tw.CARTClassifier(), 3, 0.1),
    "surrogates": (tw.CARTClassifier(missing="surrogate", max_surrogates=8), 9, 0.2),
    "stopping": (tw.CARTClassifier(missing="surrogate", surrogate_fallback="stop"), 3, 0.1),
}


@pytest.mark.parametrize("deepest", [75, 20])
@pytest.mark.parametrize("model", DEEP)
def test_sql_of_deep_trees_fits_into_the_parser_of_sqlite(model, deepest, tmp_path, monkeypatch):
    from treewright.exporting import _sql

    monkeypatch.setattr(_sql._SqlWords, "deepest", deepest)
    model, n_features, gaps = DEEP[model]
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, n_features))
    X[random.random(X.shape) < gaps] = np.nan
    X = pd.DataFrame(X, columns=[f"x{k}" for k in range(n_features)])
    model = model.fit(X, random.integers(0, 2, len(X)).astype(str))
    assert model.get_depth() > 19
    case = zoo.Case(model, X)
    for runs in (run.sqlite, run.duckdb):
        if runs is run.duckdb:
            pytest.importorskip("duckdb")
        said = runs(case.model, case.rows, tmp_path)
        check(said, case)
        np.testing.assert_array_equal(said.numbers, case.numbers)
    assert ("part" in str(tw.export(model, format="sql"))) == (deepest < 75)


def test_costs_of_a_class_that_weights_left_out_are_exported(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = tw.CostSensitiveClassifier(tw.CARTClassifier(max_depth=2))
    model.fit(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))
    said = run.python(model, X.tolist(), tmp_path)
    np.testing.assert_array_equal(said.numbers, model.predict_proba(X))
    assert said.label == model.predict(X).tolist()
    for ending in ("sql", "pmml", "json", "onnx"):
        tw.export(model, tmp_path / f"model.{ending}")


THREE = {"n_estimators": 3, "max_depth": 3, "random_state": 0}
OVER_FORESTS = {
    "bagging": tw.BaggingClassifier(
        tw.RandomForestClassifier(**THREE), n_estimators=3, random_state=0
    ),
    "voting": tw.VotingRegressor(
        [("forest", tw.RandomForestRegressor(**THREE)), ("mars", tw.MARSRegressor())],
        weights=[0.3, 0.7],
    ),
    "stacking": tw.StackingRegressor([("forest", tw.RandomForestRegressor(**THREE))], cv=2),
    "boosting": tw.AdaBoostRegressor(
        tw.RandomForestRegressor(**THREE), n_estimators=3, random_state=0
    ),
}


@pytest.mark.parametrize("name", OVER_FORESTS)
def test_the_optimiser_of_onnxruntime_keeps_means_in_double_precision(name, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(100, 3)), columns=list("abc"))
    y = X["a"] + random.normal(size=100)
    model = OVER_FORESTS[name]
    case = zoo.Case(model.fit(X, y > 0 if name == "bagging" else y), X)
    check(run.onnx(case.model, case.rows, tmp_path), case)


@pytest.mark.parametrize("scale", [1e-50, 1e-200])
def test_the_optimiser_of_onnxruntime_keeps_small_offsets_and_factors_near_one(scale, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    X = pd.DataFrame({"x": np.arange(20.0)})
    y = (np.sin(X["x"]) + 5) * scale
    boosting = tw.GradientBoostingRegressor(n_estimators=3, random_state=0)
    voting = tw.VotingRegressor([("tree", tw.CARTRegressor())], weights=[1 + 1e-9])
    mars = tw.MARSRegressor(max_terms=3)
    for model, inputs, target in ((boosting, X, y), (voting, X, y), (mars, X * scale, y / scale)):
        case = zoo.Case(model.fit(inputs, target), inputs)
        said = run.onnx(case.model, case.rows, tmp_path)
        assert_allclose(said.numbers, case.numbers, rtol=1e-14)


def test_onnx_takes_tests_that_no_category_passes(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    X = pd.DataFrame({"x": [-1.5, 2.25, 2.25, 2.25]})
    model = tw.GradientBoostingClassifier(
        n_estimators=3, max_categories=1, categorical_features=["x"], random_state=0
    )
    case = zoo.Case(model.fit(X, ["a", "b", "c", "d"]), X)
    check(run.onnx(case.model, case.rows, tmp_path), case)
