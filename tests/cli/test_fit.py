"""``treewright fit``: the model it writes, what it says, and what it refuses."""

from __future__ import annotations

import json

import pytest

import treewright
from treewright.cli.fit import LEARNERS


def test_fit_writes_a_model_and_says_its_size_error_and_place(command, data, tmp_path):
    path = tmp_path / "shop.tw"
    outcome = command("fit", data, "--target", "sold", "--output", path)
    assert outcome.code == 0
    assert "1 row without a target left out." in outcome.out
    assert "CARTClassifier of 'sold' on 7 rows and 4 features" in outcome.out
    assert "Training error: 0.0% (0 of 7 rows)" in outcome.out
    assert "Cross-validated error: " in outcome.out
    assert "Next: treewright show " in outcome.out
    assert f"Model: {path}" in outcome.out
    assert outcome.err == ""
    assert set(treewright.load(path).classes_) == {"yes", "no"}


def test_the_model_is_named_after_the_data_by_default(command, data, tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert command("fit", data, "--target", "sold").code == 0
    assert [path.name for path in folder.iterdir()] == ["shop.tw"]


def test_a_target_of_fractions_is_a_regression(command, data, tmp_path):
    outcome = command("fit", data, "--target", "price", "--output", tmp_path / "m.tw")
    assert "CARTRegressor of 'price'" in outcome.out
    assert "root mean square" in outcome.out


@pytest.mark.parametrize(("n_values", "name"), [(10, "CARTClassifier"), (11, "CARTRegressor")])
def test_integers_are_classes_up_to_ten_of_them(command, tmp_path, n_values, name):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n" + "".join(f"{i},{i % n_values}\n" for i in range(60)))
    outcome = command("fit", data, "--target", "y", "--output", tmp_path / "m.tw")
    assert f"{name} of 'y'" in outcome.out


def test_task_overrides_the_look_at_the_target(command, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n1,0\n2,1\n3,1\n")
    words = ("fit", data, "--target", "y", "--task", "regression", "--output", tmp_path / "m.tw")
    assert "CARTRegressor of 'y'" in command(*words).out


def test_set_seed_and_jobs_reach_the_estimator(fitted):
    more = ["--set", "max_depth=1", "--set", "criterion=entropy", "--seed", "7", "--jobs", "2"]
    parameters = treewright.load(fitted(more=more)).get_params()
    assert parameters["max_depth"] == 1
    assert parameters["criterion"] == "entropy"
    assert parameters["random_state"] == 7
    assert parameters["n_jobs"] == 2


def test_kinds_of_columns_can_be_declared(fitted):
    more = ["--ordinal", "grade=low<middle<high", "--categorical", "size"]
    schema = treewright.load(fitted(more=more)).tree_.schema
    kinds = {feature.name: feature.kind for feature in schema.features}
    assert kinds["grade"] == "ordinal"
    assert kinds["size"] == "nominal"
    assert kinds["colour"] == "nominal"
    assert kinds["price"] == "continuous"
    assert schema.features[schema.index("grade")].categories == ("low", "middle", "high")


def test_levels_of_a_numeric_order_are_numbers(command, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n1,a\n2,b\n3,b\n")
    path = tmp_path / "m.tw"
    words = ("fit", data, "--target", "y", "--ordinal", "x=3<2<1", "--output", path)
    assert command(*words).code == 0
    assert treewright.load(path).tree_.schema.features[0].categories == (3, 2, 1)


def test_gaps_and_separator_are_configurable(command, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x;y\n1;a\nnone;b\n3;b\n")
    path = tmp_path / "m.tw"
    words = ["fit", data, "--target", "y", "--separator", ";", "--output", path]
    assert command(*words, "--gaps", "none").code == 0
    assert treewright.load(path).tree_.schema.features[0].kind == "continuous"


def test_columns_can_be_left_out_but_not_the_target(command, data, tmp_path):
    path = tmp_path / "m.tw"
    words = ["fit", data, "--target", "sold", "--output", path, "--folds", "0"]
    assert command(*words, "--drop", "price").code == 0
    assert "price" not in [f.name for f in treewright.load(path).tree_.schema.features]
    assert "--drop must leave the target" in command(*words, "--drop", "sold").err
    assert "--drop names a column" in command(*words, "--drop", "prize").err
    assert "leave it out" in command("evaluate", path, data, "--drop", "price").err


@pytest.mark.filterwarnings("always::treewright.errors.SuspectColumnWarning")
def test_a_warning_that_comes_again_is_said_once(command, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("id,y\n" + "".join(f"c{i},{'ab'[i % 2]}\n" for i in range(60)))
    words = ["--target", "y", "--learners", "cart,c45", "--folds", "3", "--repeats", "1"]
    assert command("compare", data, *words).err.count("as identifiers have") == 1
    words = ["--target", "y", "--set", "min_samples_split=100", "--output", tmp_path / "m.tw"]
    outcome = command("fit", data, *words)
    assert outcome.err.count("Column 'id' has 60 categories in 60 rows, as identifiers have") == 1
    assert "Size: 1 leaf, depth 0" in outcome.out


def test_the_target_keeps_its_name(fitted):
    assert treewright.load(fitted()).tree_.schema.target.name == "sold"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--target", "Sold"], 3, "'Sold'. Did you mean 'sold'?"),
        (["--target", "sold", "--learner", "carts"], 2, "Did you mean 'cart'"),
        (["--target", "sold", "--set", "max_dept=1"], 2, "Did you mean 'max_depth'"),
        (["--target", "sold", "--set", "max_depth=-3"], 2, "max_depth"),
        (["--target", "sold", "--task", "ranking"], 2, "--task"),
        (["--target", "sold", "--task", "regression"], 3, "y must hold numbers"),
        (["--target", "price", "--task", "classification"], 3, "a classifier needs classes"),
        (["--target", "sold", "--ordinal", "grades=a<b"], 3, "Did you mean 'grade'?"),
        (["--target", "sold", "--ordinal", "price=a<b"], 3, "the levels are a<b"),
        (["--target", "sold", "--categorical", "sizes"], 3, "Did you mean 'size'?"),
        (["--target", "sold", "--output", "no/such/folder/m.tw"], 2, "make the folder"),
        (["--target", "sold", "--output", "."], 2, "must be a file"),
        ([], 2, "Missing option '--target'"),
    ],
)
def test_wrong_words_give_one_sentence_and_write_nothing(
    command, data, tmp_path, monkeypatch, words, code, sentence
):
    monkeypatch.chdir(tmp_path)
    outcome = command("fit", data, *words)
    assert outcome.code == code
    assert sentence in outcome.err
    assert outcome.err.startswith("treewright: ")
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["shop.csv"]


def test_a_file_that_does_not_exist_is_a_data_error(command, tmp_path):
    outcome = command("fit", tmp_path / "none.csv", "--target", "y")
    assert outcome.code == 3
    assert "none.csv" in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_target_of_gaps_only_is_a_data_error(command, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n1,NA\n2,?\n")
    outcome = command("fit", data, "--target", "y", "--output", tmp_path / "m.tw")
    assert outcome.code == 3
    assert "all 2 are gaps" in outcome.err


def test_id3_is_taken_by_its_name(command, data, tmp_path):
    path = tmp_path / "m.tw"
    words = ("fit", data, "--target", "sold", "--learner", "id3", "--output", path)
    assert "ID3Classifier of 'sold'" in command(*words).out
    assert type(treewright.load(path)) is treewright.ID3Classifier


def test_a_classifier_refuses_a_target_of_fractions(command, data, tmp_path):
    words = ("fit", data, "--target", "price", "--learner", "id3", "--output", tmp_path / "m.tw")
    outcome = command(*words)
    assert outcome.code == 2
    assert "--learner id3 predicts classes" in outcome.err


def test_a_seed_is_refused_where_nothing_is_drawn(command, data, tmp_path):
    words = ("fit", data, "--target", "sold", "--learner", "c45rules", "--seed", "1")
    outcome = command(*words, "--folds", "0", "--output", tmp_path / "m.tw")
    assert outcome.code == 2
    assert "--seed" in outcome.err


def test_a_seed_draws_the_folds_where_the_learner_draws_nothing(command, tmp_path):
    path = tmp_path / "titanic.csv"
    assert command("demo", "--data", path).code == 0
    words = ("fit", path, "--target", "Survived", "--learner", "c45rules", "--folds", "2", "--json")

    def error(seed):
        outcome = command(*words, "--seed", seed, "--output", tmp_path / "m.tw")
        return json.loads(outcome.out)["error"]

    assert error(1) == error(1) != error(2)


@pytest.mark.parametrize("learner", ["random_forest", "cart"])
def test_the_error_in_json_is_the_root_mean_square_of_numbers(command, data, tmp_path, learner):
    words = ("fit", data, "--target", "price", "--learner", learner, "--seed", "0", "--json")
    found = json.loads(command(*words, "--output", tmp_path / "m.tw").out)
    said = float(found["honest"].split("error: ")[1].split(" ")[0])
    assert found["error"] == pytest.approx(said, rel=1e-4)


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_a_model_of_every_learner_is_read_again_and_predicts(command, data, tmp_path, learner):
    model = tmp_path / "model.tw"
    fitted = command("fit", data, "--target", "sold", "--learner", learner, "--output", model)
    assert fitted.code == 0, fitted.err
    predicted = command("predict", model, data)
    assert predicted.code == 0, predicted.err
    assert len(predicted.out.splitlines()) == 1 + 8


def test_a_forest_tells_its_out_of_bag_error_and_a_base_goes_by_name(command, data, tmp_path):
    path = tmp_path / "m.tw"
    words = ("fit", data, "--target", "sold", "--seed", "1", "--output", path)
    outcome = command(*words, "--learner", "random_forest", "--set", "n_estimators=50")
    assert outcome.code == 0, outcome.err
    assert "Size: 50 trees" in outcome.out
    assert "Out-of-bag error: " in outcome.out
    outcome = command(*words, "--learner", "bagging", "--set", "estimator=c45")
    assert outcome.code == 0, outcome.err
    assert type(treewright.load(path).estimator) is treewright.C45Classifier
    outcome = command(*words, "--learner", "bagging", "--set", "estimator=c55")
    assert outcome.code == 2
    assert "Did you mean" in outcome.err
