"""AdaBoost.MH: boosted decision stumps over pairs of example and label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import gen_batches

from smtl.baselines._multilabel import Labels, MultiLabelClassifier, Real, check_choice, check_positive
from smtl.estimators.threads import threads

__all__ = ["AdaBoostMH"]

# Where the normaliser is so close to one, or the edge to zero, that no stump helps any more.
NO_GAIN = 1e-10
# Entries of rows times stumps that are held at a time.
BLOCK = 2**22


class AdaBoostMH(MultiLabelClassifier):
    r"""AdaBoost.MH: boosting for the Hamming loss, with decision stumps.

    The weights :math:`D(i, l)` of all pairs of a row and a label, with :math:`y_{il}` in {-1, +1}, are at first those
    of the rows, equal if none are given.
    In each round the stump :math:`h` (one feature, one cut, a value for each label on either side) that makes

    .. math:: Z = \sum_{i,l} D(i, l) \exp(-y_{il}\, h(x_i, l))

    smallest is added to the model, and the weights become :math:`D(i, l) \exp(-y_{il}\, h(x_i, l)) / Z`. The Hamming
    loss on the training data is at most the product of all Z.

    Parameters
    ----------
    n_estimators : int, default=200
        Rounds. The paper makes hundreds to thousands, depending on the data; Mulan makes 10.
    algorithm : {"real", "discrete"}, default="real"
        ``"real"``: on either side a label has the value :math:`\tfrac12 \ln (W_+ / W_-)`, with the weights
        of its positives and negatives there, both smoothed by 1 / (n m) as in the paper. ``"discrete"``: it has the
        sign of :math:`W_+ - W_-`, and all have one factor :math:`\tfrac12 \ln\frac{1 + r}{1 - r}`, r being the edge.
    n_jobs : int, default=None
        Threads to spread the features over; -1 for all cores. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Not used, because all stumps are searched; there so that all methods can be set up alike.

    Attributes
    ----------
    features_ : ndarray of int of shape (n_rounds,)
        The feature of each stump.
    cuts_ : ndarray of shape (n_rounds,)
        Where it is cut: rows above go right.
    values_ : ndarray of shape (n_rounds, 2, n_labels)
        What each stump adds to the score of each label, left and right.
    normalizers_ : ndarray of shape (n_rounds,)
        The Z of each round.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    Costs O(n d m) a round, or m for each nonzero entry of a sparse X, after sorting each feature once. Boosting ends
    early when no stump improves the bound. ``decision_function`` is the sum of the stumps; there is no probability.

    Mulan's AdaBoostMH is something else: AdaBoost.M1 on the pairs, with the label as one more feature, so that a
    stump can hardly do more than tell frequent labels from rare ones.

    References
    ----------
    R. E. Schapire, Y. Singer, BoosTexter: a boosting-based system for text categorization, Machine Learning 39(2/3),
    2000.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import AdaBoostMH
    >>> X, Y = make_multilabel_classification(n_samples=200, random_state=0)
    >>> model = AdaBoostMH(n_estimators=50).fit(X, Y)
    >>> bool((model.predict(X) != Y).mean() <= model.normalizers_.prod())
    True
    """

    name = "adaboost-mh"

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        algorithm: str = "real",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _base(self) -> None:
        return None

    def _lacks(self, method: str) -> str:
        return "its scores are no probabilities; see decision_function" if method == "predict_proba" else ""

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        check_choice("algorithm", self.algorithm, ("real", "discrete"))
        check_positive("n_estimators", self.n_estimators)
        signs = 2.0 * Y - 1.0
        each = np.ones(len(Y)) if weights is None else weights
        smoothing = 1.0 / (each.sum() * Y.shape[1])
        D = np.repeat(smoothing * each[:, None], Y.shape[1], axis=1)
        columns = X.astype(np.float64)  # so that a cut between two neighbouring numbers of float32 is one
        if sp.issparse(X):
            columns = columns.tocsc()
            columns.sum_duplicates()
        features: list[int] = []
        cuts, values, normalizers = [], [], []
        real = self.algorithm == "real"
        with threads(self.n_jobs) as (executor, n_threads):
            search = _searcher(columns, real, n_threads, map if executor is None else executor.map)
            for _ in range(self.n_estimators):
                feature, cut = search(D, signs * D)
                right = _column(columns, feature) > cut
                h = _block_values(D, Y, right, real, smoothing)
                D *= np.exp(-signs * h[right.astype(np.intp)])
                Z = float(D.sum())
                if features and Z > 1.0 - NO_GAIN:
                    break
                D /= Z
                features.append(feature)
                cuts.append(cut)
                values.append(h)
                normalizers.append(Z)
        self.features_: Labels = np.array(features)
        self.cuts_: Real = np.array(cuts)
        self.values_: Real = np.array(values)
        self.normalizers_: Real = np.array(normalizers)

    def _decisions(self, X: Any) -> Real:
        # A stump adds its left values to all rows, and the difference to those on the right.
        steps = self.values_[:, 1] - self.values_[:, 0]
        scores = np.empty((X.shape[0], steps.shape[1]))
        for rows in gen_batches(X.shape[0], max(1, BLOCK // len(steps))):
            part = X[rows][:, self.features_]
            right = (part.toarray() if sp.issparse(part) else part) > self.cuts_
            scores[rows] = right.astype(np.float64) @ steps
        return np.asarray(scores + self.values_[:, 0].sum(axis=0))

    def _answers(self, X: Any) -> Labels:
        return (self._decisions(X) > 0).astype(np.int64)


def _column(X: Any, j: int) -> npt.NDArray[Any]:
    return X[:, [j]].toarray().ravel() if sp.issparse(X) else np.asarray(X[:, j])


def _searcher(X: Any, real: bool, n_threads: int, spread: Callable[..., Any]) -> Callable[[Real, Real], Any]:
    """Return a function from weights, and weights times labels, to the feature and the cut of the best stump."""
    from smtl.kernels.stumps import TIE, best_stump

    start, rows, values = _sorted_columns(X)
    bounds = np.linspace(0, X.shape[1], n_threads + 1).astype(np.int64)

    def search(D: Real, G: Real) -> tuple[int, float]:
        total, total_sign = D.sum(axis=0), G.sum(axis=0)

        def part(i: int) -> tuple[float, int, float, float]:
            limits = bounds[i], bounds[i + 1]
            found: tuple[float, int, float, float] = best_stump(
                start, rows, values, *limits, D, G, total, total_sign, real
            )
            return found

        parts = iter(spread(part, range(n_threads)))
        best, feature, low, high = next(parts)
        for found in parts:
            if found[0] < best - TIE:
                best, feature, low, high = found
        if feature < 0:
            return 0, np.inf  # every feature is constant, and all rows go left
        middle = low + 0.5 * (high - low)
        return int(feature), float(middle if low <= middle < high else low)

    return search


def _sorted_columns(X: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Real]:
    """Return where the entries of each feature begin, their rows, and their values in ascending order."""
    if not sp.issparse(X):
        order = np.argsort(X, axis=0, kind="stable")
        values = np.take_along_axis(X, order, axis=0)
        start = np.arange(X.shape[1] + 1) * X.shape[0]
        return start, order.T.ravel().astype(np.int64), values.T.ravel()
    start = X.indptr.astype(np.int64)
    rows, values = X.indices.astype(np.int64), X.data
    order = np.lexsort((rows, values, np.repeat(np.arange(X.shape[1]), np.diff(start))))
    return start, rows[order], values[order]


def _block_values(D: Real, Y: Labels, right: npt.NDArray[np.bool_], real: bool, smoothing: float) -> Real:
    """Return what a split adds to each label, left and right: an array of shape (2, n_labels)."""
    yes = np.array([(D * Y)[~right].sum(axis=0), (D * Y)[right].sum(axis=0)])
    no = np.array([(D * (1 - Y))[~right].sum(axis=0), (D * (1 - Y))[right].sum(axis=0)])
    if real:
        return np.asarray(0.5 * np.log((yes + smoothing) / (no + smoothing)))
    edge = np.abs(yes - no).sum()
    factor = 0.5 * np.log((1.0 + edge + smoothing) / (1.0 - edge + smoothing))
    return np.asarray(factor * np.where(yes >= no, 1.0, -1.0))
