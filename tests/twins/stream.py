"""Stream trees in plain Python: what ``core/stream`` does, a row at a time.

Nodes are objects instead of numbers in a list. The limit of memory, which changes what is kept and
not what is computed, is the core's alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Adwin", "StreamTree"]

Floats = NDArray[np.float64]
N_BINS = 64
PURE_SHARE = 0.99
"""No test is tried where one class has more."""
COMPARE_AFTER = 300
"""Rows of a subtree that grows beside another before the two are compared."""
FADE = 0.95
"""Of the squared errors of a leaf's two answers."""


class Gauss:
    """Mean and variance of weighted numbers (Welford; West 1979)."""

    def __init__(self) -> None:
        self.n = self.mean = self.m2 = 0.0

    def add(self, x: float, w: float) -> None:
        self.n += w
        away = x - self.mean
        self.mean += w * away / self.n
        self.m2 += w * away * (x - self.mean)

    @property
    def variance(self) -> float:
        return max(self.m2 / self.n, 0.0) if self.n > 1 else 0.0


class Bins:
    """Sums of a numeric attribute in 64 bins of equal width, which doubles where it must."""

    def __init__(self, n_sums: int) -> None:
        self.low = self.width = 0.0
        self.least, self.most = math.inf, -math.inf
        self.sums = np.zeros((N_BINS, n_sums))

    def start(self, low: float, high: float) -> None:
        if high > low and high - low < math.inf:
            self.low, self.width = low, (high - low) / N_BINS * (1 + 1e-9)

    def at(self, x: float) -> Any:
        """The sums of the bin of x."""
        if self.least > self.most and self.width == 0:
            self.low = x
        self.least, self.most = min(self.least, x), max(self.most, x)
        if self.width == 0:
            if x == self.low:
                return self.sums[0]
            self._spread(x)
        while x < self.low or x >= self.low + N_BINS * self.width:
            self._widen(x < self.low)
        return self.sums[self._bin(x)]

    def _bin(self, x: float) -> int:
        return int(min(max((x - self.low) / self.width, 0), N_BINS - 1))

    def _spread(self, x: float) -> None:
        """The second value gives a first idea of the width."""
        first = self.low
        self.width = max(abs(x - first) / 16, abs(first) * 1e-12 + 1e-300)
        self.low = min(first, x) - 24 * self.width
        to = self._bin(first)
        self.sums[[0, to]] = self.sums[[to, 0]]

    def _widen(self, downwards: bool) -> None:
        pairs = self.sums.reshape(N_BINS // 2, 2, -1).sum(axis=1)
        half = np.zeros_like(pairs)
        self.sums = np.concatenate([half, pairs] if downwards else [pairs, half])
        if downwards:
            self.low -= N_BINS * self.width
        self.width *= 2


class Adwin:
    """Adaptive windowing (Bifet and Gavaldà 2007): buckets of 1, 2, 4 … rows, at most 5 of a size.

    A bucket has its rows, their sum, and the sum of their squared deviations.
    """

    def __init__(self, delta: float) -> None:
        self.delta = delta
        self.n = self.total = self.squares = 0.0
        self.ticks = 0
        self.buckets: list[list[float]] = []

    @property
    def mean(self) -> float:
        return self.total / self.n if self.n > 0 else 0.0

    def add(self, x: float) -> bool:
        """Whether the window was cut and the mean rose by it."""
        if self.n > 0:
            self.squares += self.n * (x - self.mean) ** 2 / (self.n + 1)
        self.n += 1
        self.total += x
        self.buckets.append([1.0, x, 0.0])
        self._compress()
        self.ticks += 1
        if self.ticks % 32 or self.n < 10:
            return False
        before, cut = self.mean, False
        while len(self.buckets) > 2 and self._differs():
            self._drop_oldest()
            cut = True
        return cut and self.mean > before

    def _compress(self) -> None:
        size = 1.0
        while True:
            own = [i for i, bucket in enumerate(self.buckets) if bucket[0] == size]
            if len(own) <= 5:
                return
            old, young = self.buckets[own[0]], self.buckets.pop(own[1])
            apart = (old[1] - young[1]) / size
            self.buckets[own[0]] = [
                2 * size,
                old[1] + young[1],
                old[2] + young[2] + size / 2 * apart * apart,
            ]
            size *= 2

    def _differs(self) -> bool:
        variance = max(self.squares / self.n, 0.0)
        log_term = math.log(2 * math.log(self.n) / self.delta)
        n0 = sum0 = 0.0
        for size, total, _ in self.buckets[:-1]:
            n0, sum0 = n0 + size, sum0 + total
            n1 = self.n - n0
            if n0 < 5 or n1 < 5:
                continue
            m = 1 / (n0 - 4) + 1 / (n1 - 4)
            limit = math.sqrt(2 * m * variance * log_term) + 2 / 3 * m * log_term
            if abs(sum0 / n0 - (self.total - sum0) / n1) > limit:
                return True
        return False

    def _drop_oldest(self) -> None:
        size, total, spread = self.buckets.pop(0)
        self.n -= size
        self.total -= total
        away = total / size - self.mean
        self.squares -= spread + size * self.n * away * away / (size + self.n)


class Linear:
    """Least squares on numeric attributes: exact sums, solved anew now and then."""

    def __init__(self, m: int, coef: Floats | None) -> None:
        self.n = self.following = 0.0
        self.coef = coef
        self.matrix, self.right = np.zeros((m + 1, m + 1)), np.zeros(m + 1)
        self.shift: Floats | None = None
        self.shift_y = 0.0

    def add(self, z: Floats, y: float, w: float) -> None:
        if self.shift is None:
            self.shift, self.shift_y = z.copy(), y
        row = np.append(z - self.shift, 1.0)
        self.matrix += w * np.outer(row, row)
        self.right += w * row * (y - self.shift_y)
        self.n += 1
        if self.n >= self.following and self.n >= 2 * len(row):
            self._solve()
            self.following = self.n + max(32.0, self.n / 16)

    def _solve(self) -> None:
        """With a ridge that only matters where columns repeat."""
        matrix = self.matrix.copy()
        for i, own in enumerate(np.diag(self.matrix)):
            matrix[i, i] = own * (1 + 1e-6) + 1e-12 * (own or 1.0) + (own == 0)
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return
        b: Any = np.linalg.solve(matrix, self.right)
        assert self.shift is not None
        b[-1] += self.shift_y - b[:-1] @ self.shift
        if np.all(np.isfinite(b)):
            self.coef = b

    def predict(self, z: Floats) -> float:
        assert self.coef is not None
        return float(self.coef[:-1] @ z + self.coef[-1])


class Test:
    """A test of a node, with the sums of its branches."""

    def __init__(
        self, feature: int, merit: float, sums: Any, threshold: float = 0.0, branch: Any = ()
    ) -> None:
        self.feature, self.merit, self.sums = feature, merit, sums
        self.threshold, self.branch = threshold, list(branch)


class Node:
    """A node: its test, and what it saw."""

    def __init__(self, tree: StreamTree, depth: int) -> None:
        options = tree.options
        n_features, k = len(tree.n_codes), tree.n_classes
        self.depth = depth
        self.test: Test | None = None
        self.kids: list[Node] = []
        self.totals = np.zeros(tree.n_sums)
        self.passed = self.seen = self.tried = 0.0
        self.bins = [Bins(tree.n_sums) for _ in range(n_features)]
        self.gauss = [[Gauss() for _ in range(k)] for _ in range(n_features)]
        self.codes: list[list[Floats]] = [[] for _ in range(n_features)]
        self.right_plain = self.right_model = 0.0
        self.linear = Linear(tree.n_numeric, None) if tree.has_linear else None
        self.adwin = Adwin(options["drift_delta"])
        self.beside: Node | None = None

    def become(self, other: Node) -> None:
        """Take over all of another node but the weight that passed."""
        passed = self.passed
        self.__dict__ = other.__dict__
        self.passed = passed


class StreamTree:
    """The tree; ``options`` are those of the compiled one."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.n_classes = int(options["n_classes"])
        self.n_codes = list(options["n_codes"])
        self.n_sums = self.n_classes or 3
        self.n_numeric = sum(n == 0 for n in self.n_codes)
        self.has_linear = not self.n_classes and options["leaf"] != 0 and self.n_numeric <= 64
        self.target = Gauss()
        self.means = [Gauss() for _ in self.n_codes]
        self.root = Node(self, 0)

    # Sums

    def _weight(self, sums: Any) -> float:
        return float(sum(sums.tolist()) if self.n_classes else sums[0])

    def _impurity(self, sums: Any) -> float:
        n = self._weight(sums)
        if not n > 0:
            return 0.0
        if not self.n_classes:
            return max(float(sums[2] / n - (sums[1] / n) ** 2), 0.0)
        p = [float(each) / n for each in sums]
        if self.options["gini"]:
            return 1 - sum(each * each for each in p)
        return -sum(each * math.log2(each) for each in p if each > 0)

    def _bound(self, n: float) -> float:
        is_entropy = self.n_classes and not self.options["gini"]
        span = math.log2(max(self.n_classes, 2)) if is_entropy else 1.0
        return math.sqrt(span * span * math.log(1 / self.options["delta"]) / (2 * n))

    # Ways and answers

    def _child(self, node: Node, x: Sequence[float]) -> Node:
        assert node.test is not None
        value, branch = x[node.test.feature], node.test.branch
        if value == value:
            if not branch:
                return node.kids[value >= node.test.threshold]
            if int(value) < len(branch) and branch[int(value)] >= 0:
                return node.kids[int(branch[int(value)])]
        return max(node.kids, key=lambda kid: kid.passed)

    def _leaf(self, node: Node, x: Sequence[float]) -> Node:
        while node.kids:
            node = self._child(node, x)
        return node

    def _numbers(self, x: Sequence[float]) -> Floats:
        values = zip(x, self.means, self.n_codes, strict=True)
        return np.array([v if v == v else mean.mean for v, mean, n in values if not n])

    def _uses_model(self, leaf: Node) -> bool:
        kind = self.options["leaf"]
        if self.n_classes:
            return (
                kind != 0 and leaf.seen > 0 and (kind == 1 or leaf.right_model > leaf.right_plain)
            )
        is_ready = leaf.linear is not None and leaf.linear.coef is not None
        return is_ready and (kind == 1 or leaf.right_model < leaf.right_plain)

    def _bayes(self, leaf: Node, x: Sequence[float]) -> Floats:
        """Naive Bayes: normal numbers, counted categories."""
        total, k = self._weight(leaf.totals), self.n_classes
        out = [math.log(t / total) if t > 0 else -math.inf for t in leaf.totals.tolist()]
        for f, n_codes in enumerate(self.n_codes):
            if x[f] != x[f]:
                continue
            if n_codes:
                sums = np.array(leaf.codes[f]).reshape(-1, k)
                for c in range(k):
                    here = sums[int(x[f]), c] if int(x[f]) < len(sums) else 0.0
                    out[c] += math.log((here + 1) / (sums[:, c].sum() + n_codes))
                continue
            least = max(1e-6 * max(g.variance for g in leaf.gauss[f]), 1e-300)
            for c, g in enumerate(leaf.gauss[f]):
                if g.n >= 2:
                    v = max(g.variance, least)
                    out[c] -= 0.5 * math.log(v) + (x[f] - g.mean) ** 2 / (2 * v)
        share = np.exp(np.array(out) - max(out))
        return np.asarray(share / share.sum())

    def _answer(self, x: Sequence[float], root: Node) -> Floats:
        leaf = self._leaf(root, x)
        uses_model = self._uses_model(leaf)
        if not self.n_classes:
            if uses_model:
                assert leaf.linear is not None
                return np.array([leaf.linear.predict(self._numbers(x))])
            return np.array([leaf.totals[1] / leaf.totals[0] if leaf.totals[0] > 0 else 0.0])
        if uses_model:
            found = self._bayes(leaf, x)
            if math.isfinite(found[0]):
                return found
        total = self._weight(leaf.totals)
        return leaf.totals / total if total > 0 else np.full(self.n_classes, 1 / self.n_classes)

    def answer(self, rows: Floats) -> Floats:
        """Class probabilities or numbers of rows."""
        return np.array([self._answer(x, self.root) for x in rows.tolist()])

    def _loss(self, answer: Floats, y: float) -> float:
        if self.n_classes:
            return float(int(np.argmax(answer)) != int(y))
        scale = 3 * math.sqrt(self.target.variance)
        return min(1.0, abs(float(answer[0]) - y) / scale) if scale > 0 else 0.0

    # Learning

    def learn(self, rows: Floats, y: Floats, weight: Floats | None, want: bool) -> Floats | None:
        """Learn rows; their answers before that, where they are wanted."""
        each = np.ones(len(y)) if weight is None else weight
        answers = []
        for x, target, w in zip(rows.tolist(), y.tolist(), each.tolist(), strict=True):
            answers.append(self._answer(x, self.root))
            error = self._loss(answers[-1], target)
            if not self.n_classes:
                self.target.add(target, w)
                for f, n in enumerate(self.n_codes):
                    if not n and x[f] == x[f]:
                        self.means[f].add(x[f], w)
            self._learn_below(self.root, x, target, w, error)
        return np.array(answers) if want else None

    def _learn_below(self, at: Node, x: list[float], y: float, w: float, error: float) -> None:
        while True:
            at.passed += w
            if self.options["drift"]:
                self._watch(at, x, y, w, error)
            if not at.kids:
                break
            if self.options["fast"]:
                self._observe(at, x, y, w)
                at.seen += w
                if at.seen - at.tried >= self.options["again"]:
                    self._look_again(at)
                if not at.kids:
                    return
            at = self._child(at, x)
        if self.options["leaf"] == 2:
            self._judge_answers(at, x, y, w)
        self._observe(at, x, y, w)
        at.seen += w
        if at.seen - at.tried >= self.options["grace"]:
            self._attempt(at)

    def _judge_answers(self, leaf: Node, x: list[float], y: float, w: float) -> None:
        if self.n_classes:
            if leaf.seen > 0:
                leaf.right_model += w * (int(np.argmax(self._bayes(leaf, x))) == int(y))
                leaf.right_plain += w * (int(np.argmax(leaf.totals)) == int(y))
        elif leaf.linear is not None and leaf.linear.coef is not None and leaf.totals[0] > 0:
            a = leaf.linear.predict(self._numbers(x)) - y
            b = float(leaf.totals[1] / leaf.totals[0]) - y
            leaf.right_model = FADE * leaf.right_model + w * a * a
            leaf.right_plain = FADE * leaf.right_plain + w * b * b

    def _observe(self, node: Node, x: list[float], y: float, w: float) -> None:
        row = w * (np.eye(self.n_classes)[int(y)] if self.n_classes else np.array([1, y, y * y]))
        node.totals += row
        for f, n_codes in enumerate(self.n_codes):
            if x[f] != x[f]:
                continue
            if n_codes:
                while len(node.codes[f]) <= int(x[f]):
                    node.codes[f].append(np.zeros(self.n_sums))
                node.codes[f][int(x[f])] += row
            else:
                sums = node.bins[f].at(x[f])
                sums += row
                if self.n_classes:
                    node.gauss[f][int(y)].add(x[f], w)
        if node.linear is not None:
            node.linear.add(self._numbers(x), y, w)

    # Tests

    def _numeric_test(self, node: Node, f: int) -> Test | None:
        bins, best = node.bins[f], None
        if bins.least > bins.most or bins.width == 0:
            return None
        total = bins.sums.sum(axis=0)
        n = self._weight(total)
        known = n / max(self._weight(node.totals), n)
        whole, least = self._impurity(total), self.options.get("min_branch", 0.01) * n
        left = np.zeros(self.n_sums)
        for i in range(N_BINS - 1):
            left = left + bins.sums[i]
            n_left = self._weight(left)
            right = total - left
            n_right = self._weight(right)
            if n_left < least or n - n_left < least or n_left <= 0 or not n_right > 0:
                continue
            inside = n_left * self._impurity(left) + n_right * self._impurity(right)
            merit = known * (whole - inside / n)
            if merit > (best.merit if best else 0):
                best = Test(f, merit, [left, right], bins.low + bins.width * (i + 1))
        return best

    def _nominal_test(self, node: Node, f: int) -> Test | None:
        sums = node.codes[f]
        total = sum(sums, np.zeros(self.n_sums))
        n = self._weight(total)
        weights = [self._weight(each) for each in sums]
        least = self.options.get("min_branch", 0.01) * n
        if not n > 0 or sum(w > 0 and w >= least for w in weights) < 2:
            return None
        kept = [code for code, w in enumerate(weights) if w > 0]
        inside = sum(weights[code] * self._impurity(sums[code]) for code in kept)
        known = n / max(self._weight(node.totals), n)
        branch = [kept.index(code) if code in kept else -1 for code in range(len(sums))]
        merit = known * (self._impurity(total) - inside / n)
        return Test(f, merit, [sums[code] for code in kept], branch=branch)

    def _tests(self, node: Node) -> list[Test]:
        found = [
            self._nominal_test(node, f) if n else self._numeric_test(node, f)
            for f, n in enumerate(self.n_codes)
        ]
        return [test for test in found if test is not None]

    def _attempt(self, leaf: Node) -> None:
        options = self.options
        leaf.tried = leaf.seen
        if leaf.depth >= options["max_depth"] or not self._impurity(leaf.totals) > 0:
            return
        if self.n_classes and leaf.totals.max() > PURE_SHARE * self._weight(leaf.totals):
            return
        tests = sorted(self._tests(leaf), key=lambda test: -test.merit)
        if not tests or not tests[0].merit > 0:
            return
        best, second = tests[0], max(tests[1].merit, 0.0) if len(tests) > 1 else 0.0
        eps, tau = self._bound(leaf.seen), options["tau"]
        if not self.n_classes:
            is_sure = second / best.merit < 1 - eps or eps < tau
        elif options["fast"]:
            is_sure = best.merit > eps or (eps < tau and best.merit > tau / 2)
        else:
            is_sure = best.merit - second > eps or eps < tau
        if is_sure:
            self._split(leaf, best)

    def _merit_below(self, node: Node) -> float:
        """What all tests below a node gain together, as its leaves have it."""
        inside, n = 0.0, 0.0
        open_nodes = list(node.kids)
        while open_nodes:
            each = open_nodes.pop()
            open_nodes += each.kids
            here = 0.0 if each.kids else self._weight(each.totals)
            if here > 0:
                inside += here * self._impurity(each.totals)
                n += here
        return self._impurity(node.totals) - inside / n if n > 0 else 0.0

    def _look_again(self, node: Node) -> None:
        """An inner node of the extremely fast tree: another test may be better by now, or none."""
        node.tried = node.seen
        tests, tau = self._tests(node), self.options["tau"]
        assert node.test is not None
        now = sum(test.merit for test in tests if test.feature == node.test.feature)
        now = max(now, self._merit_below(node))
        best = max(tests, key=lambda test: test.merit, default=None)
        eps = self._bound(node.seen)
        merit = max(best.merit, 0.0) if best else 0.0
        is_other = best is not None and merit > 0 and best.feature != node.test.feature
        if is_other and (merit - now > eps or (eps < tau and merit - now > tau / 2)):
            assert best is not None
            self._split(node, best)
        elif merit <= 0 and eps < tau:
            node.kids, node.test = [], None

    def _split(self, node: Node, test: Test) -> None:
        """All that a node knows goes to its children, in the shares of the rows the test knows."""
        kids = []
        for b, own in enumerate(test.sums):
            kid = Node(self, node.depth + 1)
            for k in range(self.n_sums):
                by = k if self.n_classes else 0
                every = sum(float(each[by]) for each in test.sums)
                share = own[k] * (node.totals[by] / every) if every > 0 else 0.0
                kid.totals[k] = share if every > 0 else node.totals[k] / len(test.sums)
            kid.passed = self._weight(kid.totals)
            for f, n_codes in enumerate(self.n_codes):
                bins = node.bins[f]
                if n_codes or bins.least > bins.most:
                    continue
                low, high = bins.least, bins.most
                if f == test.feature and b == 0:
                    high = min(high, test.threshold)
                if f == test.feature and b == 1:
                    low = max(low, test.threshold)
                kid.bins[f].start(low, high)
            if node.linear is not None:
                kid.linear = Linear(self.n_numeric, node.linear.coef)
                kid.right_plain, kid.right_model = node.right_plain, node.right_model
            kids.append(kid)
        node.kids, node.test = kids, test

    # Drift

    def _watch(self, at: Node, x: list[float], y: float, w: float, error: float) -> None:
        if at.adwin.add(error) and at.beside is None:
            fresh = Node(self, at.depth)
            if at.kids:
                at.beside = fresh
            else:  # what a leaf remembers is of the past
                fresh.totals = at.totals / max(self._weight(at.totals), 1.0)
                at.become(fresh)
        if at.beside is None:
            return
        answer = self._answer(x, self._leaf(at.beside, x))
        self._learn_below(at.beside, x, y, w, self._loss(answer, y))
        self._compare_beside(at, at.beside)

    def _compare_beside(self, at: Node, beside: Node) -> None:
        old, young = at.adwin, beside.adwin
        if young.n < COMPARE_AFTER or young.n % 50:
            return
        e = old.mean
        eps = math.sqrt(2 * e * (1 - e) * math.log(2 / 0.05) * (1 / old.n + 1 / young.n))
        if e - young.mean > eps:
            at.become(beside)
        elif young.mean - e > eps:
            at.beside = None

    # The tree

    def arrays(self) -> dict[str, Any]:
        """Features, thresholds and totals, parents first, siblings together."""
        order = [self.root]
        for node in order:
            order += node.kids
        totals = {id(node): node.totals for node in order}
        for node in reversed(order):
            if node.kids:  # stands for the rows of its leaves
                totals[id(node)] = np.sum([totals[id(kid)] for kid in node.kids], axis=0)
        tests = [node.test if node.kids else None for node in order]
        return {
            "n_children": np.array([len(node.kids) for node in order]),
            "feature": np.array([-1 if test is None else test.feature for test in tests]),
            "threshold": np.array([0.0 if test is None else test.threshold for test in tests]),
            "totals": np.array([totals[id(node)] for node in order]),
        }
