"""RAkEL: label powersets of random small sets of labels, which vote."""

from __future__ import annotations

from itertools import combinations
from math import ceil, comb
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from smtl import messages
from smtl.baselines._multilabel import Labels, Real, VotingClassifier, check_positive, seeded
from smtl.baselines.label_powerset import LabelPowerset

__all__ = ["RAkEL"]


class RAkEL(VotingClassifier):
    """Random k-label sets: a `LabelPowerset` for each of many small sets of labels, and a vote.

    Parameters
    ----------
    estimator : classifier, default=None
        A classifier of several classes, the base of each powerset; ``LogisticRegression(max_iter=1000)`` by default.
        The paper uses C4.5 trees and support vector machines.
    k : int, default=3
        Labels in a set; at most as many as there are. The paper's and Mulan's default.
    n_estimators : int, default=None
        Number of sets, all different; by default twice the number of labels, or all sets where there are fewer. Not
        used for disjoint sets.
    overlapping : bool, default=True
        True is the paper's RAkEL_o; False its RAkEL_d, a random partition of the labels into sets of k (the last one
        may be smaller), with one vote a label.
    threshold : float, default=0.5
        The share of the votes that makes a yes. Mulan, as here, says yes at exactly this share; the paper above it.
    n_jobs : int, default=None
        Sets to fit at the same time; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        For the sets, and for bases whose own ``random_state`` is None.

    Attributes
    ----------
    label_sets_ : list of tuple of int
        The labels of each set.
    estimators_ : list of LabelPowerset
        Their models.
    label_frequencies_ : ndarray of shape (n_labels,)
        How often a label is a yes in the training data: the probability of a label that is in none of the sets.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    Costs ``n_estimators`` fits of the base (m / k for disjoint sets), with at most 2^k classes each. With k = m it is
    `LabelPowerset`, with k = 1 `BinaryRelevance`. ``predict`` counts votes; ``predict_proba`` is the mean probability
    of a label over the sets that have it. Where the base has no probabilities, ``decision_function`` has the share of
    the votes, less the threshold, instead. A label that no set has is answered with no in Mulan, the authors' own
    program; here by its frequency, with a warning.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, Random k-labelsets for multi-label classification, IEEE Transactions on
    Knowledge and Data Engineering 23(7), 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import RAkEL
    >>> X, Y = make_multilabel_classification(n_samples=200, random_state=0)
    >>> model = RAkEL(random_state=0).fit(X, Y)
    >>> len(model.label_sets_), model.predict(X).shape
    (10, (200, 5))
    >>> RAkEL(overlapping=False, random_state=0).fit(X, Y).label_sets_
    [(0, 1, 2), (3, 4)]
    """

    name = "rakel"

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int = 3,
        n_estimators: int | None = None,
        overlapping: bool = True,
        threshold: float = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.n_estimators = n_estimators
        self.overlapping = overlapping
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        self._check_threshold()
        rng = self._rng()
        self.label_sets_ = self._draw_sets(Y.shape[1], rng)
        self.label_frequencies_ = np.average(Y, axis=0, weights=weights)
        left_out = np.setdiff1d(np.arange(Y.shape[1]), np.concatenate(self.label_sets_))
        if len(left_out):
            messages.warn(
                f"{len(left_out)} labels are in none of the {len(self.label_sets_)} sets of {self.k}, e.g. label "
                f"{left_out[0]}: their answer is constant. Raise n_estimators."
            )
        members = [seeded(LabelPowerset(self._base()), rng) for _ in self.label_sets_]
        self.estimators_: list[LabelPowerset] = Parallel(n_jobs=self.n_jobs)(
            delayed(member._fit_part)(X, Y[:, labels], weights)
            for member, labels in zip(members, self.label_sets_, strict=True)
        )

    def _draw_sets(self, m: int, rng: np.random.RandomState) -> list[tuple[int, ...]]:
        """Return the sets of labels, each in ascending order."""
        check_positive("k", self.k)
        k = min(int(self.k), m)
        if not self.overlapping:
            order = rng.permutation(m)
            return sorted(tuple(sorted(map(int, order[i * k : (i + 1) * k]))) for i in range(ceil(m / k)))
        wanted = 2 * m if self.n_estimators is None else self.n_estimators
        check_positive("n_estimators", wanted)
        if wanted >= comb(m, k):
            return list(combinations(range(m), k))
        drawn: dict[tuple[int, ...], None] = {}
        while len(drawn) < wanted:
            drawn[tuple(sorted(map(int, rng.choice(m, k, replace=False))))] = None
        return list(drawn)

    def _mean(self, X: Any, method: str) -> Real:
        m = len(self.label_frequencies_)
        total, count = np.zeros((X.shape[0], m)), np.zeros(m)
        for labels, model in zip(self.label_sets_, self.estimators_, strict=True):
            total[:, labels] += model._answers(X) if method == "predict" else model._probabilities(X)
            count[list(labels)] += 1
        return np.where(count > 0, total / np.maximum(count, 1), self.label_frequencies_)
