"""What the loaders return: the columns, the target and where they come from.

The columns are an Arrow table, so that text, numbers and gaps keep their kinds whether or not
pandas is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, target and description of a data set.

    Parameters
    ----------
    name
        Short name, as in ``load_<name>``.
    data
        The features, an Arrow table; any estimator's ``fit`` takes it.
    target
        One value per row: labels as objects, numbers as numbers.
    target_name
        Name of the target column.
    DESCR
        What the rows are, the source and the licence.
    schema_hints
        What the columns cannot say of themselves, as keyword arguments of an estimator:
        ``CARTClassifier(**dataset.schema_hints)``.

    Examples
    --------
    >>> from treewright import datasets
    >>> cheat = datasets.load_cheat()
    >>> cheat
    Dataset('cheat': 10 rows, 3 features, target 'Cheat')
    >>> cheat.feature_names
    ['Refund', 'MaritalStatus', 'TaxableIncome']
    >>> cheat.target[:3].tolist()
    ['No', 'No', 'No']
    >>> cheat.frame.shape
    (10, 4)
    """

    name: str
    data: pa.Table
    target: NDArray[Any]
    target_name: str
    DESCR: str
    schema_hints: Mapping[str, Any] = field(default_factory=dict)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features in column order."""
        return list(self.data.column_names)

    @cached_property
    def frame(self) -> Any:
        """Features and target together: a pandas frame, or an Arrow table without pandas."""
        import pyarrow as pa

        target = pa.array(self.target.tolist())
        table = self.data.append_column(self.target_name, target)
        return table if find_spec("pandas") is None else table.to_pandas()

    def __repr__(self) -> str:
        rows, columns = self.data.shape
        return (
            f"Dataset({self.name!r}: {rows} rows, {columns} features, target {self.target_name!r})"
        )


def column_values(column: pa.ChunkedArray) -> NDArray[Any]:
    """Values of a target column: numbers as they are, everything else as objects."""
    import pyarrow as pa

    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.array(column.to_pylist(), dtype=object)
