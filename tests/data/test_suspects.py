"""Columns that are probably not what their type says."""

from __future__ import annotations

import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import treewright
from treewright.data.encode import encode
from treewright.data.gap_words import clear_gap_words
from treewright.errors import (
    PrecisionWarning,
    SuspectColumnWarning,
    TreewrightWarning,
    UnseenCategoriesWarning,
)

CHARGES = [f"{k}.5" for k in range(700)] + ["?"] * 11 + ["unknown"]


@pytest.mark.parametrize(
    "frame",
    [
        lambda c: pd.DataFrame(c),
        lambda c: pd.DataFrame(c).astype(object),
        lambda c: pl.DataFrame(c),
        lambda c: pa.table(c),
        lambda c: c,
    ],
    ids=["pandas", "pandas objects", "polars", "Arrow", "dict"],
)
def test_numbers_with_a_stray_word_are_named_with_the_words_and_their_counts(frame):
    with pytest.warns(SuspectColumnWarning, match="99.7% of them read as numbers") as caught:
        table = encode(frame({"charges": CHARGES}))
    message = str(caught[0].message)
    assert "'charges'" in message
    assert "'?' (11), 'unknown' (1)" in message
    assert "categorical_features" in message
    assert table.schema.features[0].kind == "nominal"


def test_a_share_below_one_is_never_shown_as_all():
    with pytest.warns(SuspectColumnWarning, match="99.9% of them read as numbers, all but '\\?'"):
        encode({"a": [*(str(k) for k in range(5000)), "?"]})


def test_text_that_is_all_numbers_is_named_too():
    with pytest.warns(SuspectColumnWarning, match="though all of them read as numbers;"):
        encode({"a": [str(k) for k in range(30)]})


def test_identifiers_are_named():
    with pytest.warns(SuspectColumnWarning, match="as identifiers have"):
        encode({"customer": [f"C-{k:05d}" for k in range(200)]})


@pytest.mark.parametrize("kind", [str, "category"])
def test_categories_that_exceed_a_third_of_the_rows_are_named(kind):
    streets = pd.DataFrame({"street": [f"street {k % 70}" for k in range(200)]}, dtype=kind)
    with pytest.warns(SuspectColumnWarning, match="70 categories in 200 rows, fewer") as said:
        encode(streets)
    assert "--drop" in str(said[0].message)
    assert "categorical_features" in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreewrightWarning)
        encode(streets, categorical_features=["street"])
        encode(streets.iloc[:45])  # too few rows to tell


def test_dates_with_a_stray_word_are_named_with_the_word():
    days = [str(day) for day in np.datetime64("2024-01-01") + np.arange(30)]
    with pytest.warns(SuspectColumnWarning, match="read as dates, all but 'unknown' .1.*datetime"):
        encode({"day": [*days, "unknown"]})


@pytest.mark.parametrize(
    "values",
    [
        ["red", "green", "blue"] * 50,
        [f"C-{k}" for k in range(40)],  # too few rows to tell
        ["1", "2", "3"] * 50,  # too few values to tell
        [f"street {k % 60}" for k in range(200)],
    ],
)
def test_ordinary_text_is_not_suspected(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreewrightWarning)
        encode({"a": values})


def test_a_column_that_the_user_named_is_not_suspected():
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreewrightWarning)
        encode({"charges": CHARGES}, categorical_features=["charges"])


FRAMES = {
    "pandas": lambda c: pd.DataFrame(c),
    "pandas with gaps": lambda c: pd.DataFrame(c).astype("Int64"),
    "pandas objects": lambda c: pd.DataFrame(c).astype(object),
    "polars": lambda c: pl.DataFrame(c),
    "Arrow": lambda c: pa.table(c),
    "Arrow with gaps": lambda c: pa.table({"id": [*c["id"].tolist(), None]}),
    "dict": lambda c: c,
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_integers_beyond_two_to_the_53_are_named(frame):
    with pytest.warns(PrecisionWarning, match="'id' holds integers up to"):
        encode(frame({"id": np.arange(100) + 2**60}))
    with pytest.warns(PrecisionWarning, match="'id' holds integers up to"):
        encode(frame({"id": np.arange(100) - 2**60}))
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreewrightWarning)
        encode(frame({"id": np.arange(100) + 2**52}))


def test_integers_beyond_two_to_the_53_are_named_in_arrays():
    with pytest.warns(PrecisionWarning, match="'x0'"):
        encode((np.arange(100) + 2**60)[:, None])


# Prediction


def fitted(**columns):
    y = np.arange(40) % 2
    return treewright.CARTClassifier().fit(pd.DataFrame(columns), y)


def test_categories_that_training_did_not_have_are_named_with_the_nearest():
    model = fitted(answer=["yes", "no"] * 20)
    new = pd.DataFrame({"answer": ["Yes"] * 30 + ["maybe"] * 2 + ["no"] * 68})
    with pytest.warns(UnseenCategoriesWarning, match="in 32 of 100 rows") as caught:
        model.predict(new)
    assert "'Yes' (for 'yes'?), 'maybe'" in str(caught[0].message)


def test_a_few_unseen_categories_are_gaps_without_a_word():
    model = fitted(answer=["yes", "no"] * 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreewrightWarning)
        model.predict(pd.DataFrame({"answer": ["yes"] * 96 + ["Yes"] * 4}))
        model.predict(pd.DataFrame({"answer": ["yes"] * 10 + [None] * 90}))


def test_numbers_as_column_names_are_matched():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=[2021, 2022, 2023])
    y = X[2022] > 0
    model = treewright.CARTClassifier().fit(X, y)
    assert model.score(X[[2023, 2021, 2022]], y) == 1.0
    bare = pd.DataFrame(X.to_numpy())
    model = treewright.CARTClassifier().fit(bare, y)
    assert model.score(bare[[2, 0, 1]], y) == 1.0
    assert model.score(X.to_numpy(), y) == 1.0


# Gap words of the command line


def test_gap_words_are_found_whatever_their_case_and_blanks():
    table = pa.table(
        {"a": ["1.5", " N/A", "nan", "NULL ", "#n/a", "2"], "b": ["x", "n/a", "y"] * 2}
    )
    cleared, found = clear_gap_words(table)
    assert cleared.column("a").to_pylist() == [1.5, None, None, None, None, 2.0]
    assert cleared.column("b").to_pylist() == ["x", None, "y"] * 2
    assert found == {"a": 4, "b": 2}


def test_dashes_and_none_are_gaps_among_numbers_and_categories_among_text():
    table = pa.table({"a": ["1", "-", "None", "."], "debtors": ["none", "guarantor", "-", "none"]})
    cleared, found = clear_gap_words(table)
    assert cleared.column("a").to_pylist() == [1.0, None, None, None]
    assert cleared.column("debtors").to_pylist() == ["none", "guarantor", "-", "none"]
    assert found == {"a": 3}


def test_dates_with_gap_words_become_dates():
    cleared, found = clear_gap_words(pa.table({"day": ["2024-01-05", "n/a", "2024-02-01"]}))
    assert cleared.column("day").to_pylist() == [date(2024, 1, 5), None, date(2024, 2, 1)]
    assert found == {"day": 1}


def test_a_table_without_such_words_stays_as_it_is():
    table = pa.table({"a": ["x", "y"], "b": [1, 2]})
    assert clear_gap_words(table) == (table, {})
