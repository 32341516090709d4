"""Exceptions and warnings of treewright.

Every message is one sentence in four parts: the thing, the rule, what came, the way out.

    TreewrightError
    ├── ParameterError (ValueError)    a constructor or function argument breaks its rule
    ├── DataError (ValueError)         a column, row or target cannot be used
    │   ├── SchemaError                columns at prediction do not match those of training
    │   └── CellTypeError (TypeError)   a cell holds an object that is no value of any kind
    ├── ModelFileError (ValueError)    a model file is damaged, foreign or too new
    └── SpaceError (OSError)           a disk is full, or a memory limit too low

    TreewrightWarning (UserWarning)
    ├── ColumnNamesWarning             columns were matched by position for want of names
    ├── ExtraColumnsWarning            columns that training did not have were ignored
    ├── FewTreesWarning                too few trees to tell a variance from noise
    ├── OptimalityWarning              a search ended before it could prove its tree the best
    ├── OutOfBagWarning                rows that every member of an ensemble saw
    ├── PrecisionWarning               integers too large to be told apart as floats
    ├── SuspectColumnWarning           text that is nearly all numbers, or nearly all different
    ├── UnseenCategoriesWarning        many rows with categories that training did not have
    ├── WeakMemberWarning              a first member that is no better than chance was not boosted
    └── ConversionWarning              a column was turned into another kind (dates)
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "CellTypeError",
    "ColumnNamesWarning",
    "ConversionWarning",
    "DataError",
    "ExtraColumnsWarning",
    "FewTreesWarning",
    "ModelFileError",
    "OptimalityWarning",
    "OutOfBagWarning",
    "ParameterError",
    "PrecisionWarning",
    "SchemaError",
    "SpaceError",
    "SuspectColumnWarning",
    "TreewrightError",
    "TreewrightWarning",
    "UnseenCategoriesWarning",
    "WeakMemberWarning",
    "suggest",
]


def suggest(name: str, names: Sequence[str]) -> str:
    """The way out after an unknown name: those that come close, else the first few.

    Examples
    --------
    >>> suggest("max_dept", ["max_depth", "criterion"])
    " Did you mean 'max_depth'?"
    """
    from difflib import get_close_matches

    by_lower = {known.lower(): known for known in names}
    close = [by_lower[match] for match in get_close_matches(name.lower(), by_lower)]
    if close:
        return f" Did you mean {' or '.join(repr(match) for match in close)}?"
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f" There are {', '.join(names[:12])}{more}."


class TreewrightError(Exception):
    """Base of all errors that treewright raises on purpose."""


class ParameterError(TreewrightError, ValueError):
    """An argument breaks its rule."""


class DataError(TreewrightError, ValueError):
    """The data cannot be used as they came."""


class SchemaError(DataError):
    """The columns do not match those that the model was trained on."""


class CellTypeError(DataError, TypeError):
    """A cell holds an object, such as a list, that is no number, text, boolean or date."""


class ModelFileError(TreewrightError, ValueError):
    """A model file is damaged, foreign or too new."""


class SpaceError(TreewrightError, OSError):
    """A disk is full, or a memory limit is below what must be kept."""


class TreewrightWarning(UserWarning):
    """Base of all warnings of treewright."""


class ColumnNamesWarning(TreewrightWarning):
    """Only one of training and prediction had column names, so columns went by position."""


class ExtraColumnsWarning(TreewrightWarning):
    """Columns unknown to the model were ignored; drop them to silence this."""


class FewTreesWarning(TreewrightWarning):
    """A variance that so few trees cannot tell from noise was taken for 0; grow more of them."""


class OptimalityWarning(TreewrightWarning):
    """The time was over before a tree was proven to be the best; give the search more of it."""


class OutOfBagWarning(TreewrightWarning):
    """Rows without an out-of-bag answer; more members leave each row out some time."""


class PrecisionWarning(TreewrightWarning):
    """Integers beyond 2**53, of which neighbours become equal; subtract an offset."""


class SuspectColumnWarning(TreewrightWarning):
    """A column is probably not what its type says: numbers with a stray word, or identifiers."""


class UnseenCategoriesWarning(TreewrightWarning):
    """Many rows have categories that training did not have, and count as gaps there."""


class WeakMemberWarning(TreewrightWarning):
    """Boosting ended with its first member, which is no better than chance; take a stronger one."""


class ConversionWarning(TreewrightWarning):
    """A column was turned into another kind; convert it yourself to silence this."""
