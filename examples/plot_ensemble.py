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
# On rows that none of them has seen, beside logistic regression:

logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X_train, y_train)
found = {
    "logistic regression": f1_score(y_test, logistic.predict(X_test), average="macro"),
    **{f"{name} alone (held out)": score for name, score in zip(*list(model.leaderboard_.values())[:2], strict=True)},
    "ensemble": f1_score(y_test, model.predict(X_test), average="macro"),
}
_, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
bars = ax.barh(list(found), list(found.values()), color=["0.6", *["#56B4E9"] * (len(found) - 2), "#0072B2"])
ax.bar_label(bars, fmt="%.3f", padding=3)
ax.set(xlim=(0.9, 1.0), xlabel="macro F1 (the axis begins at 0.9)")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
