r"""Metrics of the order of the scores alone, with oracles in compiled code."""

from __future__ import annotations

import functools
from abc import abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Offsets, Planes, plane_of_one

__all__ = ["RankingMetric", "blocks"]


class RankingMetric(Metric):
    r"""A metric of the order of the scores: a constant added to all of them changes nothing.

    So there is no intercept to train and no natural cut. A subclass has `score`, and `fill`, which does the work of
    the oracle for all tasks.

    Examples
    --------
    The hinge loss of the highest negative and the lowest positive:

    >>> from smtl.metrics import AUC
    >>> from smtl.testing import check_metric
    >>> class Separation(RankingMetric):
    ...     def score(self, y, s):
    ...         return AUC().score(y, s)
    ...     def fill(self, scores, y, ptr, c, delta, value):
    ...         for i, (a, b) in enumerate(zip(ptr[:-1], ptr[1:])):
    ...             p = a + np.argmin(np.where(y[a:b] > 0, scores[a:b], np.inf))
    ...             q = a + np.argmax(np.where(y[a:b] < 0, scores[a:b], -np.inf))
    ...             delta[i] = scores[p] - scores[q] < 1.0
    ...             c[p], c[q] = delta[i], -delta[i]
    ...             value[i] = delta[i] * (1.0 - scores[p] + scores[q])
    >>> check_metric(Separation())
    """

    has_cut = False
    uses_intercept = False
    rests_on: ClassVar[dict[str, tuple[str, ...]]] = {"oracle": ("fill",), "planes": ("fill",)}

    @abstractmethod
    def fill(self, scores: Float, y: Labels, ptr: Offsets, c: Float, delta: Float, value: Float) -> None:
        """Write the planes of all tasks.

        A metric that knows weights has one parameter more, ``weights``: an array of shape (n_rows,), or None. For
        others rows are repeated.

        Parameters
        ----------
        scores, y, ptr : ndarray
            As in `Metric.planes`.
        c : ndarray of shape (n_rows,)
            Zeros, to be overwritten with the planes' coefficients.
        delta, value : ndarray of shape (n_tasks,)
            To be overwritten with the planes' offsets, and with the losses.
        """

    def oracle(self, scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, Float]:  # noqa: D102
        return plane_of_one(functools.partial(RankingMetric.planes, self), scores, y)

    def planes(
        self,
        scores: Float,
        y: Labels,
        ptr: Offsets,
        *,
        shift: Float,
        with_intercept: bool,
        eps: float,
        weights: Float | None = None,
    ) -> Planes:
        """Return the planes of all tasks; see `Metric.planes`.

        Parameters
        ----------
        scores, y, ptr, shift, with_intercept, eps
            As in `Metric.planes`.
        weights : ndarray of shape (n_rows,), optional
            What each row counts, positive where it has a label; for a metric whose `fill` knows weights.

        Returns
        -------
        delta, c, value : ndarray
            As in `Metric.planes`.
        """
        m = len(ptr) - 1
        delta, value, c = np.empty(m), np.empty(m), np.zeros(len(scores))
        known = {} if weights is None else {"weights": weights}
        self.fill(scores, y, ptr, c, delta, value, **known)
        return delta, c, value


def blocks(y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> tuple[Float, Float]:
    """Return how many rows have one of the scores or a higher one, from the highest score on.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, +1 and -1.
    s : array-like of shape (n,)
        Scores.
    weights : array-like of shape (n,), optional
        What each row counts.

    Returns
    -------
    rows, positives : ndarray of shape (n_scores,)
        The weight of these rows, and of the positives among them: their numbers where there are no weights.

    Examples
    --------
    >>> blocks([1, -1, 1, -1], [0.5, 0.5, 2.0, -1.0])
    (array([1., 3., 4.]), array([1., 2., 2.]))
    """
    scores = np.asarray(s, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    each = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=np.float64)[order]
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, len(scores) > 0))
    return np.cumsum(each)[ends], np.cumsum(each * (np.asarray(y)[order] > 0))[ends]
