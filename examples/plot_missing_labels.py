"""
Missing labels
==============

A label that is not known is NaN. It is left out of the loss, the folds, the scores and the cuts of its task; the row
still counts for the other tasks. So tasks with few labels lean on those with many.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from smtl import SMTLClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 30))
directions = rng.normal(size=(30, 2))
scores = X @ directions @ rng.normal(size=(2, 6)) + 4.0 * rng.logistic(size=(3000, 6))
Y = (scores > np.quantile(scores, 0.7, axis=0)).astype(float)
X_train, Y_train, X_test, Y_test = X[:500], Y[:500].copy(), X[500:], Y[500:]

known = np.array([20, 40, 80, 120, 200, 320])  # labels that are left of each task
for task, n in enumerate(known):
    Y_train[rng.permutation(500)[n:], task] = np.nan

together = SMTLClassifier("log", "trace").fit(X_train, Y_train).decision_function(X_test)
alone = np.column_stack(
    [
        LogisticRegression().fit(X_train[has], Y_train[has, k]).decision_function(X_test)
        for k, has in enumerate(~np.isnan(Y_train).T)
    ]
)

# %%
# The fewer labels a task has of its own, the more the others help.

_, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for scored, name, colour in (
    (together, "all tasks together, trace norm", "#0072B2"),
    (alone, "each task alone", "#D55E00"),
):
    ax.plot(known, [roc_auc_score(Y_test[:, k], scored[:, k]) for k in range(6)], "o-", color=colour, label=name)
ax.set(xscale="log", xlabel="labels that the task has", ylabel="AUC on new rows")
ax.set_xticks(known, known)
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
