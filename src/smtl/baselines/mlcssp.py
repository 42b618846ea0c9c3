"""MLCSSP: learn some of the labels, and reconstruct the others from them."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from smtl.baselines._multilabel import Labels, MultiLabelClassifier, Real
from smtl.baselines.binary_relevance import as_multilabel
from smtl.estimators.thresholds import best_cut
from smtl.estimators.weights import in_copies
from smtl.metrics import F1

__all__ = ["MLCSSP", "leverage_scores"]


class MLCSSP(MultiLabelClassifier):
    r"""Multi-label classification by column subset selection: learn k of the m labels, reconstruct the rest.

    The k columns C of Y are drawn at random, a label with the probability of its leverage: its share in the subspace of
    the k largest singular values of Y. A classifier learns each of them, and their outputs h for a row give all labels
    as :math:`h\, C^+ Y`, the linear map that reconstructs Y from C best.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns the drawn labels: a multi-label method of `smtl.baselines`, or a classifier, with which
        `BinaryRelevance` learns them; ``LogisticRegression(max_iter=1000)`` by default.
    n_labels : int, float or None, default=None
        How many labels are drawn, or which share of them. By default a tenth, as in Mulan, but
        not fewer than four (there: two): the method is made for hundreds of labels. The paper fixes no number.
        Of classes, all are learnt: none can be told from others, as no row has two.
    threshold : float or "auto", default="auto"
        Reconstructed values above it are a yes. ``"auto"`` reconstructs the training labels, :math:`C C^+ Y`, and takes
        the cut of each label that is best for F1 there: one half where the reconstruction is exact, and less for rare
        labels that are not drawn, which hardly ever reach one half. 0.5 rounds, as the paper is usually read; Mulan
        counts everything above 0.
    n_jobs : int, default=None
        Labels to fit at the same time, where ``estimator`` is a classifier; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        For the draw, and for bases whose own ``random_state`` is None.

    Attributes
    ----------
    labels_ : ndarray of int of shape (k,)
        The labels that are learnt.
    reconstruction_ : ndarray of shape (k, n_labels)
        The map :math:`C^+ Y`.
    thresholds_ : ndarray of shape (n_labels,)
        The cut of each label.
    estimator_ : classifier or None
        The fitted learner of `labels_`; None where every label has one class only.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    Costs O(n m^2 + m^3) for the leverages, and k fits of the base. The outputs h are probabilities where the base has
    them, otherwise answers. Reconstructed values may lie outside of 0 to 1, so that they are scores, not probabilities:
    ``decision_function`` has them, less the threshold. If all labels are drawn, and none is a combination of others, it
    is binary relevance. Labels with one class in the training data take no part; their answer is that class.

    References
    ----------
    W. Bi, J. T. Kwok, Efficient multi-label classification with many labels, ICML 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import MLCSSP
    >>> X, Y = make_multilabel_classification(n_samples=300, n_classes=20, n_labels=5, random_state=0)
    >>> model = MLCSSP(n_labels=0.5, random_state=0).fit(X, Y)
    >>> len(model.labels_), model.reconstruction_.shape, model.decision_function(X).shape
    (10, (10, 20), (300, 20))
    """

    name = "mlcssp"

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_labels: float | None = None,
        threshold: float | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_labels = n_labels
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _lacks(self, method: str) -> str:
        return "reconstructed labels are no probabilities; see decision_function" if method == "predict_proba" else ""

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        if self.threshold != "auto" and not isinstance(self.threshold, numbers.Real):
            raise ValueError(f"threshold must be 'auto' or a number, got {self.threshold!r} instead.")
        rng = self._rng()
        # Sums of squares over rows count what these weigh.
        roots = 1 if weights is None else np.sqrt(weights)[:, None]
        varied = np.flatnonzero(Y.min(axis=0) < Y.max(axis=0))
        k = min(self._how_many(Y.shape[1]), len(varied))
        self.labels_: Labels = varied[:0]
        if k:
            leverages = leverage_scores(roots * Y[:, varied], k)
            self.labels_ = varied[np.sort(rng.choice(len(varied), k, replace=False, p=leverages / leverages.sum()))]
        C = Y[:, self.labels_]
        self.reconstruction_: Real = np.zeros((k, Y.shape[1]))
        solved = np.linalg.lstsq((roots * C).astype(np.float64), (roots * Y[:, varied]).astype(np.float64), rcond=None)
        self.reconstruction_[:, varied] = solved[0]
        self.reconstruction_[np.abs(self.reconstruction_) < 1e-12] = 0.0  # rounding, which a cut at 0 would see
        copies = np.arange(len(Y)) if weights is None else in_copies(weights)
        self.thresholds_ = self._cuts(Y[copies], (C @ self.reconstruction_)[copies], varied)
        learner = as_multilabel(self._base(), rng)
        if learner.n_jobs is None:
            learner.set_params(n_jobs=self.n_jobs)
        self.estimator_ = learner._fit_part(X, C, weights) if k else None

    def _cuts(self, Y: Labels, reconstructed: Real, varied: Labels) -> Real:
        """Return the cut of each label; that of a constant one is on the right side of zero."""
        cuts: Real = np.where(Y[0] > 0, -0.5, 0.5)
        if self.threshold == "auto":
            cuts[varied] = [best_cut(2 * Y[:, i] - 1, reconstructed[:, i], F1()) for i in varied]
        else:
            cuts[varied] = float(self.threshold)
        return cuts

    def _how_many(self, m: int) -> int:
        wanted = self.n_labels if self._kind == "multilabel" else m
        if wanted is None:
            return min(m, max(4, round(0.1 * m)))
        if isinstance(wanted, numbers.Integral) and not isinstance(wanted, bool) and 1 <= wanted <= m:
            return int(wanted)
        if isinstance(wanted, float) and 0.0 < wanted <= 1.0:
            return max(1, round(wanted * m))
        raise ValueError(
            f"n_labels must be an integer from 1 to {m}, the number of labels, a share in (0, 1], or None, got "
            f"{wanted!r} instead."
        )

    def _decisions(self, X: Any) -> Real:
        if self.estimator_ is None:
            return np.tile(-self.thresholds_, (X.shape[0], 1))
        known = self.estimator_._lacks("predict_proba") == ""
        outputs = self.estimator_._probabilities(X) if known else self.estimator_._answers(X)
        return np.asarray(outputs @ self.reconstruction_ - self.thresholds_)

    def _answers(self, X: Any) -> Labels:
        return (self._decisions(X) > 0).astype(np.int64)


def leverage_scores(Y: Any, k: int) -> Real:
    """Return the leverage of each column of Y in its best approximation of rank k.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels)
        Labels.
    k : int
        The rank; where Y has a smaller one, that.

    Returns
    -------
    ndarray of shape (n_labels,)
        Numbers from 0 to 1 whose sum is the rank: squared lengths of the rows of the first k right singular vectors.

    Examples
    --------
    >>> leverage_scores([[1, 0, 0], [1, 0, 0], [0, 1, 1]], 2).round(3).tolist()
    [1.0, 0.5, 0.5]
    """
    Y = np.asarray(Y, dtype=np.float64)
    values, vectors = np.linalg.eigh(Y.T @ Y)
    # The Gram matrix is one of integers, exact; what is below is rounding of the decomposition.
    rank = int((values > 1e-10 * values[-1]).sum())
    leading = vectors[:, len(values) - min(k, rank) :]
    leverages: Real = (leading**2).sum(axis=1)
    leverages[leverages < 1e-12] = 0.0
    return leverages
