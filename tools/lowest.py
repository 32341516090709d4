"""Prints the lowest versions that pyproject.toml declares, as requirements for pip."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def lowest() -> list[str]:
    """``name==version`` for each dependency."""
    with PROJECT.open("rb") as file:
        dependencies: list[str] = tomllib.load(file)["project"]["dependencies"]
    return [each.replace(">=", "==") for each in dependencies]


if __name__ == "__main__":
    print(" ".join(lowest()))
