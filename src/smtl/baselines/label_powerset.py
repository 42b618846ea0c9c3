"""Label powerset: each set of labels is a class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from smtl.baselines._multilabel import Labels, MultiLabelClassifier, Real, as_keyword, seeded

__all__ = ["LabelPowerset"]


class LabelPowerset(MultiLabelClassifier):
    """One classifier of many classes: every set of labels that the training data have is a class.

    It answers with a set it has seen, so that labels that go together are answered together.

    Parameters
    ----------
    estimator : classifier, default=None
        A classifier of several classes; ``LogisticRegression(max_iter=1000)`` by default.
    n_jobs : int, default=None
        Handed on to a base that has ``n_jobs`` and left it None; there is one fit only.
    random_state : int, RandomState instance or None, default=None
        Seeds the base where its own ``random_state`` is None.

    Attributes
    ----------
    label_sets_ : ndarray of shape (n_sets, n_labels)
        The sets of labels in the training data, as rows of 0 and 1.
    estimator_ : classifier or None
        The fitted classifier of the rows of `label_sets_`; None where there is one set only.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    Costs one fit of the base with as many classes as there are different sets, at most min(n, 2^m).

    ``predict`` is the most probable set. ``predict_proba`` is the probability of each label, the sum over the sets that
    have it (as in Read's pruned problem transformation), so that a label below one half may well be in the most
    probable set. It is there where the base has it; ``predict`` asks for nothing.

    References
    ----------
    G. Tsoumakas, I. Katakis, Multi-label classification: an overview, International Journal of Data Warehousing and
    Mining 3(3), 2007. J. Read, A pruned problem transformation method for multi-label classification, NZCSRS 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import LabelPowerset
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    >>> model = LabelPowerset().fit(X, Y)
    >>> model.label_sets_.shape
    (16, 4)
    >>> model.predict_proba(X).shape
    (200, 4)
    """

    name = "lp"

    def __init__(self, estimator: Any = None, *, n_jobs: int | None = None, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _lacks(self, method: str) -> str:
        if method == "decision_function":
            return "scores of sets of labels are none of labels; predict_proba has their probabilities"
        return self._base_lacks(method)

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        self.label_sets_, codes = np.unique(Y, axis=0, return_inverse=True)
        self.estimator_ = None
        if len(self.label_sets_) > 1:
            base = seeded(self._base(), self._rng())
            if self.n_jobs is not None and base.get_params().get("n_jobs", 1) is None:
                base.set_params(n_jobs=self.n_jobs)
            with warnings.catch_warnings():
                # Nearly every row may well have a set of its own.
                warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
                self.estimator_ = base.fit(X, codes.ravel(), **as_keyword(weights))

    def _answers(self, X: Any) -> Labels:
        if self.estimator_ is None:
            return np.repeat(self.label_sets_, X.shape[0], axis=0)
        return np.asarray(self.label_sets_[self.estimator_.predict(X)])

    def _probabilities(self, X: Any) -> Real:
        if self.estimator_ is None:
            return self._answers(X).astype(np.float64)
        # A sum of probabilities may be one by rounding only.
        return np.asarray(np.clip(self.estimator_.predict_proba(X) @ self.label_sets_.astype(np.float64), 0.0, 1.0))
