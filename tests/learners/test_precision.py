"""Numbers of many digits: C4.5, C45Rules and C5.0 tell them apart, the original programs do not."""

from __future__ import annotations

import numpy as np
import pytest

from treewright import C45Classifier, C45Rules, C50Classifier

DOUBLE = [C45Classifier(), C45Rules(), C50Classifier(), C50Classifier(rules=True)]
SINGLE = [
    C45Classifier(variant="release8"),
    C45Rules(variant="release8"),
    C50Classifier(precision="single"),
]


def steps(start: float, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """200 rising values, and two classes that a cut tells apart."""
    step = np.arange(200.0)
    return ((start + step) * scale)[:, None], (step >= 93).astype(int)


@pytest.mark.parametrize("model", DOUBLE, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e-9])
@pytest.mark.parametrize("start", [0.0, 1.7e9, 1.7e12])
def test_values_of_many_digits_are_told_apart(model, start, scale):
    X, y = steps(start, scale)
    assert model.fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("model", SINGLE, ids=str)
def test_the_programs_read_values_in_single_precision(model):
    X, y = steps(1.7e12)
    same = np.float32(X)
    assert len(np.unique(same)) < 5
    assert model.fit(X, y).score(X, y) < 0.6


def test_release_8_does_not_cut_between_values_that_are_almost_equal():
    X, y = steps(0.0, 1e-9)
    assert C45Classifier(variant="release8").fit(X, y).get_n_leaves() == 1
