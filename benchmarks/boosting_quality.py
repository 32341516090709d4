"""How good boosters are at their defaults: ours beside five peers, on the shared data and folds.

    python benchmarks/boosting_quality.py [--folds 3] [--sets a,b,…] [--json results.json]

Every booster is fitted with its defaults (a seed and two threads are all that is set) on the same
folds. Categories go to each as it takes them natively; HistGradientBoosting gets codes,
marked as categories. The table holds log-loss for classes and RMSE for numbers, the mean rank
over data sets, and the mean of loss relative to the best booster of each set.
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

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = (
    "abalone",
    "boston_housing",
    "cal_housing",
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
    frame = pd.read_csv(path, na_values=["?"], keep_default_na=False)
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
        return kind(random_state=0, n_jobs=2), lambda F: F
    if name == "lightgbm":
        import lightgbm as lgb

        kind = lgb.LGBMClassifier if is_classes else lgb.LGBMRegressor
        return kind(random_state=0, n_jobs=2, verbose=-1), lambda F: F
    if name == "xgboost":
        import xgboost as xgb

        kind = xgb.XGBClassifier if is_classes else xgb.XGBRegressor
        return kind(random_state=0, n_jobs=2, enable_categorical=True), lambda F: F
    if name == "catboost":
        import catboost as cb

        kind = cb.CatBoostClassifier if is_classes else cb.CatBoostRegressor
        model = kind(random_seed=0, thread_count=2, verbose=0, allow_writing_files=False)

        def text(F: pd.DataFrame) -> Any:
            out = F.copy()
            for c in categories:
                out[c] = (
                    F[c].astype(object).where(F[c].notna(), "gap").astype(str)
                    if c in nominal
                    else F[c].cat.codes.replace(-1, np.nan)
                )
            return cb.Pool(out, cat_features=nominal)

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
        pool = prepare(X[train])
        pool.set_label(y[train])
        model.fit(pool)
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
    learner = ydf.GradientBoostedTreesLearner(label="__y", task=task, num_threads=2, random_seed=0)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--boosters", default=",".join(BOOSTERS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    names = options.boosters.split(",")
    losses: dict[str, dict[str, float]] = {}
    for data in options.sets.split(","):
        X, y, fold, is_classes = read(data)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for k in range(min(options.folds, int(fold.max()) + 1)):
            train, test = fold != k, fold == k
            for name in names:
                found[name].append(run(name, X, y, train, test, is_classes))
        losses[data] = {name: float(np.mean([v for v, _ in found[name]])) for name in names}
        seconds = {name: float(np.mean([s for _, s in found[name]])) for name in names}
        line = "  ".join(f"{n} {losses[data][n]:.4f} ({seconds[n]:.2f} s)" for n in names)
        print(f"{data:16s} {line}", flush=True)
    table = pd.DataFrame(losses).T
    print("\nmean rank\n" + table.rank(axis=1).mean().to_string(float_format="%.2f"))
    relative = table.div(table.min(axis=1), axis=0)
    print("\nmean of loss / best\n" + relative.mean().to_string(float_format="%.4f"))
    print("\nmedian of loss / best\n" + relative.median().to_string(float_format="%.4f"))
    if options.json:
        options.json.write_text(json.dumps(losses, indent=1))


if __name__ == "__main__":
    main()
