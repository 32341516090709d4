"""Arguments of the functions that judge, explain and prune: one rule per name.

A name means the same in all of them, so :data:`ALLOWED` holds what its value may be, in words
the error. :func:`checked` looks the parameters of a function up there; what is wrong only together
with other arguments or with the data, the function says itself.
"""

from __future__ import annotations

import functools
import inspect
import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from treewright.errors import ParameterError

__all__ = [
    "ALLOWED",
    "FUNCTION",
    "INSTANCE",
    "LIST",
    "ROWS",
    "SEED",
    "TEXT",
    "Allowed",
    "array",
    "checked",
    "number",
    "shown",
    "whole",
]

Function = TypeVar("Function", bound=Callable[..., Any])

LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Allowed:
    """What a value must be, in words and as a test, and what it is handed on as."""

    words: str
    holds: Callable[[Any], bool]
    becomes: Callable[[Any], Any] = lambda value: value

    def __or__(self, other: Allowed) -> Allowed:
        """One of the two."""
        return Allowed(
            f"{self.words} or {other.words}",
            lambda value: self.holds(value) or other.holds(value),
            lambda value: (self if self.holds(value) else other).becomes(value),
        )


def array(words: str, kinds: str = "biuf", dimensions: tuple[int, ...] = (1,)) -> Allowed:
    """Arrays of finite numbers, and what numpy makes them of."""

    def holds(value: Any) -> bool:
        try:
            found = np.asarray(value)
        except (TypeError, ValueError):
            return False
        is_sound = found.dtype.kind in kinds and found.ndim in dimensions and found.size > 0
        return is_sound and bool(np.isfinite(found).all())

    return Allowed(words, holds, np.asarray)


def whole(low: int, high: int = LARGEST) -> Allowed:
    """Integers within their bounds."""
    words = f"of {low} or more" if high == LARGEST else f"from {low} to {high}"
    return Allowed(
        f"an integer {words}",
        lambda value: isinstance(value, Integral) and low <= int(value) <= high,
        int,
    )


def number(
    low: float, high: float = math.inf, *, is_open: bool = False, is_finite: bool = True
) -> Allowed:
    """Numbers within their bounds, which themselves belong to it or not."""
    what = "a finite number" if is_finite and high == math.inf else "a number"
    words = f"{what} above {low:g}" if is_open else f"{what} not below {low:g}"
    if high < math.inf:
        words += f" and below {high:g}" if is_open else f" and not above {high:g}"

    def holds(value: Any) -> bool:
        if not isinstance(value, Real):
            return False
        try:
            found = float(value)
        except OverflowError:  # an integer beyond all floats
            return False
        within = low < found < high if is_open else low <= found <= high
        return within and (math.isfinite(found) or not is_finite)

    return Allowed(words, holds, float)


