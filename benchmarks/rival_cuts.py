"""Cuts, calibration and calibration error of held-out probabilities, for `rivals`.

Conventions: ``Y`` is 0/1 and ``P`` holds probabilities, both of shape (n, m), a column a label. An answer is yes where
a probability is greater than its cut.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from smtl.estimators.thresholds import best_cut

__all__ = ["LogisticCurves", "calibration_error", "cut_of_all", "cuts_of_labels", "isotonic"]

LEAST_PROBABILITY = 1e-9  # log odds are taken of probabilities clipped to this, and to 1 less this
PRIOR_POSITIVES = 20.0  # positives' worth of trust that a label's slope puts in the mean slope
N_BINS = 10  # bins of equal width of the calibration error


def cuts_of_labels(Y: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Return the cut of each label that makes its F1 greatest; infinity for a label without positives."""
    return np.array([best_cut(y, p) if y.any() else np.inf for y, p in zip(Y.T, P.T, strict=True)])


def cut_of_all(Y: np.ndarray, P: np.ndarray, measure: str) -> float:
    """Return the one cut for all labels that makes ``"macro_f1"`` or ``"micro_f1"`` greatest."""
    if measure == "micro_f1":
        return best_cut(Y.ravel(), P.ravel())
    values = np.unique(P)
    cuts = np.append(values[0] - 1.0, 0.5 * (values[:-1] + values[1:]))
    total = np.zeros(len(cuts))
    for y, p in zip(Y.T, P.T, strict=True):
        order = np.argsort(p)
        no = np.searchsorted(p[order], cuts, side="right")  # how many are not above the cut
        hits = y.sum() - np.append(0, np.cumsum(y[order]))[no]
        total += 2.0 * hits / np.maximum(len(y) - no + y.sum(), 1)
    return float(cuts[np.argmax(total)])


class LogisticCurves:
    r"""A curve :math:`\sigma(a_i z + b_i)` a label, of the log odds z of a probability.

    The slope :math:`a_i` is that of a logistic regression of the label, shrunk to the mean slope with the weight of
    `PRIOR_POSITIVES`, and not negative. The intercept makes the mean probability the share of positives.
    """

    def __init__(self, Y: np.ndarray, P: np.ndarray) -> None:
        Z, n_pos = _log_odds(P), Y.sum(axis=0).astype(float)
        mixed = (n_pos > 0) & (n_pos < len(Y))
        own = np.array([_slope(y, z) if both else 0.0 for y, z, both in zip(Y.T, Z.T, mixed, strict=True)])
        shared = float(np.average(own[mixed], weights=n_pos[mixed])) if mixed.any() else 0.0
        self.slope = np.maximum((n_pos * own + PRIOR_POSITIVES * shared) / (n_pos + PRIOR_POSITIVES), 0.0)
        share = np.clip(n_pos / len(Y), LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        self.intercept = np.array([_intercept(a * z, q) for a, z, q in zip(self.slope, Z.T, share, strict=True)])

    def __call__(self, P: np.ndarray) -> np.ndarray:
        return expit(_log_odds(P) * self.slope + self.intercept)


def _log_odds(P: np.ndarray) -> np.ndarray:
    return logit(np.clip(P, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))


def _slope(y: np.ndarray, z: np.ndarray) -> float:
    return float(LogisticRegression(C=1e3).fit(z[:, None], y).coef_[0, 0])


def _intercept(z: np.ndarray, share: float) -> float:
    """Return the b for which the mean of sigma(z + b) is the share."""
    # At these ends all probabilities are below the share, and above it.
    return float(brentq(lambda b: expit(z + b).mean() - share, logit(share) - z.max() - 1, logit(share) - z.min() + 1))


def isotonic(Y: np.ndarray, held_out: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Return P after one isotonic regression a label on the held-out probabilities."""
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return np.column_stack([curve.fit(held_out[:, i], Y[:, i]).predict(P[:, i]) for i in range(Y.shape[1])])


def calibration_error(Y: np.ndarray, P: np.ndarray) -> float:
    """Return the expected calibration error, all labels pooled: the mean distance of a bin's share and probability."""
    y, p = Y.ravel().astype(float), P.ravel()
    of_bin = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    return float(np.abs(np.bincount(of_bin, y - p)).sum() / len(y))
