"""AdaBoost against recorded runs of scikit-learn 1.9.1 (SAMME) and Weka 3.6.14 (AdaBoostM1)."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import treewright
from tests.oracle.recorded import Recorded, load_recorded, load_small, recorded_datasets
from treewright.errors import WeakMemberWarning

STUMP = treewright.CARTClassifier(
    criterion="entropy", max_depth=1, continuous_split="at_most", missing="own_branch"
)
J48 = treewright.C45Classifier(variant="j48")

# Weka's stumps test one category against the rest; ours look at all subsets.
OTHER_STUMPS = {"breast_cancer_w", "credit_g", "golf", "play_tennis", "soybean"}


def boosted(recorded: Recorded, **parameters) -> treewright.AdaBoostClassifier:
    model = treewright.AdaBoostClassifier(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMemberWarning)  # 19 classes and a stump
        return model.fit(recorded.X, recorded.y)


def codes(recorded: Recorded, labels: np.ndarray) -> np.ndarray:
    place = {label: k for k, label in enumerate(recorded.classes)}
    return np.array([place[label] for label in labels])


def assert_samme_is_reproduced(recorded: Recorded) -> None:
    run = recorded.runs["adaboost_samme_50"]
    model = boosted(recorded, n_estimators=50)
    np.testing.assert_allclose(model.estimator_weights_, run["estimator_weights"], rtol=1e-9)
    np.testing.assert_allclose(model.estimator_errors_, run["estimator_errors"], rtol=1e-9)
    if recorded.classes:
        np.testing.assert_array_equal(
            codes(recorded, model.predict(recorded.X)), run["predictions"]
        )


def test_samme_on_iris_is_that_of_scikit_learn() -> None:
    assert_samme_is_reproduced(load_small("sklearn", "iris"))


def test_samme_is_that_of_scikit_learn_where_all_columns_are_numbers(shared_dir: Path) -> None:
    compared = []
    for dataset in recorded_datasets(shared_dir, "sklearn"):
        recorded = load_recorded(shared_dir, "sklearn", dataset)
        is_complete = all(
            kind.kind == "f" for kind in recorded.X.dtypes
        ) and not recorded.X.isna().any(axis=None)
        if "adaboost_samme_50" in recorded.runs and is_complete and len(recorded.y) < 2000:
            assert_samme_is_reproduced(recorded)
            compared.append(dataset)
    assert len(compared) == 8


def assert_m1_is_reproduced(recorded: Recorded, key: str, base: object) -> None:
    run = recorded.runs[key]
    model = boosted(recorded, estimator=base, n_estimators=10, algorithm="m1")
    printed = re.findall(r"^Weight: ([\d.]+)", run.get("text", ""), re.MULTILINE)
    # Weka's weights are twice those of the textbook
    np.testing.assert_allclose(
        2 * model.estimator_weights_[: len(printed)], np.array(printed, float), atol=0.0051
    )
    np.testing.assert_array_equal(codes(recorded, model.predict(recorded.X)), run["predictions"])


@pytest.mark.parametrize(("key", "base"), [("adaboost_stump", STUMP), ("adaboost_j48", J48)])
def test_m1_on_iris_is_that_of_weka(key: str, base: object) -> None:
    assert_m1_is_reproduced(load_small("weka_ens", "iris"), key, base)


@pytest.mark.parametrize(
    ("key", "base", "others", "n"),
    [("adaboost_stump", STUMP, OTHER_STUMPS, 9), ("adaboost_j48", J48, set(), 14)],
)
def test_m1_is_that_of_weka(
    key: str, base: object, others: set[str], n: int, shared_dir: Path
) -> None:
    compared = []
    for dataset in recorded_datasets(shared_dir, "weka_ens"):
        recorded = load_recorded(shared_dir, "weka_ens", dataset)
        if key in recorded.runs and dataset not in others:
            assert_m1_is_reproduced(recorded, key, base)
            compared.append(dataset)
    assert len(compared) == n
