"""A tree on a mixed data frame with gaps: fit, read, prune, save, use."""

from __future__ import annotations

import tempfile
from pathlib import Path

import treewright
from treewright.datasets import load_titanic


def main() -> None:
    """Print the tree and what it says about one passenger."""
    titanic = load_titanic()
    X, y = titanic.data, titanic.target
    print("Gaps:", {name: X[name].null_count for name in X.column_names if X[name].null_count})

    model = treewright.CARTClassifier(
        ordinal_features={"Pclass": [1, 2, 3]},
        missing="surrogate",
        cp="cv",
        rule="1se",
        min_samples_leaf=7,
        random_state=0,
    ).fit(X, y)
    print(model.tree_.to_text(width=80))

    print("\nHow large should it be?")
    print(model.cp_table_)

    print("\nWhy is passenger 5 said to have died? His age is not known.")
    print(model.tree_.path(X.to_pylist()[5]))

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "titanic.tw"
        treewright.save(model, file)
        again = treewright.load(file)
    print("\nLoaded again, it predicts the same:", (again.predict(X) == model.predict(X)).all())


if __name__ == "__main__":
    main()
