"""Numpy twins of the forest kernels: drawing rows and features, bins, and predicting.

Random numbers come from Philox4x32-10 (Salmon et al. 2011). The key is made of the seed and the
tree, the counter of a stream and a block number, so that any sample can be drawn again alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "apply_cuts",
    "below",
    "below_each",
    "bin_ends",
    "child_path",
    "code_rows",
    "draw_sample",
    "drawn_features",
    "first_children",
    "philox_words",
    "root_path",
    "tree_seed",
]

SAMPLE_STREAM = 0x53414D504C45
"""Stream of the draws of rows; no node has it as its path but by chance."""
_MASK = (1 << 64) - 1


def child_path(path: int, branch: int) -> int:
    """The number of branch ``branch`` below ``path``, a mix of both (Steele et al. 2014)."""
    z = (path + 0x9E3779B97F4A7C15 * (branch + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def tree_seed(seed: int, tree: int) -> int:
    """The key of all random numbers of a tree."""
    return child_path(seed & _MASK, tree)


def philox_words(key: int, stream: int, n_blocks: int, first: int = 0) -> NDArray[np.uint32]:
    """The words of ``n_blocks`` blocks of a stream, four each."""
    low = np.uint64(0xFFFFFFFF)
    block = np.arange(first, first + n_blocks, dtype=np.uint64)
    c = [
        block & low,
        block >> np.uint64(32),
        np.full(n_blocks, stream & 0xFFFFFFFF, np.uint64),
        np.full(n_blocks, stream >> 32, np.uint64),
    ]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
            p1 & low,
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
            p0 & low,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.column_stack(c).ravel().astype(np.uint32)


def below(key: int, stream: int, bound: int, count: int) -> NDArray[np.int64]:
    """``count`` uniform numbers below ``bound``, one word each but for those rejected."""
    product = np.zeros(0, np.uint64)
    reject = np.uint64((1 << 32) % bound)
    first = 0
    while len(product) < count:
        n_blocks = (count - len(product)) // 4 + 8
        words = philox_words(key, stream, n_blocks, first).astype(np.uint64)
        first += n_blocks
        more = words * np.uint64(bound)
        product = np.concatenate([product, more[(more & np.uint64(0xFFFFFFFF)) >= reject]])
    return (product[:count] >> np.uint64(32)).astype(np.int64)


def below_each(key: int, stream: int, bounds: Iterable[int]) -> list[int]:
    """One uniform number below each bound, in order, by rejection (Lemire 2019)."""
    bounds = list(bounds)
    words = iter(philox_words(key, stream, len(bounds) + 16).tolist())
    found = []
    for bound in bounds:
        product = next(words) * bound
        while product % (1 << 32) < (1 << 32) % bound:
            product = next(words) * bound
        found.append(product >> 32)
    return found


def bin_ends(n: int, n_bins: int = 255) -> NDArray[np.int64]:
    """How many of ``n`` sorted values that all differ lie before each cut between bins.

    Bins hold the fewer values, the closer they are to either end: cuts of rare classes lie there.
    """
    below = np.arange(1, n_bins) ** 2
    above = below[::-1]
    return np.unique(np.maximum(n * below // (below + above), 1))


def root_path(key: int) -> int:
    """The path of the root in the tree with this key."""
    return child_path(key, 0)


def drawn_features(key: int, path: int, n_features: int, n_drawn: int) -> list[int]:
    """The features drawn at a node, in the order of their draw.

    Draws share the bits of a word of 64 as long as these tell at most 2^32 outcomes apart.
    """
    low = philox_words(key, path, n_drawn // 2 + 1).tolist()
    words = iter(a | b << 32 for a, b in zip(low[::2], low[1::2], strict=True))
    order = list(range(n_features))
    word, spent = 0, 1 << 32
    for at in range(n_drawn):
        bound = n_features - at
        spent *= bound
        if spent > 1 << 32:
            word, spent = next(words), bound
        step, word = divmod(word * bound, 1 << 64)
        order[at], order[at + step] = order[at + step], order[at]
    return order[:n_drawn]


def _uniform(key: int, stream: int, count: int) -> NDArray[np.float64]:
    """Numbers in (0, 1] with 53 bits, two words each."""
    words = philox_words(key, stream, (count + 1) // 2).astype(np.uint64)
    bits = ((words[1::2] << np.uint64(32)) | words[::2])[:count]
    return ((bits >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


def _chosen(
    key: int, stream: int, n: int, n_draws: int, replace: bool, weight: NDArray[np.float64] | None
) -> NDArray[np.int64]:
    if replace:
        if weight is None:
            return below(key, stream, n, n_draws)
        bound = float(weight.max()) * n
        is_plain = bool(np.all(weight == np.floor(weight))) and bound < 2.0**62
        scale = 1.0 if is_plain else np.ldexp(1.0, 61 - int(np.frexp(bound)[1]))
        ends = np.cumsum(np.rint(weight * scale).astype(np.int64)).astype(np.float64)
        at = np.searchsorted(ends, _uniform(key, stream, n_draws) * ends[-1], side="left")
        return np.asarray(np.minimum(at, n - 1), np.int64)
    # without replacement: the smallest of exponential times (Efraimidis and Spirakis 2006)
    times = -np.log(_uniform(key, stream, n))
    if weight is not None:
        times = np.divide(times, weight, out=np.full(n, np.inf), where=weight > 0)
    return np.argsort(times, kind="stable")[:n_draws]


def draw_sample(
    seed: int,
    tree: int,
    n_rows: int,
    n_draws: NDArray[np.int64],
    *,
    replace: bool,
    weight: NDArray[np.float64] | None,
    strata: NDArray[np.int32] | None,
) -> NDArray[np.int32]:
    """How often each row is drawn for ``tree``; ``n_draws`` has one entry per stratum."""
    counts = np.zeros(n_rows, np.int32)
    key = tree_seed(seed, tree)
    for stratum, draws in enumerate(n_draws):
        rows = np.arange(n_rows) if strata is None else np.flatnonzero(strata == stratum)
        if len(rows):
            chances = None if weight is None else weight[rows]
            stream = child_path(SAMPLE_STREAM, stratum)
            at = _chosen(key, stream, len(rows), int(draws), replace, chances)
            np.add.at(counts, rows[at], 1)
    return counts


def first_children(n_children: NDArray[np.int32]) -> NDArray[np.int32]:
    """First child of each node, −1 at a leaf: children are numbered as nodes are visited."""
    first = np.full(len(n_children), -1, np.int32)
    stack, following = [0], 1
    while stack:
        at = stack.pop()
        if n_children[at]:
            first[at] = following
            stack.extend(range(following + n_children[at] - 1, following - 1, -1))
            following += n_children[at]
    return first


def apply_cuts(
    n_children: NDArray[np.int32],
    feature: NDArray[np.int32],
    breaks: NDArray[np.float64],
    closed: NDArray[np.uint8],
    X: NDArray[np.floating],
) -> NDArray[np.int32]:
    """Node where each row ends in a tree whose tests are single cuts, one for each inner node."""
    first = first_children(n_children)
    test = np.cumsum(first >= 0) - 1
    at = np.zeros(len(X), np.int32)
    rows = np.arange(len(X))
    while len(rows := rows[first[at[rows]] >= 0]):
        which = test[at[rows]]
        x, cut = X[rows, feature[which]].astype(np.float64), breaks[which]
        goes_left = np.where(closed[which] != 0, x <= cut, x < cut)
        at[rows] = first[at[rows]] + ~goes_left
    return at


def code_rows(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.uint8], NDArray[np.float64]] | None:
    """Codes of rows and the distinct rows in the order of their first; None if over 256."""
    seen: dict[bytes, int] = {}
    codes = [seen.setdefault(row.tobytes(), len(seen)) for row in values]
    if len(seen) > 256:
        return None
    distinct = np.frombuffer(b"".join(seen)).reshape(len(seen), values.shape[1])
    return np.array(codes, np.uint8), distinct
