"""
Several hospitals
=================

Each row belongs to one site, and sites differ. One model for all ignores that; one for each has few rows. With
``tasks=`` each site has weights of its own that are tied to those of the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from smtl import SMTLClassifierCV

rng = np.random.default_rng(1)
n_sites, d = 12, 25
shared = rng.normal(size=(d, 3))
weights = shared @ (np.ones((3, 1)) + rng.normal(size=(3, n_sites)))


def draw(n):
    X, site = rng.normal(size=(n, d)), rng.integers(n_sites, size=n)
    scores = np.einsum("ij,ji->i", X, weights[:, site]) + 4.0 * rng.logistic(size=n)
    return X, (scores > 6.0).astype(int), site


X, y, site = draw(720)
X_new, y_new, site_new = draw(12000)

model = SMTLClassifierCV("auc", "trace", Cs=8, cv=3).fit(X, y, tasks=site)
pooled = LogisticRegression().fit(X, y)


def by_site(score):
    """Return the AUC of each site."""
    return [roc_auc_score(y_new[site_new == s], score(X_new[site_new == s], s)) for s in range(n_sites)]


found = {
    "one model for all": by_site(lambda rows, s: pooled.decision_function(rows)),
    "one model a site": by_site(
        lambda rows, s: LogisticRegression().fit(X[site == s], y[site == s]).decision_function(rows)
    ),
    "sites as tasks": by_site(lambda rows, s: model.decision_function(rows, tasks=np.full(len(rows), s))),
}

# %%
# A line is a site.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(list(found), list(found.values()), "o-", color="0.8", markersize=4)
ax.plot(list(found), [np.mean(values) for values in found.values()], "o-", color="#0072B2", linewidth=2, label="mean")
ax.margins(x=0.15)
ax.set(ylabel="AUC on new rows of the site")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
