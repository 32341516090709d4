"""MARS on Friedman's function: the formula, the parts, and a picture of them.

python examples/mars_effects.py [mars-effects.svg]
"""

import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd

from treewright import MARSRegressor

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(size=(500, 6)), columns=list("abcdef"))
y = 10 * np.sin(np.pi * X.a * X.b) + 20 * (X.c - 0.5) ** 2 + 10 * X.d + 5 * X.e
model = MARSRegressor(degree=2).fit(X, y.rename("y") + rng.normal(size=500))

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
