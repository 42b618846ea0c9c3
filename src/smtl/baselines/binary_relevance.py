"""Binary relevance: each label by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from smtl.baselines._multilabel import Labels, MultiLabelClassifier, OneClassTolerant, Real, as_keyword, seeded

__all__ = ["BinaryRelevance", "as_multilabel"]


class BinaryRelevance(MultiLabelClassifier):
    """One classifier a label, each trained without a look at the others.

    What `sklearn.multioutput.MultiOutputClassifier` does for 0/1 labels. In addition it can do with labels of one class
    only (their answer is that class), returns probabilities and scores as one matrix, and takes classes too.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns a label; ``LogisticRegression(max_iter=1000)`` by default. The literature has used C4.5 trees,
        support vector machines and naive Bayes alike.
    n_jobs : int, default=None
        Labels to fit at the same time; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seeds the base where its own ``random_state`` is None.

    Attributes
    ----------
    estimators_ : list
        The fitted classifiers, one a label.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    Costs m fits of the base on all rows for m labels. ``predict_proba`` and ``decision_function`` are there where the
    base has them.

    References
    ----------
    G. Tsoumakas, I. Katakis, Multi-label classification: an overview, International Journal of Data Warehousing and
    Mining 3(3), 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import BinaryRelevance
    >>> X, Y = make_multilabel_classification(n_samples=200, random_state=0)
    >>> model = BinaryRelevance().fit(X, Y)
    >>> model.predict(X).shape, model.predict_proba(X).shape
    ((200, 5), (200, 5))
    """

    name = "br"

    def __init__(self, estimator: Any = None, *, n_jobs: int | None = None, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _lacks(self, method: str) -> str:
        return self._base_lacks(method)

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        base = OneClassTolerant(seeded(self._base(), self._rng()))
        jobs = (delayed(_fit_label)(clone(base), X, y, weights) for y in Y.T)
        self.estimators_: list[Any] = Parallel(n_jobs=self.n_jobs)(jobs)

    def _answers(self, X: Any) -> Labels:
        return np.column_stack([model.predict(X) for model in self.estimators_]).astype(np.int64)

    def _probabilities(self, X: Any) -> Real:
        return np.column_stack([model.predict_proba(X)[:, 1] for model in self.estimators_])

    def _decisions(self, X: Any) -> Real:
        return np.column_stack([model.decision_function(X) for model in self.estimators_])


def _fit_label(model: Any, X: Any, y: Labels, weights: Real | None) -> Any:
    return model.fit(X, y, **as_keyword(weights))


def as_multilabel(estimator: Any, rng: np.random.RandomState) -> Any:
    """Return a seeded clone of a multi-label method; of a classifier, binary relevance with it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> as_multilabel(DecisionTreeClassifier(random_state=0), np.random.RandomState(0))
    BinaryRelevance(estimator=DecisionTreeClassifier(random_state=0),
                    random_state=209652396)
    """
    return seeded(estimator if isinstance(estimator, MultiLabelClassifier) else BinaryRelevance(estimator), rng)
