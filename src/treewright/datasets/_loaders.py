"""The bundled files: one row of :data:`FILES` and one function each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treewright.datasets._dataset import Dataset, column_values

__all__ = [
    "load_cheat",
    "load_german_credit",
    "load_hitters",
    "load_iris",
    "load_play_tennis",
    "load_titanic",
]

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class BundledFile:
    """What is to be known of a file besides its columns."""

    target: str
    about: str
    source: str
    licence: str
    hints: Mapping[str, Any] = field(default_factory=dict)


FILES = {
    "play_tennis": BundledFile(
        target="Play",
        about="Fourteen days, their weather, and whether tennis was played on them.",
        source="J. R. Quinlan, Induction of decision trees, Machine Learning 1 (1986), table 1, "
        "with the attribute names of T. Mitchell, Machine Learning (1997), table 3.2.",
        licence="Facts from a textbook table.",
    ),
    "cheat": BundledFile(
        target="Cheat",
        about="Ten taxpayers: refund, marital status, taxable income (in thousands), and "
        "whether they cheat.",
        source="P.-N. Tan, M. Steinbach, V. Kumar, Introduction to Data Mining (2006), chapter 4.",
        licence="Facts from a textbook table.",
    ),
    "german_credit": BundledFile(
        target="class",
        about="A thousand borrowers of a German bank, good or bad risks. Calling a bad customer "
        "good costs 5, calling a good one bad costs 1.",
        source="H. Hofmann, Statlog (German Credit Data), UCI Machine Learning Repository (1994), "
        "doi 10.24432/C5NC77. Codes are spelled out; nothing else was changed.",
        licence="CC BY 4.0.",
    ),
    "iris": BundledFile(
        target="Species",
        about="Measurements of 150 irises of three species, in centimetres.",
        source="R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of "
        "Eugenics 7 (1936), as printed there (the copy at UCI differs in two rows).",
        licence="Public domain.",
    ),
    "titanic": BundledFile(
        target="Survived",
        about="891 passengers of the Titanic and whether they survived (1) or not (0). Age and "
        "port of embarkation have gaps.",
        source="Passenger lists of the Titanic, from the file in github.com/parrt/dtreeviz; "
        "names, tickets, cabins and row numbers were left out.",
        licence="Public-domain data from an MIT-licensed repository.",
        hints={"ordinal_features": {"Pclass": [1, 2, 3]}},
    ),
    "hitters": BundledFile(
        target="Salary",
        about="Major League Baseball players: their 1986 season, their career, and their 1987 "
        "salary in thousands of dollars. The 59 players whose salary is not known are left out.",
        source="StatLib, used in G. James, D. Witten, T. Hastie, R. Tibshirani, J. Taylor, An "
        "Introduction to Statistical Learning (2023), from its package ISLP 0.6.0.",
        licence="BSD (package ISLP).",
    ),
}


def _load(name: str) -> Dataset:
    from treewright.data.readers import read_table

    file = FILES[name]
    table = read_table(FOLDER / f"{name}.csv")
    table = table.filter(table.column(file.target).is_valid())
    return Dataset(
        name=name,
        data=table.drop_columns([file.target]),
        target=column_values(table.column(file.target)),
        target_name=file.target,
        DESCR=f"{file.about}\n\nSource: {file.source}\nLicence: {file.licence}\n",
        schema_hints=file.hints,
    )


def load_play_tennis() -> Dataset:
    """Fourteen days and whether tennis was played: 4 nominal features, 2 classes.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from treewright.datasets import load_play_tennis
    >>> load_play_tennis()
    Dataset('play_tennis': 14 rows, 4 features, target 'Play')
    """
    return _load("play_tennis")


def load_cheat() -> Dataset:
    """Ten taxpayers and whether they cheat: 3 mixed features, 2 classes.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from treewright.datasets import load_cheat
    >>> load_cheat().feature_names
    ['Refund', 'MaritalStatus', 'TaxableIncome']
    """
    return _load("cheat")


def load_german_credit() -> Dataset:
    """A thousand borrowers, good or bad risks: 20 mixed features, 2 classes.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from treewright.datasets import load_german_credit
    >>> load_german_credit()
    Dataset('german_credit': 1000 rows, 20 features, target 'class')
    """
    return _load("german_credit")


def load_iris() -> Dataset:
    """150 irises: 4 continuous features, 3 classes.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from treewright.datasets import load_iris
    >>> load_iris()
    Dataset('iris': 150 rows, 4 features, target 'Species')
    """
    return _load("iris")


def load_titanic() -> Dataset:
    """891 passengers of the Titanic: 7 mixed features with gaps, 2 classes.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from treewright.datasets import load_titanic
    >>> load_titanic().schema_hints
    {'ordinal_features': {'Pclass': [1, 2, 3]}}
    """
    return _load("titanic")


def load_hitters() -> Dataset:
    """263 baseball players and their salaries: 19 mixed features, a regression.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from treewright.datasets import load_hitters
    >>> load_hitters()
    Dataset('hitters': 263 rows, 19 features, target 'Salary')
    """
    return _load("hitters")
