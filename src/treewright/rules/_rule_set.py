"""RuleSet: a model made of rules.

A row is decided by the first rule that holds for it (an ordered list, as of c4.5rules), or by
the votes of all that do (as of C5.0); where none holds, the default decides. Rules know the
schema, so that any frame with the columns of training can be asked. A condition on a gap is
false, unless it says that gaps satisfy it, as those of a tree's default branches do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from treewright.data.encode import encode
from treewright.data.schema import Schema, Target
from treewright.data.target import class_codes
from treewright.data.weights import check_lengths, read_weights
from treewright.errors import ParameterError
from treewright.rules._check import check_rules
from treewright.rules._counts import recount
from treewright.rules._decider import Decider
from treewright.tree.show.rules import Rule
from treewright.tree.show.words import clean, clip

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix

    from treewright.data.table import Table
    from treewright.tree.tree import Tree

__all__ = ["Decision", "RuleSet"]

Decision = Literal["first", "vote"]


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(Sequence[Rule]):
    """Rules that predict together.

    Parameters
    ----------
    schema : Schema
        Features and target.
    rules : tuple of Rule
        The rules, in the order in which they are asked.
    default : class, number or tuple of numbers
        What is predicted where no rule holds.
    default_value : tuple of float
        Weight of each class behind the default (any scale), or the means themselves.
    decision : {"first", "vote"}, default="first"
        The first rule that holds decides, or all that hold vote: each gives its ``vote`` to its
        class, and the class with the most wins, the first among equals. For numbers, the mean
        of what they predict, weighted by ``vote``.
    gap_names : tuple of str or None, default=None
        Features for which the text says "(or gap)" where a gap satisfies a condition; None for
        all.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> from treewright.rules import RuleSet
    >>> X = {"wind": ["weak", "strong", "weak"], "heat": [20.0, 21.0, 30.0]}
    >>> rules = RuleSet.from_tree(CARTClassifier().fit(X, ["yes", "no", "yes"]).tree_)
    >>> print(rules)
    Rule 1:
        wind = strong
        -> class no  [66.7%]
    <BLANKLINE>
    Rule 2:
        wind = weak
        -> class yes  [75.0%]
    <BLANKLINE>
    Default class: yes
    >>> rules.predict({"wind": ["strong"], "heat": [None]})
    array(['no'], dtype=object)
    >>> rules.confidence.round(3).tolist(), rules.classes.tolist()
    ([0.667, 0.75], ['no', 'yes'])
    >>> RuleSet.from_json(rules.to_json()).to_text() == rules.to_text()
    True
    """

    schema: Schema
    rules: tuple[Rule, ...]
    default: Any
    default_value: tuple[float, ...]
    decision: Decision = "first"
    gap_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_rules(self.schema, self.rules, self.default, self.default_value, self.decision)

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: the compiled matcher stays behind
        return RuleSet, (
            self.schema,
            self.rules,
            self.default,
            self.default_value,
            self.decision,
            self.gap_names,
        )

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    def from_tree(tree: Tree) -> RuleSet:
        """One rule per leaf of a tree, with the root's prediction as default.

        The rules exclude each other and predict as the tree does. Only a row with a gap that
        surrogates or fractional descent decide, or that ends at an inner node, may go another
        way: if no rule holds for it, the default decides. Confidences are Laplace's,
        ``(right + 1) / (covered + 2)``.

        Parameters
        ----------
        tree : Tree
            Of any learner, for classes or numbers.

        Returns
        -------
        rules : RuleSet
        """
        from treewright.rules._from_tree import rules_of_tree

        return rules_of_tree(tree)

    def recount(self, X: Any, y: Any, sample_weight: Any = None) -> RuleSet:
        """The same rules with coverage, confidence (Laplace) and lift counted on other rows.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes of training only.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        rules : RuleSet
            Predicts the same, by "first"; votes keep their weight.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data.slice(0, 120), iris.target[:120])
        >>> rules = model.rule_set()
        >>> rules.recount(iris.data, iris.target).confidence.round(2)
        array([0.98, 0.88, 0.94])
        """
        codes = class_codes(y, self.classes)[0]
        weight, kept = read_weights(sample_weight, len(codes))
        table = self._table(X)
        check_lengths(table.n_rows, len(codes))
        if kept is not None:
            table, codes = table.take(np.flatnonzero(kept)), codes[kept]
        return replace(self, rules=recount(self.rules, self.schema, table, codes, weight))

    # -- predicting ------------------------------------------------------------------------

    def predict(self, X: Any, *, n_threads: int = 1) -> NDArray[Any]:
        """Class, or number, of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        n_threads : int, default=1
            Most threads to use; the result does not depend on it.

        Returns
        -------
        y : ndarray of shape (n_samples,), or (n_samples, n_outputs) for several numbers
        """
        table = self._table(X)
        if self._target.is_classification:
            classes: NDArray[Any] = self.classes
            return classes[self.labels_of(table, n_threads)]
        first = self.decision == "first"
        decide = self._decider.first_numbers if first else self._decider.mean_numbers
        values = decide(table, n_threads)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict_proba(self, X: Any, *, n_threads: int = 1) -> NDArray[np.float64]:
        """Probability of each class: shares of the deciding rule's coverage, or of the votes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        n_threads : int, default=1
            Most threads to use.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
        """
        return self.probability_of(self._table(X), n_threads)

    def probability_of(self, table: Table, n_threads: int = 1) -> NDArray[np.float64]:
        """As :meth:`predict_proba`, for rows that are a Table of this schema already."""
        self._require_classes("predict_proba")
        if self.decision == "first":
            return self._decider.first_shares(table, n_threads)
        return self._decider.vote_shares(table, n_threads)

    def labels_of(self, table: Table, n_threads: int = 1) -> NDArray[np.int64]:
        """Class code of each row of a Table of this schema."""
        if self.decision == "first":
            return self._decider.first_labels(table, n_threads)
        return self._decider.vote_labels(table, n_threads)

    def apply(self, X: Any, *, n_threads: int = 1) -> NDArray[np.int32]:
        """The first rule that holds for each row, −1 where none does.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        n_threads : int, default=1
            Most threads to use.

        Returns
        -------
        rules : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> rules.apply(iris.data)[::50].tolist()
        [0, 1, 2]
        """
        return self._decider.first(self._table(X), n_threads)

    def matches(self, X: Any, *, n_threads: int = 1) -> csr_matrix:
        """Which rules hold for which rows.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        n_threads : int, default=1
            Most threads to use.

        Returns
        -------
        matches : sparse matrix of shape (n_samples, n_rules)
            Nonzero where the rule holds.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> rules.matches(iris.data)[::50].toarray().astype(int)
        array([[1, 0, 0],
               [0, 1, 0],
               [0, 0, 1]])
        """
        return self.matches_of(self._table(X), n_threads)

    def matches_of(self, table: Table, n_threads: int = 1) -> csr_matrix:
        """As :meth:`matches`, for rows that are a Table of this schema already."""
        return self._decider.matches(table, n_threads)

    def coverage(self, X: Any, *, n_threads: int = 1) -> NDArray[np.int64]:
        """How many rows each rule holds for.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        n_threads : int, default=1
            Most threads to use.

        Returns
        -------
        coverage : ndarray of shape (n_rules,)

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> rules.coverage(iris.data).tolist()
        [50, 54, 46]
        """
        return self._decider.coverage(self._table(X), n_threads)

    # -- reading ---------------------------------------------------------------------------

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes, in the order of ``predict_proba``."""
        self._require_classes("classes")
        values = self._target.classes
        kinds = {type(value) for value in values}
        if kinds in ({int}, {float}, {bool}):
            return np.array(values)
        classes = np.empty(len(values), object)
        classes[:] = values
        return classes

    @property
    def confidence(self) -> NDArray[np.float64]:
        """How often each rule is expected to be right; NaN for numbers."""
        found = [np.nan if r.confidence is None else r.confidence for r in self.rules]
        return np.array(found, np.float64)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> RuleSet: ...
    def __getitem__(self, index: int | slice) -> Rule | RuleSet:
        if isinstance(index, slice):
            return replace(self, rules=self.rules[index])
        return self.rules[index]

    def to_text(
        self,
        *,
        style: Literal["c45", "c50"] | None = None,
        digits: int = 6,
        width: int = 96,
        ascii: bool = False,
    ) -> str:
        """The rules as the programs print them, one condition to a line.

        Parameters
        ----------
        style : {"c45", "c50"} or None, default=None
            As c4.5rules, or as C5.0, which adds coverage, errors and lift; None takes the
            second where rules vote.
        digits : int, default=6
            Significant digits of bounds, more where two would read the same.
        width : int, default=96
            Columns to keep to.
        ascii : bool, default=False
            Plain characters only, apart from those of the data.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=1).fit(iris.data, iris.target).rule_set()
        >>> print(rules.to_text(style="c50"))
        Rule 1: (50, lift 2.9)
            Petal.Length < 2.45
            -> class setosa  [0.981]
        <BLANKLINE>
        Rule 2: (100/50, lift 1.5)
            Petal.Length >= 2.45
            -> class versicolor  [0.500]
        <BLANKLINE>
        Default class: setosa
        """
        from treewright.rules._text import rules_text

        return rules_text(self, style=style, digits=digits, width=width, ascii=ascii)

    def frame(self, *, digits: int = 6) -> pd.DataFrame:
        """The rules as a pandas data frame, one row each.

        Parameters
        ----------
        digits
            Significant digits of bounds.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> rules.frame().columns.tolist()
        ['rule', 'outcome', 'n_samples', 'weight', 'confidence', 'lift', 'vote']
        """
        from treewright.rules._text import rules_frame

        return rules_frame(self, digits)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<RuleSet for {self._target.name!r}: {len(self)} rules, by {self.decision}>"

    def _repr_html_(self) -> str:
        from treewright.rules._text import rules_html

        return rules_html(self)

    def to_html(self, *, title: str | None = None) -> str:
        """The rules as a page: one HTML file that loads nothing.

        Parameters
        ----------
        title : str, default=None
            Title of the page; by default what the rules predict.

        Returns
        -------
        page : str

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> rules.to_html(title="Iris")[:15]
        '<!DOCTYPE html>'
        """
        from treewright.reporting._table_page import table_page
        from treewright.rules._text import rules_html

        target = self.schema.target
        what = "y" if target is None else clip(clean(target.name), 60)
        n = "1 rule" if len(self) == 1 else f"{len(self)} rules"
        summary = f"{n}; a row gets what the rules that it satisfies say, else the last line."
        shown = f"Rules for {what}" if title is None else title
        return table_page(shown, summary, [rules_html(self, None)])

    # -- storing ---------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The rule set as a dict that JSON can hold, exactly."""
        from treewright.rules._serialize import rules_to_dict

        return rules_to_dict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> RuleSet:
        """The rule set that :meth:`to_dict` made ``data`` of, after checking every part of it.

        Parameters
        ----------
        data
            What :meth:`to_dict` made.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> from treewright.rules import RuleSet
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> len(RuleSet.from_dict(rules.to_dict()))
        3
        """
        from treewright.rules._serialize import rules_from_dict

        return rules_from_dict(data)

    def to_json(self, *, indent: int | None = None) -> str:
        """The rule set as JSON.

        Parameters
        ----------
        indent : int or None, default=None
            Spaces per level; None for one line.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> from treewright.rules import RuleSet
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> text = rules.to_json()
        >>> str(RuleSet.from_json(text)) == str(rules)
        True
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> RuleSet:
        """The rule set that :meth:`to_json` wrote.

        Parameters
        ----------
        text
            What :meth:`to_json` wrote.
        """
        from treewright.rules._serialize import rules_from_json

        return rules_from_json(text)

    # -- inside ----------------------------------------------------------------------------

    @property
    def _target(self) -> Target:
        assert self.schema.target is not None
        return self.schema.target

    def _require_classes(self, what: str) -> None:
        if not self._target.is_classification:
            raise ParameterError(
                f"{what} needs rules that predict classes, but these predict numbers; use predict."
            )

    @cached_property
    def _decider(self) -> Decider:
        return Decider(self.schema, self.rules, self.default, self.default_value)

    def _table(self, X: Any) -> Table:
        return encode(X, schema=self.schema, owner="RuleSet")
