"""How good boosters are at their defaults: ours beside five peers, on the shared data and folds.

    python benchmarks/boosting_quality.py [--folds 3] [--sets a,b,…] [--threads 2] [--table]
    python benchmarks/boosting_quality.py --boosters treewright --keep page.md --write page.md

Every booster is fitted with its defaults (a seed and the threads are all that is set) on the same
folds. Categories go to each as it takes them natively; HistGradientBoosting gets codes,
marked as categories. The table holds log-loss for classes and RMSE for numbers, the mean rank
over data sets, and the mean of loss relative to the best booster of each set. Every fit is kept in
``--cache``, so that a run that was ended goes on where it was; ``--table`` only reads it.
``--keep`` takes boosters that are not run from the table of a page, with the four digits that it
has; they must have been run with the same versions, data sets and folds.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

THREADS = 2
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = (
    "abalone",
    "boston_housing",
    "carseats",
    "diabetes_reg",
    "hitters",
    "kin8nm",
    "autoprice",
    "breast_cancer_w",
    "cmc",
    "credit_g",
    "default",
    "digits",
    "glass",
    "haberman",
    "heart_statlog",
    "ionosphere",
    "iris",
    "kr_vs_kp",
    "mammoexp",
    "oj",
    "pima2",
    "satellite",
    "soybean",
    "spambase",
    "titanic",
    "vowel",
    "wdbc",
)


def read(name: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, bool]:
    """Predictors, target, fold of each row and whether the target is a class."""
    schema = json.loads((SHARED / f"{name}.schema.json").read_text())
    path = next(SHARED.glob(f"{name}.csv*"))
    frame = pd.read_csv(path, na_values=["?"], keep_default_na=False, dtype=str)
    fold = pd.read_csv(SHARED / "folds" / f"{name}.csv")["fold"].to_numpy()
    columns = {}
    target = schema["target"]
    for column in schema["columns"]:
        if column["role"] != "predictor":
            continue
        values = frame[column["name"]]
        if column["type"] == "continuous":
            columns[column["name"]] = pd.to_numeric(values).astype(float)
        else:
            levels = [str(v) for v in column["values"]]
            text = values.map(lambda v: None if pd.isna(v) else str(v))
            columns[column["name"]] = pd.Categorical(
                text, levels, ordered=column["type"] == "ordinal"
            )
    keep = fold >= 0
    is_classes = schema["task"] == "classification"
    y = frame[target].astype(str) if is_classes else pd.to_numeric(frame[target])
    X = pd.DataFrame(columns)[keep].reset_index(drop=True)
    X.columns = [f"c{k}" for k in range(X.shape[1])]  # not every booster takes every name
    values = y[keep].to_numpy()
    if is_classes:
        values = np.unique(values, return_inverse=True)[1]
    return X, values, fold[keep], is_classes


def codes(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as numbers, gaps as NaN."""
    out = X.copy()
    for name in X.columns[X.dtypes == "category"]:
        out[name] = X[name].cat.codes.replace(-1, np.nan).astype(float)
    return out


def make(name: str, is_classes: bool, X: pd.DataFrame) -> tuple[Any, Any]:
    """A booster at its defaults, and how it takes a frame."""
    categories = [c for c in X.columns if X[c].dtype == "category"]
    nominal = [c for c in categories if not X[c].cat.ordered]
    if name == "treewright":
        import treewright as tw

        kind = tw.GradientBoostingClassifier if is_classes else tw.GradientBoostingRegressor
        return kind(random_state=0, n_jobs=THREADS), lambda F: F
    if name == "lightgbm":
        import lightgbm as lgb

        kind = lgb.LGBMClassifier if is_classes else lgb.LGBMRegressor
        return kind(random_state=0, n_jobs=THREADS, verbose=-1), lambda F: F
    if name == "xgboost":
        import xgboost as xgb

        kind = xgb.XGBClassifier if is_classes else xgb.XGBRegressor
        return kind(random_state=0, n_jobs=THREADS, enable_categorical=True), lambda F: F
    if name == "catboost":
        import catboost as cb

        kind = cb.CatBoostClassifier if is_classes else cb.CatBoostRegressor
        model = kind(random_seed=0, thread_count=THREADS, verbose=0, allow_writing_files=False)

        def text(F: pd.DataFrame, y: Any = None) -> Any:
            out = F.copy()
            for c in categories:
                out[c] = (
                    F[c].astype(object).where(F[c].notna(), "gap").astype(str)
                    if c in nominal
                    else F[c].cat.codes.replace(-1, np.nan)
                )
            return cb.Pool(out, y, cat_features=nominal)

        return model, text
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    return kind(random_state=0, categorical_features=nominal or None), codes


def run(name: str, X: Any, y: Any, train: Any, test: Any, is_classes: bool) -> tuple[float, float]:
    """Loss on the test rows, and seconds of fit."""
    if name == "ydf":
        return run_ydf(X, y, train, test, is_classes)
    model, prepare = make(name, is_classes, X)
    start = time.perf_counter()
    if name == "catboost":
        model.fit(prepare(X[train], y[train]))
    else:
        model.fit(prepare(X[train]), y[train])
    seconds = time.perf_counter() - start
    if not is_classes:
        return float(np.sqrt(np.mean((model.predict(prepare(X[test])) - y[test]) ** 2))), seconds
    return log_loss(model.predict_proba(prepare(X[test])), model.classes_, y[test]), seconds


