from typing import Any

import numpy as np
from numpy.typing import NDArray

def float_flags(array: NDArray[np.floating[Any]], n_threads: int = 1) -> NDArray[np.uint8]: ...
def grow(columns: list[NDArray[Any]], params: dict[str, Any]) -> dict[str, Any]: ...
def candidates(
    columns: list[NDArray[Any]], params: dict[str, Any], primary: int
) -> list[dict[str, Any]]: ...
def weakest_link(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    risk: NDArray[np.float64],
    tolerance: float,
) -> NDArray[np.float64]: ...
def one_level_link(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    risk: NDArray[np.float64],
    tolerance: float,
) -> NDArray[np.float64]: ...
def pruning_steps(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    risk: NDArray[np.float64],
    node_alpha: NDArray[np.float64],
    tolerance: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...

class Predictor:
    def __init__(self, n_categories: NDArray[np.int32], *arrays: Any) -> None: ...
    def apply(self, rows: Any, n_threads: int = 1) -> NDArray[np.int32]: ...
    def values(
        self, rows: Any, node_values: NDArray[np.float64], n_threads: int = 1
    ) -> NDArray[np.float64]: ...
    def path(
        self, rows: Any, n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def reach(
        self,
        rows: Any,
        node_alpha: NDArray[np.float64],
        alphas: NDArray[np.float64],
        n_threads: int = 1,
    ) -> NDArray[np.int32]: ...

class Associator:
    def __init__(
        self,
        columns: list[NDArray[Any]],
        n_categories: list[int],
        ordered: list[bool],
        labels: NDArray[np.int32] | None,
        numbers: NDArray[np.float64] | None,
        width: int,
        n_threads: int,
    ) -> None: ...
    def test(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        features: list[int],
        with_covariance: bool,
    ) -> dict[str, Any]: ...
    def split(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        feature: int,
        form: str,
        least_weight: float,
        max_exhaustive: int,
    ) -> dict[str, Any] | None: ...
    def resample(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        features: list[int],
        form: str,
        n_resamples: int,
        key: int,
        stream: int,
    ) -> NDArray[np.int64]: ...
