"""PMML and Excel: valid by the schema, and read back by programs that are not ours."""

from __future__ import annotations

import csv
import operator
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from tests.exporting import run, zoo
from tests.exporting.test_languages import WRITABLE, check, hostile
from treewright.errors import ParameterError
from treewright.exporting._excel import column_name, rounded_cut

PMML = ["cart surrogates", "c45 rules", "adaboost", "boosting two"]


@pytest.mark.skipif(shutil.which("java") is None, reason="java is not here")
def test_pmml_predicts_as_the_models_in_jpmml(tmp_path):
    pytest.importorskip("jpmml_evaluator")
    pytest.importorskip("jpype")
    cases = [zoo.Case(c.model, c.X.iloc[:10]) for c in [*map(zoo.case, PMML), hostile()]]
    answers = run.pmml([(c.model, c.rows) for c in cases], tmp_path)
    for case, said in zip(cases, answers, strict=True):
        check(said, case)


def test_pmml_is_valid_by_the_schema():
    xmlschema = pytest.importorskip("xmlschema")
    # the schema of the Data Mining Group as JPMML ships it; its licence keeps it out of this folder
    jpmml = pytest.importorskip("jpmml_evaluator")
    (jar,) = (Path(jpmml.__file__).parent / "dependencies").glob("pmml-model-1*.jar")
    schema = xmlschema.XMLSchema(zipfile.ZipFile(jar).read("pmml.xsd").decode())
    for name in PMML:
        schema.validate(tw.export(zoo.case(name).model, format="pmml"))


@pytest.mark.parametrize(
    ("name", "element"),
    [
        ("cart", "TreeModel"),
        ("c45 rules", "RuleSetModel"),
        ("forest", "MiningModel"),
        ("boosting regressor", "MiningModel"),
    ],
)
def test_pmml_uses_the_model_that_the_standard_has(name, element):
    text = str(tw.export(zoo.case(name).model, format="pmml"))
    assert text.split("</DataDictionary>")[1].lstrip().startswith(f"<{element} ")


def test_pmml_has_the_surrogates_of_the_standard():
    X, labels, _ = zoo.mixed()
    model = tw.CARTClassifier(missing="surrogate", max_depth=3).fit(X[["age", "in come"]], labels)
    assert 'booleanOperator="surrogate"' in str(tw.export(model, format="pmml"))


def test_pmml_is_well_formed_whatever_the_names():
    from xml.etree import ElementTree

    root = ElementTree.fromstring(str(tw.export(hostile().model, format="pmml")))
    names = [field.get("name") for field in root.iter("{http://www.dmg.org/PMML-4_4}DataField")]
    assert names[: len(WRITABLE) - 1] == [name for name in WRITABLE if name]
    model = tw.CARTClassifier().fit({"a\x01b": [1.0, 2.0]}, ["x", "y"])
    with pytest.raises(ParameterError, match=r"XML cannot hold the character U\+0001"):
        tw.export(model, format="pmml")


def test_pmml_has_integers_of_more_than_32_bits_as_doubles():
    numbers = [5_000_000_000, 6_000_000_000]
    X = pd.DataFrame({"id": numbers * 4})
    model = tw.CARTClassifier(categorical_features=["id"]).fit(X, ["a", "b"] * 4)
    text = str(tw.export(model, format="pmml"))
    field = text.split("<DataField")[1]
    assert '<Value value="5000000000"/>' in field
    assert 'dataType="double"' in field


def test_pmml_refuses_several_numbers():
    with pytest.raises(ParameterError, match="models of one number"):
        tw.export(zoo.case("two outputs").model, format="pmml")


def test_pmml_refuses_sums_of_categories():
    with pytest.raises(ParameterError, match="nominal_terms=None"):
        tw.export(zoo.case("oblique nominal").model, format="pmml")


@pytest.mark.parametrize(
    "name",
    ["cart surrogates", "c45 rules", "adaboost", "mars", "boosting", "oblique nominal"],
)
def test_excel_formulas_predict_as_the_model(name, tmp_path):
    pytest.importorskip("formulas")
    case = zoo.case(name)
    few = zoo.Case(case.model, case.X.iloc[:8])
    check(run.excel(few.model, few.rows, tmp_path), few)


def test_excel_cuts_keep_the_answer_for_cells_of_fifteen_digits(tmp_path):
    pytest.importorskip("formulas")
    x = np.array([0.1, 0.3, 0.7, 1.1, 123456789.012345, 123456789.012346])
    X = pd.DataFrame({"x": x})
    model = tw.CARTRegressor(min_samples_split=2).fit(X, np.arange(6.0))
    case = zoo.Case(model, X)
    check(run.excel(model, case.rows, tmp_path), case)


def test_excel_looks_up_many_leaves_by_what_libreoffice_takes(tmp_path):
    pytest.importorskip("formulas")
    X = pd.DataFrame({"x": np.arange(100.0)})
    model = tw.CARTClassifier(min_samples_split=2).fit(X, np.arange(100) * 7 % 31)
    case = zoo.Case(model, X.iloc[::7])
    check(run.excel(model, case.rows, tmp_path), case)
    text = str(tw.export(model, format="excel"))
    chosen = re.findall(r"\+1((?:,[0-9.]+)+)", text)
    assert max(values.count(",") for values in chosen) in range(10, 31)


def test_excel_headers_are_no_formulas():
    named = [name for name in WRITABLE if 0 < len(name) < 200]
    for few in (named[:18], named[18:36], named[36:54], named[54:]):
        text = str(tw.export(hostile(few).model, format="excel"))
        header, cells = csv.reader(text.splitlines(), dialect="excel-tab")
        assert not any(name.startswith(("=", "+", "-", "@")) for name in header)
        assert all(cell.startswith("=") for cell in cells[len(few) :])
    assert column_name(0) == "A"
    assert column_name(26 + 26 * 26) == "AAA"


def test_excel_refuses_what_a_sheet_cannot_hold():
    model = tw.CARTClassifier().fit({"a": ["", "b", "", "b"]}, [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="empty text from a gap"):
        tw.export(model, format="excel")
    long = tw.CARTClassifier().fit({"a": ["x" * 300, "b"] * 4}, [0, 1] * 4)
    with pytest.raises(ParameterError, match="at most 255 characters"):
        tw.export(long, format="excel")


@pytest.mark.parametrize("cut", [1.7, 0.1, 2 / 3, 1e22 / 3, -1.7, -0.3, 123456789.0123455])
def test_excel_cuts_divide_all_numbers_of_fifteen_digits_as_doubles_do(cut):
    cells = [float(f"{cut * (1 + k * 1e-15):.15g}") for k in range(-12, 13)]
    for sign in ("<=", ">", "<", ">="):
        written = float(rounded_cut(cut, sign).strip("()"))
        divide = {"<=": operator.le, ">": operator.gt, "<": operator.lt, ">=": operator.ge}[sign]
        assert [divide(c, written) for c in cells] == [divide(c, cut) for c in cells]
