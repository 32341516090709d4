"""Saving and loading models."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import treewright
from tests.io.model_makers import (
    FakeClassifier,
    assert_same,
    make_tree,
    put_together,
    take_apart,
)
from tests.tree import builders
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError, ParameterError, SpaceError
from treewright.io import _atomic, load, save

GOLDEN = Path(__file__).parent / "golden"


def golden_estimator():
    costs = np.array([[0, 1], [5, 0]])
    model = FakeClassifier("entropy", 7, costs, [(np.arange(3), np.arange(2))]).fit()
    model.tree_ = golden_tree()
    return model


def golden_tree():
    return make_tree(sums_categories=False)


@pytest.mark.parametrize("is_classification", [True, False])
def test_a_loaded_tree_equals_the_saved_one_to_the_bit(tmp_path, is_classification):
    tree = make_tree(is_classification)
    save(tree, tmp_path / "tree")
    assert_same(load(tmp_path / "tree"), tree)


@pytest.mark.parametrize("name", builders.EXAMPLES)
def test_the_example_trees_come_back(tmp_path, name):
    tree = builders.EXAMPLES[name]()
    save(tree, tmp_path / "tree")
    assert_same(load(tmp_path / "tree"), tree)


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_come_back(tmp_path, seed):
    target = Target("y", n_outputs=2) if seed % 2 else None
    tree = builders.random_tree(seed, 5 * seed, target)
    save(tree, tmp_path / "tree")
    assert_same(load(tmp_path / "tree"), tree)


def test_saving_twice_and_saving_what_was_loaded_give_the_same_bytes(tmp_path, fake_estimator):
    for model in (make_tree(), fake_estimator(cv={"folds": (1, 2)}).fit()):
        save(model, tmp_path / "a")
        save(model, tmp_path / "b")
        save(load(tmp_path / "a"), tmp_path / "c")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_file_can_be_loaded_after_a_save_to_the_same_name(tmp_path):
    save(make_tree(True), tmp_path / "tree")
    first = load(tmp_path / "tree")
    save(make_tree(False), tmp_path / "tree")
    assert_same(load(tmp_path / "tree"), make_tree(False))
    assert_same(first, make_tree(True))


def test_a_hundred_thousand_categories_take_a_short_header(tmp_path):
    names = tuple(f"größe {k}" for k in range(100_000))
    numbers = tuple(range(0, 200_000, 2))
    features = (Feature("a", "nominal", names), Feature("b", "ordinal", numbers))
    tree = builders.make_tree(
        Schema(features, target=Target("y", ("no", "yes"))),
        builders.N(
            [1, 2],
            builders.Test(0, codes={k: k % 2 for k in range(0, 100_000, 3)}),
            [builders.N([1, 0]), builders.N([0, 2])],
            default=0,
        ),
    )
    save(tree, tmp_path / "tree")
    assert_same(load(tmp_path / "tree"), tree)
    header, _ = take_apart((tmp_path / "tree").read_bytes())
    assert len(json.dumps(header)) < 10_000


def test_the_header_tells_a_reader_what_the_file_holds(tmp_path, fake_estimator):
    save(fake_estimator(random_state=3).fit(), tmp_path / "model")
    header, _ = take_apart((tmp_path / "model").read_bytes())
    assert list(header) == ["format", "treewright", "model", "arrays"]
    assert header["format"] == 1
    estimator = header["model"]["$estimator"]
    assert estimator["class"] == "FakeClassifier"
    assert estimator["parameters"]["random_state"] == 3
    schema = estimator["state"]["tree_"]["$tree"]["schema"]["$schema"]
    assert schema["names"][:2] == ["age", "größe"]
    assert schema["target"]["classes"] == ["no", "maybe", "yes"]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"criterion": "entropy", "random_state": 42},
        {"costs": np.array([[0.0, 1.0], [5.0, 0.0]])},
        {"costs": {"no": {"yes": 1.5}, "yes": {"no": 5}}},
        {"costs": {0: {1: 1.5}, 1: {0: 5}}},
        {"cv": [(np.arange(5), np.arange(5, 10))] * 2},
        {"cv": (1, [2.5, None], {"$array": 0})},
        {"cv": np.float64(0.1), "random_state": np.int32(3)},
        {"estimator": FakeClassifier("error", costs=np.eye(2))},
        {"estimator": [("a", FakeClassifier().fit()), ("b", FakeClassifier())]},
    ],
    ids=lambda parameters: str(parameters)[:40],
)
def test_an_estimator_comes_back_with_parameters_and_state(tmp_path, fake_estimator, parameters):
    model = fake_estimator(**parameters).fit()
    save(model, tmp_path / "model")
    assert_same(load(tmp_path / "model"), model)


ESTIMATORS = sorted(
    name for name in treewright.__all__ if name.endswith(("Classifier", "Regressor"))
)


def around(name):
    """The estimator with its defaults; those that combine others, around two of them."""
    kind = getattr(treewright, name)
    if not name.startswith(("Stacking", "Voting")):
        return kind()
    task = "Classifier" if name.endswith("Classifier") else "Regressor"
    members = [(n.lower(), getattr(treewright, f"{n}{task}")()) for n in ("CART", "CTree")]
    return kind(members)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_loaded_estimator_predicts_as_the_saved_one(tmp_path, name):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(kind=np.where(X.iloc[:, 0] > 5.5, "long", "short"))
    X.loc[::7] = None
    y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"}) if "Classifier" in name else y
    model = around(name).fit(X, y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert_same(loaded.predict(X), model.predict(X))
    assert_same(loaded.get_params(), model.get_params())
    assert vars(loaded).keys() == vars(model).keys()
    save(loaded, tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()


def check_refused(model, path, *words):
    """``model`` is refused in one sentence and nothing is written."""
    with pytest.raises(ModelFileError) as caught:
        save(model, path)
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message
    for word in (*words, repr(str(path))):
        assert word in message
    assert os.listdir(path.parent) == []


def test_random_generators_functions_and_foreign_estimators_are_refused(tmp_path, fake_estimator):
    path = tmp_path / "model"
    for generator in (np.random.RandomState(0), np.random.default_rng(0)):
        words = ("random_state is a", "instance", "integer or None")
        check_refused(fake_estimator(random_state=generator).fit(), path, *words)
    check_refused(fake_estimator(lambda a, b: a).fit(), path, "criterion is code (a function)")
    check_refused(fake_estimator(np.add).fit(), path, "criterion is code (an ufunc)")
    foreign = DecisionTreeClassifier()
    for parameter in (foreign, [("tree", foreign)], {"a": foreign}):
        words = ("estimator", "a DecisionTreeClassifier", "estimators of treewright only")
        check_refused(fake_estimator(estimator=parameter).fit(), path, *words)


def test_attributes_that_a_file_cannot_hold_are_refused(tmp_path, fake_estimator):
    model = fake_estimator().fit()
    model.callback_ = print
    check_refused(model, tmp_path / "model", "FakeClassifier", "callback_ is code")


def test_parameters_that_fit_would_refuse_are_neither_saved_nor_loaded(tmp_path, fake_estimator):
    (tmp_path / "empty").mkdir()
    model = fake_estimator().fit().set_params(criterion=3)
    check_refused(model, tmp_path / "empty" / "model", "'criterion' parameter", "got 3")
    path = edit_estimator(tmp_path, fake_estimator, parameters={"criterion": 3})
    with pytest.raises(ModelFileError, match="'criterion' parameter"):
        load(path)


def test_an_unfitted_estimator_is_refused(tmp_path, fake_estimator):
    check_refused(fake_estimator(), tmp_path / "model", "FakeClassifier", "call fit")


class Child(FakeClassifier):
    pass


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), None, {}, object(), Child()])
def test_what_is_no_model_of_treewright_is_refused(tmp_path, fake_estimator, model):
    check_refused(model, tmp_path / "model", type(model).__name__, "own means")


def test_a_tree_that_could_not_be_loaded_is_not_saved(tmp_path):
    tree = make_tree()
    broken = Schema(tree.schema.features[:3], True, tree.schema.target)
    object.__setattr__(tree, "schema", broken)
    check_refused(tree, tmp_path / "tree", "Tree cannot be saved")


@pytest.mark.parametrize(
    "categories",
    [
        (None,),
        (float("nan"),),
        (np.int64(3),),
        (("a", "b"),),
        ("a", "a"),
        (1, True),
    ],
    ids=repr,
)
def test_categories_that_are_no_plain_distinct_values_are_refused(tmp_path, categories):
    for schema in (
        Schema((Feature("a", "nominal", categories),), target=Target("y", ("no", "yes"))),
        Schema((Feature("a", "continuous"),), target=Target("y", categories)),
    ):
        width = len(schema.target.classes)
        tree = builders.make_tree(schema, builders.N([1.0] * width))
        check_refused(tree, tmp_path / "tree", "Tree cannot be saved", "of")


def test_categories_keep_their_types_and_signs(tmp_path):
    categories = ("1", 1, "True", "", "1.0", 2.5, False, -3, 2**63, 0.1 + 0.2, float("inf"))
    schema = Schema((Feature("a", "nominal", categories),), False, Target("y", (False, True)))
    tree = builders.make_tree(schema, builders.N([1, 2]))
    save(tree, tmp_path / "tree")
    assert_same(load(tmp_path / "tree").schema, schema)


@pytest.mark.parametrize("suffix", ["", ".treewright", ".pkl", ".tar.gz"])
def test_str_and_path_and_any_suffix_will_do(tmp_path, suffix):
    path = tmp_path / f"mödel{suffix}"
    save(make_tree(), str(path))
    assert_same(load(path), make_tree())
    save(make_tree(False), path)
    assert_same(load(str(path)), make_tree(False))


@pytest.mark.parametrize("path", [None, 3, b"model", "", "a\0b"])
def test_a_path_of_the_wrong_type_is_a_parameter_error(path):
    with pytest.raises(ParameterError, match="path must be"):
        save(make_tree(), path)
    with pytest.raises(ParameterError, match="path must be"):
        load(path)


def check_message(action, path, *words):
    with pytest.raises(ModelFileError) as caught:
        action()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    for word in (*words, repr(str(path))):
        assert word in message


def test_paths_that_cannot_be_written_or_read_are_named(tmp_path):
    (tmp_path / "file").write_bytes(b"not a model")
    tree = make_tree()
    check_message(lambda: save(tree, tmp_path), tmp_path, "Cannot write", "directory")
    check_message(lambda: load(tmp_path), tmp_path, "Cannot read", "directory")
    gone = tmp_path / "gone" / "model"
    check_message(lambda: save(tree, gone), gone, "Cannot write", "No such file or directory")
    check_message(lambda: load(gone), gone, "Cannot read", "No such file or directory")
    inside = tmp_path / "file" / "model"
    check_message(lambda: save(tree, inside), inside, "Cannot write", "Not a directory")
    check_message(lambda: load(inside), inside, "Cannot read", "Not a directory")
    foreign = tmp_path / "file"
    check_message(lambda: load(foreign), foreign, "cannot be loaded", "not a treewright model file")
    assert os.listdir(tmp_path) == ["file"]


def test_a_directory_without_permission_is_named(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "model"
    monkeypatch.setattr(_atomic.os, "open", refuse)  # a superuser may write anywhere
    check_message(lambda: save(make_tree(), path), path, "Cannot write", "Permission denied")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_read_only_directory_is_named(tmp_path):
    path = tmp_path / "locked" / "model"
    path.parent.mkdir(mode=0o555)
    check_message(lambda: save(make_tree(), path), path, "Cannot write", "Permission denied")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for action in (lambda: load(tmp_path / "pipe"), lambda: save(make_tree(), tmp_path / "pipe")):
        check_message(action, tmp_path / "pipe", "not a regular file")


def test_a_failure_while_writing_leaves_the_old_model(tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(make_tree(False), path)

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_atomic.os, "fsync", fail)
    with pytest.raises(
        SpaceError, match=r"model. cannot be written, as no space is left on the disk"
    ):
        save(make_tree(), path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["model"]
    assert_same(load(path), make_tree(False))


KILLED = """
import os, sys
from tests.io.model_makers import make_tree
from treewright.io import _atomic, save
real = os.fsync
def die(descriptor):
    real(descriptor)
    os._exit(9)
