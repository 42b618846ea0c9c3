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
models = {
    metric: SMTLClassifier(metric, "l21", C=1.0, tol=1e-4, threshold=0.0).fit(X, y) for metric in ("auc", "f1", "log")
}

# %%
# The optimum is in the shaded area, whatever the solver does.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
plot_convergence(models["auc"], ax, x="passes")
ax.set_title("trained on AUC")
plt.show()

# %%
# The gap between the two, relative to the objective, for three metrics:

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (metric, model), colour in zip(models.items(), ("#0072B2", "#D55E00", "#009E73"), strict=True):
    objective, bound = (model.history_[name] for name in ("objective", "bound"))
    gap = 1.0 - bound / objective
    ax.semilogy(model.history_["passes"], gap, color=colour, label=f"{metric}: {model.n_iter_} passes")
ax.axhline(1e-4, color="0.8", label="tol")
ax.set(xlabel="passes over the data", ylabel="gap", xscale="log", ylim=(2e-5, 1.0))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