def run_ydf(X: Any, y: Any, train: Any, test: Any, is_classes: bool) -> tuple[float, float]:
    """The same for YDF, which learns from a frame with the target in it."""
    import ydf

    ydf.verbose(0)
    frame = X.copy()
    for c in X.columns[X.dtypes == "category"]:
        frame[c] = X[c].astype(object).where(X[c].notna(), "")
    frame["__y"] = [f"c{v}" for v in y] if is_classes else y
    start = time.perf_counter()
    task = ydf.Task.CLASSIFICATION if is_classes else ydf.Task.REGRESSION
    learner = ydf.GradientBoostedTreesLearner(
        label="__y", task=task, num_threads=THREADS, random_seed=0
    )
    model = learner.train(frame[train])
    seconds = time.perf_counter() - start
    found = np.asarray(model.predict(frame[test]))
    if not is_classes:
        return float(np.sqrt(np.mean((found - y[test]) ** 2))), seconds
    classes = [int(c[1:]) for c in model.label_classes()]
    if found.ndim == 1:
        found = np.column_stack([1 - found, found])
    return log_loss(found, np.array(classes), y[test]), seconds


def log_loss(share: np.ndarray, classes: np.ndarray, y: np.ndarray) -> float:
    """Mean log-loss; a class that training did not have gets a share of 1e-15."""
    place = {c: k for k, c in enumerate(np.asarray(classes).tolist())}
    own = [share[i, place[c]] if c in place else 0.0 for i, c in enumerate(y.tolist())]
    return float(-np.mean(np.log(np.clip(own, 1e-15, 1.0))))


BOOSTERS = ("treewright", "lightgbm", "xgboost", "catboost", "hist", "ydf")


def measure(cache: Path, sets: list[str], names: list[str], n_folds: int) -> None:
    """Losses of all boosters, fold after fold, a line of the cache each; known ones stay."""
    known = {tuple(row[:3]) for row in read_cache(cache)}
    for fold in range(n_folds):
        for data in sets:
            wanted = [name for name in names if (data, fold, name) not in known]
            if not wanted:
                continue
            X, y, folds, is_classes = read(data)
            for name in wanted if fold <= folds.max() else ():
                loss, took = run(name, X, y, folds != fold, folds == fold, is_classes)
                with cache.open("a") as file:
                    print(json.dumps([data, fold, name, loss, took]), file=file)
            print(f"{data}, fold {fold}: {', '.join(wanted)}", flush=True)


def read_cache(cache: Path) -> list[list[Any]]:
    """Data set, fold, booster, loss and seconds of all fits so far."""
    return [json.loads(line) for line in cache.read_text().splitlines()] if cache.exists() else []


def means(cache: Path, sets: list[str], names: list[str], n_folds: int) -> pd.DataFrame:
    """Mean loss of each booster on each data set, over the folds that all boosters have."""
    columns = ["data", "fold", "booster", "loss", "seconds"]
    found = pd.DataFrame(read_cache(cache), columns=columns)
    found = found[found.data.isin(sets) & found.booster.isin(names) & (found.fold < n_folds)]
    wide = found.pivot(index=["data", "fold"], columns="booster", values="loss").dropna()
    table = wide.groupby("data")[names].mean()
    return table.loc[[data for data in sets if data in table.index]]


def recorded(page: Path) -> pd.DataFrame:
    """The losses of the table of a page."""
    lines = page.read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("| data | treewright |"))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first:]]
    names = rows[0][1:]
    body = [row for row in rows[2 : 2 + len(SETS)] if row[0] in SETS]
    return pd.DataFrame([map(float, row[1:]) for row in body], [r[0] for r in body], names)


def report(table: pd.DataFrame) -> str:
    """The table of the docs: losses, mean rank, and loss relative to the best of each set."""
    relative = table.div(table.min(axis=1), axis=0)
    rows = [f"| data | {' | '.join(table.columns)} |", "|---" * (len(table.columns) + 1) + "|"]
    rows += [
        f"| {name} | " + " | ".join(f"{v:.4g}" for v in row) + " |"
        for name, row in table.iterrows()
    ]
    for name, row in (
        ("mean rank", table.rank(axis=1).mean()),
        ("mean of loss / best", relative.mean()),
        ("median of loss / best", relative.median()),
    ):
        rows.append(f"| **{name}** | " + " | ".join(f"{v:.3f}" for v in row) + " |")
    return "\n".join(rows)


def replace_table(page: Path, text: str) -> None:
    """Put the table where the page has one that begins alike."""
    lines = page.read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("| data | treewright |"))
    last = next(k for k in range(first, len(lines)) if not lines[k].startswith("|"))
    page.write_text("\n".join([*lines[:first], *text.splitlines(), *lines[last:]]) + "\n")


def main() -> None:
    global THREADS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--boosters", default=",".join(BOOSTERS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=Path("bench-output/boosting_quality.jsonl"))
    parser.add_argument("--table", action="store_true", help="only print what the cache holds")
    parser.add_argument("--keep", type=Path, help="the page whose table has the other boosters")
    parser.add_argument("--write", type=Path, help="the page whose table is replaced")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    THREADS = options.threads
    sets, names = options.sets.split(","), options.boosters.split(",")
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    if not options.table:
        with threadpool_limits(THREADS):
            measure(options.cache, sets, names, options.folds)
    table = means(options.cache, sets, names, options.folds)
    if options.keep:
        kept = recorded(options.keep)
        kept[names] = table[names].reindex(kept.index)
        table = kept
    text = report(table)
    print(text)
    if options.write:
        replace_table(options.write, text)


if __name__ == "__main__":
    main()
