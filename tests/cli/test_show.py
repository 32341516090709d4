"""``treewright show``: the same text, rules and picture as the library's."""

from __future__ import annotations

from xml.etree import ElementTree

import treewright


def test_show_prints_the_tree_as_text(command, fitted):
    model = fitted()
    outcome = command("show", model)
    assert outcome.code == 0
    assert outcome.out.rstrip() == treewright.load(model).tree_.to_text().rstrip()


def test_max_depth_shortens_the_text(command, fitted):
    model = fitted("price")
    whole = command("show", model).out
    short = command("show", model, "--max-depth", 1).out
    assert len(short.splitlines()) < len(whole.splitlines())


def test_show_prints_one_rule_per_leaf(command, fitted):
    model = fitted("price")
    outcome = command("show", model, "--as", "rules")
    assert outcome.code == 0
    rules = treewright.load(model).tree_.rules()
    assert len(rules) > 2
    for number in range(1, len(rules) + 1):
        assert f"\n{number}. " in outcome.out


def test_show_writes_a_picture_that_is_xml(command, fitted, tmp_path):
    path = tmp_path / "tree.svg"
    outcome = command("show", fitted(), "--as", "svg", "--output", path)
    assert outcome.out == f"Tree as svg: {path}\n"
    assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_show_writes_a_picture_of_pixels(command, fitted, tmp_path):
    path = tmp_path / "tree.png"
    assert command("show", fitted(), "--as", "png", "--output", path).code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_form_is_a_usage_error(command, fitted):
    outcome = command("show", fitted(), "--as", "gif")
    assert outcome.code == 2
    assert "--as" in outcome.err


def test_a_model_that_does_not_exist_exits_4(command, tmp_path):
    outcome = command("show", tmp_path / "none.tw")
    assert outcome.code == 4
    assert "none.tw" in outcome.err


def test_show_prints_the_rules_of_a_rule_learner(command, data, tmp_path):
    path = tmp_path / "m.tw"
    words = ("fit", data, "--target", "sold", "--learner", "c45rules", "--output", path)
    fit = command(*words)
    assert "C45Rules of 'sold'" in fit.out
    model = treewright.load(path)
    assert f"Size: {len(model.rules_)} rules" in fit.out
    for form in ("text", "rules"):
        assert command("show", path, "--as", form).out.rstrip() == model.rules_.to_text()
    refused = command("show", path, "--as", "svg")
    assert refused.code == 2
    assert "are for trees" in refused.err


def test_a_bare_rule_set_is_shown(command, fitted, tmp_path):
    rules = treewright.load(fitted()).rule_set()
    treewright.save(rules, tmp_path / "rules.tw")
    assert command("show", tmp_path / "rules.tw").out.rstrip() == rules.to_text()


def test_an_ensemble_is_shown_as_a_summary_and_tree_by_tree(command, fitted):
    more = ["--learner", "random_forest", "--set", "n_estimators=25", "--seed", "0"]
    model = fitted("sold", more)
    outcome = command("show", model)
    assert outcome.code == 0
    assert outcome.out.startswith("RandomForestClassifier of 'sold'\nSize: 25 trees")
    third = command("show", model, "--member", 3)
    assert third.out.rstrip() == treewright.load(model).estimators_[2].tree_.to_text().rstrip()
    assert command("show", model, "--member", 26).code == 2
    assert command("show", model, "--as", "svg").code == 2


def test_show_prints_what_was_pruned_and_why(command, tmp_path):
    X = [[float(i)] for i in range(40)]
    y = ["no" if i < 20 or i in (25, 31) else "yes" for i in range(40)]
    path = tmp_path / "pruned.tw"
    treewright.save(treewright.CARTClassifier(ccp_alpha="cv", cv=3).fit(X, y), path)
    outcome = command("show", path, "--pruning")
    assert outcome.code == 0
    assert outcome.out.startswith("Pruned by cost complexity: ")
    assert "per leaf are no more as a leaf than as a subtree" in outcome.out
    assert command("show", path, "--pruning", "--as", "svg").code == 2


def test_show_says_when_nothing_was_pruned(command, fitted):
    assert command("show", fitted(), "--pruning").out == "Nothing was pruned.\n"


def test_the_ending_of_the_file_says_the_form(command, fitted, tmp_path):
    model = fitted()
    for ending, start in {
        ".html": b"<!DOCTYPE",
        ".svg": b"<svg",
        ".txt": b"Classification",
    }.items():
        outcome = command("show", model, "--output", tmp_path / f"tree{ending}")
        assert outcome.code == 0
        assert (tmp_path / f"tree{ending}").read_bytes().startswith(start)
    outcome = command("show", model, "--output", tmp_path / "tree.pdf")
    assert outcome.code == 2
    assert "--output must end in one of .txt" in outcome.err
    assert command("show", model, "--as", "text", "--output", tmp_path / "tree.pdf").code == 0
