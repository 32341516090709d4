"""Bias and variance of a model: where its error comes from.

A model is fitted to many training sets and asked for the same test rows. Squared error is noise
plus squared bias of the mean prediction plus variance around it. For 0/1 loss (Domingos 2000) the
main prediction is the most frequent class; bias is where it is wrong, variance how often single
models differ from it. Variance costs where the main prediction is right and helps where it is
wrong, so that the error is noise + bias + variance there − variance here.

Domingos (2000), *A unified bias–variance decomposition*, ICML.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.evaluation._data import Rows, is_class_model, read_rows
from treewright.evaluation._folds import Progress, Split, run_folds
from treewright.evaluation._splits import make_splits
from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["BiasVariance", "bias_variance"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance:
    """Error, bias and variance of one model or more on the same training sets.

    Parameters
    ----------
    models
        Their names.
    loss
        "squared" or "0/1".
    parts
        By name, a value per model: ``error``, ``bias``, ``variance``, ``noise``; for 0/1 loss
        also ``variance_unbiased`` (where the main prediction is right, which adds to the error)
        and ``variance_biased`` (where it is wrong, as far as it takes from the error).
    rounds, n_train, n_test
        Training sets, their rows, and test rows.

    Examples
    --------
    >>> from treewright import CARTClassifier, bias_variance, datasets
    >>> rings = datasets.two_rings(300, random_state=0)
    >>> models = {"stump": CARTClassifier(max_depth=1), "tree": CARTClassifier()}
    >>> found = bias_variance(models, rings.data, rings.target, rounds=20, random_state=0)
    >>> found.loss, found.rounds
    ('0/1', 20)
    >>> stump, tree = found["bias"]
    >>> bool(stump > tree)
    True
    >>> found.frame().columns.tolist()
    ['model', 'error', 'noise', 'bias', 'variance', 'variance_unbiased', 'variance_biased']
    >>> axes = found.plot()
    """

    models: tuple[str, ...]
    loss: str
    parts: dict[str, Floats]
    rounds: int
    n_train: int
    n_test: int

    def __getitem__(self, part: str) -> Any:
        """A part: a number for one model, an array for more."""
        found = self.parts[part]
        return float(found[0]) if len(found) == 1 else found

    def _columns(self) -> dict[str, Any]:
        return {"model": list(self.models), **self.parts}

    def frame(self) -> Any:
        """One row per model, as a data frame."""
        return as_frame(self._columns())

    def plot(self, ax: Any = None) -> Any:
        """Draw the parts of each model's error on top of each other.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        bottom = np.zeros(len(self.models))
        names = {"noise": "noise", "bias": "bias²" if self.loss == "squared" else "bias"}
        heights = {label: self.parts[part] for part, label in names.items()}
        heights["variance" if self.loss == "squared" else "net variance"] = (
            self.parts["error"] - self.parts["noise"] - self.parts["bias"]
        )
        for label, height in heights.items():
            if np.abs(height).max() > 1e-12:
                ax.bar(self.models, height, bottom=bottom, label=label, width=0.6)
                bottom = bottom + height
        ax.set_ylabel("expected squared error" if self.loss == "squared" else "expected error rate")
        ax.legend()
        return ax

    def _cells(self) -> dict[str, list[str]]:
        return {"model": list(self.models)} | {
            name: significant(values, 3) for name, values in self.parts.items()
        }

    def __str__(self) -> str:
        said = (
            f"{self.loss} loss over {self.rounds} training sets of {self.n_train} rows, "
            f"{self.n_test} test rows"
        )
        return f"{said}\n{text_table(self._cells(), left=1)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._cells(), f"Bias and variance, {self.loss} loss")


