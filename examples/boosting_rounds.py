"""AdaBoost round by round on two rings with some labels flipped: training error, bound, test error.

The training error falls below its bound, and the test error with it, until the flipped labels
are all that is left to learn. Writes boosting-rounds.svg.
"""

from __future__ import annotations

from matplotlib import pyplot as plt

from treewright import AdaBoostClassifier, CARTClassifier
from treewright.datasets import two_rings

train = two_rings(noise=0.1, random_state=0)
test = two_rings(noise=0.1, random_state=1)
model = AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=200, algorithm="m1")
model.fit(train.data, train.target)
curve = model.error_curve(test.data, test.target)

lines = str(curve).splitlines()  # the header, then a line for each round
print("\n".join(lines[k] for k in (0, 1, 10, 50, -1)))
plt.rcParams["svg.hashsalt"] = "treewright"  # the same bytes every time
ax = curve.plot()
ax.set_title("Trees of three levels, two rings,\n10 % of the labels flipped")
ax.figure.set_size_inches(5.6, 4)
ax.figure.savefig("boosting-rounds.svg", metadata={"Date": None})
