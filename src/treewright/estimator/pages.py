"""The page of a fitted model with trees, in a file and in a notebook."""

from __future__ import annotations

from typing import Any

__all__ = ["Paged"]


class Paged:
    """An estimator whose trees a page can show."""

    def to_html(
        self, X: Any = None, y: Any = None, *, test: Any = None, title: str | None = None
    ) -> str:
        """The model as an interactive page: one HTML file that loads nothing.

        The tree can be folded, searched, cut back along the weakest-link sequence with its
        error beside it, and asked for the way of a row. Of an ensemble it shows single members.

        Parameters
        ----------
        X, y
            The training rows, if the page is to say which candidates the splits won against
            and in which range values lie.
        test : tuple (X, y), default=None
            Rows that were held out, for the error of each size; without them the error is the
            cross-validated one, where pruning made it, or that of the training rows.
        title : str, default=None
            Title of the page; by default the names of target and learner.

        Returns
        -------
        page : str

        Examples
        --------
        >>> from treewright import CARTClassifier
        >>> from treewright.datasets import load_play_tennis
        >>> tennis = load_play_tennis()
        >>> model = CARTClassifier().fit(tennis.data, tennis.target)
        >>> page = model.to_html(tennis.data, tennis.target)
        >>> page[:15]
        '<!DOCTYPE html>'
        """
        from treewright.reporting._page import model_page

        return model_page(self, X, y, test=test, title=title)

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's box with the parameters, then the page."""
        from sklearn.exceptions import NotFittedError
        from sklearn.utils import estimator_html_repr
        from sklearn.utils.validation import check_is_fitted

        from treewright.errors import ParameterError
        from treewright.reporting._page import in_notebook

        diagram: str = estimator_html_repr(self)
        try:
            check_is_fitted(self)
            return diagram + in_notebook(self)
        except (NotFittedError, ParameterError):
            return diagram