@checked()
def bias_variance(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    function: Callable[[Floats], Any] | None = None,
    sampler: Callable[[int, np.random.RandomState], Floats] | None = None,
    noise: float = 0.0,
    n_features: int = 1,
    n_train: int | None = None,
    n_test: int = 500,
    rounds: int = 100,
    test_size: float = 1 / 3,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> BiasVariance:
    """Split the error of a model into noise, bias and variance.

    On data, a part of the rows is held out and training sets are bootstrap samples of the others;
    noise cannot be told from bias then and counts as such. On a known function every training
    set is new.

    Parameters
    ----------
    model : estimator or dict of name → estimator
        Several are judged on the same training sets. Regressors get squared error, classifiers
        0/1 loss.
    X, y
        Data; leave out for a known function.
    function : callable, default=None
        From rows of shape (n, n_features) to their true numbers or classes.
    sampler : callable, default=None
        ``sampler(n, random)`` draws n rows; uniform on [0, 1] by default.
    noise : float, default=0.0
        Standard deviation added to the numbers, or share of the classes that are changed into
        another one.
    n_features : int, default=1
        Columns that the default sampler draws.
    n_train, n_test : int
        Rows of a training set (100 with a function, as many as there are on data), and test
        rows of a function.
    rounds : int, default=100
        Training sets.
    test_size : float, default=1/3
        Share of data held out.
    random_state, n_jobs, progress
        As in :func:`treewright.cross_validate`.

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import BaggingRegressor, CARTRegressor, bias_variance
    >>> models = {"tree": CARTRegressor(), "bag": BaggingRegressor(n_estimators=25, random_state=0)}
    >>> found = bias_variance(
    ...     models, function=lambda X: np.sin(6 * X[:, 0]), noise=0.3, rounds=40, random_state=0
    ... )
    >>> tree, bag = found["variance"]
    >>> bool(bag < 0.7 * tree)
    True
    """
    models = dict(model) if isinstance(model, Mapping) else {type(model).__name__: model}
    kinds = {is_class_model(m) for m in models.values()}
    if len(kinds) != 1:
        raise ParameterError("model must hold classifiers only, or regressors only, got both.")
    is_classes = kinds.pop()
    random = check_random_state(random_state)
    if function is None:
        if X is None or y is None:
            raise ParameterError(
                "bias_variance needs data, X and y, or a known function; got neither."
            )
        if noise:
            raise ParameterError("noise is for a known function; the noise of data is not known.")
        rows, splits = _resampled(X, y, is_classes, n_train, rounds, test_size, random)
    else:
        sizes = (100 if n_train is None else n_train, n_test, rounds)
        draw = sampler or (lambda n, random: random.uniform(size=(n, n_features)))
        rows, splits = _drawn(function, draw, noise, sizes, is_classes, random)
    runs = run_folds(models, rows, splits, n_jobs=n_jobs, progress=progress, checked=False)
    truth = rows.truth[splits[0].test]
    parts = []
    for run in runs.values():
        said = np.array([answer.test.predicted for answer in run.answers])
        parts.append(
            _domingos(said, truth, rows, noise) if is_classes else _squared(said, truth, noise)
        )
    return BiasVariance(
        tuple(map(str, models)),
        "0/1" if is_classes else "squared",
        {name: np.array([part[name] for part in parts]) for name in parts[0]},
        rounds,
        len(splits[0].train),
        len(truth),
    )


def _resampled(
    X: Any,
    y: Any,
    is_classes: bool,
    n_train: int | None,
    rounds: int,
    test_size: float,
    random: np.random.RandomState,
) -> tuple[Rows, list[Split]]:
    rows = read_rows(X, y, is_classes)
    held_out = make_splits(rows, "holdout", test_size=test_size, random_state=random)[0]
    size = len(held_out.train) if n_train is None else n_train
    draws = [np.sort(random.choice(held_out.train, size)) for _ in range(rounds)]
    return rows, [Split(drawn, np.sort(held_out.test)) for drawn in draws]


def _drawn(
    function: Callable[[Floats], Any],
    sampler: Callable[[int, np.random.RandomState], Floats],
    noise: float,
    sizes: tuple[int, int, int],
    is_classes: bool,
    random: np.random.RandomState,
) -> tuple[Rows, list[Split]]:
    """All training sets and the test rows as one table, whose test rows have no noise."""
    n_train, n_test, rounds = sizes
    n_learn = n_train * rounds
    X = np.asarray(sampler(n_learn + n_test, random), np.float64)
    rows = read_rows(X, np.asarray(function(X)), is_classes)
    if noise and is_classes:
        assert rows.codes is not None
        assert rows.classes is not None
        k = len(rows.classes)
        changed = (random.uniform(size=len(rows)) < noise) & (np.arange(len(rows)) < n_learn)
        codes = np.where(changed, rows.codes + random.randint(1, k, len(rows)), rows.codes) % k
        rows = Rows(X, rows.classes[codes], rows.classes, codes.astype(np.int32))
    elif noise:
        shaken = rows.y + noise * random.normal(size=len(rows)) * (np.arange(len(rows)) < n_learn)
        rows = Rows(X, shaken)
    test = np.arange(n_learn, n_learn + n_test)
    return rows, [Split(np.arange(r * n_train, (r + 1) * n_train), test) for r in range(rounds)]


def _squared(said: Floats, truth: Floats, noise: float) -> dict[str, float]:
    main = said.mean(axis=0)
    bias, variance = float(np.mean((main - truth) ** 2)), float(np.mean(said.var(axis=0)))
    return {
        "error": noise**2 + bias + variance,
        "noise": noise**2,
        "bias": bias,
        "variance": variance,
    }


def _domingos(
    said: NDArray[np.int32], truth: NDArray[np.int32], rows: Rows, noise: float
) -> dict[str, float]:
    assert rows.classes is not None
    k = len(rows.classes)
    votes = np.array([(said == c).mean(axis=0) for c in range(k)])
    main = votes.argmax(axis=0)
    is_biased = main != truth
    differs = 1.0 - votes.max(axis=0)
    right = votes[truth, np.arange(len(truth))]
    # a changed class is one of the k - 1 others, which a wrong model may hit
    told = noise * (right - (1.0 - right) / max(k - 1, 1))
    unbiased = float(np.mean(differs * ~is_biased))
    helping = float(np.mean(right * is_biased))
    bias = float(is_biased.mean())
    shaken = float(told.mean())
    return {
        "error": shaken + bias + unbiased - helping,
        "noise": shaken,
        "bias": bias,
        "variance": float(differs.mean()),
        "variance_unbiased": unbiased,
        "variance_biased": helping,
    }
