"""
How sure the training is
========================

Each pass over the data gives an objective, and a bound below which no weights can get. The fit stops when they are
within ``tol`` of each other; ``gap_`` is what is left. No stopping rule has to be trusted.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from smtl import SMTLClassifier
from smtl.plotting import plot_convergence

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
_, axes = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
for ax, metric in zip(axes, ("auc", "f1", "log"), strict=True):
    model = SMTLClassifier(metric, "l21", C=1.0, tol=1e-4, threshold=0.0).fit(X, y)
    plot_convergence(model, ax, x="passes")
    ax.set_title(f"{metric}: {model.n_iter_} passes, gap {model.gap_:.0e}")
plt.show()
