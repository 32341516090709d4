"""Hoeffding trees: streams in any portions, drift, gaps, new categories, bounded memory, files."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import treewright
from treewright import HoeffdingTreeClassifier, HoeffdingTreeRegressor
from treewright.datasets import make_agrawal
from treewright.errors import DataError, ModelFileError, ParameterError

KINDS = [{}, {"algorithm": "efdt"}, {"drift": "adwin"}]


def in_portions(model, data, size):
    for begin in range(0, len(data.target), size):
        part = slice(begin, begin + size)
        model.partial_fit(data.data.slice(begin, size), data.target[part], classes=["A", "B"])
    return model


@pytest.mark.parametrize("options", KINDS)
def test_the_portions_of_a_stream_do_not_change_the_model(options):
    data = make_agrawal(6000, 4, noise=0.05, perturbation=0.05, random_state=0)
    one = HoeffdingTreeClassifier(**options).fit(data.data, data.target)
    other = in_portions(HoeffdingTreeClassifier(**options), data, 700)
    assert one.tree_.n_leaves > 2
    np.testing.assert_array_equal(one._stream.state(), other._stream.state())
    np.testing.assert_array_equal(one.predict_proba(data.data), other.predict_proba(data.data))


@pytest.mark.parametrize("options", KINDS)
def test_a_rule_is_found_and_the_tree_is_an_ordinary_one(options):
    data = make_agrawal(8000, 1, random_state=1)
    model = HoeffdingTreeClassifier(leaf_prediction="majority", **options)
    model.fit(data.data, data.target)
    fresh = make_agrawal(2000, 1, random_state=2)
    assert model.score(fresh.data, fresh.target) > 0.97
    tree = model.tree_
    assert set(tree.splits.feature[~tree.is_leaf]) == {2}
    assert tree.n_samples[0] == pytest.approx(8000, abs=1)
    np.testing.assert_allclose(tree.value.sum(axis=1), tree.weight)
    # the leaves of the tree give the answers of the stream
    leaf = model.apply(fresh.data)
    np.testing.assert_array_equal(model.classes_[tree.label[leaf]], model.predict(fresh.data))
    assert "age" in tree.to_text()


def test_drift_is_met_and_without_detection_is_not():
    first = make_agrawal(15_000, 1, random_state=0)
    second = make_agrawal(15_000, 3, random_state=1)
    late = make_agrawal(3000, 3, random_state=2)
    scores = {}
    for drift in (None, "adwin"):
        model = HoeffdingTreeClassifier(drift=drift, leaf_prediction="majority")
        model.fit(first.data, first.target)
        model.partial_fit(second.data, second.target)
        scores[drift] = model.score(late.data, late.target)
    assert scores["adwin"] > 0.95
    assert scores["adwin"] >= scores[None]


def test_gaps_and_new_categories_are_taken_as_they_come():
    random = np.random.default_rng(0)
    model = HoeffdingTreeClassifier(grace_period=100)
    for portion in range(6):
        words = np.array(list("abc" if portion < 3 else "abcde"), dtype=object)
        colour = random.choice(words, 1000)
        y = np.isin(colour, ["a", "e"]).astype(int)
        colour[random.random(1000) < 0.1] = None
        size = random.normal(size=1000)
        size[random.random(1000) < 0.3] = np.nan
        model.partial_fit({"colour": colour, "size": size}, y, classes=[0, 1])
    assert model.tree_.schema.features[0].categories == ("a", "b", "c", "d", "e")
    assert model.predict({"colour": ["a", "b", "e"], "size": [0.0, None, 1.0]}).tolist()[:2] == [
        1,
        0,
    ]


def test_memory_is_bounded():
    data = make_agrawal(40_000, 5, noise=0.1, random_state=0)
    free = HoeffdingTreeClassifier(grace_period=50, tau=0.2, memory_limit=None)
    bound = HoeffdingTreeClassifier(grace_period=50, tau=0.2, memory_limit="100KB")
    free.fit(data.data, data.target)
    bound.fit(data.data, data.target)
    assert bound._stream.n_active < free._stream.n_active
    assert bound.score(data.data, data.target) > 0.6


def test_numbers_are_learned_too():
    random = np.random.default_rng(0)
    X = random.random((12_000, 3))
    y = np.where(X[:, 0] < 0.4, 3 * X[:, 1], 5 - 2 * X[:, 2]) + random.normal(size=12_000) / 20
    for leaf, least in (("mean", 0.8), ("linear", 0.95), ("adaptive", 0.95)):
        model = HoeffdingTreeRegressor(leaf_prediction=leaf).fit(X, y)
        assert model.score(X, y) > least
        assert model.tree_.n_leaves > 1
    before = HoeffdingTreeRegressor().predict_then_learn(X, y)
    assert before[0] == 0.0
    assert np.mean((before - y) ** 2) < 0.3 * y.var()
    with pytest.raises(DataError, match="one column of numbers"):
        HoeffdingTreeRegressor().fit(X, np.column_stack([y, y]))


def test_prequential_answers_come_before_learning():
    data = make_agrawal(3000, 1, random_state=0)
    model = HoeffdingTreeClassifier()
    answers = model.predict_then_learn(data.data, data.target, classes=["A", "B"])
    again = HoeffdingTreeClassifier()
    for i in range(0, 300, 100):
        if i:
            expected = again.predict(data.data.slice(i, 1))
            assert answers[i] == expected[0]
        again.partial_fit(data.data.slice(i, 100), data.target[i : i + 100], classes=["A", "B"])


@pytest.mark.parametrize("options", KINDS)
def test_a_loaded_model_goes_on_learning(options, tmp_path):
    data = make_agrawal(5000, 2, perturbation=0.05, random_state=0)
    model = HoeffdingTreeClassifier(**options).fit(data.data, data.target)
    treewright.save(model, tmp_path / "stream.tw")
    copies = [treewright.load(tmp_path / "stream.tw"), pickle.loads(pickle.dumps(model))]
    for copy in copies:
        np.testing.assert_array_equal(copy.predict(data.data), model.predict(data.data))
    more = make_agrawal(5000, 2, perturbation=0.05, random_state=1)
    model.partial_fit(more.data, more.target)
    for copy in copies:
        copy.partial_fit(more.data, more.target)
        np.testing.assert_array_equal(copy._stream.state(), model._stream.state())


def test_damaged_numbers_are_refused():
    data = make_agrawal(3000, 2, random_state=0)
    model = HoeffdingTreeClassifier().fit(data.data, data.target)
    state = model._state()
    random = np.random.default_rng(0)
    refused = 0
    for _ in range(100):
        numbers = state["stream"].copy()
        at = random.integers(len(numbers))
        numbers[at] = random.choice([-5.0, 1e9, np.nan, np.inf, 3.0, numbers[at] + 1])
        other = HoeffdingTreeClassifier()
        try:
            other._restore({**state, "stream": numbers})
            assert np.isfinite(other.predict_proba(data.data.slice(0, 50))).all()
            other.partial_fit(data.data, data.target)
        except ModelFileError:
            refused += 1
    assert refused > 2
    with pytest.raises(ModelFileError):
        HoeffdingTreeClassifier()._restore({**state, "stream": state["stream"][:-1]})


def test_wrong_classes_and_limits_are_told_in_one_sentence():
    data = make_agrawal(500, 1, random_state=0)
    model = HoeffdingTreeClassifier().partial_fit(data.data, data.target, classes=["A", "B"])
    with pytest.raises(DataError, match="classes of training only, but has 'C'"):
        model.partial_fit(data.data.slice(0, 2), ["A", "C"])
    with pytest.raises(ParameterError, match="classes must stay those of the first call"):
        model.partial_fit(data.data, data.target, classes=["A", "C"])
    with pytest.raises(ParameterError, match="memory_limit"):
        HoeffdingTreeClassifier(memory_limit="lots").fit(data.data, data.target)


def test_standard_input_is_a_stream(tmp_path):
    data = make_agrawal(4000, 1, random_state=0)
    table = data.data.append_column("group", pa.array(data.target.tolist()))
    pa.csv.write_csv(table, tmp_path / "people.csv")
    command = [sys.executable, "-m", "treewright", "fit", "--stream", "-", "--target", "group"]
    done = subprocess.run(
        [*command, "--output", "people.tw"],
        input=(tmp_path / "people.csv").read_bytes(),
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "on a stream of 4000 rows" in done.stdout.decode()
    model = treewright.load(tmp_path / "people.tw")
    assert model.score(data.data, data.target) > 0.95
    again = subprocess.run([*command[:-1], "grup"], input=b"a,b\n1,2\n", capture_output=True)
    assert again.returncode == 3
    assert "--target must name a column of the stream" in again.stderr.decode()


def test_a_test_is_not_exchanged_for_one_worse_than_the_tests_below_it():
    """a and b tell the class together, c alone says more than a alone and less than both."""
    draw = np.random.default_rng(0)
    n, n_noise = 30_000, 3000
    a, b = draw.normal(size=(2, n))
    y = 2 * (a > 0) + (b > 0)
    is_told = (draw.random(n) < 0.9) & (np.arange(n) >= n_noise)
    c = np.where(is_told, y, draw.integers(0, 4, n)).astype(str)
    X = pa.table({"a": a, "b": b, "c": c})
    model = HoeffdingTreeClassifier(algorithm="efdt")
    answers = model.predict_then_learn(X, y, classes=np.arange(4))
    assert model.tree_.splits.feature[0] in (0, 1)
    assert np.mean(answers[n_noise:] == y[n_noise:]) > 0.97


@pytest.mark.parametrize("options", [{}, {"leaf_prediction": "mean"}, {"drift": "adwin"}])
def test_a_tree_of_numbers_is_saved_with_all_its_leaves(options, tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 2))
    model = HoeffdingTreeRegressor(**options).fit(X, 3.0 * (X[:, 0] > 0))
    assert model.tree_.n_leaves > 1
    treewright.save(model, tmp_path / "model")
    copy = treewright.load(tmp_path / "model")
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.tree_.to_dict() == model.tree_.to_dict()


@pytest.mark.parametrize("make", [HoeffdingTreeClassifier, HoeffdingTreeRegressor])
def test_numbers_at_the_end_of_their_range_are_refused_before_a_row_is_learned(make, tmp_path):
    X = np.random.default_rng(0).uniform(-1, 1, (1000, 2))
    y = (X[:, 0] > 0).astype(int)
    model = make().fit(X * 1e300, y)
    treewright.save(model, tmp_path / "model")
    said = treewright.load(tmp_path / "model").predict(X * 1e300)
    np.testing.assert_array_equal(said, model.predict(X * 1e300))
    learned = model._stream.state()
    for huge in (X * 1e308, pa.table({"x0": X[:, 0] * 1e308, "x1": X[:, 1]})):
        with pytest.raises(DataError, match=r"within ±1e\+300 .*'x0'"):
            make().fit(huge, y)
    with pytest.raises(DataError, match="scale"):
        model.partial_fit(X * 1e308, y)
    np.testing.assert_array_equal(model._stream.state(), learned)
