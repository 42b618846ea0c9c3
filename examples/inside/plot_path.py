"""
The path of C
=============

From the C at which all weights are zero upwards, each model is the start of the next, and each is certified. The l21
penalty lets features in for all tasks at once.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_multilabel_classification
from sklearn.preprocessing import scale

from smtl import SMTLClassifierCV, smtl_path
from smtl.plotting import plot_cv_scores, plot_path

X, Y = make_multilabel_classification(400, 20, n_classes=4, random_state=0)
X = scale(X)
path = smtl_path(X, Y, metric="auc", penalty="l21", Cs=15)
print("gaps:", path.gaps.round(4))
plot_path(path)
plt.show()

# %%
# What the held-out rows say of each C, with the chosen one marked:

plot_cv_scores(SMTLClassifierCV("auc", "l21", Cs=15, cv=3).fit(X, Y))
plt.show()
