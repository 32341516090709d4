"""Agrawal's artificial loan applicants: ten rules of rising difficulty over nine attributes.

The rules say of a person whether the application belongs to group A; they are applied to the
values before these are perturbed, so that the best possible tree makes errors at their borders.
All is drawn a column at a time, so that a million rows take about a second.

Agrawal, Imielinski and Swami (1993), *Database mining: a performance perspective*, IEEE
Transactions on Knowledge and Data Engineering 5; SLIQ and SPRINT are measured on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.datasets._dataset import Dataset
from treewright.errors import ParameterError

__all__ = ["make_agrawal"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Person = dict[str, Any]

RANGES = {
    "salary": (20_000.0, 150_000.0),
    "commission": (10_000.0, 75_000.0),
    "age": (20.0, 80.0),
    "hvalue": (0.0, 1_350_000.0),
    "hyears": (1.0, 30.0),
    "loan": (0.0, 500_000.0),
}
"""The attributes that are perturbed, and where they lie."""


def make_agrawal(
    n: int = 1000,
    function: int = 1,
    *,
    noise: float = 0.0,
    perturbation: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Loan applicants in two groups, by one of Agrawal's ten rules.

    Parameters
    ----------
    n : int, default=1000
        Number of rows.
    function : int, default=1
        Which rule tells the groups apart, 1 to 10: 1 to 3 look at age, salary and education one
        at a time, 4 to 6 at several together, 7 to 10 at linear sums, which axis-parallel tests
        can only approach.
    noise : float, default=0.0
        Share of the rows whose group is swapped.
    perturbation : float, default=0.0
        Numbers are moved after the rule was applied, by up to half of this share of the
        attribute's range to either side, and kept within it; 0.05 is usual.
    random_state : int, RandomState or None, default=None
        Source of the random numbers.

    Returns
    -------
    Dataset
        Features ``salary``, ``commission``, ``age``, ``elevel`` (education), ``car``,
        ``zipcode``, ``hvalue`` (value of the house), ``hyears`` (years owned) and ``loan``,
        target ``group`` with the classes ``A`` and ``B``. ``elevel``, ``car`` and ``zipcode``
        are text: they are nominal in the papers.

    References
    ----------
    Agrawal, Imielinski and Swami (1993), *Database mining: a performance perspective*, IEEE
    Transactions on Knowledge and Data Engineering 5.

    Examples
    --------
    >>> from treewright.datasets import make_agrawal
    >>> make_agrawal(500, 2, perturbation=0.05, random_state=0)
    Dataset('agrawal': 500 rows, 9 features, target 'group')
    """
    import pyarrow as pa
    from sklearn.utils import check_random_state

    _check(n, function, noise, perturbation)
    random = check_random_state(random_state)
    person = _draw(n, random)
    is_a = RULES[function](person)
    if noise > 0.0:
        is_a[random.permutation(n)[: round(noise * n)]] ^= True
    if perturbation > 0.0:
        _perturb(person, perturbation, random)
    columns = {
        name: pa.array(column) if name in RANGES else _words(name, column)
        for name, column in person.items()
    }
    return Dataset(
        name="agrawal",
        data=pa.table(columns),
        target=np.where(is_a, "A", "B").astype(object),
        target_name="group",
        DESCR=f"{n} artificial loan applicants by Agrawal's rule {function}; numbers moved by up "
        f"to {perturbation / 2:.1%} of their range, {round(noise * n)} groups swapped.\n",
    )


def _check(n: int, function: int, noise: float, perturbation: float) -> None:
    if not isinstance(n, int | np.integer) or n < 1:
        raise ParameterError(f"n must be an integer of at least 1, got {n!r}.")
    if not isinstance(function, int | np.integer) or function not in RULES:
        raise ParameterError(f"function must be an integer from 1 to 10, got {function!r}.")
    for name, share in (("noise", noise), ("perturbation", perturbation)):
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f"{name} must be a share between 0 and 1, got {share!r}.")


