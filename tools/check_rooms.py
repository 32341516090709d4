"""Fail where a folder of core/ includes one that it may not, or defines a type a second time.

A folder may include itself and those listed for it. The table has no circle, so that reading may
begin at the bottom. A new folder needs a line here, and one in docs/architecture.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

MAY_INCLUDE = {
    "base": "",
    "data": "base",
    "binned": "base data",
    "criteria": "base data",
    "choose": "base data binned criteria",
    "grow": "base data binned criteria choose",
    "quinlan": "base data criteria choose grow",
    "predict": "base",
    "forest": "base data binned grow predict",
    "boost": "base data binned predict",
    "blocks": "base data binned criteria choose forest boost",
    "chaid": "base",
    "ctree": "base",
    "lists": "base data binned criteria choose",
    "mars": "base data",
    "oblique": "base data criteria choose",
    "optimal": "base data binned",
    "prune": "base data",
    "stream": "base",
    "rules": "base predict prune",
    "explain": "base predict",
    "bind": "base data binned criteria choose grow quinlan predict forest boost blocks chaid ctree "
    "mars oblique optimal prune rules explain",
}

NAMESPACE = re.compile(r"^(?:namespace ([\w:]*) ?\{|\}  // namespace)", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b(?!::)[^;\n]*\{", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def complaints(core: Path) -> list[str]:
    """What is wrong, one line each."""
    found = [f"{path.name}: put it into a folder" for path in core.glob("*.?pp")]
    for path in sorted(core.glob("*/**/*.?pp")):
        room = path.relative_to(core).parts[0]
        if room not in MAY_INCLUDE:
            found.append(f"{path}: the folder {room}/ is not in tools/check_rooms.py")
            continue
        for included in INCLUDE.findall(path.read_text()):
            target = included.split("/")[0]
            if not (core / included).is_file():
                found.append(f"{path}: {included} is no file; write the path from core/")
            elif target != room and target not in MAY_INCLUDE[room].split():
                found.append(f"{path}: {room}/ may not include {included}")
    return found


def defined_twice(core: Path) -> list[str]:
    """Types of one name in one namespace: the linker would take the members of either for both."""
    places: dict[str, set[str]] = {}
    for path in sorted(core.glob("*/**/*.?pp")):
        text, spaces, at = path.read_text(), [], 0
        for edge in [*NAMESPACE.finditer(text), None]:
            end = len(text) if edge is None else edge.start()
            for found in TYPE.finditer(text, at, end):
                if "" not in spaces:
                    places.setdefault("::".join([*spaces, found[1]]), set()).add(str(path))
            if edge is None:
                break
            at = edge.end()
            if edge[1] is None:
                spaces.pop()
            else:
                spaces.append(edge[1])
    return [
        f"{name} is defined in {', '.join(sorted(p))}" for name, p in places.items() if p - {min(p)}
    ]


if __name__ == "__main__":
    root = Path(__file__).parent.parent / "core"
    problems = complaints(root) + defined_twice(root)
    print("\n".join(problems) or "The folders of core/ include each other as they may.")
    sys.exit(bool(problems))
