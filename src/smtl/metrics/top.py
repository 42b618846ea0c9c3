"""What precision at k and the break-even point share: the rows with the highest scores, with weights or without."""

from __future__ import annotations

import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Offsets
from smtl.metrics.ranking import blocks

__all__ = ["fill_top", "precision_of_top"]


def fill_top(
    k: int,
    labelling: bool,
    scores: Float,
    y: Labels,
    ptr: Offsets,
    c: Float,
    delta: Float,
    value: Float,
    weights: Float | None,
) -> None:
    """Write the planes of all tasks.

    Parameters
    ----------
    k : int
        The size of the top; 0 for as many rows as there are positives.
    labelling : bool
        Whether the plane is that of a labelling, rather than one that compares means.
    scores, y, ptr, c, delta, value, weights
        As in `RankingMetric.fill`.
    """
    if weights is None:
        from smtl.kernels.top import top_planes

        top_planes(k, labelling, scores, y, ptr, c, delta, value)
    else:
        from smtl.kernels.weighted_top import weighted_top_planes

        weighted_top_planes(k, labelling, scores, y, weights, ptr, c, delta, value)


def precision_of_top(k: float, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """Return the share of positives among the k rows with the highest scores.

    Parameters
    ----------
    k : float
        The number of rows, or their weight.
    y : array-like of shape (n,)
        Labels, +1 and -1.
    s : array-like of shape (n,)
        Scores.
    weights : array-like of shape (n,), optional
        What each row counts.

    Returns
    -------
    float
        The mean over all choices among equal scores; NaN for no rows.

    Examples
    --------
    >>> precision_of_top(2, [1, 1, -1], [0.5, 0.1, 0.1])
    0.75
    """
    rows, positives = blocks(y, s, weights)
    if len(rows) == 0 or k == 0:
        return float("nan")
    size = min(k, float(rows[-1]))
    last = min(int((rows < size).sum()), len(rows) - 1)  # the block in which the top ends
    rows_above, above = (rows[last - 1], positives[last - 1]) if last else (0.0, 0.0)
    share = (positives[last] - above) / (rows[last] - rows_above)
    return float((above + (size - rows_above) * share) / size)
