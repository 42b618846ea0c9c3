"""
Features that all tasks share
=============================

Twelve tasks and 60 features, of which the same ten matter for all tasks. ``"l21"`` takes features in or leaves
them out for all tasks at once, so it finds them. ``"l11"`` chooses for each task by itself, ``"ridge"`` keeps all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from smtl import SMTLClassifierCV
from smtl.datasets import make_multitask

data = make_multitask(12, 2200, 60, sharing="rows", n_informative=10, imbalance=3.0, noise=0.1, random_state=2)
order = np.argsort(-np.abs(data.W).sum(axis=1))  # those that matter first
X, Y = data.X[:, order], data.Y
train, test = slice(0, 200), slice(200, None)

_, axes = plt.subplots(1, 4, figsize=(8.5, 4.2), layout="constrained", sharey=True)
for ax, penalty in zip(axes[1:], ("l21", "l11", "ridge"), strict=True):
    model = SMTLClassifierCV("auc", penalty, Cs=10, cv=3, random_state=0).fit(X[train], Y[train])
    auc = roc_auc_score(Y[test], model.decision_function(X[test]), average="macro")
    ax.imshow(np.abs(model.coef_).T, aspect="auto", cmap="Blues", interpolation="nearest")
    ax.set_title(f"{penalty}\nAUC {auc:.3f}", fontsize=10)
axes[0].imshow(np.abs(data.W[order]), aspect="auto", cmap="Blues", interpolation="nearest")
axes[0].set_title("the truth", fontsize=10)
axes[0].set_ylabel("feature")

# %%
# Rows of each picture are features, columns are tasks; the darker, the larger the weight.

for ax in axes:
    ax.axhline(9.5, color="#D55E00", linewidth=1)
    ax.set_xlabel("task")
plt.show()
