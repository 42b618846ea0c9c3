"""
Trained on one metric, judged by another
========================================

A rare class, and a linear model trained on the log loss, on AUC, and on F1. Each is judged by AUC and by F1, at the cut
that the model itself has chosen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.preprocessing import scale

from smtl import SMTLClassifierCV

METRICS = ["log", "auc", "f1"]
auc, f1 = np.empty((5, 3)), np.empty((5, 3))
for seed in range(5):
    X, y = make_classification(1200, 20, n_informative=8, weights=[0.93], flip_y=0.02, random_state=seed)
    X = scale(X)
    for k, metric in enumerate(METRICS):
        model = SMTLClassifierCV(metric, "ridge", scoring="f1", Cs=8, cv=3, random_state=0).fit(X[:600], y[:600])
        auc[seed, k] = roc_auc_score(y[600:], model.decision_function(X[600:]))
        f1[seed, k] = f1_score(y[600:], model.predict(X[600:]))

# %%
# A point is one draw of the data, a bar the mean. None of the three is best throughout: ``SMTLClassifierCV()`` without
# a metric compares them on held-out rows.

_, axes = plt.subplots(1, 2, figsize=(6.4, 4), layout="constrained")
for ax, values, name in zip(axes, (auc, f1), ("AUC", "F1"), strict=True):
    ax.plot(values.T, "-", color="0.85", linewidth=1)
    for k, colour in enumerate(("#0072B2", "#D55E00", "#009E73")):
        ax.plot(np.full(5, k), values[:, k], "o", color=colour, markersize=5, alpha=0.7)
        ax.hlines(values[:, k].mean(), k - 0.25, k + 0.25, color=colour, linewidth=3)
    ax.set(title=f"{name} on new rows", xlabel="trained on", xlim=(-0.5, 2.5))
    ax.set_xticks(range(3), METRICS)
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
