from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

def end_calls() -> None: ...
def float_flags(array: NDArray[np.floating[Any]], n_threads: int = 1) -> NDArray[np.uint8]: ...
def text_codes(values: list[Any]) -> tuple[NDArray[np.int32], list[str]] | None: ...
def grow(columns: list[NDArray[Any]], params: dict[str, Any]) -> dict[str, Any]: ...
def candidates(
    columns: list[NDArray[Any]], params: dict[str, Any], primary: int
) -> list[dict[str, Any]]: ...
def split_counts(
    columns: list[NDArray[Any]],
    end: NDArray[np.int32],
    parent: NDArray[np.int32],
    slot: NDArray[np.int32],
    column: NDArray[np.int32],
    low: NDArray[np.float64],
    scale: NDArray[np.float64],
    code: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_bins: int,
    n_codes: int,
) -> NDArray[np.float64]: ...
def node_quantiles(
    order: NDArray[np.int64],
    end: NDArray[np.int32],
    parent: NDArray[np.int32],
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    share: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def is_tree(first_child: NDArray[np.int32], n_children: NDArray[np.int32]) -> bool: ...
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
def cheapest_pruning(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    as_leaf: NDArray[np.float64],
    of_test: NDArray[np.float64],
    as_left: NDArray[np.float64] | None,
    slack: float,
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int64]]: ...
def subtree_sums(
    first_child: NDArray[np.int32], n_children: NDArray[np.int32], own: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def bin_codes(
    column: NDArray[np.floating[Any]], breaks: NDArray[np.float64]
) -> NDArray[np.int32]: ...
def mars_forward(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    copies: NDArray[np.float64] | None,
    linear: NDArray[np.bool_] | None,
    options: dict[str, Any],
    offer: Callable[[list[int]], NDArray[np.bool_]] | None,
) -> dict[str, Any]: ...
def merge_tables(
    tables: NDArray[np.float64],
    offset: NDArray[np.int64],
    ordered: NDArray[np.uint8],
    stop_at: NDArray[np.int32],
    measure: int,
    scores: NDArray[np.float64],
    alpha_merge: float,
    alpha_resplit: float,
    least: float,
    keep_path: bool,
    chi2_tail: int,
    f_tail: int,
    n_threads: int = 1,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
def class_tables(
    columns: list[NDArray[np.int32]],
    sizes: list[int],
    rows: NDArray[np.int64],
    label: NDArray[np.int32],
    n_classes: int,
    weight: NDArray[np.int64] | None,
    n_threads: int = 1,
) -> NDArray[np.int64]: ...
def sum_tables(
    columns: list[NDArray[np.int32]],
    sizes: list[int],
    rows: NDArray[np.int64],
    values: NDArray[np.int64],
    n_threads: int = 1,
) -> NDArray[np.int64]: ...

class Predictor:
    def __init__(self, n_categories: NDArray[np.int32], *arrays: Any) -> None: ...
    def apply(self, rows: Any, n_threads: int = 1) -> NDArray[np.int32]: ...
    def values(
        self, rows: Any, node_values: NDArray[np.float64], n_threads: int = 1
    ) -> NDArray[np.float64]: ...
    def path(
        self, rows: Any, n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def ends(
        self, rows: Any, n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
    def reach(
        self,
        rows: Any,
        node_alpha: NDArray[np.float64],
        alphas: NDArray[np.float64],
        n_threads: int = 1,
    ) -> NDArray[np.int32]: ...

def tree_seed(seed: int, tree: int) -> int: ...
def draw_sample(seed: int, tree: int, n_rows: int, plan: dict[str, Any]) -> NDArray[np.int32]: ...
def grow_forest(
    columns: list[NDArray[Any]], params: dict[str, Any], plan: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], BaseException | None]: ...
def oob_importance(
    n_categories: NDArray[np.int32],
    trees: tuple[NDArray[Any], ...] | list[tuple[Any, ...]],
    rows: Any,
    label: NDArray[np.int32] | None,
    y: NDArray[np.float64] | None,
    values: NDArray[np.float64],
    plan: dict[str, Any],
    n_threads: int = 1,
) -> NDArray[np.float64]: ...
def shuffle(key: int, feature: int, n: int) -> NDArray[np.int64]: ...
def first_children(n_children: NDArray[np.int32]) -> NDArray[np.int32]: ...
def code_rows(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.uint8], NDArray[np.float64]] | None: ...
def sum_up(n_children: NDArray[np.int32], values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def bin_edges(
    columns: list[NDArray[Any]],
    n_rows: int,
    weight: NDArray[np.float64] | None,
    max_bins: int,
    most_rows: int,
    n_threads: int,
) -> list[NDArray[np.float64]]: ...
def summary_edges(
    value: NDArray[np.float64], weight: NDArray[np.float64], max_bins: int
) -> NDArray[np.float64]: ...
def sparse_edges(
    start: NDArray[np.int64],
    row: NDArray[np.int32],
    value: NDArray[np.float64],
    n_rows: int,
    weight: NDArray[np.float64] | None,
    max_bins: int,
    n_threads: int,
) -> list[NDArray[np.float64]]: ...
def bundle_columns(
    start: NDArray[np.int64],
    row: NDArray[np.int32],
    value: NDArray[np.float64],
    n_rows: int,
    edges: list[Any],
) -> NDArray[np.int32]: ...
def sparse_bins(
    start: NDArray[np.int64],
    row: NDArray[np.int32],
    value: NDArray[np.float64],
    n_rows: int,
    edges: list[Any],
    stored: NDArray[np.int32],
) -> Bins: ...
def distinct_values(column: NDArray[Any], n_rows: int, most: int) -> NDArray[np.float64] | None: ...
def drawn_rows(first: int, n: int, n_all: int, most: int) -> NDArray[np.int64]: ...
def row_chances(seed: int, number: int, first: int, n: int) -> NDArray[np.float64]: ...

class Bins:
    def __init__(
        self, columns: list[NDArray[Any]], maps: list[Any], n_rows: int, n_threads: int
    ) -> None: ...
    def by_row(self) -> NDArray[np.uint8]: ...
    def by_column(self) -> NDArray[np.uint8]: ...

class Share:
    def __init__(
        self,
        params: dict[str, Any],
        offsets: NDArray[np.int32],
        width: int,
        n_counted: int,
        most_factor: float,
        is_tall: bool,
        n_threads: int,
    ) -> None: ...
    def add(self, arrays: dict[str, Any], first_row: int, is_mapped: bool) -> None: ...
    def most_loss(self) -> float: ...
    def set_most_loss(self, most: float) -> None: ...
    def loss(self) -> tuple[int, int, int, int, bool]: ...
    def begin_round(self) -> None: ...
    def begin_tree(
        self,
        column: int,
        gradient: int,
        hessian: int,
        is_coarse: bool,
        key: int,
        number: int,
        features: NDArray[np.int32],
        keeps_first: bool,
    ) -> dict[str, Any]: ...
    def expand(self, expansions: dict[str, Any]) -> dict[str, Any]: ...
    def finish_tree(self, tree: dict[str, Any]) -> dict[str, Any]: ...
    def follow(self, tree: dict[str, Any], column: int) -> None: ...

class Planner:
    def __init__(
        self,
        bins: Bins,
        params: dict[str, Any],
        n_rows: int,
        n_counted: int | None,
        most_factor: float,
        is_tall: bool,
    ) -> None: ...
    def offsets(self) -> NDArray[np.int32]: ...
    def width(self) -> int: ...
    def sum_bytes(self) -> int: ...
    def begin(self, number: int) -> NDArray[np.int32]: ...
    def scale(self, column: int) -> tuple[int, int, bool, int]: ...
    def take_slopes(
        self, column: int, most_gradient: float, most_hessian: float, gradient: int, hessian: int
    ) -> bool: ...
    def start(self, column: int, root: NDArray[np.int64], n_rows: int) -> None: ...
    def wanted(self, most: int) -> dict[str, Any]: ...
    def take(
        self,
        histograms: NDArray[np.int64],
        n_left: NDArray[np.int64],
        n_right: NDArray[np.int64],
    ) -> None: ...
    def finish(self, learning_rate: float) -> dict[str, Any]: ...
    def tree(
        self, n_rows: NDArray[np.int64], weight: NDArray[np.int64]
    ) -> dict[str, NDArray[Any]]: ...
    def mean_loss(
        self, most: float, loss_high: int, loss_low: int, weight_high: int, weight_low: int
    ) -> float: ...

class Booster:
    def __init__(
        self,
        bins: Bins,
        params: dict[str, Any],
        y: NDArray[np.float64],
        count: NDArray[np.int32] | None,
        factor: NDArray[np.float64] | None,
        score: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...
    def follow(
        self,
        bins: Bins,
        y: NDArray[np.float64],
        count: NDArray[np.int32] | None,
        factor: NDArray[np.float64] | None,
        score: NDArray[np.float64],
    ) -> None: ...
    def round(
        self,
        number: int,
        learning_rate: float,
        gradient: NDArray[np.float64] | None = None,
        hessian: NDArray[np.float64] | None = None,
    ) -> None: ...
    def loss(self, which: int) -> float: ...
    def scores(self, which: int) -> NDArray[np.float64]: ...
    def set_scores(self, which: int, score: NDArray[np.float64]) -> None: ...
    def take_trees(self) -> dict[str, Any]: ...

class ForestPredictor:
    def __init__(self, n_categories: NDArray[np.int32], *arrays: Any) -> None: ...
    def means(
        self,
        rows: Any,
        values: NDArray[np.float64],
        codes: NDArray[np.uint8] | None,
        may_have_gaps: bool | None,
        n_threads: int = 1,
    ) -> NDArray[np.float64] | None: ...
    def sums(
        self,
        rows: Any,
        values: NDArray[np.float64],
        start: NDArray[np.float64],
        in_singles: bool,
        may_have_gaps: bool | None,
        n_threads: int = 1,
    ) -> NDArray[np.float64] | None: ...
    def winners(
        self,
        rows: Any,
        values: NDArray[np.float64],
        codes: NDArray[np.uint8] | None,
        may_have_gaps: bool | None,
        n_threads: int = 1,
    ) -> NDArray[np.int32] | None: ...
    def apply(
        self, rows: Any, may_have_gaps: bool | None, n_threads: int = 1
    ) -> NDArray[np.int32] | None: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def finds_gaps(self) -> bool: ...

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
        begin: NDArray[np.int64],
        end: NDArray[np.int64],
        features: NDArray[np.int32],
        with_covariance: bool,
    ) -> dict[str, Any]: ...
    def split(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        begin: NDArray[np.int64],
        end: NDArray[np.int64],
        features: NDArray[np.int32],
        form: str,
        least_weight: NDArray[np.float64],
        max_exhaustive: int,
    ) -> list[tuple[float, float, list[int], list[int]] | None]: ...
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

def choose_rules(
    rule_offset: NDArray[np.int64],
    rows: NDArray[np.int32],
    is_class: NDArray[np.bool_],
    weight: NDArray[np.float64],
    bits: NDArray[np.float64],
    share: float,
    most_exhaustive: int,
    n_random: int,
) -> NDArray[np.uint8]: ...
def choose_voting_rules(
    rule_offset: NDArray[np.int64],
    rows: NDArray[np.int32],
    label: NDArray[np.int32],
    strength: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    bits: NDArray[np.float64],
    n_classes: int,
    share: float,
) -> NDArray[np.uint8]: ...
def rank_rules(
    rule_offset: NDArray[np.int64],
    rows: NDArray[np.int32],
    label: NDArray[np.int32],
    strength: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_classes: int,
    other: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def error_rate(
    covered: NDArray[np.float64],
    wrong: NDArray[np.float64],
    confidence: float,
    z: float,
    tail: float,
) -> NDArray[np.float64]: ...

class RuleMatcher:
    def __init__(
        self,
        n_categories: NDArray[np.int32],
        tests: tuple[NDArray[Any], ...],
        rule_offset: NDArray[np.int64],
        rule_tests: NDArray[np.int32],
    ) -> None: ...
    @property
    def n_rules(self) -> int: ...
    def first(self, rows: Any, n_threads: int = 1) -> NDArray[np.int32]: ...
    def sums(
        self, rows: Any, values: NDArray[np.float64], n_threads: int = 1
    ) -> NDArray[np.float64]: ...
    def matches(
        self, rows: Any, n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def cover(
        self,
        rows: Any,
        y: NDArray[np.int32],
        weight: NDArray[np.float64],
        n_classes: int,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def generalise(
        self,
        rows: Any,
        y: NDArray[np.int32],
        weight: NDArray[np.float64],
        n_classes: int,
        outcome: NDArray[np.int32],
        limit: tuple[float, float, float] | None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]: ...

class TreeExplainer:
    def __init__(
        self,
        n_categories: NDArray[np.int32],
        trees: list[Any],
        n_outputs: int,
        n_threads: int = 1,
    ) -> None: ...
    @property
    def expected(self) -> NDArray[np.float64]: ...
    def path_dependent(
        self, rows: Any, pairs: bool, n_threads: int, progress: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]: ...
    def interventional(
        self, rows: Any, background: Any, pairs: bool, n_threads: int, progress: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]: ...
