"""Makes the model files of this folder, and answers.json: what their libraries say of a few rows,
and how they divide each score among the features (Shapley values, the last column the mean; not
where models of ours cannot have those of the library).

    python tests/exporting/recorded/make.py

Needs lightgbm, xgboost and catboost; the tests that read the files need none of them. The versions
that wrote them are in answers.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost

HERE = Path(__file__).parent
CITIES = ["Aachen", "Bonn", "Celle", "Dresden", "Essen"]


def data(n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    """Two numbers and a category, with gaps, and a number to predict."""
    random = np.random.default_rng(5)
    city = random.integers(0, len(CITIES), n)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(float),
            "income": np.round(random.lognormal(3, 0.7, n), 2),
            "city": pd.Categorical.from_codes(city, CITIES),
        }
    )
    number = X["age"] / 20 + 1.5 * X["income"].gt(20) + 2.0 * np.isin(city, [1, 4])
    for name in X:
        X.loc[random.random(n) < 0.15, name] = None
    return X, np.asarray(number + random.normal(0, 0.3, n))


def asked(X: pd.DataFrame) -> pd.DataFrame:
    """Twelve rows of training, and one that is a gap throughout."""
    return X.iloc[:12].reindex(range(13))


def lightgbm_poisson(X: pd.DataFrame, number: np.ndarray, rows: pd.DataFrame) -> Any:
    model = lightgbm.LGBMRegressor(
        objective="poisson", n_estimators=4, num_leaves=5, cat_smooth=1, min_data_per_group=10,
        learning_rate=0.3, verbose=-1, n_jobs=1,
    ).fit(X, number.clip(0))  # fmt: skip
    model.booster_.save_model(str(HERE / "lightgbm.txt"))
    return model.predict(rows), model.predict(rows, pred_contrib=True)


def xgboost_binary(X: pd.DataFrame, number: np.ndarray, rows: pd.DataFrame) -> Any:
    model = xgboost.XGBClassifier(
        n_estimators=4, max_depth=3, learning_rate=0.5, max_cat_to_onehot=2, n_jobs=1,
        enable_categorical=True, tree_method="hist",
    ).fit(X, number > np.median(number))  # fmt: skip
    model.save_model(HERE / "xgboost.json")
    matrix = xgboost.DMatrix(rows, enable_categorical=True)
    return model.predict_proba(rows), model.get_booster().predict(matrix, pred_contribs=True)


def catboost_classes(X: pd.DataFrame, number: np.ndarray, rows: pd.DataFrame) -> Any:
    options = {"iterations": 4, "depth": 3, "learning_rate": 0.5, "verbose": 0, "thread_count": 1,
               "border_count": 12, "allow_writing_files": False}  # fmt: skip
    y = np.array(["low", "mid", "high"])[np.digitize(number, np.quantile(number, [0.3, 0.7]))]
    model = catboost.CatBoostClassifier(**options).fit(X[["age", "income"]], y)
    catboost_saved(model, "catboost")
    numbers = rows[["age", "income"]]
    shares = model.get_feature_importance(catboost.Pool(numbers), type="ShapValues")
    return model.predict_proba(numbers), shares


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """CatBoost takes no gaps among categories."""
    return rows.assign(city=rows["city"].astype(object).fillna("?"))


def catboost_saved(model: Any, name: str, **saving: Any) -> None:
    """The file without its indents and the moment of the training."""
    path = HERE / f"{name}.json"
    model.save_model(str(path), format="json", **saving)
    told = json.loads(path.read_text(encoding="utf-8"))
    for key in ("train_finish_time", "model_guid"):
        told["model_info"].pop(key, None)
    path.write_text(json.dumps(told) + "\n", encoding="utf-8")


def catboost_statistics(X: pd.DataFrame, number: np.ndarray, rows: pd.DataFrame) -> Any:
    """Symmetric trees with statistics of a category, and of its combination with a number."""
    model = catboost.CatBoostRegressor(
        iterations=6, depth=3, learning_rate=0.5, verbose=0, thread_count=1, border_count=12,
        max_ctr_complexity=2, model_size_reg=0, allow_writing_files=False,
    )  # fmt: skip
    differs = X["age"].gt(50) ^ X["city"].isin(["Bonn", "Essen"])
    pool = catboost.Pool(named(X), number + 3 * differs, cat_features=["city"])
    catboost_saved(model.fit(pool), "catboost_statistics", pool=pool)
    unknown = named(rows).assign(city="Fulda")
    return np.concatenate([model.predict(named(rows)), model.predict(unknown)]), None


def catboost_leafwise(X: pd.DataFrame, number: np.ndarray, rows: pd.DataFrame) -> Any:
    """Trees that are not symmetric, with tests of one category."""
    model = catboost.CatBoostClassifier(
        iterations=4, grow_policy="Lossguide", max_leaves=6, learning_rate=0.5, verbose=0,
        thread_count=1, border_count=12, one_hot_max_size=10, allow_writing_files=False,
    )  # fmt: skip
    y = (number > np.median(number)).astype(int)
    pool = catboost.Pool(named(X), y, cat_features=["city"])
    catboost_saved(model.fit(pool), "catboost_leafwise", pool=pool)
    return model.predict_proba(named(rows)), None


def xgboost_targets(X: pd.DataFrame, number: np.ndarray, rows: pd.DataFrame) -> Any:
    """Trees of two targets at once."""
    model = xgboost.XGBRegressor(
        n_estimators=4, max_depth=3, learning_rate=0.5, n_jobs=1, tree_method="hist",
        multi_strategy="multi_output_tree",
    ).fit(X[["age", "income"]], np.column_stack([number * 100, X["income"].fillna(0)]))  # fmt: skip
    model.save_model(HERE / "xgboost_targets.json")
    return model.predict(rows[["age", "income"]]), None


def main() -> None:
    X, number = data()
    rows = asked(X)
    makers = {
        "lightgbm": lightgbm_poisson,
        "xgboost": xgboost_binary,
        "catboost": catboost_classes,
        "catboost_statistics": catboost_statistics,
        "catboost_leafwise": catboost_leafwise,
        "xgboost_targets": xgboost_targets,
    }
    cells = rows.astype(object)
    found: dict[str, Any] = {
        "versions": {m.__name__: m.__version__ for m in (lightgbm, xgboost, catboost)},
        "rows": cells.where(cells.notna(), None).to_dict("records"),
    }
    for name, make in makers.items():
        answers, shares = make(X, number, rows)
        found[name] = np.asarray(answers, float).round(9).tolist()
        if shares is not None:
            found[f"{name} shares"] = np.asarray(shares, float).round(7).tolist()
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    (HERE / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
