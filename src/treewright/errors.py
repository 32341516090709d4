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
    ├── SuspectColumnWarning           text that is nearly all numbers or dates
    │   └── ManyCategoriesWarning      more categories than a third of the rows
    ├── UnseenCategoriesWarning        many rows with categories that training did not have
    ├── WeakMemberWarning              a first member that is no better than chance was not boosted
    └── ConversionWarning              a column was turned into another kind (dates)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "CellTypeError",
    "ColumnNamesWarning",
    "ConversionWarning",
    "DataError",
    "ExtraColumnsWarning",
    "FewTreesWarning",
    "ManyCategoriesWarning",
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
    >>> from treewright.errors import suggest
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
    """Base of all errors that treewright raises on purpose.

    Examples
    --------
    >>> from treewright.errors import TreewrightError
    >>> from treewright import CARTClassifier
    >>> try:
    ...     CARTClassifier(criterion="giny").fit([[1.0], [2.0]], ["a", "b"])
    ... except TreewrightError as error:
    ...     print(error)
    criterion must be "entropy", "error" or "gini", got 'giny'.
    """

    def __init__(self, *args: Any) -> None:
        # arrays and frames that came would be written in many lines
        one_line = (" ".join(a.split()) if type(a) is str and "\n" in a else a for a in args)
        super().__init__(*one_line)


class ParameterError(TreewrightError, ValueError):
    """An argument breaks its rule.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> CARTClassifier(max_depth=-3).fit([[1.0], [2.0]], ["a", "b"])
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: max_depth must be an int in the range [1, inf) or
    None, got -3.
    """


class DataError(TreewrightError, ValueError):
    """The data cannot be used as they came.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> CARTClassifier().fit([[1.0], [2.0]], ["a", None])
    Traceback (most recent call last):
        ...
    treewright.errors.DataError: y must have no gaps, but 1 of 2 values are missing (NaN);
    drop those rows.
    """


class SchemaError(DataError):
    """The columns do not match those that the model was trained on.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> X = {"size": [1.0, 2.0], "colour": ["red", "blue"]}
    >>> model = CARTClassifier().fit(X, ["a", "b"])
    >>> model.predict({"size": [1.5]})
    Traceback (most recent call last):
        ...
    treewright.errors.SchemaError: X must have the columns of training, but lacks 'colour';
    add it, filled with gaps if unknown.
    """


class CellTypeError(DataError, TypeError):
    """A cell holds an object, such as a list, that is no number, text, boolean or date.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> CARTClassifier().fit({"sizes": [[1.0, 2.0], [3.0]]}, ["a", "b"])
    Traceback (most recent call last):
        ...
    treewright.errors.CellTypeError: Column 'sizes' must hold numbers, text, booleans,
    categories or dates, but holds list<item: double>; convert or drop it.
    """


class ModelFileError(TreewrightError, ValueError):
    """A model file is damaged, foreign or too new.

    Examples
    --------
    >>> from treewright.errors import ModelFileError
    >>> import tempfile
    >>> from pathlib import Path
    >>> import treewright
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.tw")
    ...     _ = path.write_bytes(b"no model at all")
    ...     try:
    ...         treewright.load(path)
    ...     except ModelFileError as error:
    ...         print(str(error).replace(str(path), "model.tw"))
    The model file 'model.tw' cannot be loaded: it is not a treewright model file; load
    takes what treewright.save wrote.
    """


class SpaceError(TreewrightError, OSError):
    """A disk is full, or a memory limit is below what must be kept.

    Examples
    --------
    >>> from treewright import SPRINTClassifier
    >>> from treewright.datasets import make_agrawal
    >>> data = make_agrawal(1000, random_state=0)
    >>> model = SPRINTClassifier(memory_limit=1000)
    >>> model.fit(data.data, data.target)
    Traceback (most recent call last):
        ...
    treewright.errors.SpaceError: SPRINT needs 0.5 MB for its buffers, but memory_limit is
    0.00 MB; raise it, or take fewer threads with n_jobs.
    """


class TreewrightWarning(UserWarning):
    """Base of all warnings of treewright.

    Examples
    --------
    >>> from treewright.errors import TreewrightWarning
    >>> import warnings
    >>> from treewright import CARTClassifier
    >>> model = CARTClassifier().fit({"size": [1.0, 2.0]}, ["a", "b"])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", TreewrightWarning)
    ...     answers = model.predict({"size": [1.5], "colour": ["red"]})
    """


class ColumnNamesWarning(TreewrightWarning):
    """Only one of training and prediction had column names, so columns went by position.

    Examples
    --------
    >>> import warnings
    >>> from treewright import CARTClassifier
    >>> model = CARTClassifier().fit({"size": [1.0, 2.0]}, ["a", "b"])
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     answers = model.predict([[1.5]])
    >>> print(said[0].message)
    The columns of X have no names, but CARTClassifier was fitted with some, so they are
    matched by position; pass the same kind of table to both to silence this.
    """


