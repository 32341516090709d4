"""Models of LightGBM, XGBoost and CatBoost on every shared data set, and what treewright reads.

    python tools/check_readers.py [NAME …] [--shared FOLDER] [--rounds 30]

Each library learns each data set at its defaults, with the categories as they are. Rows of the
training, and the same rows with gaps among their numbers and columns shuffled, are asked of the
library and of the model that was read. Prints the greatest difference, relative to 1 or to the
answer where that is larger, and a table for docs/guide/deploying.md. Needs lightgbm, xgboost and
catboost.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from check_exports import every_name  # noqa: E402

import treewright as tw  # noqa: E402
from tests.oracle.recorded import load_data  # noqa: E402

MOST_TRAINED = 5000


def lightgbm(X: pd.DataFrame, y: np.ndarray, is_class: bool, rounds: int) -> tuple[Any, Any]:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if is_class else LGBMRegressor
    model = kind(n_estimators=rounds, verbose=-1, n_jobs=1).fit(X, y)
    return model, tw.from_lightgbm(model)


def xgboost(X: pd.DataFrame, y: np.ndarray, is_class: bool, rounds: int) -> tuple[Any, Any]:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBClassifier if is_class else XGBRegressor
    model = kind(n_estimators=rounds, enable_categorical=True, n_jobs=1).fit(X, y)
    return model, tw.from_xgboost(model)


def catboost(X: pd.DataFrame, y: np.ndarray, is_class: bool, rounds: int) -> tuple[Any, Any]:
    from catboost import CatBoostClassifier, CatBoostRegressor

    nominal = [name for name in X if X[name].dtype.kind not in "iufb"]
    kind = CatBoostClassifier if is_class else CatBoostRegressor
    model = kind(iterations=rounds, verbose=0, thread_count=1, allow_writing_files=False)
    model.fit(X, y, cat_features=nominal)
    return model, tw.from_catboost(model, data=X)


LIBRARIES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "catboost": catboost,
}


def prepared(X: pd.DataFrame, library: str) -> pd.DataFrame:
    """Plain column names, and categories as the library takes them: CatBoost takes no gaps."""
    rows = X.copy()
    rows.columns = [f"c{i}" for i in range(X.shape[1])]
    for name in rows:
        if rows[name].dtype.kind in "iufb":
            continue
        values = rows[name].astype(object)
        text = values.where(values.notna(), "?").astype(str)
        rows[name] = (
            text if library == "catboost" else text.where(values.notna()).astype("category")
        )
    return rows


def shuffled(X: pd.DataFrame) -> pd.DataFrame:
    """The columns in other combinations, with gaps among the numbers."""
    random = np.random.default_rng(1)
    rows = X.copy()
    for name in rows:
        rows[name] = rows[name].iloc[random.permutation(len(X))].array
        if rows[name].dtype.kind in "iuf":
            rows[name] = rows[name].astype(float).where(random.random(len(X)) < 0.9)
    return rows


def difference(theirs: Any, ours: Any, X: pd.DataFrame) -> float:
    """The greatest, relative to the answer or to 1."""
    ask = "predict_proba" if hasattr(ours, "predict_proba") else "predict"
    told, said = (np.asarray(getattr(model, ask)(X), float) for model in (theirs, ours))
    return float(np.max(np.abs(said - told) / np.maximum(1.0, np.abs(told))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, list[float]] = {name: [] for name in LIBRARIES}
    for name in options.names or every_name(options.shared):
        X, y, _ = load_data(options.shared, name)
        used = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_TRAINED])
        X, y = X.iloc[used].reset_index(drop=True), y[used]
        is_class = y.dtype == object
        told = np.unique(y, return_inverse=True)[1] if is_class else y
        said = []
        for library, learn in LIBRARIES.items():
            rows = prepared(X, library)
            try:
                theirs, ours = learn(rows, told, is_class, options.rounds)
                off = max(difference(theirs, ours, asked) for asked in (rows, shuffled(rows)))
                found[library].append(off)
                said.append(f"{library} {off:.0e}")
            except Exception as fault:  # a table of all faults is wanted, not the first
                said.append(f"{library} {type(fault).__name__}: {str(fault)[:200]}")
        print(f"{name:20}", *said, flush=True)
    print("\n| library | data sets | greatest difference |\n|---|---|---|")
    for library, each in found.items():
        print(f"| {library} {version(library)} | {len(each)} | {max(each, default=0):.0e} |")


if __name__ == "__main__":
    main()
