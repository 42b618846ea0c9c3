"""
Tags of texts
=============

Short texts, each with any number of tags, as they stand in a table: one column of text, one of tags. A pipeline of
TF-IDF and a linear model takes sparse features as they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

from smtl import SMTLClassifierCV

rng = np.random.default_rng(0)
WORDS = {
    "sport": "match goal team coach score league player",
    "politics": "vote law party minister election council budget",
    "science": "study cell energy data planet experiment theory",
    "music": "album song concert singer band guitar festival",
}
OTHER = ["the", "a", "of", "today", "new", "report", "says", "city", "year", "people", "great", "after"]


def write(tags):
    """Return a text with a word or two of each tag among others, and perhaps one of a tag that it does not have."""
    own = [word for tag in tags for word in rng.choice(WORDS[tag].split(), rng.integers(1, 3))]
    stray = rng.choice(" ".join(WORDS.values()).split(), rng.integers(2))
    return " ".join(rng.permutation([*own, *stray, *rng.choice(OTHER, 12)]))


tags = [[tag for tag in WORDS if rng.random() < 0.25] for _ in range(600)]
texts = [write(found) for found in tags]
Y = np.array([[tag in found for tag in WORDS] for found in tags]).astype(int)

model = make_pipeline(TfidfVectorizer(), SMTLClassifierCV(scoring="f1_macro", Cs=8, cv=3)).fit(texts[:400], Y[:400])
answers = model.predict(texts[400:])
first = int(answers.any(axis=1).argmax())
print(texts[400 + first], "->", [tag for tag, yes in zip(WORDS, answers[first], strict=True) if yes])

# %%
# F1 of each tag on texts that were not trained on, and the words that speak for it most.

words = model[0].get_feature_names_out()
_, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
bars = ax.barh(list(WORDS), f1_score(Y[400:], answers, average=None), color="#0072B2")
strongest = [", ".join(words[np.argsort(-weights)[:4]]) for weights in model[-1].coef_]
ax.bar_label(bars, strongest, label_type="center", color="white")
ax.set(xlim=(0, 1), xlabel="F1")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