class ExtraColumnsWarning(TreewrightWarning):
    """Columns unknown to the model were ignored; drop them to silence this.

    Examples
    --------
    >>> import warnings
    >>> from treewright import CARTClassifier
    >>> model = CARTClassifier().fit({"size": [1.0, 2.0]}, ["a", "b"])
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     answers = model.predict({"size": [1.5], "colour": ["red"]})
    >>> print(said[0].message)
    Ignored column 'colour', which training did not have; drop it from X to silence this.
    """


class FewTreesWarning(TreewrightWarning):
    """A variance that so few trees cannot tell from noise was taken for 0; grow more of them.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     limits = model.predict_interval(X, method="jackknife")
    >>> said[0].category.__name__
    'FewTreesWarning'
    """


class OptimalityWarning(TreewrightWarning):
    """The time was over before a tree was proven to be the best; give the search more of it.

    Examples
    --------
    >>> import warnings
    >>> from treewright import OptimalTreeClassifier, datasets
    >>> credit = datasets.load_german_credit()
    >>> model = OptimalTreeClassifier(max_depth=4, time_limit=0.01)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = model.fit(credit.data, credit.target)
    >>> said[0].category.__name__, model.optimality_gap_ > 0
    ('OptimalityWarning', True)
    """


class OutOfBagWarning(TreewrightWarning):
    """Rows without an out-of-bag answer; more members leave each row out some time.

    Examples
    --------
    >>> import warnings
    >>> from treewright import RandomForestClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = RandomForestClassifier(2, oob_score=True, random_state=0)
    ...     model = model.fit(iris.data, iris.target)
    >>> said[0].category.__name__
    'OutOfBagWarning'
    """


class PrecisionWarning(TreewrightWarning):
    """Integers beyond 2**53, of which neighbours become equal; subtract an offset.

    Examples
    --------
    >>> import warnings
    >>> from treewright import CARTClassifier
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = CARTClassifier().fit({"id": [2**60, 2**60 + 1]}, ["a", "b"])
    >>> print(said[0].message)
    Column 'id' holds integers up to 1152921504606846977, and beyond 2**53 numbers that lie
    close become equal; subtract an offset, or name the column in categorical_features if
    its numbers are labels.
    """


class SuspectColumnWarning(TreewrightWarning):
    """A column is probably not what its type says: numbers or dates with a stray word.

    Examples
    --------
    >>> import warnings
    >>> from treewright import CARTClassifier
    >>> ages = [str(age) for age in range(20, 60)] + ["unknown"]
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = CARTClassifier().fit({"age": ages}, ["a"] * 20 + ["b"] * 21)
    >>> print(said[0].message)
    Column 'age' is text, and each of its 41 values a category, though 97.5% of them read as
    numbers, all but 'unknown' (1); turn it into numbers with gaps (such as
    pandas.to_numeric(..., errors="coerce"); --gaps on the command line), or name it in
    categorical_features (--categorical) to keep it as it is.
    """


class ManyCategoriesWarning(SuspectColumnWarning):
    """A column has more categories than a third of the rows.

    Examples
    --------
    >>> import warnings
    >>> from treewright import CARTClassifier
    >>> orders = [f"order {i}" for i in range(60)]
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = CARTClassifier().fit({"order": orders}, ["a", "b"] * 30)
    >>> said[0].category.__name__
    'ManyCategoriesWarning'
    """


class UnseenCategoriesWarning(TreewrightWarning):
    """Many rows have categories that training did not have, and count as gaps there.

    Examples
    --------
    >>> import warnings
    >>> from treewright import CARTClassifier
    >>> model = CARTClassifier().fit({"colour": ["red", "blue"] * 10}, ["a", "b"] * 10)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     answers = model.predict({"colour": ["green"] * 20})
    >>> print(said[0].message)
    Column 'colour' has categories that training did not have in 20 of 20 rows, which count
    as gaps: 'green'; write them as in training.
    """


class WeakMemberWarning(TreewrightWarning):
    """Boosting ended with its first member, which is no better than chance; take a stronger one.

    Examples
    --------
    >>> import warnings
    >>> from treewright import AdaBoostClassifier
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = AdaBoostClassifier(algorithm="m1").fit([[0.0]] * 4, ["a", "b", "c", "d"])
    >>> said[0].category.__name__, len(model)
    ('WeakMemberWarning', 1)
    """


class ConversionWarning(TreewrightWarning):
    """A column was turned into another kind; convert it yourself to silence this.

    Examples
    --------
    >>> import warnings
    >>> from datetime import date
    >>> from treewright import CARTClassifier
    >>> X = {"day": [date(2026, 1, 1), date(2026, 5, 1)]}
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = CARTClassifier().fit(X, ["a", "b"])
    >>> print(said[0].message)
    Dates and times, also as text, become continuous features, in days (since 1970-01-01):
    column 'day'; turn them into numbers yourself to silence this, or name them in
    categorical_features (--categorical) to keep each as a category.
    """
