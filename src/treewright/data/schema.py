"""What the columns of a table are: names, kinds and categories.

A category is known by its value, never by the code a frame happens to use: code ``k`` of a
feature is ``feature.categories[k]``, −1 is a gap. Ordinal codes follow the declared order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["continuous", "ordinal", "nominal"]

Time = Literal["", "date", "datetime", "time", "duration"]

TIMES: tuple[Time, ...] = ("", "date", "datetime", "time", "duration")

KINDS: tuple[Kind, ...] = ("continuous", "ordinal", "nominal")


@dataclass(frozen=True, slots=True)
class Feature:
    """One predictor column.

    Parameters
    ----------
    name
        Its name.
    kind
        "continuous", "ordinal" or "nominal".
    categories
        Python values (str, int, float, bool) of an ordinal or nominal feature, in code order; empty
        for a continuous one.
    time
        "" unless the numbers of a continuous feature are moments
        (:mod:`treewright.data.moments`).
    zone
        Their time zone.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> schema = CARTClassifier().fit(tennis.data, tennis.target).tree_.schema
    >>> schema.features[0].kind, schema.features[0].categories
    ('nominal', ('Overcast', 'Rain', 'Sunny'))
    """

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()
    time: Time = ""
    zone: str = ""

    @property
    def is_categorical(self) -> bool:
        """Whether the column holds codes."""
        return self.kind != "continuous"


@dataclass(frozen=True, slots=True)
class Target:
    """What is predicted: classes, or one or several numbers.

    Parameters
    ----------
    name
        Its name.
    classes
        The classes in code order; empty for numbers.
    n_outputs
        How many numbers are predicted together.
    class_factor
        Turns a node's class weights into probabilities under the priors:
        ``p ∝ value * class_factor``; empty means all ones.
    outputs
        Names of several outputs, if they came with any.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> target = CARTClassifier().fit(tennis.data, tennis.target).tree_.schema.target
    >>> target.name, target.classes, target.is_classification
    ('y', ('No', 'Yes'), True)
    """

    name: str
    classes: tuple[Any, ...] = ()
    n_outputs: int = 1
    class_factor: tuple[float, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return len(self.classes) > 0


@dataclass(frozen=True, slots=True)
class Schema:
    """Features and target: what a table has, and what a model was fitted to.

    Parameters
    ----------
    features
        The columns, in their order.
    named
        Whether names came with the data; if not, they are x0, x1, …
    target
        What is predicted; None for a table without one.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> schema = CARTClassifier().fit(iris.data, iris.target).tree_.schema
    >>> schema.names
    ('Sepal.Length', 'Sepal.Width', 'Petal.Length', 'Petal.Width')
    >>> schema.index("Petal.Width")
    3
    >>> schema.target.classes
    ('setosa', 'versicolor', 'virginica')
    """

    features: tuple[Feature, ...]
    named: bool = True
    target: Target | None = field(default=None)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names in column order."""
        return tuple(feature.name for feature in self.features)

    def index(self, name: str) -> int:
        """Position of the feature called ``name``.

        Parameters
        ----------
        name
            Name of a feature.
        """
        return self.names.index(name)
