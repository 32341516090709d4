"""Gradient boosting on blocks, against itself in memory and against XGBoost and LightGBM.

Usage: python benchmarks/scale.py {files,dask,kill,limit,tall} [rows]

files   in memory, blocks in memory, blocks in files, and XGBoost from the same Parquet folder
dask    a LocalCluster of 2, 4 and 8 workers, against xgboost.dask and lightgbm.dask
kill    the same on two workers, one of which is killed half-way, against a fit that loses none
limit   1, 2, 4, … million rows with blocks in files; the exponent of the time
tall    more rows than packed sums can count, three trees on three columns; rows are at least 7e7
Times are the best of some; contenders take turns. dask also prints processor time of driver and
workers together, which other work on the machine changes less.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from treewright import GradientBoostingClassifier

OPTIONS: dict[str, Any] = {
    "n_estimators": 50,
    "max_leaf_nodes": 31,
    "learning_rate": 0.1,
    "l2_regularization": 1.0,
    "max_features": 1.0,
    "min_samples_leaf": 20,
    "early_stopping": False,
    "random_state": 0,
}


def part(number: int, n: int) -> pa.Table:
    """Rows of nine columns, as wide as Agrawal's, and a class that follows from them by chance."""
    draw = np.random.default_rng(number)
    columns = {f"x{j}": draw.normal(size=n) for j in range(6)}
    columns |= {f"k{j}": draw.integers(0, 20, n).astype(np.float64) for j in range(3)}
    score = columns["x0"] * columns["x1"] + np.sin(columns["k0"]) + columns["x2"]
    columns["y"] = (score + draw.normal(size=n) > 0).astype(np.int64)
    return pa.table(columns)


