r"""Kernel ridge regression with Gaussian kernels: all tasks, all penalties and all folds from few decompositions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from scipy.linalg import eigh, solve
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils import check_random_state

from smtl.ensemble.learners.base import Float, Learner, Rows, Splits
from smtl.ensemble.learners.features import Features
from smtl.estimators.scoring import TaskScorer
from smtl.estimators.targets import Targets
from smtl.estimators.threads import threads
from smtl.estimators.weights import weights_of_labels
from smtl.metrics import AUC

__all__ = ["KernelLearner", "Ridge", "ridge_of"]

A = TypeVar("A")
B = TypeVar("B")

N_LANDMARKS = 600  # at most
WIDTHS = (0.25, 1.0, 4.0)  # gamma times the median squared distance
LAMBDAS = np.logspace(-3.0, 3.0, 10)  # penalties; the kernel of a row with itself is 1
MEMORY = 512 * 2**20  # bytes of the mapped rows, all held at once
BLOCK = 2**22  # entries of the kernel matrix that are computed at a time
N_FILLS = 10  # how often what is not labelled is filled with the model's own answers


class Ridge(NamedTuple):
    """Centred ridge regression of several targets, ready for any penalty.

    Attributes
    ----------
    mean : ndarray of shape (k,)
        Means of the features.
    eigenvalues : ndarray of shape (k,)
        Of the centred Gram matrix.
    V : ndarray of shape (k, k)
        Its eigenvectors.
    """

    mean: Float
    eigenvalues: Float
    V: Float

    def coef(self, products: Float, penalty: float) -> Float:
        """Return the weights.

        Parameters
        ----------
        products : ndarray of shape (k, m)
            Centred features times targets.
        penalty : float
            The penalty.

        Returns
        -------
        ndarray of shape (k, m)
            A column a target.
        """
        return np.asarray(self.V @ ((self.V.T @ products) / (self.eigenvalues + penalty)[:, None]))


def ridge_of(gram: Float, total: Float, n: float) -> Ridge:
    r"""Return the ridge regression of n rows from sums over them.

    Parameters
    ----------
    gram : ndarray of shape (k, k)
        :math:`Z'Z`.
    total : ndarray of shape (k,)
        Column sums of Z.
    n : float
        How many rows, or what they weigh.

    Returns
    -------
    Ridge
        For any penalty.

    Examples
    --------
    >>> Z = np.array([[0.0], [2.0]])
    >>> ridge_of(Z.T @ Z, Z.sum(axis=0), 2).coef(np.array([[1.0]]), 2.0)
    array([[0.25]])
    """
    mean = total / n
    eigenvalues, V = np.linalg.eigh(gram - n * np.outer(mean, mean))
    return Ridge(mean, np.maximum(eigenvalues, 0.0), V)


class KernelLearner(Learner):
    r"""Kernel ridge regression of 0/1 targets, :math:`\min_f \sum_k (y_k - b - f(x_k))^2 + \lambda \|f\|^2`.

    The kernel is :math:`e^{-\gamma \|x - x'\|^2}` on standardised features. Rows are mapped to
    :math:`z(x) = M' k(x, L)`, with landmarks L among the rows and :math:`M M' = k(L, L)^{-1}`; with all rows as
    landmarks this is exact. One eigendecomposition a fold and width then gives the scores of all values of
    :math:`\lambda`. The best mean AUC of the held-out scores chooses both.

    What is not labelled is filled with the share of positives, then with the model's own answers: a step of a
    majorisation whose fixed point is the regression on what is labelled. Where the labels of a row have weights of
    their own, each task is a regression by itself; width and penalty are chosen without these weights.

    Parameters
    ----------
    scaled : bool, default=True
        Whether to standardise the features.
    random_state : int, default=0
        The seed of the landmarks.
    n_jobs : int, optional
        Threads, for folds side by side.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> targets = read_targets(X, (X**2).sum(axis=1) > 1.5)
    >>> rows = np.arange(60)
    >>> learner = KernelLearner()
    >>> scores = learner.held_out_scores(X, targets, [(rows[:40], rows[40:]), (rows[20:], rows[:20])])
    >>> bool(AUC().score(targets.Y[40:, 0], scores[0][:, 0]) > 0.8)
    True
    """

    name = "kernel"
    pooled: ClassVar[dict[str, Any]] = {"scaled": False}

    def __init__(self, *, scaled: bool = True, random_state: int = 0, n_jobs: int | None = None) -> None:
        super().__init__(random_state=random_state, n_jobs=n_jobs)
        self.scaled = scaled
        self.gamma, self.penalty = 1.0, 1.0
        self.landmarks: Float = np.zeros((0, 0))
        self._features = Features(scale=scaled, dense=True, random_state=random_state)

    @property
    def knows_weights(self) -> bool:  # noqa: D102
        return True

    def held_out_scores(self, X: Any, targets: Targets, folds: Splits) -> list[Float]:  # noqa: D102
        weights = np.ones(len(targets.Y)) if targets.row_weight is None else targets.row_weight
        X = self._features.fit_transform(X, targets.row_weight)
        chosen_rows = _landmarks(len(X), self.random_state)
        self.landmarks = X[chosen_rows]
        pairs = np.outer(weights[chosen_rows], weights[chosen_rows])
        median = _median(euclidean_distances(self.landmarks, squared=True), pairs)
        best = -np.inf
        chosen: list[Float] = []
        for width in WIDTHS:
            gamma = width / max(median, np.finfo(np.float64).tiny)
            by_penalty = self._all_penalties(self._map(X, gamma)[0], targets, folds, weights)
            values = self._each(lambda scores: _mean_auc(scores, targets, folds), by_penalty)
            for penalty, scores, value in zip(LAMBDAS, by_penalty, values, strict=True):
                if value > best:
                    best, chosen, self.gamma, self.penalty = value, scores, gamma, float(penalty)
        if not chosen:  # no fold has a task with both classes
            chosen = [np.zeros((len(test), targets.Y.shape[1])) for _, test in folds]
        elif not targets.Y.all() or weights_of_labels(targets) is not None:
            Z, _ = self._map(X, self.gamma)
            models = [self._model(Z[train], targets.part(train), weights[train]) for train, _ in folds]
            chosen = [Z[test] @ coef + intercept for (coef, intercept), (_, test) in zip(models, folds, strict=True)]
        return chosen

    def fit(self, X: Any, targets: Targets) -> None:  # noqa: D102
        weights = np.ones(len(targets.Y)) if targets.row_weight is None else targets.row_weight
        Z, M = self._map(self._features.fit_transform(X, targets.row_weight), self.gamma)
        coef, self.intercept = self._model(Z, targets, weights)
        # Weights of the landmarks themselves. M must not be computed again: eigenvectors of close eigenvalues are
        # turned by rounding errors.
        self.coef = M @ coef

    def decision_function(self, X: Any, task: Rows | None = None) -> Float:  # noqa: D102
        X = self._features.transform(X)
        out = np.empty((len(X), len(self.intercept)))
        for at, K in self._kernel(X, self.gamma):
            out[at : at + len(K)] = K @ self.coef + self.intercept
        return out

    def _kernel(self, X: Float, gamma: float) -> Iterator[tuple[int, Float]]:
        """Yield blocks of the kernel between rows and landmarks, each with the number of its first row."""
        for rows in self._blocks(len(X)):
            yield rows.start, rbf_kernel(X[rows], self.landmarks, gamma=gamma)

    def _blocks(self, n: int) -> list[slice]:
        """Return the rows of each block of the kernel."""
        step = max(1, BLOCK // len(self.landmarks))
        return [slice(at, min(at + step, n)) for at in range(0, n, step)]

    def _map(self, X: Float, gamma: float) -> tuple[Float, Float]:
        """Return the rows' coordinates in the space of the landmarks, and the matrix that makes them of the kernel."""
        values, U = eigh(rbf_kernel(self.landmarks, gamma=gamma), check_finite=False)
        kept = values > 1e-10 * values[-1]
        M = U[:, kept] / np.sqrt(values[kept])
        Z = np.empty((len(X), M.shape[1]))

        def fill(rows: slice) -> None:
            np.matmul(rbf_kernel(X[rows], self.landmarks, gamma=gamma), M, out=Z[rows])

        self._each(fill, self._blocks(len(X)))
        return Z, M

    def _each(self, work: Callable[[A], B], of: Sequence[A]) -> list[B]:
        """Return what ``work`` makes of each, side by side."""
        with threads(self.n_jobs) as (executor, _):
            return list(map(work, of) if executor is None else executor.map(work, of))

    def _all_penalties(self, Z: Float, targets: Targets, folds: Splits, weights: Float) -> list[list[Float]]:
        """Return the held-out scores for each penalty, a list of one a fold."""
        moments = self._training_moments(Z, folds, weights)

        def scores_of(k: int) -> list[Float]:
            train, test = folds[k]
            ridge, each = ridge_of(*moments[k], float(weights[train].sum())), weights[train]
            Y = _zero_one(targets.Y[train], each)
            b = np.average(Y, axis=0, weights=each)
            target = np.zeros((len(Z), Y.shape[1]))
            target[train] = each[:, None] * (Y - b)
            # Targets are centred, so that the features need not be.
            products = ridge.V.T @ (Z.T @ target)
            shrunk = [products / (ridge.eigenvalues + penalty)[:, None] for penalty in LAMBDAS]
            # Of few rows the rows are turned, of many the weights: whichever is less.
            T, mean = Z[test], ridge.mean
            if len(test) < len(shrunk) * Y.shape[1]:
                T, mean = T @ ridge.V, mean @ ridge.V
            else:
                shrunk = [ridge.V @ weights for weights in shrunk]
            return [T @ weights + (b - mean @ weights) for weights in shrunk]

        found = self._each(scores_of, range(len(folds)))
        return [list(by_fold) for by_fold in zip(*found, strict=True)]

    def _training_moments(self, Z: Float, folds: Splits, weights: Float) -> list[tuple[Float, Float]]:
        """Return the Gram matrix and the sum of each fold's training rows."""
        if any(len(train) + len(test) != len(Z) for train, test in folds):
            return self._each(lambda split: _moments(Z[split[0]], weights[split[0]]), folds)
        # The rest of the rows: one product of few rows is enough.
        tested = self._each(lambda split: _moments(Z[split[1]], weights[split[1]]), folds)
        n_tests = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(Z))
        if (n_tests == 1).all():
            gram, total = _sum_of(tested)
        else:
            gram, total = _moments(Z, weights)
        return [(gram - of_test, total - sum_of_test) for of_test, sum_of_test in tested]

    def _model(self, Z: Float, targets: Targets, each: Float) -> tuple[Float, Float]:
        """Return weights and intercepts of the regression on what is labelled of some rows, which count ``each``."""
        labels = weights_of_labels(targets)
        if labels is not None:
            return self._by_label(Z, targets.Y, each[:, None] * labels)
        gram, total = _sum_of(self._each(lambda rows: _moments(Z[rows], each[rows]), self._blocks(len(Z))))
        ridge = ridge_of(gram, total, float(each.sum()))
        missing = targets.Y == 0
        target = _zero_one(targets.Y, each)
        for _ in range(N_FILLS if missing.any() else 1):
            b = np.average(target, axis=0, weights=each)
            coef = ridge.coef(Z.T @ (each[:, None] * (target - b)), self.penalty)
            intercept = b - ridge.mean @ coef
            target = np.where(missing, Z @ coef + intercept, target)
        return coef, intercept

    def _by_label(self, Z: Float, Y: Any, weights: Float) -> tuple[Float, Float]:
        """Return the same where each label has a weight of its own: a system of equations a task."""
        coef, intercept = np.zeros((Z.shape[1], Y.shape[1])), np.zeros(Y.shape[1])
        for i in range(Y.shape[1]):
            known = np.flatnonzero(Y[:, i])
            if len(known) == 0:
                continue
            each = np.where(Y[:, i] != 0, weights[:, i], 0.0)
            mean, b = each @ Z / each.sum(), float(each @ (Y[:, i] > 0) / each.sum())
            centred = Z - mean
            system = centred.T @ (each[:, None] * centred)
            system[np.diag_indices_from(system)] += self.penalty
            coef[:, i] = solve(system, centred.T @ (each * ((Y[:, i] > 0) - b)), assume_a="pos")
            intercept[i] = b - mean @ coef[:, i]
        return coef, intercept


