"""What a task's answers would be at any cut, and how often each score is right: all that a page needs, and no row."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["bins", "cut_points", "short_decimals", "wilson"]

Float: TypeAlias = npt.NDArray[np.float64]
Int: TypeAlias = npt.NDArray[np.int64]

# What lies beyond the lowest and the highest score, as a share of their distance.
_MARGIN = 0.05
_DIGITS = 16
# Of the standard normal distribution, for 95 %.
_Z = 1.959963984540054


def cut_points(y: npt.NDArray[np.int8], scores: Float, most: int) -> dict[str, Any]:
    """Return the cuts that tell rows apart, with how many rows of each class lie above them.

    Every distinct score is a cut, since a row is answered yes if its score is above the cut; so is one below them all,
    and 0, the model's own. Where these are too many, some are left out, evenly by rows and by positives; those that
    stay are as exact as before, among them 0 and the one with the best F1.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels +1 and -1.
    scores : ndarray of shape (n_samples,)
        Scores.
    most : int
        Cuts at the most, about.

    Returns
    -------
    dict
        ``cuts``, ascending; ``above_yes`` and ``above_no``, how many positives and negatives have a score above; and
        ``all``, whether no cut was left out. If some were, the cuts are short decimals that tell the same rows apart.

    Examples
    --------
    >>> cut_points(np.array([1, -1, 1], dtype=np.int8), np.array([0.5, -0.25, 0.75]), most=100)
    {'cuts': [-0.3, -0.25, 0.0, 0.5, 0.75], 'above_yes': [2, 2, 2, 1, 0], 'above_no': [1, 0, 0, 0, 0], 'all': True}
    """
    values = np.unique(scores)
    margin = _MARGIN * float(values[-1] - values[0] or 1.0)
    below = min(values[0] - margin, np.nextafter(values[0], -np.inf))
    cuts = np.unique(np.concatenate([[below, 0.0], values])) + 0.0
    yes, no = (len(part) - np.searchsorted(np.sort(part), cuts, "right") for part in (scores[y > 0], scores[y < 0]))
    kept = len(cuts) <= most
    if not kept:
        upper = np.append(cuts[1:], cuts[-1] + margin)
        keep = _thinned(cuts, yes, no, most)
        cuts, yes, no = short_decimals(cuts[keep], upper[keep]), yes[keep], no[keep]
    return {"cuts": cuts.tolist(), "above_yes": yes.tolist(), "above_no": no.tolist(), "all": kept}


def _thinned(cuts: Float, yes: Int, no: Int, most: int) -> Int:
    """Return which cuts to keep: evenly by rows, and by positives, which a precision-recall curve begins with."""
    each = max(2, (most - 4) // 2)
    f1 = 2 * yes / np.maximum(yes[0] + yes + no, 1)
    keep = [0, len(cuts) - 1, int(np.searchsorted(cuts, 0.0)), int(np.argmax(f1))]
    for counts in (yes + no, yes):
        wanted = np.linspace(counts[0], 0, each)
        keep += np.minimum(np.searchsorted(-counts, -wanted), len(cuts) - 1).tolist()
    return np.unique(keep)


def short_decimals(low: Float, high: Float) -> Float:
    """Return the number with the fewest decimals in each interval, its lower end included, its upper end not.

    Parameters
    ----------
    low, high : ndarray
        The intervals' ends.

    Returns
    -------
    ndarray
        Numbers that are short when they are written out.

    Examples
    --------
    >>> short_decimals(np.array([0.12345678, -0.5]), np.array([0.1239, -0.4999])).tolist()
    [0.1235, -0.5]
    """
    found, missing = low.copy(), np.ones(len(low), dtype=bool)
    for digits in range(_DIGITS):
        power = 10.0**digits
        rounded = np.ceil(low * power) / power + 0.0
        fits = missing & (rounded >= low) & (rounded < high)
        found[fits] = rounded[fits]
        missing &= ~fits
    return found


def bins(
    y: npt.NDArray[np.int8], scores: Float, probabilities: Float | None = None, n_bins: int = 10
) -> list[dict[str, Any]]:
    """Return the share of positives among rows of similar score.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels +1 and -1.
    scores : ndarray of shape (n_samples,)
        Scores. Rows of the same score are in the same bin.
    probabilities : ndarray of shape (n_samples,), optional
        Of a model that has them.
    n_bins : int, default=10
        Bins at the most, each with about as many rows.

    Returns
    -------
    list of dict
        ``low``, ``high`` and ``mean`` of the scores, ``rows``, ``positives``, and ``interval``, the 95 % Wilson
        interval of their share; ``expected``, the mean of the probabilities, if there are any.

    Examples
    --------
    >>> found = bins(np.array([-1, -1, 1, 1], dtype=np.int8), np.array([0.0, 1.0, 2.0, 3.0]), n_bins=2)
    >>> [(part["low"], part["high"], part["rows"], part["positives"]) for part in found]
    [(0.0, 1.0, 2, 0), (2.0, 3.0, 2, 2)]
    """
    edges = np.unique(np.quantile(scores, np.linspace(0, 1, n_bins + 1)[1:-1], method="inverted_cdf"))
    place = np.searchsorted(edges, scores, "left")
    found = []
    for k in np.unique(place):
        inside, positives = scores[place == k], int((y[place == k] > 0).sum())
        found.append(
            {
                "low": float(inside.min()),
                "high": float(inside.max()),
                "mean": float(inside.mean()),
                "rows": len(inside),
                "positives": positives,
                "interval": wilson(positives, len(inside)),
            }
            | ({} if probabilities is None else {"expected": float(probabilities[place == k].mean())})
        )
    return found


def wilson(positives: int, rows: int) -> list[float]:
    """Return Wilson's 95 % interval of a share.

    Parameters
    ----------
    positives, rows : int
        How many of how many.

    Returns
    -------
    list of two floats
        Its ends.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.2775]
    """
    share, z2 = positives / rows, _Z**2
    centre = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = _Z / (1 + z2 / rows) * np.sqrt(share * (1 - share) / rows + z2 / (4 * rows**2))
    return [float(max(centre - half, 0.0)), float(min(centre + half, 1.0))]
