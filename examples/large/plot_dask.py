"""
The same model from a cluster
=============================

``smtl.dask`` trains on collections of Dask, in the parts they have, to the same certified gap as in memory. Here both
are trained on the same rows; on a real cluster only the ``Client`` is another.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

import smtl.dask
from smtl import SMTLClassifier
from smtl.plotting import plot_convergence

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 15))
Y = (X @ rng.normal(size=(15, 4)) + 2.0 * rng.logistic(size=(6000, 4)) > 3.0).astype(int)

here = SMTLClassifier("auc", "l21", C=2.0, tol=1e-4, threshold=0.0).fit(X, Y)
with (
    LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
    Client(cluster),
):
    parts = da.from_array(X, chunks=(1000, 15)), da.from_array(Y, chunks=(1000, 4))
    there = smtl.dask.SMTLClassifier("auc", "l21", C=2.0, tol=1e-4, threshold=0.0).fit(*parts)

print(f"in memory:  objective {here.objective_:.6f}, gap {here.gap_:.0e}")
print(f"on workers: objective {there.objective_:.6f}, gap {there.gap_:.0e}")

# %%
# Objective and bound, pass by pass. A pass goes over all parts, and asks each for the same as in memory.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
plot_convergence(there, ax, x="passes")
ax.set_title("on a cluster of two workers")
plt.show()

# %%
# The weights of both are the same up to what the gap allows.

_, ax = plt.subplots(figsize=(4.2, 4.2), layout="constrained")
ax.axline((0, 0), slope=1, color="0.8")
ax.plot(here.coef_.ravel(), there.coef_.ravel(), "o", color="#0072B2", markersize=4)
ax.set(xlabel="weight, in memory", ylabel="weight, on a cluster", aspect="equal")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
