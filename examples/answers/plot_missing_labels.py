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
known = np.array([20, 40, 80, 120, 200, 320])  # labels that are left of each task


def draw():
    """Return rows, and labels of six tasks that vary in two directions; most of the first 500 are not known."""
    X = rng.normal(size=(2500, 30))
    signal = X @ rng.normal(size=(30, 2)) @ rng.normal(size=(2, 6))
    scores = signal / signal.std(axis=0) + 0.6 * rng.logistic(size=(2500, 6))
    Y = (scores > np.quantile(scores, 0.7, axis=0)).astype(float)
    for task, n in enumerate(known):
        Y[rng.permutation(500)[n:], task] = np.nan
    return X[:500], Y[:500], X[500:], Y[500:]


together, alone = np.empty((12, 6)), np.empty((12, 6))
for k in range(12):
    X, Y, X_new, Y_new = draw()
    scores = SMTLClassifier("log", "trace", threshold=0.0).fit(X, Y).decision_function(X_new)
    for task, has in enumerate(~np.isnan(Y).T):
        one = LogisticRegression().fit(X[has], Y[has, task])
        together[k, task] = roc_auc_score(Y_new[:, task], scores[:, task])
        alone[k, task] = roc_auc_score(Y_new[:, task], one.decision_function(X_new))

# %%
# Twelve draws, their mean and its standard error. The fewer labels a task has of its own, the more the others help.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for found, name, colour in (
    (together, "all tasks together, trace norm", "#0072B2"),
    (alone, "each task alone", "#D55E00"),
):
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    ax.fill_between(known, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
    ax.plot(known, mean, "o-", color=colour, label=name)
ax.set(xscale="log", xlabel="labels that the task has", ylabel="AUC on new rows")
ax.set_xticks(known, known)
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