def write(folder: Path, n: int, each: int = 250_000) -> None:
    for i in range(0, n, each):
        pq.write_table(part(i // each, min(each, n - i)), folder / f"part{i // each:04d}.parquet")


def best(times: int, contenders: dict[str, Callable[[], Any]]) -> dict[str, tuple[float, Any]]:
    found: dict[str, tuple[float, Any]] = {}
    for _ in range(times):
        for name, run in contenders.items():
            start = time.perf_counter()
            answer = run()
            taken = time.perf_counter() - start
            if name not in found or taken < found[name][0]:
                found[name] = taken, answer
    return found


def best_on_cluster(
    times: int, client: Any, contenders: dict[str, Callable[[], Any]]
) -> dict[str, tuple[float, float, Any]]:
    """Best clock and processor time of each, and what it gave."""

    def processor() -> float:
        return time.process_time() + sum(client.run(time.process_time).values())

    found: dict[str, tuple[float, float, Any]] = {}
    for _ in range(times):
        for name, run in contenders.items():
            used, start = processor(), time.perf_counter()
            answer = run()
            taken, used = time.perf_counter() - start, processor() - used
            old = found.get(name, (np.inf, np.inf, None))
            found[name] = min(taken, old[0]), min(used, old[1]), answer
    return found


def log_loss(y: Any, share: Any) -> float:
    from sklearn.metrics import log_loss as loss

    return float(loss(y, share))


def xgboost_files(folder: Path, threads: int) -> Any:
    """XGBoost from the same folder, one batch a file, with its cache on the disk."""
    import xgboost

    class Batches(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            self.files = sorted(folder.glob("*.parquet"))
            self.at = 0
            super().__init__(cache_prefix=str(folder / "cache"))

        def next(self, take: Any) -> bool:
            if self.at == len(self.files):
                return False
            table = pq.read_table(self.files[self.at])
            take(
                data=table.drop_columns(["y"]).to_pandas(),
                label=table.column("y").to_numpy(),
            )
            self.at += 1
            return True

        def reset(self) -> None:
            self.at = 0

    data = xgboost.ExtMemQuantileDMatrix(Batches(), max_bin=255)
    return xgboost.train(XGBOOST | {"nthread": threads}, data, OPTIONS["n_estimators"])


XGBOOST = {
    "objective": "binary:logistic",
    "tree_method": "hist",
    "grow_policy": "lossguide",
    "max_leaves": 31,
    "max_depth": 0,
    "eta": 0.1,
    "lambda": 1.0,
    "max_bin": 255,
}


def files(n: int) -> None:
    import xgboost

    from treewright.scale import _boosting
    from treewright.scale._memory import Budget

    real = _boosting.make_budget
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, n)
        pattern = str(folder / "*.parquet")

        def model() -> GradientBoostingClassifier:
            return GradientBoostingClassifier(**OPTIONS, n_jobs=2)

        def in_memory() -> Any:
            table = pq.read_table(folder)
            return model().fit(table.drop_columns(["y"]), table.column("y"))

        def in_files() -> Any:
            _boosting.make_budget = lambda *a: Budget(1 << 17, 0)
            try:
                return model().fit(pattern, target="y")
            finally:
                _boosting.make_budget = real

        found = best(
            2,
            {
                "in memory": in_memory,
                "blocks in memory": lambda: model().fit(pattern, target="y"),
                "blocks in files": in_files,
                "XGBoost, external memory": lambda: xgboost_files(folder, 2),
            },
        )
    test = part(10**6, 100_000)
    X, y = test.drop_columns(["y"]).to_pandas(), test.column("y").to_numpy()
    for name, (taken, fitted) in found.items():
        if name.startswith("XGB"):
            share = fitted.predict(xgboost.DMatrix(X))
        else:
            share = fitted.predict_proba(X)[:, 1]
        ratio = taken / found["in memory"][0]
        print(f"{name:28s} {taken:7.1f} s  {ratio:5.2f} ×  log loss {log_loss(y, share):.5f}")
    same = {
        name: f._forest.arrays["leaf_value"].tobytes()
        for name, (_, f) in found.items()
        if not name.startswith("XGB")
    }
    print("same leaves:", len(set(same.values())) == 1)


def limit(most: int) -> None:
    from treewright.scale import _boosting
    from treewright.scale._memory import Budget

    _boosting.make_budget = lambda *a: Budget(1 << 17, 0)
    sizes, times = [], []
    n = 1_000_000
    while n <= most:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), n)
            start = time.perf_counter()
            model = GradientBoostingClassifier(**{**OPTIONS, "n_estimators": 10}, n_jobs=2)
            model.fit(name, target="y")
            sizes.append(n)
            times.append(time.perf_counter() - start)
        print(f"{n:>12,d} rows {times[-1]:7.1f} s", flush=True)
        n *= 2
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"exponent {slope:.2f}")


def clusters() -> Iterator[tuple[int, Any]]:
    from distributed import Client, LocalCluster

    for n_workers in (2, 4, 8):
        cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster, Client(cluster) as client:
            yield n_workers, client


def dask_contenders(client: Any, frame: Any) -> dict[str, Callable[[], Any]]:
    import lightgbm
    import xgboost.dask

    X, y = frame.drop(columns=["y"]), frame["y"]

    def treewright_fit() -> Any:
        return GradientBoostingClassifier(**OPTIONS).fit(frame, target="y", client=client)

    def xgboost_fit() -> Any:
        data = xgboost.dask.DaskQuantileDMatrix(client, X, y, max_bin=255)
        return xgboost.dask.train(client, XGBOOST, data, OPTIONS["n_estimators"])

    def lightgbm_fit() -> Any:
        model = lightgbm.DaskLGBMClassifier(
            n_estimators=OPTIONS["n_estimators"],
            num_leaves=31,
            reg_lambda=1.0,
            learning_rate=0.1,
            max_bin=255,
            client=client,
            verbose=-1,
        )
        return model.fit(X, y)

    return {
        "treewright": treewright_fit,
        "xgboost.dask": xgboost_fit,
        "lightgbm.dask": lightgbm_fit,
    }


