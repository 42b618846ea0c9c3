"""
How a bound comes about
=======================

One task, one weight, and the F1 loss: the objective can be drawn. Each pass over the data gives its value at one
weight, and a plane that touches the loss there. What the planes say together is never above the objective, so its
lowest point is a bound for every weight. The next pass goes there.
"""

import matplotlib.pyplot as plt
import numpy as np

from smtl.metrics import get_metric

rng = np.random.default_rng(3)
y = np.where(rng.random(80) < 0.3, 1, -1)
x = (0.5 * y + rng.normal(size=80)) / 80
metric, C = get_metric("f1"), 4.0
weights = np.linspace(-8.0, 8.0, 3201)


def ask(weight):
    """Return the plane that touches the loss at a weight: its height at zero, and its slope."""
    offset, coefficients = metric.oracle(weight * x, y)
    return offset, -coefficients @ x


objective = 0.5 * weights**2 + C * np.array([offset + slope * w for w in weights for offset, slope in [ask(w)]])

# %%
# Objective and bound close in on the optimum. A fit of many tasks and features does the same, and stops when they are
# within ``tol``.

_, axes = plt.subplots(2, 2, figsize=(7, 5), layout="constrained", sharex=True, sharey=True)
planes, visited, weight = [], [], 2.0
for passes in range(1, 6):
    planes.append(ask(weight))
    visited.append(weight)
    below = 0.5 * weights**2 + C * np.max([offset + slope * weights for offset, slope in planes], axis=0)
    best = np.interp(visited, weights, objective).min()
    weight = weights[below.argmin()]
    if passes == 4:
        continue
    ax = axes.flat[min(passes, 4) - 1]
    ax.fill_between(weights, below, objective, color="#56B4E9", alpha=0.2, linewidth=0)
    ax.plot(weights, objective, color="#0072B2", label="objective")
    ax.plot(weights, below, color="#D55E00", label="what the planes say")
    ax.plot(visited, np.interp(visited, weights, objective), "o", color="#0072B2", markersize=5)
    ax.plot(weight, below.min(), "v", color="#D55E00", markersize=7)
    ax.set_title(f"{passes} pass{'es' * (passes > 1)}: optimum in [{below.min():.2f}, {best:.2f}]", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
axes[0, 0].set(xlim=(-0.8, 2.3), ylim=(1.0, 7.0))
axes[0, 1].legend(frameon=False, loc="upper center")
for ax in axes[1]:
    ax.set_xlabel("weight")
plt.show()
