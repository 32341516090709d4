"""Words become values, and wrong words become sentences."""

from __future__ import annotations

import pytest

from treewright.cli._options import parse_list, parse_orders, parse_settings, require_column
from treewright.errors import DataError, ParameterError

NAMES = ["max_depth", "criterion", "ccp_alpha", "costs"]


def test_settings_are_literals_where_they_can_be_and_text_where_not():
    words = ["max_depth=3", "criterion=entropy", "ccp_alpha=0.5", "costs=[[0, 1], [5, 0]]"]
    assert parse_settings(["max_depth=true"], NAMES, "CARTClassifier") == {"max_depth": True}
    assert parse_settings(words, NAMES, "CARTClassifier") == {
        "max_depth": 3,
        "criterion": "entropy",
        "ccp_alpha": 0.5,
        "costs": [[0, 1], [5, 0]],
    }


def test_a_setting_may_contain_an_equals_sign():
    assert parse_settings(["criterion=a=b"], NAMES, "CART") == {"criterion": "a=b"}


def test_a_setting_without_a_value_is_refused():
    with pytest.raises(ParameterError, match=r"--set takes key=value, got 'max_depth'\."):
        parse_settings(["max_depth"], NAMES, "CART")


def test_an_unknown_setting_names_the_close_one():
    with pytest.raises(ParameterError, match=r"'maxdepth'\. Did you mean 'max_depth'\?"):
        parse_settings(["maxdepth=3"], NAMES, "CART")


def test_orders_are_lists_of_levels():
    assert parse_orders(["size=small<medium < large", "n=1<2"]) == {
        "size": ["small", "medium", "large"],
        "n": ["1", "2"],
    }


@pytest.mark.parametrize("word", ["size", "size=", "size=small", "size=small<<large"])
def test_an_order_without_two_levels_is_refused(word):
    with pytest.raises(ParameterError, match="--ordinal takes column=low<middle<high"):
        parse_orders([word])


def test_lists_are_split_at_commas():
    assert parse_list("NA, ?") == ["NA", "?"]
    assert parse_list(None) is None


def test_an_unknown_column_names_close_ones_whatever_their_case():
    with pytest.raises(DataError, match=r"'churned'\. Did you mean 'Churn'\?"):
        require_column("churned", ["Age", "Churn"], "--target")


def test_an_unknown_column_without_close_ones_lists_a_few():
    names = [f"column_{i}" for i in range(20)]
    with pytest.raises(DataError, match=r"There are column_0, .*, column_11 and 8 more\."):
        require_column("zzz", names, "--target")
