"""Where the benchmarks ran: machine and versions."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["WEKA_JAR", "facts", "rpart_version", "weka_version"]

WEKA_JAR = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))
"""Where Debian's package puts it."""
BOOSTERS = ("lightgbm", "xgboost", "catboost", "ydf", "treelite")


def rpart_version() -> str | None:
    """Versions of R and rpart, None if either is missing."""
    if shutil.which("Rscript") is None:
        return None
    say = 'cat(as.character(getRversion()), as.character(packageVersion("rpart")))'
    done = subprocess.run(["Rscript", "-e", say], capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        return None
    r, rpart = done.stdout.split()
    return f"{rpart} (R {r})"


def weka_version() -> str | None:
    """Version of Weka; None without it or a Java compiler."""
    if shutil.which("javac") is None or not WEKA_JAR.exists():
        return None
    command = ["java", "-cp", str(WEKA_JAR), "weka.core.Version"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    return done.stdout.partition("\n")[0].strip() or None if done.returncode == 0 else None


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not here"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _load() -> str:
    if not hasattr(os, "getloadavg"):
        return "unknown"
    return f"{os.getloadavg()[0]:.1f} before the run"


def facts() -> dict[str, str]:
    """What a reader needs to judge the figures."""
    import treewright

    return {
        "treewright": treewright.__version__,
        "scikit-learn": version("scikit-learn"),
        "numpy": version("numpy"),
        **{name: _version_of(name) for name in BOOSTERS},
        "rpart": rpart_version() or "not here",
        "Weka": weka_version() or "not here",
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": _load(),
    }
