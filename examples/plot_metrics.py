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
# A point is one draw of the data. None of the three is best throughout: ``SMTLClassifierCV()`` without a metric
# compares them on held-out rows.

_, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
for ax, values, name in zip(axes, (auc, f1), ("AUC", "F1"), strict=True):
    ax.plot(values.T, "o-", color="0.75", markersize=4)
    ax.plot(values.mean(axis=0), "o-", color="#0072B2", linewidth=2, label="mean")
    ax.set(title=f"{name} on new rows", xlabel="trained on", xlim=(-0.3, 2.3))
    ax.set_xticks(range(3), METRICS)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
plt.show()
