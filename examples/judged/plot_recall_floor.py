"""
A recall of 0.9, whatever it costs
==================================

Where a miss is dear, ask for it: ``threshold="recall>=0.9"`` takes, for each task, the cut of the best precision that
keeps the recall, with a margin for what the folds do not know.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import precision_score, recall_score
from sklearn.preprocessing import scale

from smtl import SMTLClassifierCV

found = {"f1": [], "recall>=0.9": []}
for seed in range(12):
    X, y = make_classification(4000, 20, n_informative=8, weights=[0.85], flip_y=0.05, random_state=seed)
    X = scale(X)
    for rule, points in found.items():
        threshold = "auto" if rule == "f1" else rule
        model = SMTLClassifierCV("log", "ridge", scoring="f1", Cs=8, cv=3, threshold=threshold, random_state=0)
        answers = model.fit(X[:1000], y[:1000]).predict(X[1000:])
        points.append((recall_score(y[1000:], answers), precision_score(y[1000:], answers)))

# %%
# Recall and precision on new rows; a point is one draw of the data.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.axvline(0.9, color="0.8")
for (rule, points), colour in zip(found.items(), ("#D55E00", "#0072B2"), strict=True):
    name = "cut for F1" if rule == "f1" else 'threshold="recall>=0.9"'
    ax.plot(*np.transpose(points), "o", color=colour, label=name)
ax.set(xlabel="recall", ylabel="precision", xlim=(0.4, 1.0))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
