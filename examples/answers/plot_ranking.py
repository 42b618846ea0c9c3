"""
The best first
==============

Which rows of a query should come first? ``SMTLRanker`` trains on the order within each query, here on NDCG. A
classifier of "relevant or not" compares rows of different queries, too, where there is nothing to compare.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ndcg_score

from smtl import SMTLRanker

rng = np.random.default_rng(4)
weights = np.append(3.0, rng.normal(size=9))


def draw(n_queries, size=12):
    """Return rows of queries that differ in their level: what is best in one is poor in another."""
    query = np.repeat(np.arange(n_queries), size)
    X = rng.normal(size=(len(query), 10))
    level = np.repeat(rng.normal(scale=2.0, size=n_queries), size)
    X[:, 0] += level
    worth = X @ weights - weights[0] * level + 0.7 * rng.logistic(size=len(query))
    within = worth.reshape(n_queries, size).argsort(axis=1).argsort(axis=1).ravel()
    return X, np.clip(within - (size - 4), 0, 3), query  # grades 3, 2, 1 for the best three


X, grade, query = draw(60)
X_new, grade_new, query_new = draw(400)
ranker = SMTLRanker().fit(X, grade, groups=query)
classifier = LogisticRegression().fit(X, grade > 0)


def ndcg(scores, k):
    truth = (2.0**grade_new - 1.0).reshape(-1, 12)
    return ndcg_score(truth, scores.reshape(-1, 12), k=k)


# %%
# NDCG of the first k rows of queries that were not trained on.

ranks = np.arange(1, 13)
_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for scores, name, colour in (
    (ranker.predict(X_new), "SMTLRanker", "#0072B2"),
    (classifier.decision_function(X_new), "logistic regression", "#D55E00"),
    (rng.normal(size=len(X_new)), "any order", "0.6"),
):
    ax.plot(ranks, [ndcg(scores, k) for k in ranks], "o-", markersize=4, color=colour, label=name)
ax.set(xlabel="k", ylabel="NDCG of the first k", ylim=(0, 1))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
