"""
Where to cut
============

A score becomes an answer at a cut. For F1 of a rare label one half is rarely the right one. ``SMTLClassifierCV``
chooses a cut for each task on held-out rows, and ``threshold_spread_`` says how sure it is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_multilabel_classification
from sklearn.preprocessing import scale

from smtl import SMTLClassifierCV
from smtl.plotting import plot_precision_recall

X, Y = make_multilabel_classification(900, 30, n_classes=5, n_labels=1, random_state=3)
X = scale(X)
model = SMTLClassifierCV("log", scoring="f1_macro", Cs=8, cv=3).fit(X[:600], Y[:600])
for name, cut, spread in zip(model.task_names_, model.thresholds_, model.threshold_spread_, strict=True):
    print(f"task {name}: cut at {cut:+.2f} ± {spread:.2f}")

# %%
# Precision and recall of each task over all cuts, with a dot at the chosen one, on rows that were not trained on.

plot_precision_recall(model, X[600:], Y[600:])
plt.show()
