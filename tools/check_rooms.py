"""Fail where a folder of core/ includes one that it may not.

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
    "chaid": "base",
    "ctree": "base",
    "mars": "base data",
    "oblique": "base",
    "optimal": "base data binned",
    "prune": "base data",
    "rules": "base predict prune",
    "bind": "base data binned criteria choose grow quinlan predict forest boost chaid ctree mars "
    "oblique optimal prune rules",
}

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


if __name__ == "__main__":
    problems = complaints(Path(__file__).parent.parent / "core")
    print("\n".join(problems) or "The folders of core/ include each other as they may.")
    sys.exit(bool(problems))
