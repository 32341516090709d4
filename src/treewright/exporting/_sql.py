"""SQL: one SELECT of nested CASE, for DuckDB, PostgreSQL and SQLite."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from treewright.errors import ParameterError, suggest
from treewright.exporting._formulas import Formulas
from treewright.exporting._names import sql_name, sql_text
from treewright.exporting._program import HIGHEST, Program

__all__ = ["write_sql"]

DIALECTS = {
    # how a number is written; a column as a number without NaN; most categories behind IN
    "duckdb": ("{}e0", "NULLIF(CAST({} AS DOUBLE), 'NaN'::DOUBLE)", 2),
    "postgresql": ("{}::float8", "NULLIF(CAST({} AS float8), 'NaN'::float8)", 20),
    "sqlite": ("{}", "CAST({} AS REAL)", 20),
}
# DuckDB plans a join for a longer IN: 20 full trees on a column of 200 categories took it minutes


def write_sql(
    program: Program,
    *,
    dialect: str = "duckdb",
    table: str = "data",
    keep: Sequence[str] = (),
) -> str:
    """A query that adds the prediction to the inputs.

    Parameters
    ----------
    program
        What to write.
    dialect
        ``"duckdb"``, ``"postgresql"`` or ``"sqlite"``.
    table
        Table with a column for each input; NULL is a gap.
    keep
        Other columns of the table to pass on, such as a key.
    """
    if dialect not in DIALECTS:
        raise ParameterError(f"sql has no dialect {dialect!r}.{suggest(dialect, list(DIALECTS))}")
    _check_names([f.name for f in program.inputs], dialect)
    program.check_texts("SQL")
    words = _SqlWords(program, dialect)
    answer = Formulas(words, program).answer(program)
    columns = [sql_name(name) for name in [*keep, *(f.name for f in program.inputs)]]
    taken = {name.lower() for name in [*keep, *(f.name for f in program.inputs)]}
    out = []
    if answer.label is not None:
        classes = [words.literal(c) for c in program.target.classes]
        label = words.lookup(answer.label, classes)
        out.append(f"{label} AS {sql_name(_free('prediction', taken))}")
        for value, number in zip(program.target.classes, answer.numbers, strict=True):
            out.append(f"{number} AS {sql_name(_free(f'probability of {value}', taken))}")
    else:
        names = ["prediction"]
        if len(answer.numbers) > 1:
            names = [f"prediction {k + 1}" for k in range(len(answer.numbers))]
        for name, number in zip(names, answer.numbers, strict=True):
            out.append(f"{number} AS {sql_name(_free(name, taken))}")
    lines = ["-- A model made by treewright; NULL is a gap."]
    source = sql_name(table)
    for k, level in enumerate(words.levels()):
        head = "WITH " if k == 0 else ""
        inside = ",\n    ".join(f"{formula} AS {name}" for name, formula in level)
        inside = f"SELECT *,\n    {inside}\n  FROM {source}"
        lines.append(f"{head}{words.prefix}{k} AS MATERIALIZED (\n  {inside}\n),")
        source = f"{words.prefix}{k}"
    lines[-1] = lines[-1].removesuffix(",")
    shown = ",\n  ".join([*columns, *out])
    return "\n".join([*lines, f"SELECT\n  {shown}\nFROM {source};\n"])


def _for_sqlite(value: float) -> str:
    """A number that SQLite reads to the last bit.

    It reads 18 digits well enough to find the nearest double. Fewer do unless they lie in the
    middle between two, and below 1e-290, where it rounds twice, a power of two helps.
    """
    if 0 < abs(value) < 1e-290:
        scaled, power = _for_sqlite(math.ldexp(value, 900)), _for_sqlite(2.0**900)
        return f"({scaled} / {power})"
    text = repr(value)
    is_near = abs(Decimal(text) - Decimal(value)) <= Decimal(0.49 * math.ulp(value))
    return text if is_near else f"{value:.17e}"


def _check_names(names: list[str], dialect: str) -> None:
    """Raise where two columns are one to a database."""
    known: dict[bytes, str] = {}
    for name in names:
        own = name.encode("utf-8", "surrogatepass")
        own = own[:63] if dialect == "postgresql" else own.lower()  # of ASCII only, as they do
        if own in known:
            rule = "63 bytes of a name" if dialect == "postgresql" else "names without their case"
            raise ParameterError(
                f"{dialect} reads {rule}, but the model has columns {known[own]!r} and {name!r}; "
                "rename one, or export to another format."
            )
        known[own] = name


def _free(name: str, taken: set[str]) -> str:
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name


class _SqlWords:
    """The formulas of SQL; see :class:`treewright.exporting._formulas.Words`."""

    yes, no = "1 = 1", "1 = 0"
    most = sys.maxsize
    # SQLite's parser remembers 100 words, of which some are around a choice.
    deepest: int | None = 75

    def __init__(self, program: Program, dialect: str) -> None:
        self.inputs = program.inputs
        self.number_form, self.column_form, self.most_listed = DIALECTS[dialect]
        self.is_sqlite = dialect == "sqlite"
        names = [f.name.lower() for f in program.inputs]
        self.prefix = "tw_"
        while any(name.startswith(self.prefix) for name in names):
            self.prefix = "tw" + self.prefix
        self.columns: list[list[tuple[str, str]]] = []
        self.used: dict[int, str] = {}
        self.n = 0

    # What is defined

    def levels(self) -> list[list[tuple[str, str]]]:
        """Columns by level, the inputs that are read first."""
        inputs = [(self._input(f), self._read(f)) for f in sorted(self.used)]
        levels = [inputs] if inputs else []
        levels += [level for level in self.columns if level]
        return levels or [[(f"{self.prefix}none", "NULL")]]

    def define(self, formula: str, level: int, hint: str) -> str:
        while len(self.columns) <= level:
            self.columns.append([])
        self.n += 1
        name = f"{self.prefix}{hint}_{self.n}"
        self.columns[level].append((name, formula))
        return name

    def _input(self, feature: int) -> str:
        return f"{self.prefix}in{feature}"

    def _read(self, feature: int) -> str:
        known, column = self.inputs[feature], sql_name(self.inputs[feature].name)
        if known.kind == "continuous":
            return self.column_form.format(column)
        choices = " ".join(
            f"WHEN {self.literal(c)} THEN {k}" for k, c in enumerate(known.categories)
        )
        return f"CASE {column} {choices} END" if choices else "NULL"

    # Words

    def number(self, value: float) -> str:
        text = _for_sqlite(float(value)) if self.is_sqlite else repr(float(value))
        form = self.number_form
        if "e" in text or "E" in text:
            form = form.replace("e0", "")
        written = form.format(text)
        return f"({written})" if value < 0 else written

    def whole(self, value: int) -> str:
        return str(value)

    def add(self, parts: Sequence[str]) -> str:
        return f"({' + '.join(parts)})" if len(parts) > 1 else parts[0]

    def times(self, parts: Sequence[str]) -> str:
        return f"({' * '.join(parts)})" if len(parts) > 1 else parts[0]

    def minus(self, left: str, right: str) -> str:
        return f"({left} - {right})"

    def over(self, left: str, right: str) -> str:
        return f"({left} / {right})"

    def literal(self, value: Any) -> str:
        """A category or class as it stands in the data."""
        if isinstance(value, bool):
            return str(int(value)) if self.is_sqlite else str(value).upper()
        if isinstance(value, int):
            return str(value)
        return self.number(value) if isinstance(value, float) else sql_text(str(value))

    def value(self, feature: int) -> str:
        self.used[feature] = ""
        return self._input(feature)

    def cut(self, value: str, sign: str, at: float, features: Sequence[int]) -> str:
        if abs(at) >= HIGHEST:
            return f"{value} IS NOT NULL"
        return f"{value} {sign} {self.number(at)}"

    def member(self, feature: int, codes: Sequence[int]) -> str:
        if len(codes) > self.most_listed:
            return f"{self._mark(feature, codes)} = '1'"
        return f"{self._nominal(feature)} IN ({self._listed(feature, codes)})"

    def indicator(self, feature: int, code: int) -> str:
        value = self.value(feature)
        return f"CASE WHEN {value} = {code} THEN 1.0 WHEN {value} IS NOT NULL THEN 0.0 END"

    def unlisted(self, feature: int, codes: Sequence[int]) -> str:
        if not codes:
            return self.yes
        if len(codes) > self.most_listed:
            return f"({self.value(feature)} IS NULL OR {self._mark(feature, codes)} = '0')"
        column = self._nominal(feature)
        return f"({column} IS NULL OR {column} NOT IN ({self._listed(feature, codes)}))"

    def _mark(self, feature: int, codes: Sequence[int]) -> str:
        """1 where the category of a row is among many, found by its place in a text."""
        chosen = set(codes)
        marks = ("01"[code in chosen] for code in range(len(self.inputs[feature].categories)))
        return f"SUBSTR('{''.join(marks)}', {self.value(feature)} + 1, 1)"

    def _nominal(self, feature: int) -> str:
        """Nominal columns are read as they are; those with an order by their code."""
        if self.inputs[feature].kind == "ordinal":
            return self.value(feature)
        return sql_name(self.inputs[feature].name)

    def _listed(self, feature: int, codes: Sequence[int]) -> str:
        known = self.inputs[feature]
        if known.kind == "ordinal":
            return ", ".join(map(str, codes))
        return ", ".join(self.literal(known.categories[code]) for code in codes)

    def categories(self, feature: int) -> int | None:
        """How many categories a nominal feature has."""
        known = self.inputs[feature]
        return len(known.categories) if known.kind == "nominal" else None

    def gap(self, features: Sequence[int]) -> str:
        parts = [f"{self.value(f)} IS NULL" for f in dict.fromkeys(features)]
        return self.either(parts)

    def both(self, conditions: Sequence[str]) -> str:
        return " AND ".join(conditions) if len(conditions) > 1 else "".join(conditions) or self.yes

    def either(self, conditions: Sequence[str]) -> str:
        return f"({' OR '.join(conditions)})" if len(conditions) > 1 else conditions[0]

    def compare(self, left: str, sign: str, right: str) -> str:
        return f"{left} {sign} {right}"

    def case(self, choices: Sequence[tuple[str, str]], otherwise: str) -> str:
        if not choices:
            return otherwise
        inside = " ".join(f"WHEN {when} THEN {then}" for when, then in choices)
        return f"CASE {inside} ELSE {otherwise} END"

    def lookup(self, place: str, entries: Sequence[str]) -> str:
        if len(set(entries)) == 1:
            return entries[0]
        usual = max(set(entries), key=lambda e: (entries.count(e), e))
        inside = " ".join(f"WHEN {k} THEN {e}" for k, e in enumerate(entries) if e != usual)
        return f"CASE {place} {inside} ELSE {usual} END"

    def exp(self, value: str) -> str:
        return f"EXP({value})"
