"""SLIQ and SPRINT under a hard memory limit of an eighth of the data, from a million rows on.

    python benchmarks/lists.py [million rows ...] [--rule 2] [--folder DIR]

Each run is a process of its own. Once everything is imported it takes a limit on its address space
(RLIMIT_AS): what it has by then, and an eighth of the data (rows x 9 x 8 bytes) on top. A million
rows of the same seed are fitted in memory by CART as well, and must give the same tree.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BLOCK = 250_000
CELL_BYTES = 8
COLUMNS = 9


def write_folder(folder: Path, n_rows: int, rule: int) -> None:
    """Parquet files of a quarter of a million rows; more rows begin with those of fewer."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from treewright.datasets import make_agrawal

    for i in range(math.ceil(n_rows / BLOCK)):
        path = folder / f"part{i:04d}.parquet"
        if path.exists():
            continue
        data = make_agrawal(BLOCK, rule, perturbation=0.05, random_state=1000 * rule + i)
        table = data.data.append_column("group", pa.array(data.target.tolist()))
        pq.write_table(table, path, row_group_size=1 << 15)


def write_small(folder: Path) -> None:
    """A file of a few rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from treewright.datasets import make_agrawal

    data = make_agrawal(2000, 1, random_state=0)
    table = data.data.append_column("group", pa.array(data.target.tolist()))
    pq.write_table(table, folder / "small.parquet")


def files_of(folder: Path, n_rows: int, inside: Path) -> Path:
    """A folder with links to the files of the first rows."""
    made = inside / f"rows{n_rows}"
    made.mkdir(exist_ok=True)
    for i in range(math.ceil(n_rows / BLOCK)):
        link = made / f"part{i:04d}.parquet"
        if not link.exists():
            link.symlink_to(folder / link.name)
    return made


def worker(name: str, folder: str, limit: int, temp_dir: str) -> None:
    """Fit under the limit; figures as JSON."""
    import resource

    import pyarrow as pa

    import treewright

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    # a small fit from a file, so that all is imported and Arrow has started its threads
    with tempfile.TemporaryDirectory() as small:
        write_small(Path(small))
        treewright.SPRINTClassifier().fit(small, target="group")
    before = _address_space()
    resource.setrlimit(resource.RLIMIT_AS, (before + limit, before + limit))
    model = getattr(treewright, name)(memory_limit=int(0.6 * limit), temp_dir=temp_dir)
    start = time.perf_counter()
    model.fit(folder, target="group")
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        json.dumps(
            {
                "seconds": seconds,
                "base_mb": before / 1e6,
                "peak_rss_mb": peak / 1e6,
                "leaves": model.get_n_leaves(),
                "depth": model.get_depth(),
                "text": hash_of(model.tree_),
            }
        )
    )


def hash_of(tree: Any) -> str:
    """A digest of tests and class weights."""
    import hashlib

    digest = hashlib.sha256()
    for array in (tree.first_child, tree.value, tree.splits.feature, tree.splits.breaks):
        digest.update(array.tobytes())
    digest.update(tree.splits.codes.tobytes())
    return digest.hexdigest()[:16]


def _address_space() -> int:
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def in_memory(folder: Path) -> str:
    """The digest of the tree that the engine in memory gives, pruned alike."""
    import pyarrow.parquet as pq

    from treewright import CARTClassifier
    from treewright.pruning import mdl

    table = pq.read_table(folder)
    y = table.column("group").to_numpy(zero_copy_only=False)
    return hash_of(mdl(CARTClassifier().fit(table.drop_columns(["group"]), y).tree_, "hybrid"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("millions", type=float, nargs="*", default=[1, 2, 4])
    parser.add_argument("--rule", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--learners", nargs="*", default=["SPRINTClassifier", "SLIQClassifier"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as temp:
        inside = Path(temp)
        folder = given.folder or inside
        rows = [int(m * 1_000_000) for m in given.millions]
        write_folder(folder, max(rows), given.rule)
        expected = in_memory(files_of(folder, rows[0], inside))
        print("| learner | rows | limit MB | seconds | µs a row | leaves | depth | peak MB |")
        print("|---|---|---|---|---|---|---|---|")
        for name in given.learners:
            points = []
            for n in rows:
                limit = n * COLUMNS * CELL_BYTES // 8
                command = [sys.executable, __file__, "--worker", name]
                command += [str(files_of(folder, n, inside)), str(limit), temp]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    print(f"| {name} | {n} | {limit / 1e6:.0f} | {done.stderr.splitlines()[-1]} |")
                    continue
                got = json.loads(done.stdout)
                points.append((math.log(n), math.log(got["seconds"])))
                same = "" if n != rows[0] else " (as CART)" if got["text"] == expected else " (NOT)"
                print(
                    f"| {name} | {n} | {limit / 1e6:.0f} | {got['seconds']:.1f} | "
                    f"{1e6 * got['seconds'] / n:.1f} | {got['leaves']}{same} | {got['depth']} | "
                    f"{got['peak_rss_mb']:.0f} |",
                    flush=True,
                )
            if len(points) > 1:
                (x0, y0), (x1, y1) = points[0], points[-1]
                print(f"{name}: exponent {(y1 - y0) / (x1 - x0):.2f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        worker(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        main()
