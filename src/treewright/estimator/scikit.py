"""What all estimators tell scikit-learn alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["TableInputMixin"]


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

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        # Text cells are taken, but to scikit-learn "string" promises that no cell is ever
        # read as a number, and an object column of numbers is continuous here.
        tags.input_tags.dict = True
        return tags
