"""What all estimators tell scikit-learn alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["DRAWN", "PURE", "TableInputMixin", "expected_failed_checks", "weights_differ"]

DRAWN = "rows are drawn, and one of weight two is not drawn as two rows are"
PURE = "a leaf of a single class is of that class, however little it weighs"


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Checks of scikit-learn that cannot hold for ``estimator``, and why.

    Where rows are drawn, a row of weight two has twice the chance of another, but a fit to it is
    not the fit to two rows, draw by draw; scikit-learn excuses its own forests from the same two
    checks. With some settings of bagging, ID3 and CTree a class of overwhelming ``class_weight`` is
    not always predicted on noise, which another check expects.

    Parameters
    ----------
    estimator : estimator
        Of treewright, with its parameters.

    Returns
    -------
    checks : dict of str to str
        Names of checks and reasons, as ``check_estimator`` and ``parametrize_with_checks`` take
        them.

    Examples
    --------
    >>> from treewright import ExtraTreesClassifier, RandomForestClassifier, expected_failed_checks
    >>> for name in expected_failed_checks(RandomForestClassifier()):
    ...     print(name)
    check_sample_weight_equivalence_on_dense_data
    check_sample_weight_equivalence_on_sparse_data
    >>> expected_failed_checks(ExtraTreesClassifier())
    {}

    Then ``check_estimator(model, expected_failed_checks=expected_failed_checks(model))``.
    """
    heaviest = getattr(estimator, "_heaviest_may_lose", lambda: None)()
    found = {} if heaviest is None else {"check_class_weight_classifiers": heaviest}
    why = weights_differ(estimator)
    if why is not None:
        kinds = ("dense", "sparse")
        found |= {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in kinds}
    return found


def weights_differ(estimator: Any) -> str | None:
    """Why a fit to a row of weight two is not the fit to two rows; None where it is."""
    own = getattr(estimator, "_weights_differ", None)
    return None if own is None else own()


class TableInputMixin:
    """Names of parameters, and tags of the input: any table, with gaps and categories."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads the signature every time, which is a good part of a small fit
        known: list[str] | None = cls.__dict__.get("_param_names")
        if known is None:
            known = super()._get_param_names()  # type: ignore[misc]
            cls._param_names = known  # type: ignore[attr-defined]
        return list(known)

    def _weights_differ(self) -> str | None:
        """Why a row of weight two is not two rows, where that is so."""
        return None

    def _heaviest_may_lose(self) -> str | None:
        """Why a class of overwhelming ``class_weight`` does not win everywhere, if so."""
        return None

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        # Text cells are taken, but to scikit-learn "string" promises that no cell is ever
        # read as a number, and an object column of numbers is continuous here.
        tags.input_tags.dict = True
        tags.input_tags.sparse = True
        return tags
