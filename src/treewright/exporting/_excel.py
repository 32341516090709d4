"""Excel formulas: a header and a row of cells to paste at A1 and fill down.

The first columns are the inputs, blank at a gap; then come cells of work, then the prediction.
Excel reads 15 digits of a number. Cuts are rounded to 15 digits in the direction that keeps the
answer for every cell of up to 15 digits; other numbers are rounded to the nearest.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from treewright.data.textfile import no_formula
from treewright.errors import ParameterError
from treewright.exporting._formulas import Formulas
from treewright.exporting._names import excel_text
from treewright.exporting._program import HIGHEST, Program

__all__ = ["write_excel"]

LONGEST, MOST_COLUMNS = 8192, 16384
"""Letters of a formula and columns of a sheet that Excel takes."""
MOST_CHOICES = 30
"""Values that CHOOSE of LibreOffice takes; Excel has 254."""
MOST_NAMES = 20
"""Categories of a formula, so that it stays within these letters and 64 levels."""
DIGITS = 15


def write_excel(program: Program, *, row: int = 2) -> str:
    """Two lines of cells between tabs: names, and formulas for one row.

    Parameters
    ----------
    program
        What to write.
    row
        Number of the row that the formulas are for.
    """
    program.check_integers(10**DIGITS, "Excel")
    program.check_texts("Excel")
    words = _ExcelWords(program, row)
    answer = Formulas(words, program).answer(program)
    names = [f.name for f in program.inputs]
    taken = set(names)
    if answer.label is not None:
        classes = [words.literal(c) for c in program.target.classes]
        words.define(words.lookup(answer.label, classes), 0, _free("prediction", taken))
        for value, number in zip(program.target.classes, answer.numbers, strict=True):
            words.define(number, 0, _free(f"probability of {value}", taken))
    else:
        for k, number in enumerate(answer.numbers):
            name = "prediction" if len(answer.numbers) == 1 else f"prediction {k + 1}"
            words.define(number, 0, _free(name, taken))
    longest = max(len(formula) for _, formula in words.cells) + 1
    if longest > LONGEST or len(words.cells) + len(names) > MOST_COLUMNS:
        raise ParameterError(
            f"Excel takes formulas of {LONGEST} letters and {MOST_COLUMNS} columns, but "
            f"{program.model} needs {longest} and {len(words.cells) + len(names)}; export a "
            "smaller model, or to another format."
        )
    out = io.StringIO()
    writer = csv.writer(out, dialect="excel-tab", lineterminator="\n")
    heads = [*names, *(name for name, _ in words.cells)]
    writer.writerow([no_formula(" ".join(name.split())) for name in heads])
    writer.writerow([*[""] * len(names), *(f"={formula}" for _, formula in words.cells)])
    return out.getvalue()


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def rounded_cut(at: float, sign: str) -> str:
    """A cut in 15 digits that divides all numbers of 15 digits as the double does.

    The double 1.7 lies a little below 1.7; a cell that says 1.7 is that double all the same.
    """
    near = Context(prec=DIGITS).create_decimal(Decimal(at))
    is_floor = sign in ("<=", ">")
    if (float(near) > at) if is_floor else (float(near) < at):
        rounding = ROUND_FLOOR if is_floor else ROUND_CEILING
        near = Context(prec=DIGITS, rounding=rounding).create_decimal(Decimal(at))
    text = str(near.normalize())
    return f"({text})" if at < 0 else text


def column_name(place: int) -> str:
    """``A`` for 0, ``AA`` for 26.

    Examples
    --------
    >>> column_name(27)
    'AB'
    """
    name = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        name = chr(65 + letter) + name
    return name


class _ExcelWords:
    """The formulas of Excel; see :class:`treewright.exporting._formulas.Words`."""

    yes, no = "TRUE", "FALSE"
    most = 1500  # letters, so that no formula is nested more than 64 deep
    deepest: int | None = None

    def __init__(self, program: Program, row: int) -> None:
        if not isinstance(row, int) or row < 1:
            raise ParameterError(f"row must be a positive number, got {row!r}.")
        self.inputs = program.inputs
        self.row = row
        self.cells: list[tuple[str, str]] = []
        self.codes: dict[int, str] = {}
        if any(c == "" for f in program.inputs for c in f.categories):
            raise ParameterError(
                "Excel cannot tell an empty text from a gap, but a category of the model is one; "
                "name it, or export to another format."
            )

    def define(self, formula: str, level: int, hint: str) -> str:
        self.cells.append((hint, formula))
        return f"{column_name(len(self.inputs) + len(self.cells) - 1)}{self.row}"

    def _cell(self, feature: int) -> str:
        return f"{column_name(feature)}{self.row}"

    # Words

    def number(self, value: float) -> str:
        text = f"{value:.{DIGITS}g}".upper()
        return f"({text})" if value < 0 else text

    def whole(self, value: int) -> str:
        return str(value)

    def literal(self, value: Any) -> str:
        """A category or class as it stands in a cell."""
        if isinstance(value, bool):
            return str(value).upper()
        return self.number(value) if isinstance(value, int | float) else excel_text(str(value))

    def value(self, feature: int) -> str:
        if self.inputs[feature].kind != "ordinal":
            return self._cell(feature)
        return self._code(feature)

    def _code(self, feature: int) -> str:
        """A column with the code of a category, "" for a gap."""
        if feature not in self.codes:
            n = len(self.inputs[feature].categories)
            code = '""'
            for start in range(0, max(n, 1), MOST_NAMES):
                names = range(start, min(n, start + MOST_NAMES))
                choices = [(self.member(feature, [k]), str(k)) for k in names]
                code = self.define(self.case(choices, code), 0, "code")
            self.codes[feature] = code
        return self.codes[feature]

    def cut(self, value: str, sign: str, at: float, features: Sequence[int]) -> str:
        known = self._known(features)
        if abs(at) >= HIGHEST:
            return known
        if len(set(features)) > 1:
            return f"IF({known},{value}{sign}{rounded_cut(at, sign)},FALSE)"
        return f"AND({known},{value}{sign}{rounded_cut(at, sign)})"

    def _known(self, features: Sequence[int]) -> str:
        parts = [
            f"ISNUMBER({self._code(f) if self.inputs[f].is_categorical else self._cell(f)})"
            for f in dict.fromkeys(features)
        ]
        return self.both(parts)

    def gap(self, features: Sequence[int]) -> str:
        return f"NOT({self._known(features)})"

    def _is(self, feature: int, category: Any) -> str:
        cell = self._cell(feature)
        if isinstance(category, str):
            return f"EXACT({cell},{excel_text(category)})"
        if category in (0, 1):  # TRUE is not 1 to a sheet
            return f"OR({cell}={str(bool(category)).upper()},{cell}={int(category)})"
        return f"{cell}={self.literal(category)}"

    def member(self, feature: int, codes: Sequence[int]) -> str:
        categories = self.inputs[feature].categories
        found = [self._is(feature, categories[code]) for code in codes]
        if any(not isinstance(categories[code], str) for code in codes):
            # an empty cell equals 0 and FALSE
            return f"AND(NOT(ISBLANK({self._cell(feature)})),{self.either(found)})"
        return self.either(found)

    def indicator(self, feature: int, code: int) -> str:
        return f"IF({self._code(feature)}={code},1,0)"

    def unlisted(self, feature: int, codes: Sequence[int]) -> str:
        return f"NOT({self.member(feature, codes)})" if codes else self.yes

    def categories(self, feature: int) -> int | None:
        known = self.inputs[feature]
        return len(known.categories) if known.kind == "nominal" else None

    def both(self, conditions: Sequence[str]) -> str:
        return self._joined("AND", conditions)

    def either(self, conditions: Sequence[str]) -> str:
        return self._joined("OR", conditions)

    def _joined(self, function: str, parts: Sequence[str]) -> str:
        """Functions take 255 arguments; more are put together in steps."""
        parts = list(parts)
        while len(parts) > 200:
            parts = [self._joined(function, parts[i : i + 200]) for i in range(0, len(parts), 200)]
        return f"{function}({','.join(parts)})" if len(parts) > 1 else parts[0]

    def compare(self, left: str, sign: str, right: str) -> str:
        return f"{left}{sign}{right}"

    def add(self, parts: Sequence[str]) -> str:
        return f"({'+'.join(parts)})" if len(parts) > 1 else parts[0]

    def times(self, parts: Sequence[str]) -> str:
        return f"({'*'.join(parts)})" if len(parts) > 1 else parts[0]

    def minus(self, left: str, right: str) -> str:
        return f"({left}-{right})"

    def over(self, left: str, right: str) -> str:
        return f"({left}/{right})"

    def exp(self, value: str) -> str:
        return f"EXP({value})"

    def case(self, choices: Sequence[tuple[str, str]], otherwise: str) -> str:
        formula = otherwise
        for when, then in reversed(choices):
            formula = f"IF({when},{then},{formula})"
        return formula

    def lookup(self, place: str, entries: Sequence[str]) -> str:
        """By halves until one CHOOSE holds them; no half fails where the other is meant."""
        if len(set(entries)) == 1:
            return entries[0]
        if len(entries) <= MOST_CHOICES:
            return f"CHOOSE({place}+1,{','.join(entries)})"
        half = len(entries) // 2
        low = self.lookup(f"MIN({place},{half - 1})", entries[:half])
        high = self.lookup(f"MAX({place}-{half},0)", entries[half:])
        low, high = (self.define(f, 0, "part") if len(f) > self.most else f for f in (low, high))
        return f"IF({place}<{half},{low},{high})"
