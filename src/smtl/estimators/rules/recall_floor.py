r"""``threshold="recall>=0.9"``: the best precision that keeps a recall."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from smtl.estimators.held_out import HeldOut
from smtl.estimators.rules.base import CONFIDENCE, CutRule, Float, midpoints

__all__ = ["RecallFloor"]


@dataclass(frozen=True)
class RecallFloor(CutRule):
    r"""The cut of best precision among those that keep a recall on new rows, with a confidence of 95 % for each task.

    Of n positives, whose held-out scores are :math:`s_{(1)} \le s_{(2)} \le \dots`, the share of all positives that is
    below :math:`s_{(k)}` has the distribution Beta(k, n - k + 1), whatever that of the scores. The cut is below the
    highest :math:`s_{(k)}` for which this share is at most 1 - r with a probability of 95 %. Where the recall differs
    between folds by more than chance, n and k count by so much less.

    Attributes
    ----------
    floor : float
        The recall.

    Notes
    -----
    It takes :math:`\log 0.05 / \log r` positives to promise anything: 29 for 0.9, 14 for 0.8, 299 for 0.99. Of a task
    with fewer, the cut is below the lowest held-out positive, and a warning says so.

    Examples
    --------
    >>> RecallFloor(0.9).text, RecallFloor(0.9).n_needed
    ('recall>=0.9', 29)
    """

    floor: float

    pattern = r"recall\s*>=\s*([0-9.]+)"
    example = "recall>=0.9"

    @classmethod
    def from_match(cls, match: re.Match[str]) -> RecallFloor:  # noqa: D102
        return cls(read_floor(match.group(1), "recall"))

    @property
    def text(self) -> str:  # noqa: D102
        return f"recall>={self.floor:g}"

    @property
    def n_needed(self) -> int:
        """How many positives it takes."""
        return int(np.ceil(np.log(1.0 - CONFIDENCE) / np.log(self.floor)))

    def cuts(self, held: HeldOut, k: int) -> Float:  # noqa: D102
        kept = held.without(k)
        parts = [(y[mine] > 0, s[mine], held.fold[places[mine]]) for places, y, s, mine in _columns(held, kept)]
        effect = self._design_effect(parts)
        return np.array([self._cut(positive, scores, effect) for positive, scores, _ in parts])

    def broken(self, held: HeldOut) -> tuple[npt.NDArray[np.int64], str]:  # noqa: D102
        few = [int(np.count_nonzero(y > 0)) < self.n_needed for _, y, _ in held.columns()]
        return np.flatnonzero(few), f"it takes {self.n_needed} labelled positives to promise {self.text}"

    def _rank(self, n: int, effect: float) -> int:
        """Return the k of the positive below which the cut is to be; 0 where nothing can be promised."""
        k = np.arange(1, n + 1)
        sure = beta.cdf(1.0 - self.floor, k / effect, (n - k + 1) / effect) >= CONFIDENCE
        return int(sure.sum())  # it falls with k

    def _cut(self, positive: npt.NDArray[np.bool_], scores: Float, effect: float) -> float:
        n = int(positive.sum())
        if n == 0:
            return 0.0
        order = np.argsort(-scores, kind="stable")
        positive, scores = positive[order], scores[order]
        cuts, above = midpoints(scores)
        lowest = scores[positive][n - max(self._rank(n, effect), 1)]
        hits = np.concatenate([[0], np.cumsum(positive)])[above]
        precision = np.where(cuts < lowest, hits / np.maximum(above, 1), -1.0)
        return float(cuts[np.argmax(precision)])

    def _design_effect(self, parts: list[tuple[npt.NDArray[np.bool_], Float, npt.NDArray[np.int64]]]) -> float:
        """Return by how much the folds' recalls vary more than by chance, over all tasks; at least 1."""
        squares = freedom = 0.0
        for positive, scores, fold in parts:
            if positive.sum() < self.n_needed:
                continue
            missed = scores <= self._cut(positive, scores, 1.0)
            share = float(missed[positive].mean())
            n = np.bincount(fold[positive])
            n_missed = np.bincount(fold[positive], missed[positive])[n > 0]
            n = n[n > 0]
            if share > 0.0 and len(n) > 1:
                squares += float(np.sum((n_missed - n * share) ** 2 / (n * share * (1.0 - share))))
                freedom += len(n) - 1
        return max(1.0, squares / freedom) if freedom else 1.0


def read_floor(text: str, what: str) -> float:
    """Return a floor as a number, or raise ValueError.

    Examples
    --------
    >>> read_floor("0.9", "recall")
    0.9
    """
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0.0 < value < 1.0:
        raise ValueError(f"threshold must have a {what} between 0 and 1, got {what}>={text} instead.")
    return value


def _columns(
    held: HeldOut, kept: npt.NDArray[np.bool_]
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int8], Float, npt.NDArray[np.bool_]]]:
    return [(places, y, s, kept[places]) for places, y, s in held.columns()]
