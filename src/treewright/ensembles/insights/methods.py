"""What a fitted ensemble of trees can tell beyond predictions.

A mixin beside :class:`treewright.ensembles._ensemble.Ensemble`. Methods that ask about the training
rows take them again: the ensemble keeps how rows were drawn, not the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treewright.ensembles.insights.importance import (
    Importances,
    corrected_importance,
    oob_impurity_importance,
    permutation_importance,
    with_shadows,
)
from treewright.ensembles.insights.out_of_bag import check_left_out
from treewright.ensembles.members.draws import permutation
from treewright.errors import ParameterError
from treewright.estimator.training import threads

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.ensembles.insights.proximity import OutlierMeasure

__all__ = ["Insights"]


class Insights:
    """Importances and proximities."""

    def permutation_importance_oob(
        self: Any, X: Any, y: Any, sample_weight: Any = None
    ) -> Importances:
        """What the trees lose on rows they did not see when a feature is shuffled among them.

        Parameters
        ----------
        X, y, sample_weight
            The training data.

        Returns
        -------
        importances : Importances
            Mean decrease of accuracy, or increase of the squared error, over the trees, with
            standard errors; ``frame()``, ``plot()`` and ``str()``.
        """
        forest = self._trees("permutation_importance_oob").forest
        training = self._same_training(X, y, sample_weight)
        check_left_out(self._draws, "permutation_importance_oob")
        lost = permutation_importance(
            forest, training.table, training.y, self._draws, threads(self.n_jobs)
        )
        classes = training.target.is_classification
        measure = "mean decrease of accuracy" if classes else "mean increase of squared error"
        return Importances.over_trees(training.table.schema.names, lost, measure)

    def impurity_importance(
        self: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        method: Literal["corrected", "oob"] = "corrected",
    ) -> Importances:
        """Decrease of impurity by each feature without the bias towards those with many values.

        Parameters
        ----------
        X, y, sample_weight
            The training data.
        method : {"corrected", "oob"}, default="corrected"
            "corrected" grows a second forest of the same kind in which every feature has a
            shuffled copy, and takes the decrease by the copy off that by the feature (actual
            impurity reduction, ranger's ``impurity_corrected``). "oob" measures the splits of
            this forest on the rows that trees did not see.

        Returns
        -------
        importances : Importances
            About 0, on either side, for a feature without meaning.

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> titanic = datasets.load_titanic()
        >>> forest = RandomForestClassifier(20, random_state=0).fit(titanic.data, titanic.target)
        >>> found = forest.impurity_importance(titanic.data, titanic.target)
        >>> found.frame().feature[0]
        'Sex'
        """
        if method not in ("corrected", "oob"):
            raise ParameterError(f'method must be "corrected" or "oob", got {method!r}.')
        forest = self._trees("impurity_importance").forest
        training = self._same_training(X, y, sample_weight)
        names = training.table.schema.names
        if method == "oob":
            check_left_out(self._draws, 'impurity_importance(method="oob")')
            found = oob_impurity_importance(
                forest, training.table, training.y, self._draws, threads(self.n_jobs)
            )
            return Importances.over_trees(names, found, "decrease of impurity, out of bag")
        order = permutation(self._draws.seed, training.n_rows)
        twin = self._shadow_grower(training, with_shadows(training.table, order))
        grown = twin.grow(range(len(forest)), None, None)
        if grown.interrupt is not None:
            raise grown.interrupt
        found = corrected_importance(grown.body.forest)
        return Importances.over_trees(names, found, "decrease of impurity, corrected")

    def proximity(self: Any, X: Any, other: Any = None) -> csr_matrix:
        """Share of the trees in which two rows end in the same leaf.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        other : array or data frame, default=None
            Rows to compare with; None compares the rows of ``X`` with each other.

        Returns
        -------
        proximity : sparse matrix of shape (n_samples, n_others)

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> forest = RandomForestClassifier(20, random_state=0).fit(iris.data, iris.target)
        >>> near = forest.proximity(iris.data)
        >>> near.shape
        (150, 150)
        >>> bool(near[0, 1] > near[0, 149])  # two setosas; a setosa and a virginica
        True
        """
        from treewright.ensembles.insights.proximity import leaf_matrix, proximity

        forest = self._trees("proximity").forest
        nodes = forest.n_nodes
        left = leaf_matrix(self.apply(X), nodes)
        right = left if other is None else leaf_matrix(self.apply(other), nodes)
        return proximity(left, right, len(forest))

    def proximity_oob(self: Any, X: Any, y: Any, sample_weight: Any = None) -> csr_matrix:
        """Share, of the trees that saw neither of two training rows, in which they share a leaf.

        Parameters
        ----------
        X, y, sample_weight
            The training data.

        Returns
        -------
        proximity : sparse matrix of shape (n_samples, n_samples)

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> forest = RandomForestClassifier(20, random_state=0).fit(iris.data, iris.target)
        >>> forest.proximity_oob(iris.data, iris.target).shape
        (150, 150)
        """
        from treewright.ensembles.insights.proximity import leaf_matrix, oob_proximity

        forest = self._trees("proximity_oob").forest
        training = self._same_training(X, y, sample_weight)
        check_left_out(self._draws, "proximity_oob")
        leaves = forest.apply(training.table, threads(self.n_jobs))
        left_out = np.column_stack([self._draws.left_out(k) for k in range(len(forest))])
        return oob_proximity(leaf_matrix(leaves, forest.n_nodes), left_out)

    def outlier_measure(self: Any, X: Any, y: Any, sample_weight: Any = None) -> OutlierMeasure:
        """How far each training row is from the other rows of its class, by proximities.

        Parameters
        ----------
        X, y, sample_weight
            The training data.

        Returns
        -------
        measure : OutlierMeasure
            The number of rows over the sum of squared proximities to the rows of the class (all
            rows, for numbers), less its median, over its median absolute deviation.

        Examples
        --------
        >>> from treewright import RandomForestClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> forest = RandomForestClassifier(50, random_state=0).fit(iris.data, iris.target)
        >>> measure = forest.outlier_measure(iris.data, iris.target)
        >>> bool(measure.frame()["class"][0] != "setosa")  # the class that stands apart
        True
        """
        from treewright.ensembles.insights.proximity import (
            OutlierMeasure,
            leaf_matrix,
            outlyingness,
            proximity,
        )

        forest = self._trees("outlier_measure").forest
        training = self._same_training(X, y, sample_weight)
        leaves = leaf_matrix(forest.apply(training.table, threads(self.n_jobs)), forest.n_nodes)
        close = proximity(leaves, leaves, len(forest))
        if not training.target.is_classification:
            return OutlierMeasure(outlyingness(close, np.zeros(training.n_rows)), None)
        return OutlierMeasure(outlyingness(close, training.y), training.classes[training.y])
