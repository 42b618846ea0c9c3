"""
The leaderboard of an ensemble
==============================

``SMTLEnsemble`` trains learners of several kinds, weights them by their scores on held-out rows, and cuts for what you
are judged by. Its leaderboard says what each learner is worth by itself, and how much of it is in the answer.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLEnsemble

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

model = SMTLEnsemble(scoring="f1_macro", preset="fast", random_state=0).fit(X_train, y_train)
for name, score, weight in zip(*(model.leaderboard_[key] for key in ("learner", "score", "weight")), strict=True):
    print(f"{name:10} {score:.3f} alone, {weight:.2f} of the answer")

# %%
# Each learner by itself, on the held-out rows of the training; and the ensemble and logistic regression on new rows.

logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X_train, y_train)
alone = dict(zip(*list(model.leaderboard_.values())[:2], strict=True))
new = {
    name: f1_score(y_test, one.predict(X_test), average="macro")
    for name, one in (("logistic regression", logistic), ("ensemble", model))
}
_, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for found, colour, rows in ((alone, "#56B4E9", "held-out rows"), (new, "#0072B2", "new rows")):
    bars = ax.barh(list(found), list(found.values()), color=colour, label=rows)
    ax.bar_label(bars, fmt="%.3f", padding=3)
ax.set(xlim=(0.9, 1.0), xlabel="macro F1 (the axis begins at 0.9)")
ax.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
ax.spines[["top", "right"]].set_visible(False)
plt.show()
