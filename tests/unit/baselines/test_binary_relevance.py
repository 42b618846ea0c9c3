"""Binary relevance is scikit-learn's MultiOutputClassifier."""

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from smtl.baselines import BinaryRelevance
from tests.seeds import new_rng


def test_is_multi_output_classifier():
    X, Y = make_multilabel_classification(random_state=int(new_rng().integers(2**31 - 1)))
    base = LogisticRegression(max_iter=1000)
    ours, theirs = BinaryRelevance(base).fit(X, Y), MultiOutputClassifier(base).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.predict_proba(X), np.column_stack([p[:, 1] for p in theirs.predict_proba(X)]))
    np.testing.assert_array_equal(
        ours.decision_function(X), np.column_stack([model.decision_function(X) for model in theirs.estimators_])
    )
