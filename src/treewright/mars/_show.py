"""What a fitted model tells: formula, summary, ANOVA decomposition and importance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["Anova", "Importance", "Summary", "anova", "formula", "importance", "summary"]

Floats = NDArray[np.float64]


class _Result:
    """A table with a caption; subclasses say what is in it."""

    def _columns(self) -> dict[str, Any]:
        raise NotImplementedError

    def _caption(self) -> str:
        raise NotImplementedError

    def _cells(self) -> dict[str, list[str]]:
        return {
            name: significant(values)
            if np.asarray(values).dtype == float
            else list(map(str, values))
            for name, values in self._columns().items()
        }

    def frame(self) -> Any:
        """The table as a data frame."""
        return as_frame(self._columns())

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells(), left=1)}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())

    def _bars(self, names: list[str], values: Floats, label: str, ax: Any) -> Any:
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(6, 0.6 + 0.3 * max(1, len(names))), layout="constrained")[1]
        ax.barh(names[::-1], values[::-1])
        ax.set_xlabel(label)
        return ax


@dataclass(frozen=True, eq=False, repr=False)
class Summary(_Result):
    """Terms and coefficients of a model, and how well it fits.

    Parameters
    ----------
    terms
        How the terms read.
    outputs
        Names of the outputs: the target, or classes.
    coef
        One row per output.
    spread
        Standard deviation of each term on the training rows.
    gcv, rss, rsq, grsq
        Figures of the least-squares fit.
    note
        How many terms there were, and why the forward pass ended.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import MARSRegressor
    >>> x = np.linspace(0, 10, 101)
    >>> summary = MARSRegressor().fit(x[:, None], np.abs(x - 4)).summary()
    >>> summary.terms
    ['(Intercept)', 'h(x0-4)', 'h(4-x0)']
    >>> round(summary.rsq, 6)
    1.0
    >>> axes = summary.plot()
    """

    terms: list[str]
    outputs: list[str]
    coef: Floats
    spread: Floats
    gcv: float
    rss: float
    rsq: float
    grsq: float
    note: str

    def _columns(self) -> dict[str, Any]:
        rows = dict(zip(self.outputs, self.coef, strict=True))
        return {"term": self.terms, **rows}

    def _caption(self) -> str:
        return (
            f"{self.note}\nGCV {self.gcv:.6g}   RSS {self.rss:.6g}   "
            f"R² {self.rsq:.4f}   GRSq {self.grsq:.4f}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw by how much each term moves the model: |coefficient| × standard deviation.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        size = np.abs(self.coef[:, 1:] * self.spread[1:]).max(0) if len(self.terms) > 1 else []
        return self._bars(self.terms[1:], np.asarray(size), "|coefficient| × sd of the term", ax)


@dataclass(frozen=True, eq=False, repr=False)
class Anova(_Result):
    """One row per set of features that meet in terms.

    Parameters
    ----------
    features
        The features of each set.
    n_terms
        Terms of exactly these features.
    sd
        Standard deviation of their sum on the training rows.
    rss, gcv
        What these figures would be without the terms.
    full_gcv
        GCV of the whole model.

    Examples
    --------
    >>> from treewright import MARSRegressor, datasets
    >>> hitters = datasets.load_hitters()
    >>> anova = MARSRegressor(degree=2).fit(hitters.data, hitters.target).anova()
    >>> anova.frame().columns.tolist()
    ['features', 'terms', 'sd', 'RSS without', 'GCV without']
    >>> anova.features[0]
    'Hits'
    >>> axes = anova.plot()
    """

    features: list[str]
    n_terms: NDArray[np.int64]
    sd: Floats
    rss: Floats
    gcv: Floats
    full_gcv: float

    def _columns(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "terms": self.n_terms,
            "sd": self.sd,
            "RSS without": self.rss,
            "GCV without": self.gcv,
        }

    def _caption(self) -> str:
        return f"ANOVA decomposition; GCV of the whole model {self.full_gcv:.6g}"

    def plot(self, ax: Any = None) -> Any:
        """Draw the standard deviation of each part.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        return self._bars(self.features, self.sd, "standard deviation of the part", ax)


