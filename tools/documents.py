"""Runs the code of the pages, in order, and compares what it prints with the page.

    python tools/documents.py [--write] [PAGE ...]

Blocks of ``python`` run in one namespace per page, in an empty folder; a block of ``text`` right
below one is what it prints. In blocks of ``console`` the lines after ``$ `` run as on a command
line, and the lines below are what comes out; in blocks of ``sh`` every line runs. Blanks and line
breaks do not count, and … alone stands for any words. ``--write`` puts what was printed into the
pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import traceback
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ ]*$", re.S | re.M)
ANY = "…"


@dataclass(frozen=True)
class Difference:
    """A place of a page where something else was printed."""

    start: int
    end: int
    expected: str
    printed: str

    def __str__(self) -> str:
        return f"The page says:\n{self.expected}\nIt printed:\n{self.printed}"


def pages() -> list[Path]:
    """The pages with code."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def differences(page: Path, folder: Path) -> list[Difference]:
    """Run a page in a folder; raises what its code raises."""
    text = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    names: dict[str, object] = {"__name__": "__main__"}
    found = []
    with contextlib.chdir(folder), _quiet_figures():
        for fence, after in zip_longest(fences, fences[1:]):
            if fence[1] == "python":
                printed = _run_python(fence[2], names, f"{page.name}:{_line(text, fence)}")
                shows = after is not None and after[1] == "text"
                if shows and not text[fence.end() : after.start()].strip():
                    found.append(Difference(after.start(2), after.end(2), after[2], printed))
            elif fence[1] == "console":
                found.append(Difference(*fence.span(2), fence[2], _run_console(fence[2])))
            elif fence[1] == "sh":
                for command in fence[2].splitlines():
                    _run_command(command)
    return [d for d in found if not _matches(d.expected, d.printed)]


def _line(text: str, fence: re.Match[str]) -> int:
    return text.count("\n", 0, fence.start()) + 1


def _run_python(code: str, names: dict[str, object], where: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, where, "exec"), names)
    return out.getvalue()


def _run_console(block: str) -> str:
    """The block as it should be: every command, and what it prints."""
    lines, printed = block.splitlines(), []
    for i, line in enumerate(lines):
        if not line.startswith("$ "):
            continue
        command = line[2:]
        while command.endswith("\\"):  # goes on in the next line
            i += 1
            command = command[:-1] + lines[i].strip()
            line += "\n" + lines[i]
        printed += [line, *_run_command(command).splitlines()]
    return "".join(f"{line.rstrip()}\n" for line in printed)


def _run_command(command: str) -> str:
    from treewright.cli import main

    words = shlex.split(command, comments=True)
    assert words[0] == "treewright", f"{command!r} is not a command of ours"
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(words[1:])
        except SystemExit as end:
            code = end.code
    printed = out.buffer.getvalue().decode()
    assert not code, f"{command}: {printed}"
    return printed


@contextlib.contextmanager
def _quiet_figures():
    """Figures are drawn nowhere; a terminal has 80 columns and no colour."""
    import matplotlib
    from matplotlib import pyplot

    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR", "TERM")}
    os.environ.update(COLUMNS="80", NO_COLOR="1", TERM="dumb")
    with matplotlib.rc_context({"backend": "agg"}):
        try:
            yield
        finally:
            pyplot.close("all")
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name)
                else:
                    os.environ[name] = value


def _matches(expected: str, printed: str) -> bool:
    """The same words; a page may break long lines."""
    wanted, words = expected.split(), printed.split()
    pattern = " ".join(r".*?" if word == ANY else re.escape(word) for word in wanted)
    return re.fullmatch(pattern, " ".join(words), re.S) is not None


def write(page: Path, found: list[Difference]) -> None:
    """Put what was printed into the page."""
    text = page.read_text(encoding="utf-8")
    for d in sorted(found, key=lambda d: -d.start):
        text = text[: d.start] + d.printed.strip("\n") + "\n" + text[d.end :]
    page.write_text(text, encoding="utf-8")


def main() -> int:
    """Check or write pages; the number of pages that differ or fail."""
    names = [word for word in sys.argv[1:] if word != "--write"]
    wrong = 0
    for page in [Path(name).resolve() for name in names] or pages():
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = differences(page, Path(folder))
            except Exception:
                traceback.print_exc(limit=-2)
                print(f"{page.relative_to(ROOT)}: its code does not run")
                wrong += 1
                continue
        if found and "--write" in sys.argv:
            write(page, found)
        for d in found:
            print(f"{page.relative_to(ROOT)}: {d}\n")
        wrong += bool(found)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
