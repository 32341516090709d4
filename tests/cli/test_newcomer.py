"""What a newcomer tries first."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def sales(tmp_path):
    rng = np.random.default_rng(0)
    x, price = rng.normal(size=200), rng.integers(1, 90, 200)
    lines = [
        f"{a:.3f},{b},{b + 5 * a + rng.normal(0, 9):.2f}" for a, b in zip(x, price, strict=True)
    ]
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(["x,price,sales", *lines]))
    return path


def test_o_means_output_everywhere(command, sales, tmp_path):
    model = tmp_path / "m.tw"
    assert command("fit", sales, "--target", "sales", "-o", model, "--folds", "0").code == 0
    for words, name in (
        (("show", model, "--as", "svg"), "m.svg"),
        (("predict", model, sales), "said.csv"),
        (("export", model, "--to", "python"), "m.py"),
    ):
        outcome = command(*words, "-o", tmp_path / name)
        assert outcome.code == 0, outcome.err
        assert (tmp_path / name).exists()


def test_fit_says_how_to_prune_a_tree_that_knows_its_rows_by_heart(command, sales, tmp_path):
    words = ("fit", sales, "--target", "sales", "-o", tmp_path / "m.tw")
    assert "ccp_alpha=cv" in command(*words).out
    assert "by heart" not in command(*words, "--set", "ccp_alpha=cv").out
    assert "by heart" not in command(*words, "--set", "max_leaf_nodes=8").out


def test_a_question_ends_with_one_mark(command):
    outcome = command("fitt")
    assert outcome.code == 2
    assert "Did you mean 'fit'? Try" in outcome.err


@pytest.fixture
def orders(tmp_path):
    path = tmp_path / "orders.csv"
    rows = [f"SO-{i},{i % 7},{('yes', 'no', 'Yes ')[i % 3]}" for i in range(60)]
    path.write_text("\n".join(["id,items,back", *rows]))
    return path


def test_an_identifier_is_no_target(command, orders):
    outcome = command("fit", orders, "--target", "id")
    assert outcome.code == 3
    assert "its 60 values all differ, as identifiers do" in outcome.err


@pytest.mark.filterwarnings("always::treewright.errors.SuspectColumnWarning")
def test_classes_that_differ_in_case_and_blanks_are_pointed_at(command, orders, tmp_path):
    outcome = command("fit", orders, "--target", "back", "--drop", "id", "-o", tmp_path / "m.tw")
    assert outcome.code == 0, outcome.err
    assert "'Yes ' and 'yes' of the target differ in case or blanks only" in outcome.err


@pytest.mark.filterwarnings("always::treewright.errors.SuspectColumnWarning")
def test_compare_says_which_learner_there_is_not(command, orders):
    outcome = command("compare", orders, "--target", "back", "--learners", "cart,xgboost")
    assert outcome.code == 2
    assert "There is no learner 'xgboost'." in outcome.err