@dataclass(frozen=True, eq=False, repr=False)
class Importance(_Result):
    """How much each feature matters, in column order.

    Parameters
    ----------
    features
        Their names.
    nsubsets
        Subsets of the pruning path, up to the chosen size, that use the feature.
    gcv, rss
        Root of the sum of decreases from subset to subset over those that use it; the largest
        is 100. ``gcv`` is negative for a feature by which GCV rises.

    Examples
    --------
    >>> from treewright import MARSRegressor, datasets
    >>> hitters = datasets.load_hitters()
    >>> found = MARSRegressor().fit(hitters.data, hitters.target).importance()
    >>> found.frame().round(1).head(3)
      feature  nsubsets    gcv    rss
    0   Years        14   74.8   77.1
    1    CRBI        12  100.0  100.0
    2   CHits        11   54.0   57.2
    >>> axes = found.plot()
    """

    features: list[str]
    nsubsets: NDArray[np.int64]
    gcv: Floats
    rss: Floats

    def _order(self) -> NDArray[np.intp]:
        order = np.lexsort((-self.rss, -self.gcv, -self.nsubsets))
        return order[self.nsubsets[order] > 0]

    def _columns(self) -> dict[str, Any]:
        order = self._order()
        return {
            "feature": [self.features[k] for k in order],
            "nsubsets": self.nsubsets[order],
            "gcv": self.gcv[order],
            "rss": self.rss[order],
        }

    def _caption(self) -> str:
        unused = int(np.count_nonzero(self.nsubsets == 0))
        return (
            f"Importance of features; {unused} are not used" if unused else "Importance of features"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the importance by GCV.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        columns = self._columns()
        return self._bars(
            columns["feature"], columns["gcv"], "importance by GCV, largest = 100", ax
        )


def output_names(model: Any) -> list[str]:
    """What each row of coefficients is of."""
    target = model._schema.target
    if target.is_classification:
        classes = [str(value) for value in target.classes]
        return [f"log odds of {classes[1]}"] if len(classes) == 2 else classes
    name = target.name or "y"
    return [name] if target.n_outputs == 1 else [f"{name}{k}" for k in range(target.n_outputs)]


def summary(model: Any) -> Summary:
    """The terms of a model and its figures."""
    check_is_fitted(model)
    n_grown = len(model.forward_basis_)
    return Summary(
        terms=model.basis_.labels(),
        outputs=output_names(model),
        coef=model._rows(),
        spread=model._spread,
        gcv=model.gcv_,
        rss=model.rss_,
        rsq=model.rsq_,
        grsq=model.grsq_,
        note=f"{len(model.basis_)} of {n_grown} terms; the forward pass ended: {model.stopped_}",
    )


def anova(model: Any) -> Anova:
    """The decomposition by sets of features."""
    check_is_fitted(model)
    names = model._schema.names
    labels = [" × ".join(names[f] for f in group) for group in model._groups()]
    sd, rss, gcv, n_terms = model._effects.T if len(labels) else np.zeros((4, 0))
    return Anova(labels, n_terms.astype(np.int64), sd, rss, gcv, model.gcv_)


def importance(model: Any) -> Importance:
    """Importance by the subsets of the pruning path."""
    check_is_fitted(model)
    subsets, terms = model.subsets_, model.forward_basis_.terms
    size = len(model.basis_)
    features = [{model._predictors[f.predictor].feature for f in term} for term in terms]
    n_features = len(model._schema)
    counts = np.zeros(n_features, np.int64)
    gcv, rss = np.zeros(n_features), np.zeros(n_features)
    for k in range(1, size):
        used = sorted(set().union(*(features[t] for t in subsets.terms[k])))
        counts[used] += 1
        rss[used] += subsets.rss[k - 1] - subsets.rss[k]
        with np.errstate(invalid="ignore"):
            gcv[used] += np.nan_to_num(subsets.gcv[k - 1] - subsets.gcv[k], posinf=0, neginf=0)
    return Importance(list(model._schema.names), counts, _scaled(gcv), _scaled(rss))


def _scaled(values: Floats) -> Floats:
    top = np.abs(values).max() if len(values) else 0.0
    return 100 * np.sign(values) * np.sqrt(np.abs(values) / top) if top > 0 else values


def formula(model: Any, digits: int) -> str:
    """The model as text, one term per line."""
    check_is_fitted(model)
    labels = model.basis_.labels(digits)
    blocks = []
    for name, row in zip(output_names(model), model._rows(), strict=True):
        lines = [f"{name} =", f"  {row[0]:.{digits}g}"]
        for value, label in zip(row[1:], labels[1:], strict=True):
            lines.append(f"  {'-' if value < 0 else '+'} {abs(value):.{digits}g} * {label}")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)
