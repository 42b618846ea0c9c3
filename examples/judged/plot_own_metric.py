"""
A metric of your own
====================

A formula on the contingency table is enough. Here a miss costs five times as much as a false alarm. It is compiled,
trained on to the same certificate, and cuts are chosen for it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import scale

from smtl import SMTLClassifierCV
from smtl.metrics import ContingencyMetric
from smtl.testing import check_metric


class Cost(ContingencyMetric):
    """What misses and false alarms cost, as a share of all misses' cost."""

    concave_in_fp = True  # linear in fp for fixed tp

    def __init__(self, miss=5.0):
        self.miss = miss

    def delta(self, tp, fp, fn, tn):
        return (self.miss * fn + fp) / (self.miss * (tp + fn))


check_metric(Cost())
X, y = make_classification(3000, 20, n_informative=6, weights=[0.85], flip_y=0.1, random_state=0)
X = scale(X)


def costs(model):
    """Return misses, false alarms and the cost, on rows that were not trained on."""
    _, fp, fn, _ = confusion_matrix(y[1000:], model.predict(X[1000:])).ravel()
    return int(fn), int(fp), int(5 * fn + fp)


options = {"penalty": "ridge", "Cs": 8, "cv": 3}
found = {
    name: costs(SMTLClassifierCV("log", scoring=scoring, **options).fit(X[:1000], y[:1000]))
    for name, scoring in (("cut for accuracy", "error"), ("cut for F1", "f1"), ("cut for the cost", Cost()))
}

# %%
# The same loss, cut for three aims:

_, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
misses, alarms, total = np.array(list(found.values())).T
ax.barh(list(found), 5 * misses, color="#D55E00", label="misses, 5 each")
bars = ax.barh(list(found), alarms, left=5 * misses, color="#56B4E9", label="false alarms, 1 each")
ax.bar_label(bars, total, padding=3)
ax.set(xlabel="cost on 2,000 new rows")
ax.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
ax.spines[["top", "right"]].set_visible(False)
plt.show()
