"""CART with rpart's settings against the recorded runs of rpart 4.1.19.

Splits, counts, predictions, surrogates, importances and cp tables agree on every run, up to
ties that are shown; docs/comparisons/cart.md has the numbers and what rpart does of its own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.conftest import SHARED
from tests.oracle.recorded import Recorded, load_recorded, load_small, recorded_datasets
from tests.oracle.rpart_compare import (
    Case,
    Comparison,
    Routes,
    Score,
    as_rpart_predicts,
    cases,
    cp_rows,
    importance_of,
    is_tie,
    node_differences,
    surrogate_differences,
)
from tests.oracle.rpart_folds import (
    EQUAL,
    NOT_COMPARED,
    TIED,
    Study,
    compare_errors,
    compare_predictions,
)
from tests.oracle.rpart_ties import OOF_TIES, TREE_TIES, XERROR_TIES
from treewright import CARTClassifier

IN_REPOSITORY = ["iris", "titanic", "hitters"]


@pytest.fixture(
    scope="module",
    params=[f"{name} in repository" for name in IN_REPOSITORY] + recorded_datasets(SHARED, "rpart"),
)
def studies(request) -> list[Study]:
    """All recorded runs on a data set."""
    name, *small = request.param.split()
    data: Recorded = load_small("rpart", name) if small else load_recorded(SHARED, "rpart", name)
    return [Study.of(case) for case in cases(data)]


def test_the_recorded_runs_are_all_here(shared_dir):
    assert len(recorded_datasets(shared_dir, "rpart")) == 53


def test_every_node_has_rparts_rows_counts_label_risk_and_improvement(studies):
    for study in studies:
        assert study.comparison.different == [], study.key
        assert study.is_tied == study.is_known(TREE_TIES), (study.key, study.comparison.ties)
        for match in study.comparison.matches:
            assert node_differences(study.model.tree_, study.case, match) == [], study.key


def test_every_surrogate_has_rparts_rank_agreement_sides_and_use(studies):
    for study in studies:
        if study.model.max_surrogates == 0:
            continue
        for match in study.comparison.matches:
            # where another column makes the same partition, the surrogates are other ones
            if match.is_same_column and not match.record["leaf"]:
                assert surrogate_differences(study.routes, match) == [], study.key


def test_the_training_rows_get_rparts_predictions_and_probabilities(studies):
    for study in studies:
        case, model = study.case, study.model
        if case.is_grown_out or not case.stops:
            model = as_rpart_predicts(case.estimator().fit(case.data.X, case.y))
        certain = ~passes(Routes(model.tree_, case.data.X), study.comparison)
        expected = case.recorded(case.run["predictions"])[certain]
        np.testing.assert_allclose(model.predict(case.data.X)[certain], expected, rtol=1e-9)
        if case.run["probabilities"] is not None:
            expected = np.array(case.run["probabilities"])[certain]
            np.testing.assert_allclose(
                model.predict_proba(case.data.X)[certain], expected, atol=1e-9
            )


def passes(routes: Routes, comparison: Comparison) -> np.ndarray:
    """Rows that come by a tie, or by another column, which has other gaps, with the same parts."""
    found = np.zeros(routes.table.n_rows, bool)
    others = [match.ours for match in comparison.matches if not match.is_same_column]
    for node in comparison.tied_nodes + others:
        found[routes.rows(node)] = True
    return found


def test_importances_are_rparts(studies):
    for study in studies:
        if study.is_tied or not study.comparison.is_same_columns:
            continue
        case, tree = study.case, study.model.tree_
        ours = study.model.importances(surrogates=True, normalize=False)
        expected = importance_of(case, study.comparison, tree.schema.names)
        np.testing.assert_allclose(
            ours * len(case.y) * case.bits, expected, rtol=1e-9, atol=1e-9, err_msg=study.key
        )


def test_the_candidates_of_a_trace_are_rparts_competitors(studies):
    for study in studies:
        if study.case.is_grown_out:  # recorded without competitors
            continue
        for match in study.comparison.matches[:4]:
            if not match.record["leaf"]:
                check_competitors(study, match)


def check_competitors(study: Study, match) -> None:
    """Gains of all recorded candidates, and that no other one is as good as these."""
    case, node = study.case, match.record
    trace = study.model.trace(match.ours, case.data.X, case.y)
    # a gain is per unit of weight, under the altered priors; rpart's are totals or shares
    weight = case.factor[case.y[match.rows]].sum() if case.classes else len(match.rows)
    scale = weight * case.bits if case.classes else weight / node["dev"]
    gains = {c.feature: c.gain * scale for c in trace if c.test}
    recorded = [node["primary"], *node["competitors"]]
    for split in recorded:
        assert is_tie(gains.pop(split["var"]), split["improve_or_agree"]), (study.key, split)
    least = min(split["improve_or_agree"] for split in recorded)
    if len(recorded) == 5:
        assert all(gain <= least * (1 + 1e-9) for gain in gains.values()), study.key


def test_cp_tables_are_rparts(studies):
    certain = [study for study in studies if not study.is_tied]
    assert certain
    for study in certain:
        table, expected = study.model.cp_table_, cp_rows(study.case)
        assert table.n_splits.tolist() == expected["nsplit"].tolist(), study.key
        np.testing.assert_allclose(table.rel_error, expected["rel error"], atol=1e-9)
        if len(table) > 1:  # a root alone is listed with a complexity of splits not recorded
            np.testing.assert_allclose(table.cp, expected["CP"], atol=1e-11, err_msg=study.key)


def test_cross_validated_errors_on_the_folds_are_rparts_unless_a_fold_has_a_tie(studies):
    for study in studies:
        outcome = compare_errors(study)
        nothing_to_compare = (
            study.is_tied or study.case.stops or len(cp_rows(study.case)["nsplit"]) == 1
        )
        assert (outcome == NOT_COMPARED) == nothing_to_compare, study.key
        assert outcome in (EQUAL, TIED, NOT_COMPARED), study.key
        assert outcome != TIED or study.is_known(XERROR_TIES), study.key


def test_out_of_fold_predictions_are_rparts_unless_the_row_passed_a_tie(studies):
    compared = 0
    for study in studies:
        # of the larger data sets no predictions are recorded, and one run is enough
        if not study.has_out_of_fold and study.key not in ("gini_default", "anova_cp001"):
            continue
        outcome = compare_predictions(study)
        assert outcome in (EQUAL, TIED, NOT_COMPARED), study.key
        assert outcome != TIED or study.is_known(OOF_TIES), study.key
        compared += outcome != NOT_COMPARED
    assert compared > 0


# Found by experiment with rpart 4.1.19: rows are categories, columns the side that the primary
# split sends them to, then the agreement and adjusted agreement of rpart's surrogate if it has one.
NOMINAL_SURROGATES = [
    ([(27, 0), (0, 55)], None),
    ([(27, 1), (0, 54)], None),
    ([(20, 0), (7, 0), (0, 27), (0, 27)], None),
    ([(26, 1), (1, 54)], (80 / 82, 25 / 27)),
    ([(25, 0), (2, 55)], (80 / 82, 25 / 27)),
    ([(20, 1), (6, 1), (1, 53)], (79 / 82, 24 / 27)),
]


@pytest.mark.parametrize(("table", "expected"), NOMINAL_SURROGATES)
def test_with_cp_a_nominal_surrogate_errs_at_least_twice_as_in_rpart(table, expected):
    X, side = nominal_pair(table)
    model = CARTClassifier(missing="surrogate", cp=0.0, max_depth=1).fit(X, side)
    tree = model.tree_
    assert tree.schema.names[tree.splits.feature[0]] == "primary"
    found = list(zip(tree.surrogate_agreement, tree.surrogate_adjusted, strict=True))
    assert found == ([] if expected is None else [pytest.approx(expected)])


@pytest.mark.parametrize("table", [table for table, _ in NOMINAL_SURROGATES])
def test_without_cp_a_perfect_nominal_surrogate_is_the_best_there_is(table):
    X, side = nominal_pair(table)
    model = CARTClassifier(missing="surrogate", max_depth=1).fit(X, side)
    n_right = sum(max(row) for row in table)
    assert model.tree_.surrogate_agreement.tolist() == [pytest.approx(n_right / len(side))]


def nominal_pair(table):
    """A column that decides the class, and another that nearly does."""
    cells = [(f"c{i}", j) for i, row in enumerate(table) for j in (0, 1) for _ in range(row[j])]
    side = np.array([j for _, j in cells])
    primary = np.where(side == 0, "left", "right")
    return pd.DataFrame({"primary": primary, "other": [name for name, _ in cells]}), side


def test_score_by_definition_is_the_gain_of_a_hand_computed_split():
    data = load_small("rpart", "iris")
    case = Case(data, "gini_default")
    rows, sides = np.arange(150), (data.X["Petal.Length"] >= 2.45).to_numpy().astype(int)
    assert Score(case).gain_of(rows, sides) == pytest.approx(50.0)


# rpart 4.1.19 on made data, xval = i // 50, minsplit 8, minbucket 3, cp .003, prior (1, 2, 3) / 6:
# number of the table, weights, xerror.
PRIOR_TABLES = [
    (
        8,
        None,
        [
            1,
            1.07338856572067,
            1.05500714887283,
            1.07710336813104,
            1.10989025337695,
            1.12090735191388,
        ]
        + 4 * [1.14048677621743],
    ),
    (
        3,
        np.arange(150) % 3 + 1.0,
        [
            1,
            1.05975723622783,
            1.08846476443685,
            1.06296982069664,
            0.924303808152263,
            1.00613503405129,
        ]
        + 4 * [1.00048531653716]
        + [1.02093191325494, 1.01626337917465],
    ),
]


@pytest.mark.parametrize(("number", "weight", "expected"), PRIOR_TABLES)
def test_with_priors_a_folds_complexities_are_scaled_by_its_share_of_the_weight_as_in_rpart(
    number, weight, expected
):
    i = np.arange(150)
    a, b, c = (i * 37) % 151, (i * i * (number + 2)) % 149, (i * i * i + number * i) % 139
    y = np.digitize(a + b - c + 40 * ((i * 53) % 7), [180, 230])
    model = CARTClassifier(
        min_samples_split=8,
        min_samples_leaf=3,
        cp=0.003,
        missing="surrogate",
        priors=[1 / 6, 1 / 3, 1 / 2],
        cv=[(np.flatnonzero(i // 50 != k), np.flatnonzero(i // 50 == k)) for k in range(3)],
    )
    table = model.cp_table(np.column_stack([a, b, c]), y, weight)
    np.testing.assert_allclose(table.xerror, expected, rtol=1e-12)