def _moments(Z: Float, weights: Float) -> tuple[Float, Float]:
    """Return the Gram matrix and the sum of weighted rows."""
    if (weights == 1.0).all():
        return Z.T @ Z, Z.sum(axis=0)  # one matrix less, and half the product
    return Z.T @ (weights[:, None] * Z), weights @ Z


def _median(values: Float, weights: Float) -> float:
    """Return the median of values that occur as often as their weights say."""
    if (weights == 1.0).all():
        return float(np.median(values))
    order = np.argsort(values, axis=None)
    mass = np.cumsum(weights.ravel()[order])
    middle = [np.searchsorted(mass, 0.5 * mass[-1], side) for side in ("left", "right")]
    return float(values.ravel()[order][np.minimum(middle, len(mass) - 1)].mean())


def _sum_of(moments: list[tuple[Float, Float]]) -> tuple[Float, Float]:
    """Return the Gram matrix and the sum of rows from those of parts of them."""
    return sum(gram for gram, _ in moments), sum(total for _, total in moments)  # type: ignore[return-value]


def _landmarks(n: int, seed: int) -> Rows:
    """Return the rows that are landmarks: as many as the mapped rows may take memory for."""
    k = min(n, N_LANDMARKS, max(10, MEMORY // (8 * n)))
    if k == n:
        return np.arange(n)
    return np.sort(check_random_state(seed).permutation(n)[:k])


def _zero_one(Y: Any, weights: Float) -> Float:
    """Return targets 1, 0, and the share of positives where there is no label."""
    known = weights @ (Y != 0)
    share = (weights @ (Y > 0)) / np.where(known > 0.0, known, 1.0)
    return np.asarray(np.where(Y == 0, share, Y > 0), dtype=np.float64)


def _mean_auc(scores: list[Float], targets: Targets, folds: Splits) -> float:
    """Return the mean AUC over the tasks, of the scores of all folds together; minus infinity where there is none."""
    rows = np.concatenate([test for _, test in folds])
    weights = None if targets.row_weight is None else [targets.row_weight[rows]] * targets.Y.shape[1]
    value = TaskScorer(AUC())(zip(targets.Y[rows].T, np.concatenate(scores).T, strict=True), weights)
    return value if np.isfinite(value) else -np.inf
