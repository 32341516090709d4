"""Basis: the terms of a model, each a product of hinges, and how they read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.mars import FALLING, LINEAR, ForwardPass

__all__ = ["Basis", "Factor", "Term", "basis_from_pass"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Factor:
    """One predictor in a term: ``h(x-knot)``, ``h(knot-x)`` or ``x`` itself.

    ``kind`` is 1, -1 or 2 for these. h(z) is z where z is above zero and 0 elsewhere.
    """

    predictor: int
    kind: int
    knot: float

    def values(self, x: Floats, out: Floats | None = None) -> Floats:
        """The factor at values of its predictor, written to ``out`` where that is given."""
        if self.kind == LINEAR:
            return x
        if self.kind == FALLING:
            above = np.subtract(self.knot, x, out=out)
        else:
            above = np.subtract(x, self.knot, out=out)
        return np.maximum(above, 0.0, out=above)


Term = tuple[Factor, ...]


@dataclass(frozen=True, eq=False)
class Basis:
    """The terms of a model; the first is the constant one, without factors.

    Parameters
    ----------
    terms
        Their factors.
    names
        Names of all predictors.
    indicators
        Which predictors are 0 or 1 by their making.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import MARSRegressor
    >>> x = np.linspace(0, 10, 101)
    >>> basis = MARSRegressor().fit(x[:, None], np.abs(x - 4)).basis_
    >>> basis.labels()
    ['(Intercept)', 'h(x0-4)', 'h(4-x0)']
    >>> basis.matrix(np.array([[3.0, 6.0]]))
    array([[1., 0., 1.],
           [1., 2., 0.]])
    >>> basis.used()
    {0}
    >>> basis.take([0, 1]).labels()
    ['(Intercept)', 'h(x0-4)']
    """

    terms: tuple[Term, ...]
    names: tuple[str, ...]
    indicators: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        return f"Basis({len(self)} terms: {', '.join(self.labels())})"

    def take(self, kept: NDArray[np.intp]) -> Basis:
        """The basis of some of the terms."""
        return Basis(tuple(self.terms[k] for k in kept), self.names, self.indicators)

    def used(self) -> set[int]:
        """The predictors in any term."""
        return {factor.predictor for term in self.terms for factor in term}

    def matrix(self, x: Floats) -> Floats:
        """Values of the terms, (n_rows, n_terms), at predictors (n_predictors, n_rows).

        Parameters
        ----------
        x
            Numbers of shape (n_predictors, n_rows).
        """
        values = np.empty((len(self.terms), x.shape[1]))
        for row, term in zip(values, self.terms, strict=True):
            if not term:
                row[:] = 1.0
                continue
            first, *others = term
            found = first.values(x[first.predictor], out=row)
            if found is not row:
                row[:] = found
            for factor in others:
                row *= factor.values(x[factor.predictor])
        return values.T

    def labels(self, digits: int = 6) -> list[str]:
        """How each term reads: ``h(age-31)*member=True``.

        Parameters
        ----------
        digits
            Significant digits of knots.
        """
        return ["*".join(self._label(f, digits) for f in t) or "(Intercept)" for t in self.terms]

    def _label(self, factor: Factor, digits: int) -> str:
        name = self.names[factor.predictor]
        is_itself = factor.kind == 1 and factor.knot == 0 and self.indicators[factor.predictor]
        if factor.kind == LINEAR or is_itself:
            return name
        if factor.kind == FALLING:
            return f"h({factor.knot:.{digits}g}-{name})"
        sign = "-" if factor.knot >= 0 else "+"
        return f"h({name}{sign}{abs(factor.knot):.{digits}g})"


def basis_from_pass(
    found: ForwardPass, names: tuple[str, ...], indicators: tuple[bool, ...]
) -> Basis:
    """The terms that a forward pass made."""
    terms: list[Term] = [()]
    rows = zip(found.parent, found.feature, found.kind, found.knot, strict=True)
    for parent, predictor, kind, knot in rows:
        terms.append((*terms[parent], Factor(int(predictor), int(kind), float(knot))))
    return Basis(tuple(terms), names, indicators)