_atomic.os.fsync = die
save(make_tree(), sys.argv[1])
"""


def test_a_process_that_dies_while_writing_leaves_the_old_model(tmp_path):
    path = tmp_path / "model"
    save(make_tree(False), path)
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], env=environment, cwd=root)
    assert done.returncode == 9
    assert_same(load(path), make_tree(False))


def test_a_newer_format_asks_for_an_upgrade(tmp_path):
    save(make_tree(), tmp_path / "tree")
    header, arrays = take_apart((tmp_path / "tree").read_bytes())
    (tmp_path / "tree").write_bytes(put_together(header | {"format": 2}, arrays, version=2))
    check_message(
        lambda: load(tmp_path / "tree"),
        tmp_path / "tree",
        "written by a newer treewright",
        "upgrade",
    )


def edit_estimator(tmp_path, fake_estimator, **changes):
    """Path of a signed file whose estimator has other parts."""
    path = tmp_path / "model"
    save(fake_estimator().fit(), path)
    header, arrays = take_apart(path.read_bytes())
    header["model"]["$estimator"].update(changes)
    path.write_bytes(put_together(header, arrays))
    return path


@pytest.mark.parametrize(
    "name", ["Unknown", "os.system", "save", "Tree", "BaseEstimator", "__doc__", "", None, 3, ["a"]]
)
def test_only_public_estimators_are_made_from_a_file(tmp_path, fake_estimator, name):
    path = edit_estimator(tmp_path, fake_estimator, **{"class": name})
    with pytest.raises(ModelFileError, match="does not have"):
        load(path)


def test_an_estimator_that_is_not_public_is_neither_saved_nor_made(
    tmp_path, fake_estimator, monkeypatch
):
    monkeypatch.setattr(treewright, "Child", Child, raising=False)
    with pytest.raises(ModelFileError, match="own means"):
        save(Child().fit(), tmp_path / "model")
    path = edit_estimator(tmp_path, fake_estimator, **{"class": "Child"})
    with pytest.raises(ModelFileError, match="does not have"):
        load(path)
    monkeypatch.setattr(treewright, "__all__", [*treewright.__all__, "Child"])
    assert type(load(path)) is Child


def test_parameters_that_the_estimator_does_not_have_are_refused(tmp_path, fake_estimator):
    for parameters in ({"criterium": 1}, {"self": 1}, {"__init__": 1}, [], None, 3):
        path = edit_estimator(tmp_path, fake_estimator, parameters=parameters)
        with pytest.raises(ModelFileError, match=r"parameters|content"):
            load(path)


@pytest.mark.parametrize("state", [{}, {"tree_": 1}, [], 3, "x", {"$tuple": []}, None])
def test_an_estimator_that_cannot_restore_itself_is_a_model_file_error(
    tmp_path, fake_estimator, state
):
    path = edit_estimator(tmp_path, fake_estimator, state=state)
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load(path)


@pytest.mark.parametrize("model", [None, 1, [], {"a": 1}, {"$tuple": []}, {"$float": "nan"}])
def test_a_file_that_holds_no_model_is_refused(tmp_path, model):
    for header in (
        {"format": 1, "treewright": "1", "model": model, "arrays": []},
        {"format": 1, "treewright": 1, "model": model, "arrays": []},
        {"format": 1, "model": model, "arrays": []},
        {"format": 1, "treewright": "1", "arrays": []},
    ):
        (tmp_path / "file").write_bytes(put_together(header, b""))
        with pytest.raises(ModelFileError, match="model"):
            load(tmp_path / "file")


def test_the_tree_of_format_1_can_be_loaded_for_ever():
    assert_same(load(GOLDEN / "format_1_tree.treewright"), golden_tree())


def test_the_estimator_of_format_1_can_be_loaded_for_ever(fake_estimator):
    assert_same(load(GOLDEN / "format_1_estimator.treewright"), golden_estimator())


def test_this_version_still_writes_format_1(tmp_path, fake_estimator):
    for name, model in (("tree", golden_tree()), ("estimator", golden_estimator())):
        save(model, tmp_path / name)
        header, arrays = take_apart((tmp_path / name).read_bytes())
        golden, golden_arrays = take_apart((GOLDEN / f"format_1_{name}.treewright").read_bytes())
        assert header | {"treewright": golden["treewright"]} == golden
        assert arrays == golden_arrays


@pytest.mark.parametrize(
    "order",
    [
        list(pd.to_datetime(["2021-01-01", "2020-06-01"])),
        pd.to_datetime(["2021-01-01", "2020-06-01"]),
        [datetime.date(2021, 1, 1), datetime.date(2020, 6, 1)],
        np.array(["2021-01-01", "2020-06-01"], "M8[s]"),
    ],
    ids=["timestamps", "index", "dates", "numpy"],
)
def test_dates_in_order_are_saved_as_their_text(order, tmp_path):
    X = pd.DataFrame({"when": pd.to_datetime(["2021-01-01", "2020-06-01"] * 10)})
    y = np.tile([0, 1], 10)
    model = treewright.CARTClassifier(ordinal_features={"when": order}).fit(X, y)
    treewright.save(model, tmp_path / "model")
    copy = treewright.load(tmp_path / "model")
    assert copy.ordinal_features == {"when": ["2021-01-01", "2020-06-01"]}
    assert copy.predict(X).tolist() == model.predict(X).tolist() == y.tolist()
    assert copy.fit(X, y).tree_.to_dict() == model.tree_.to_dict()


def test_huge_numbers_are_categories_of_a_file_too(tmp_path):
    X = np.tile([[1e300], [-1e300]], (10, 1))
    model = treewright.CARTClassifier(categorical_features=[0]).fit(X, X[:, 0] > 0)
    treewright.save(model, tmp_path / "model")
    assert treewright.load(tmp_path / "model").score(X, X[:, 0] > 0) == 1.0