def dask(n: int) -> None:
    import dask.dataframe as dd
    from distributed import wait

    with tempfile.TemporaryDirectory() as name:
        write(Path(name), n, n // 8)
        table = pq.read_table(name)
        start = time.perf_counter()
        here = GradientBoostingClassifier(**OPTIONS, n_jobs=2).fit(
            table.drop_columns(["y"]), table.column("y")
        )
        print(f"in memory, two threads: {time.perf_counter() - start:.1f} s")
        for n_workers, client in clusters():
            frame = dd.read_parquet(name).persist()
            wait(frame)
            found = best_on_cluster(3, client, dask_contenders(client, frame))
            own, _, model = found["treewright"]
            for contender, (taken, used, _) in found.items():
                print(
                    f"{n_workers} workers  {contender:14s} {taken:6.2f} s, "
                    f"{taken / own:5.2f} of ours, processor {used:6.2f} s",
                    flush=True,
                )
            moved = model.block_run_["n_bytes"] / OPTIONS["n_estimators"] / 1e6
            leaves = [m._forest.arrays["leaf_value"] for m in (here, model)]
            print(f"{n_workers} workers  {moved:.2f} MB a tree, same {np.array_equal(*leaves)}")


def kill(n: int) -> None:
    import os
    import signal

    import dask.dataframe as dd
    from distributed import wait

    from treewright.scale._rounds import BlockRun

    step = BlockRun.step
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), n, n // 8)
        running = clusters()  # which ends with its last name
        n_workers, client = next(running)
        frame = dd.read_parquet(name).persist()
        wait(frame)
        start = time.perf_counter()
        whole = GradientBoostingClassifier(**OPTIONS).fit(frame, target="y", client=client)
        usual = time.perf_counter() - start
        victim = next(iter(client.run(os.getpid).values()))

        def step_and_kill(run: BlockRun) -> None:
            step(run)
            if run.n_done == OPTIONS["n_estimators"] // 2:
                os.kill(victim, signal.SIGKILL)

        BlockRun.step = step_and_kill  # type: ignore[method-assign]
        start = time.perf_counter()
        model = GradientBoostingClassifier(**OPTIONS).fit(frame, target="y", client=client)
        taken = time.perf_counter() - start
        leaves = [m._forest.arrays["leaf_value"] for m in (whole, model)]
        print(
            f"{n_workers} workers {usual:.1f} s, one killed {taken:.1f} s, "
            f"lost {model.block_run_['n_lost']}, same {np.array_equal(*leaves)}"
        )


def tall(n: int) -> None:
    import resource

    n = max(n, 70_000_000)
    each = 5_000_000
    with tempfile.TemporaryDirectory() as name:
        for i in range(0, n, each):
            draw = np.random.default_rng(i)
            a, b = (draw.normal(size=each).astype(np.float32) for _ in range(2))
            k = draw.integers(0, 50, each).astype(np.int8)
            y = (a * b + np.sin(k) + draw.normal(size=each) > 0).astype(np.int8)
            table = pa.table({"a": a, "b": b, "k": k, "y": y})
            pq.write_table(table, Path(name) / f"part{i}.parquet", row_group_size=1 << 19)
        start, used = time.perf_counter(), time.process_time()
        model = GradientBoostingClassifier(
            n_estimators=3, max_leaf_nodes=15, early_stopping=False, random_state=0
        ).fit(name, target="y", memory_limit="5GB")
        taken, used = time.perf_counter() - start, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{model.block_run_['n_rows']:,d} rows {taken:.1f} s, processor {used:.1f} s, "
            f"peak {peak:.1f} GB, losses {np.round(model.train_score_, 4).tolist()}"
        )


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "files"
    rows = int(float(sys.argv[2])) if len(sys.argv) > 2 else 1_000_000
    {"files": files, "dask": dask, "kill": kill, "limit": limit, "tall": tall}[what](rows)
