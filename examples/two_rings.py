"""Too large a tree learns the noise: training and test error against the number of leaves."""

from __future__ import annotations

import numpy as np

from treewright import CARTClassifier
from treewright.datasets import two_rings

SIZES = (2, 4, 8, 16, 32, 64, 128, 256)


def main() -> None:
    """Print both errors for growing trees."""
    train, test = (
        two_rings(1000, noise=0.1, random_state=0),
        two_rings(1000, noise=0.1, random_state=1),
    )
    print("leaves  training error  test error")
    for size in SIZES:
        model = CARTClassifier(max_leaf_nodes=size).fit(train.data, train.target)
        errors = [np.mean(model.predict(d.data) != d.target) for d in (train, test)]
        print(f"{model.tree_.n_leaves:6d}  {errors[0]:14.1%}  {errors[1]:10.1%}")
    pruned = CARTClassifier(ccp_alpha="cv", random_state=0).fit(train.data, train.target)
    error = np.mean(pruned.predict(test.data) != test.target)
    print(f"Pruned by cross-validation: {pruned.tree_.n_leaves} leaves, test error {error:.1%}")


if __name__ == "__main__":
    main()