def checked(**own: Allowed) -> Callable[[Function], Function]:
    """Check the arguments of a function by the rules of their names; those in ``own`` differ.

    Examples
    --------
    >>> from treewright.arguments import checked
    >>> @checked()
    ... def drawn(n_jobs=None, random_state=0): ...
    >>> drawn(n_jobs=0)
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: n_jobs must be fits at a time, or -1 for all cores, got
    0; None is the default.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        rules = [
            (name, own.get(name) or ALLOWED[name], parameter.default)
            for name, parameter in signature.parameters.items()
            if name in own or name in ALLOWED
        ]

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:  # Python's own words name the function
                return function(*args, **kwargs)
            for name, rule, default in rules:
                if name not in bound.arguments or bound.arguments[name] is default:
                    continue
                value = bound.arguments[name]
                if not rule.holds(value):
                    way_out = "" if default is EMPTY else f"; {default!r} is the default"
                    raise ParameterError(
                        f"{name} must be {rule.words}, got {shown(value)}{way_out}."
                    )
                bound.arguments[name] = rule.becomes(value)
            return function(*bound.args, **bound.kwargs)

        return call  # type: ignore[return-value]

    return decorate


EMPTY = inspect.Parameter.empty


def shown(value: Any) -> str:
    """A value in one line of an error."""
    return " ".join(reprlib.repr(value).split())


def having(*methods: str) -> Callable[[Any], bool]:
    """Whether a value is an object, not a class, with these methods."""
    return lambda value: (
        not isinstance(value, type)
        and all(callable(getattr(value, method, None)) for method in methods)
    )


def _is_label(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, tuple) and getattr(value, "ndim", 0) == 0


def _is_list(value: Any) -> bool:
    is_one = isinstance(value, str | bytes | Mapping | type)
    return isinstance(value, Iterable) and not is_one and getattr(value, "ndim", 1) == 1


def _is_seed(value: Any) -> bool:
    if isinstance(value, Integral):
        return 0 <= int(value) < 2**32
    return value is None or isinstance(value, np.random.RandomState)


def _seed(value: Any) -> int:
    """An integer as it is; one that is drawn for others."""
    if isinstance(value, Integral):
        return int(value)
    drawing = np.random.mtrand._rand if value is None else value
    return int(drawing.randint(LARGEST))


TEXT = Allowed("text", lambda value: isinstance(value, str))
SHARE = Allowed("a share between 0 and 1", number(0, 1, is_open=True).holds, float)
ROWS = Allowed("a positive number of rows", number(0, is_open=True).holds, float)
PRICE = number(0, is_finite=False)
NONE = Allowed("None", lambda value: value is None)
RANDOM = Allowed("an integer from 0 to 2**32 - 1, a RandomState or None", _is_seed)
SEED = Allowed(RANDOM.words, _is_seed, _seed)
FUNCTION = Allowed("a function", lambda value: callable(value) and not isinstance(value, type))
INSTANCE = Allowed("a fitted estimator, not its class", lambda value: not isinstance(value, type))
LIST = Allowed("a list", _is_list, list)
FLAG = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_), bool)

ALLOWED: dict[str, Allowed] = {
    "positive": Allowed("one of the classes", _is_label),
    "fixed": LIST,
    "sizes": LIST,
    "values": LIST,
    "wanted": Allowed(
        "a class, or a pair of numbers",
        lambda value: isinstance(value, tuple | list) or _is_label(value),
    ),
    "ax": Allowed("matplotlib axes", having("plot", "pcolormesh")),
    # how it is done
    "random_state": RANDOM,
    "n_jobs": Allowed(
        "fits at a time, or -1 for all cores",
        lambda value: isinstance(value, Integral) and 0 < abs(int(value)) <= LARGEST,
        int,
    ),
    "progress": Allowed(
        "True, False or a function",
        lambda value: isinstance(value, bool) or (callable(value) and not isinstance(value, type)),
    ),
    # names; which there are is said where they are looked up
    "method": TEXT,
    "by": TEXT,
    "metric": TEXT,
    "measure": TEXT,
    "parameter": TEXT,
    "interval": TEXT,
    "test": TEXT,
    "correction": TEXT,
    "search": TEXT,
    "loss": TEXT,
    "order": TEXT,
    "risk": TEXT,
    "rule": TEXT,
    "coding": TEXT,
    "variant": TEXT,
    # numbers
    "confidence": SHARE,
    "level": SHARE,
    "test_size": SHARE,
    "validation_fraction": SHARE,
    "repeats": whole(1),
    "rounds": whole(2),
    "noise": number(0),
    "rope": number(0),
    "n_features": whole(1),
    "n_train": whole(1),
    "n_test": whole(1),
    "n_repeats": whole(1),
    "n_folds": whole(2),
    "n_candidates": whole(1),
    "resolution": whole(2, 10_000),
    "cv": whole(2) | NONE,
    "max_depth": whole(1),
    "max_rows": whole(1) | NONE,
    "max_cuts": whole(1) | NONE,
    "time_limit": number(0, is_open=True, is_finite=False) | NONE,
    "k": whole(1),
    "penalty": PRICE,
    "alpha": number(0, 1),
    "ccp_alpha": PRICE,
    "cp": PRICE,
    "m": number(0),
    "t": PRICE,
    # flags
    "nested": FLAG,
    "stratify": FLAG,
    "keep_models": FLAG,
    "interactions": FLAG,
    "corrections": FLAG,
    "standard_error": FLAG,
    "subtree_raising": FLAG,
    "collapse": FLAG,
    # functions
    "function": FUNCTION,
    "sampler": FUNCTION,
    "size": FUNCTION,
}
