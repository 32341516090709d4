"""How often intervals hold the true value, and where Wald's fails.

    python docs/scripts/interval_coverage.py

prints a table and writes docs/img/interval-coverage.svg.

Proportions are exact: the chance of every count of successes is known. DeLong's and the bootstrap
intervals are simulated on scores whose true figures are known.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.stats import binom, norm

from treewright import Evaluation, accuracy_interval
from treewright.evaluation._delong import roc_areas
from treewright.evaluation._evaluation import make_evaluation
from treewright.evaluation._predictions import Predictions

METHODS = ("wald", "wilson", "clopper-pearson")
IMAGE = Path(__file__).parents[1] / "img" / "interval-coverage.svg"
N_SIMULATED = 1000


def proportion_coverage(method: str, n: int, p: np.ndarray) -> np.ndarray:
    """Chance that the 95 % interval of n rows holds each p."""
    limits = np.array([accuracy_interval(k, n, method) for k in range(n + 1)])
    holds = (limits[:, 0] <= p[:, None]) & (p[:, None] <= limits[:, 1])
    return (holds * binom.pmf(np.arange(n + 1), n, p[:, None])).sum(axis=1)


def area_coverage(n_positive: int, n_negative: int, area: float, random: np.random.Generator):
    """How often DeLong's interval holds the area of two normal distributions: ours, on the scale
    of the logit, and the plain one."""
    shift = np.sqrt(2) * norm.ppf(area)
    truth = np.repeat([True, False], [n_positive, n_negative])
    held = np.zeros(2)
    for _ in range(N_SIMULATED):
        scores = random.normal(size=len(truth)) + shift * truth
        found = roc_areas(truth, scores[:, None])
        for k, logit in enumerate((True, False)):
            low, high, _ = found.interval(0.95, logit=logit)
            held[k] += low <= area <= high
    return held / N_SIMULATED


def figure_coverage(n: int, random: np.random.Generator) -> dict[str, float]:
    """How often bootstrap intervals hold the figures of a known confusion matrix."""
    shares = np.array([[0.35, 0.15], [0.1, 0.4]])
    names = ("kappa", "mcc", "f1", "balanced_accuracy")
    true = Evaluation.from_confusion(shares * 1e6)
    held = dict.fromkeys(names, 0)
    for _ in range(N_SIMULATED):
        counts = random.multinomial(n, shares.ravel()).reshape(2, 2)
        found = Evaluation.from_confusion(counts).intervals
        for name in names:
            held[name] += found[name].low <= true[name] <= found[name].high
    return {name: count / N_SIMULATED for name, count in held.items()}


def number_coverage(n: int, random: np.random.Generator) -> dict[str, float]:
    """How often bootstrap intervals hold RMSE, MAE and R² of normal errors."""
    true = {"rmse": 0.5, "mae": 0.5 * np.sqrt(2 / np.pi), "r2": 1 - 0.25 / 1.25}
    held = dict.fromkeys(true, 0)
    for _ in range(N_SIMULATED):
        said = random.normal(size=n)
        found = Predictions(said + 0.5 * random.normal(size=n), said)
        result = make_evaluation(None, (), found, None, None, 0.95, "wilson", "", "").intervals
        for name, value in true.items():
            held[name] += result[name].low <= value <= result[name].high
    return {name: count / (N_SIMULATED) for name, count in held.items()}


def draw() -> None:
    """Coverage of proportions against the true accuracy, and the mean over many of them."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "treewright"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(5.6, 7), sharex=True, layout="constrained")
    p = np.linspace(0.5, 0.999, 500)
    for ax, n in zip(axes, (20, 100, 1000), strict=True):
        for method in METHODS:
            ax.plot(p, proportion_coverage(method, n, p), linewidth=1, label=method)
        ax.axhspan(0.93, 0.97, color="#8794a3", alpha=0.25, lw=0, zorder=0)
        ax.axhline(0.95, color="#808080", linewidth=0.8, linestyle=":")
        ax.set(title=f"{n} test rows", ylabel="intervals that hold it", ylim=(0.6, 1.005))
    axes[-1].set_xlabel("true accuracy")
    axes[0].legend(loc="lower left")
    figure.savefig(IMAGE, metadata={"Date": None})


def main() -> None:
    """Print the tables and draw the figure."""
    draw()
    print("proportions, mean and least coverage over true accuracies")
    for n in (20, 100, 1000):
        for low, high in ((0.5, 0.9), (0.9, 0.99)):
            p = np.linspace(low, high, 401)
            found = {m: proportion_coverage(m, n, p) for m in METHODS}
            told = "  ".join(f"{m} {c.mean():.3f} {c.min():.3f}" for m, c in found.items())
            print(f"{n:5d} rows, {low} to {high}:  {told}")
    random = np.random.default_rng(0)
    print(f"simulated, {N_SIMULATED} samples (standard error 0.7 points)")
    for n_positive, n_negative, area in (
        (50, 50, 0.8),
        (30, 300, 0.8),
        (100, 100, 0.95),
        (10, 20, 0.95),
    ):
        found = area_coverage(n_positive, n_negative, area, random)
        where = f"{n_positive} + {n_negative} rows, area {area}"
        print(f"DeLong, {where}:  {found[0]:.3f}, plain {found[1]:.3f}")
    for n in (50, 100, 400):
        print(
            f"bootstrap, {n} rows: ",
            {k: round(v, 3) for k, v in figure_coverage(n, random).items()},
        )
    for n in (50, 200):
        print(
            f"bootstrap, {n} rows: ",
            {k: round(v, 3) for k, v in number_coverage(n, random).items()},
        )


if __name__ == "__main__":
    main()
