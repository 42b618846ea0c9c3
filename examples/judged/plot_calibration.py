"""
Probabilities that can be believed
==================================

A model that was trained on AUC orders rows, and its scores are no probabilities. With ``calibration=`` the held-out
scores of the folds, which are there anyway, make them so. A forest's shares of votes are drawn beside it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import scale

from smtl import SMTLClassifierCV

X, Y = make_multilabel_classification(3600, 20, n_classes=5, n_labels=2, length=30, random_state=1)
X, train, test = scale(X), slice(0, 600), slice(600, None)

model = SMTLClassifierCV("auc", Cs=8, cv=3, calibration="logistic").fit(X[train], Y[train])
forest = RandomForestClassifier(200, random_state=0).fit(X[train], Y[train])
chances = {
    "trained on AUC, calibrated": model.predict_proba(X[test]),
    "a random forest": np.column_stack([chance[:, 1] for chance in forest.predict_proba(X[test])]),
}

# %%
# Of the rows with a probability of 0.3, about three in ten should be a yes: the diagonal.

_, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.8")
for (name, chance), colour in zip(chances.items(), ("#0072B2", "#D55E00"), strict=True):
    share, told = calibration_curve(Y[test].ravel(), chance.ravel(), n_bins=10)
    ax.plot(told, share, "o-", color=colour, markersize=4, label=name)
ax.set(xlabel="probability that was told", ylabel="share of yes", aspect="equal")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
