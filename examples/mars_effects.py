"""MARS on Friedman's function: the formula, the parts, and a picture of them.

python examples/mars_effects.py [mars-effects.svg]
"""

import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np

from treewright import MARSRegressor

rng = np.random.default_rng(0)
a, b, c, d, e, f = rng.uniform(size=(500, 6)).T
X = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}
y = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
model = MARSRegressor(degree=2).fit(X, y + rng.normal(size=500))

print(model.to_text(digits=3))
print()
print(model.anova())
print()
print(model.importance())
if len(sys.argv) > 1:
    matplotlib.rcParams["svg.hashsalt"] = "treewright"
    figure = model.plot()
    figure.set_size_inches(7, 4.6)
    figure.savefig(sys.argv[1], metadata={"Date": None})
