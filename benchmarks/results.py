"""What a benchmark found, as rows of a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

__all__ = ["Result", "Skipped", "save", "table"]


@dataclass(frozen=True)
class Result:
    """One line: a figure, what it must be, and where it comes from.

    Parameters
    ----------
    case
        Name of the case, as ``--only`` takes it.
    what
        What was measured.
    ours, peer
        Both sides in words, with units.
    figure, shown
        The number that the target is about, and how it reads.
    target
        Bound of the figure, as text; empty if there is none.
    is_met
        Whether the figure keeps to it; None without a target.
    details
        Every single time and what else is worth keeping.
    """

    case: str
    what: str
    ours: str
    peer: str
    figure: float
    shown: str
    target: str = ""
    is_met: bool | None = None
    details: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """A case that could not run here, and why."""

    case: str
    why: str


def count(value: int) -> str:
    """A whole number in groups of three digits."""
    return f"{value:_}".replace("_", " ")


def duration(value: float) -> str:
    """Seconds in a readable unit."""
    for limit, scale, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * scale:.3g} {unit}"
    return f"{value:.2f} s"


def faster(
    case: str, what: str, peer: str, times: dict[str, list[float]], least: float | None
) -> Result:
    """How many times the peer's time is ours; ``times`` holds "treewright" and the peer."""
    best = {name: min(values) for name, values in times.items()}
    ratio = best[peer] / best["treewright"]
    return Result(
        case=case,
        what=what,
        ours=duration(best["treewright"]),
        peer=f"{peer} {duration(best[peer])}",
        figure=ratio,
        shown=f"{ratio:.1f}×",
        target="" if least is None else f"≥ {least:g}×",
        is_met=None if least is None else ratio >= least,
        details={"seconds": times},
    )


def at_most(
    case: str,
    what: str,
    ours: str,
    peer: str,
    figure: float,
    most: float,
    unit: str = "",
    **details: object,
) -> Result:
    """A figure that must not be above a bound."""
    shown, target = f"{figure:.3g}{unit}", f"≤ {most:g}{unit}"
    return Result(case, what, ours, peer, figure, shown, target, figure <= most, details)


def not_worse(case: str, what: str, peer: str, ours: float, theirs: float, error: float) -> Result:
    """A score that must not be below the peer's by more than two standard errors."""
    return Result(
        case=case,
        what=what,
        ours=f"{ours:.4f}",
        peer=f"{peer} {theirs:.4f}",
        figure=ours - theirs,
        shown=f"{ours - theirs:+.4f}",
        target=f"≥ 0 ± {2 * error:.4f}",
        is_met=ours - theirs >= -2 * error,
        details={"ours": ours, "peer": theirs, "standard_error": error},
    )


_VERDICT = {None: "", True: "met", False: "**missed**"}


def table(results: list[Result]) -> str:
    """A Markdown table that reads well as it is."""
    head = ("what", "treewright", "peer", "figure", "target", "")
    rows = [(r.what, r.ours, r.peer, r.shown, r.target, _VERDICT[r.is_met]) for r in results]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = [head, tuple("-" * width for width in widths), *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def save(
    folder: Path, facts: dict[str, str], results: list[Result], skipped: list[Skipped]
) -> None:
    """Write ``results.json`` and ``results.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    everything = {
        "machine": facts,
        "results": [asdict(result) for result in results],
        "skipped": [asdict(skip) for skip in skipped],
    }
    text = json.dumps(everything, indent=1, ensure_ascii=False, default=float)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", table(results), *(f"\nSkipped {s.case}: {s.why}" for s in skipped)]
    (folder / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