def _draw(n: int, random: np.random.RandomState) -> Person:
    salary = random.uniform(*RANGES["salary"], n)
    commission = random.uniform(*RANGES["commission"], n)
    age = random.uniform(*RANGES["age"], n)
    elevel = random.randint(0, 5, n)
    car = random.randint(1, 21, n)
    zipcode = random.randint(0, 9, n)
    # houses cost 50 000 to 150 000 in the cheapest of nine towns, nine times that in the dearest
    hvalue = random.uniform(0.5, 1.5, n) * 100_000.0 * (9 - zipcode)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75_000.0, 0.0, commission),
        "age": age,
        "elevel": elevel,
        "car": car,
        "zipcode": zipcode,
        "hvalue": hvalue,
        "hyears": random.randint(1, 31, n).astype(np.float64),
        "loan": random.uniform(*RANGES["loan"], n),
    }


def _perturb(person: Person, perturbation: float, random: np.random.RandomState) -> None:
    for name, (low, high) in RANGES.items():
        moved = person[name] + random.uniform(-0.5, 0.5, len(person[name])) * perturbation * (
            high - low
        )
        # who has no commission does not get one
        has_one = person[name] > 0.0 if name == "commission" else np.True_
        person[name] = np.where(has_one, np.clip(moved, low, high), person[name])


def _words(name: str, codes: NDArray[Any]) -> Any:
    import pyarrow as pa

    words = [f"{name[0]}{k}" for k in range(21)]
    coded = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(words))
    return coded.cast(pa.string())


def _within(values: Floats, low: float, high: float) -> Flags:
    return (values >= low * 1000.0) & (values <= high * 1000.0)


def _by_age(person: Person, young: Any, middle: Any, old: Any) -> Flags:
    """What holds at ages below 40, from 40 to below 60, and from 60 on."""
    age = person["age"]
    return np.asarray(np.where(age < 40.0, young, np.where(age < 60.0, middle, old)), np.bool_)


def _by_amount(person: Person, amount: Floats) -> Flags:
    return _by_age(
        person, _within(amount, 50, 100), _within(amount, 75, 125), _within(amount, 25, 75)
    )


def _schooling(person: Person) -> Flags:
    level = person["elevel"]
    return _by_age(person, level <= 1, (level >= 1) & (level <= 3), level >= 2)


def _schooling_and_salary(person: Person) -> Flags:
    salary, schooled = person["salary"], _schooling(person)
    low, middle, high = _within(salary, 25, 75), _within(salary, 50, 100), _within(salary, 75, 125)
    return _by_age(
        person,
        np.where(schooled, low, middle),
        np.where(schooled, middle, high),
        np.where(schooled, middle, low),
    )


def _salary_and_loan(person: Person) -> Flags:
    loan, expected = person["loan"], _by_amount(person, person["salary"])
    small, medium, large = _within(loan, 100, 300), _within(loan, 200, 400), _within(loan, 300, 500)
    return _by_age(
        person,
        np.where(expected, small, medium),
        np.where(expected, medium, large),
        np.where(expected, large, small),
    )


def _income(person: Person) -> Floats:
    return np.asarray(person["salary"] + person["commission"])


def _disposable(
    person: Person, *, schooling: float, loan: float, equity: float, rent: float
) -> Any:
    """What is left of two thirds of the income."""
    owned = np.maximum(person["hyears"] - 20.0, 0.0) * person["hvalue"] / 10.0
    left = 2.0 / 3.0 * _income(person) - schooling * person["elevel"]
    return left - loan * person["loan"] + equity * owned - rent > 0.0


RULES: dict[int, Callable[[Person], Flags]] = {
    1: lambda p: np.asarray((p["age"] < 40.0) | (p["age"] >= 60.0)),
    2: lambda p: _by_amount(p, p["salary"]),
    3: _schooling,
    4: _schooling_and_salary,
    5: _salary_and_loan,
    6: lambda p: _by_amount(p, _income(p)),
    7: lambda p: _disposable(p, schooling=0, loan=0.2, equity=0, rent=20_000),
    8: lambda p: _disposable(p, schooling=5000, loan=0, equity=0, rent=20_000),
    9: lambda p: _disposable(p, schooling=5000, loan=0.2, equity=0, rent=10_000),
    10: lambda p: _disposable(p, schooling=5000, loan=0, equity=0.2, rent=10_000),
}
"""Whether a person belongs to group A."""
