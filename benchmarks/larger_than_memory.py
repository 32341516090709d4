"""Learners on Agrawal's data under a hard limit of memory, an eighth of what the data would take.

Usage: python benchmarks/larger_than_memory.py FOLDER [--rows 1e6,4e6,2e7] [--learners sprint,cart]

Files of a million rows are written to FOLDER once. Each fit is a process of its own in a memory
cgroup (version 1 or 2; needs the right to make one) whose limit is an eighth of the largest data,
page cache included. Printed are wall and processor time, the peak that the kernel counted, and the
exponent of the time from the smallest to the largest number of rows. With --equal each model is
compared with the one in memory on the smallest number of rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

FUNCTION, NOISE, DEPTH = 2, 0.05, 8
EACH = 1_000_000
ROW_BYTES = 8 * 9 + 8
"""Nine attributes and a class, as a table in memory holds them."""


def learner(name: str, memory: int, folder: str) -> tuple[Any, dict[str, Any]]:
    """An estimator that does the same work in files as in memory, and what its fit gets."""
    import treewright as tw

    lists = {"max_depth": DEPTH, "memory_limit": memory, "temp_dir": folder, "n_jobs": 2}
    blocks = {"memory_limit": memory, "temp_dir": folder}
    if name == "sliq":
        return tw.SLIQClassifier(**lists), {}
    if name == "sprint":
        return tw.SPRINTClassifier(**lists), {}
    if name == "cart":
        return tw.CARTClassifier(max_depth=DEPTH, keep_counts=False, n_jobs=2), blocks
    if name == "forest":
        model = tw.RandomForestClassifier(3, max_depth=DEPTH, random_state=0, n_jobs=2)
        return model, blocks
    model = tw.GradientBoostingClassifier(
        n_estimators=10, max_leaf_nodes=31, early_stopping=False, random_state=0, n_jobs=2
    )
    return model, blocks


def write(folder: Path, n: int) -> None:
    import pyarrow.parquet as pq

    from treewright.datasets import make_agrawal

    folder.mkdir(parents=True, exist_ok=True)
    for i in range(n // EACH):
        path = folder / f"part{i:03d}.parquet"
        if path.exists():
            continue
        data = make_agrawal(EACH, FUNCTION, noise=NOISE, random_state=i)
        table = data.data.append_column("group", [np.asarray(data.target)])
        pq.write_table(table, path, row_group_size=1 << 17)


def make_group(limit: int) -> str | None:
    """A cgroup with this limit; None where there is none."""
    name = f"treewright-{os.getpid()}"
    for root, file in (
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", "memory.max"),
    ):
        group = Path(root) / name
        try:
            group.mkdir()
            (group / file).write_text(str(limit))
        except OSError:
            continue
        return str(group)
    return None


def peak(group: str) -> int:
    for file in ("memory.max_usage_in_bytes", "memory.peak"):
        path = Path(group) / file
        if path.exists():
            return int(path.read_text())
    return 0


def run(name: str, folder: str, n: int, limit: int, group: str | None) -> None:
    """One fit, in this process."""
    if group is not None:
        Path(group, "cgroup.procs").write_text(str(os.getpid()))
    import treewright
    import treewright.scale._trees

    files = sorted(Path(folder).glob("part*.parquet"))[: n // EACH]
    part = Path(folder) / f"first{n}"
    part.mkdir(exist_ok=True)
    for file in files:
        link = part / file.name
        if not link.exists():
            link.symlink_to(file)
    with open("/proc/self/status") as status:
        held = next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024
    # lists and blocks get what is left beside what Python holds; blocks count that themselves
    memory = int((limit - held) / 2 if name in ("sliq", "sprint") else 0.75 * limit)
    model, options = learner(name, memory, folder)
    begin, cpu = time.perf_counter(), time.process_time()
    model.fit(str(part), target="group", **options)
    taken = {"wall": time.perf_counter() - begin, "cpu": time.process_time() - cpu}
    out = Path(folder) / f"{name}{n}.tw"
    treewright.save(model, out)
    digest = hashlib.sha256(out.read_bytes()).hexdigest()[:12]
    print(json.dumps({**taken, "hash": digest, "peak": 0 if group is None else peak(group)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", default="1e6,4e6,2e7")
    parser.add_argument("--learners", default="sliq,sprint,cart,forest,boosting")
    parser.add_argument("--limit", type=float, help="bytes instead of an eighth of the data")
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        name, n, limit, group = given.run
        run(name, str(given.folder), int(n), int(limit), group or None)
        return
    sizes = [int(float(n)) for n in given.rows.split(",")]
    write(given.folder, max(sizes))
    limit = int(given.limit or max(sizes) * ROW_BYTES // 8)
    print(f"limit {limit / 1e6:.0f} MB, data {max(sizes) * ROW_BYTES / 1e6:.0f} MB")
    for name in given.learners.split(","):
        found = []
        for n in sizes:
            group = make_group(limit)
            command = [sys.executable, __file__, str(given.folder), "--run", name, str(n)]
            done = subprocess.run(
                [*command, str(limit), group or ""], capture_output=True, text=True, check=False
            )
            if group is not None:
                Path(group).rmdir()
            if done.returncode:
                why = (done.stderr.strip().splitlines() or ["killed by the limit"])[-1]
                print(f"{name:9s} {n:>11,d} rows: {why}", flush=True)
                break
            facts = json.loads(done.stdout.splitlines()[-1])
            found.append(facts)
            print(
                f"{name:9s} {n:>11,d} rows {facts['wall']:8.1f} s, "
                f"processor {facts['cpu']:8.1f} s, peak {facts['peak'] / 1e6:6.0f} MB, "
                f"model {facts['hash']}",
                flush=True,
            )
        if len(found) > 1:
            steps = np.log([sizes[0], sizes[len(found) - 1]])
            for what in ("wall", "cpu"):
                times = np.log([found[0][what], found[-1][what]])
                print(f"{name:9s} exponent ({what}) {np.diff(times)[0] / np.diff(steps)[0]:.2f}")


if __name__ == "__main__":
    main()
