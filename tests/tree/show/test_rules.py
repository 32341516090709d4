"""Rules: those of the textbook, merged conditions, and agreement with the way of each row."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tree.builders import (
    EXAMPLES,
    IRIS,
    MIXED,
    N,
    Test,
    cheat,
    iris,
    make_tree,
    n_ary_breaks,
    ordinal,
    own_gap_branches,
    play_tennis,
    random_tree,
    salaries,
)
from treewright.data.schema import Feature, Schema, Target
from treewright.tree.conditions import Bounds, Interval, Linear, Members
from treewright.tree.show.paths import trace_values
from treewright.tree.split import term_value


def texts(tree: Any) -> list[str]:
    return [rule.text() for rule in tree.rules()]


def test_play_tennis_gives_the_rules_of_worked_example_3() -> None:
    yes = [rule.text() for rule in play_tennis().rules() if rule.outcome == "Yes"]
    assert yes == [
        "outlook = overcast",
        "outlook = rain and wind = weak",
        "outlook = sunny and humidity = normal",
    ]


def test_tests_on_one_feature_become_one_interval() -> None:
    inner = N([0, 50, 50], Test(2, [4.9]), [N([0, 48, 6]), N([0, 2, 44])])
    tree = make_tree(IRIS, N([50, 50, 50], Test(2, [2.45]), [N([50, 0, 0]), inner]))
    assert texts(tree) == [
        "petal_length < 2.45",
        "2.45 <= petal_length < 4.9",
        "petal_length >= 4.9",
    ]


def test_subsets_of_one_feature_are_intersected() -> None:
    inner = N([5, 5], Test(3, codes={0: 0, 2: 1, 3: 1}), [N([5, 0]), N([0, 5])])
    tree = make_tree(MIXED, N([9, 5], Test(3, codes={0: 0, 1: 1, 2: 0, 3: 0}), [inner, N([4, 0])]))
    assert texts(tree) == ["colour = red", "colour in {blue, grey}", "colour = green"]


def test_conditions_stand_in_the_order_of_the_way() -> None:
    deep = N([2, 2], Test(0, [20]), [N([2, 0]), N([0, 2])])
    middle = N([3, 2], Test(1, [5]), [deep, N([1, 0])])
    tree = make_tree(MIXED, N([5, 2], Test(0, [60]), [middle, N([2, 0])]))
    assert texts(tree)[0] == "age < 20 and income < 5"


def test_ordinal_conditions_speak_of_categories() -> None:
    assert [rule.text() for rule in ordinal().rules()] == [
        "size = small",
        "medium <= size <= large (or gap)",
        "size = huge",
    ]


def test_rules_of_own_gap_branches_say_known_and_gap() -> None:
    assert texts(own_gap_branches())[:2] == [
        "age < 30 and income is known",
        "age < 30 and income is a gap",
    ]


def test_a_rule_carries_its_support() -> None:
    rule = iris().rules()[1]
    assert (rule.outcome, rule.n_samples, rule.weight, rule.node) == ("versicolor", 54, 54.0, 3)
    assert rule.confidence == pytest.approx(49 / 54)
    assert salaries().rules()[0].confidence is None
    assert str(salaries().rules()[0]) == "Years < 4.5 → 5.107  (n 90)"


def test_a_single_leaf_is_always_true() -> None:
    rules = make_tree(IRIS, N([3, 1, 0])).rules()
    assert [str(rule) for rule in rules] == ["always → setosa  (n 4, 0.75)"]


def test_rules_cover_all_rows_once() -> None:
    for make in EXAMPLES.values():
        tree = make()
        assert sum(rule.n_samples for rule in tree.rules()) == tree.n_samples[0]


def holds(condition: Any, names: list[str], row: list[float]) -> bool:
    """Whether a row of encoded values satisfies a condition."""
    if isinstance(condition, Linear):
        x = sum(
            weight * term_value(row[names.index(f.name)], code)
            for f, weight, code in condition.terms
        )
        return condition.gap if math.isnan(x) else condition.bounds.contains(x)
    x = row[names.index(condition.feature.name)]
    if isinstance(condition, Interval):
        return condition.gap if math.isnan(x) else condition.bounds.contains(x)
    if condition.gap:
        return math.isnan(x) or x not in condition.excluded
    return x in condition.codes


@pytest.mark.parametrize("seed", range(60))
def test_a_row_satisfies_exactly_the_rule_of_its_leaf(seed: int) -> None:
    tree = random_tree(seed)
    names = list(tree.schema.names)
    rules = tree.rules()
    rng = np.random.default_rng(seed)
    for _ in range(40):
        row = [*rng.normal(30, 20, 2), float(rng.integers(4)), float(rng.integers(4))]
        for k in np.flatnonzero(rng.random(4) < 0.15):
            row[k] = math.nan
        encoded = [*row[:2], *(-1 if math.isnan(x) else int(x) for x in row[2:])]
        path = trace_values(tree, encoded)
        found = [r.node for r in rules if all(holds(c, names, row) for c in r.conditions)]
        reasons = " ".join(step.reason for step in path)
        if "surrogate" in reasons or "every branch" in reasons or "stops here" in reasons:
            continue  # no condition on a feature says where such a row goes
        assert found == [path.leaf]


CODES = st.sets(st.integers(0, 5)).map(sorted).map(tuple)


@given(CODES, CODES, CODES, CODES, st.booleans(), st.booleans(), st.integers(-1, 5))
def test_merged_members_hold_where_both_hold(a, b, c, d, gap1, gap2, code) -> None:
    feature = Feature("f", "nominal", tuple("abcdef"))
    one = Members(feature, a, tuple(x for x in b if x not in a), gap1)
    two = Members(feature, c, tuple(x for x in d if x not in c), gap2)
    row = [math.nan if code < 0 else code]
    both = holds(one, ["f"], row) and holds(two, ["f"], row)
    assert holds(one.merge(two), ["f"], row) == both


ENDS = st.sampled_from([-math.inf, 0.0, 1.0, 2.0, math.inf])
BOUNDS = st.builds(Bounds, ENDS, ENDS, st.booleans(), st.booleans())


@given(BOUNDS, BOUNDS, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]))
def test_intersected_bounds_contain_what_both_contain(a: Bounds, b: Bounds, x: float) -> None:
    assert a.intersect(b).contains(x) == (a.contains(x) and b.contains(x))
    if a.is_empty:
        assert not a.contains(x)


def test_text_numbers_the_rules_and_keeps_to_the_width() -> None:
    text = cheat().rules().to_text(width=80)
    lines = text.splitlines()
    assert lines[0] == "4 rules for Cheat; in brackets the rows and share of the class in training"
    assert lines[1].startswith("1. Refund = No (or gap) and MaritalStatus in {Divorced, Single}")
    assert lines[-1] == "4. Refund = Yes → No  (n 3, 1.00)"
    assert max(map(len, lines)) <= 80
    assert str(cheat().rules()) == cheat().rules().to_text()


def test_plain_characters_on_request() -> None:
    for make in EXAMPLES.values():
        assert make().rules().to_text(ascii=True).isascii()


def test_bounds_that_look_alike_get_more_digits() -> None:
    inner = N([1, 1, 1], Test(0, [1.23456789]), [N([1, 0, 0]), N([0, 1, 1])])
    tree = make_tree(IRIS, N([2, 1, 1], Test(0, [1.2345679]), [inner, N([1, 0, 0])]))
    assert "1.23456789 <= sepal_length < 1.2345679" in str(tree.rules())


def test_rules_behave_like_a_list() -> None:
    rules = n_ary_breaks().rules()
    assert len(rules) == 4
    assert rules[-1].text() == "age > 50"
    assert [rule.node for rule in rules[1:3]] == [2, 3]
    assert rules[0] in rules
    assert repr(rules) == "<Rules for 'buys': 4>"


def test_the_frame_has_a_row_per_rule() -> None:
    pandas = pytest.importorskip("pandas")
    frame = iris().rules().frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["outcome"].tolist() == ["setosa", "versicolor", "virginica"]
    assert frame["rule"][0] == "petal_length < 2.45"
    assert frame["n_samples"].sum() == 150


def test_the_frame_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    find = builtins.__import__

    def without_pandas(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return find(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match=r"pandas is not installed: install it, or .* to_dict"):
        iris().rules().frame()


def test_notebook_tables_escape_what_came_with_the_data() -> None:
    schema = Schema((Feature("<b>", "continuous"),), target=Target("y", ("<script>", "&")))
    tree = make_tree(schema, N([3, 3], Test(0, [1]), [N([3, 0]), N([0, 3])]))
    html = tree.rules()._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<b>" not in html


def test_notebook_tables_are_bounded() -> None:
    node = N([1, 1, 1])
    for _ in range(8):
        node = N([1, 1, 1], Test(0, [1.0]), [node, node])
    html = make_tree(IRIS, node).rules()._repr_html_()
    assert html.count("<tr>") == 101
    assert "… 156 more rules" in html
