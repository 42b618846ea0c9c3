r"""``threshold="precision>=0.8"``: the best recall that keeps a precision."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, binom

from smtl.estimators.held_out import HeldOut
from smtl.estimators.rules.base import CONFIDENCE, CutRule, Float, midpoints
from smtl.estimators.rules.recall_floor import read_floor

__all__ = ["PrecisionFloor"]

N_STARTS = 5  # places where a sequence of tests begins; each has its share of the risk
GROWTH = 1.15  # factor from one number of rows above the cut that is tested to the next


@dataclass(frozen=True)
class PrecisionFloor(CutRule):
    r"""The lowest cut that keeps a precision on new rows, with a confidence of 95 % for each task.

    That the precision above a cut is below p is tested by the binomial distribution, from high cuts to lower ones, and
    as long as it can be rejected; a sequence of tests in a fixed order needs no correction for their number. It begins
    at five places, each with a fifth of the risk, since the few rows above a high cut may have bad luck.

    Attributes
    ----------
    floor : float
        The precision.

    References
    ----------
    A. Angelopoulos, S. Bates, E. Candes, M. Jordan, L. Lei, Learn then test, Annals of Applied Statistics, 2025.

    Examples
    --------
    >>> PrecisionFloor(0.8).text
    'precision>=0.8'
    """

    floor: float

    pattern = r"precision\s*>=\s*([0-9.]+)"
    example = "precision>=0.8"

    @classmethod
    def from_match(cls, match: re.Match[str]) -> PrecisionFloor:  # noqa: D102
        return cls(read_floor(match.group(1), "precision"))

    @property
    def text(self) -> str:  # noqa: D102
        return f"precision>={self.floor:g}"

    def cuts(self, held: HeldOut, k: int) -> Float:  # noqa: D102
        kept = held.without(k)
        return np.array([self._cut(y[kept[places]] > 0, s[kept[places]])[0] for places, y, s in held.columns()])

    def broken(self, held: HeldOut) -> tuple[npt.NDArray[np.int64], str]:  # noqa: D102
        kept = [self._cut(y > 0, s)[1] for _, y, s in held.columns()]
        return np.flatnonzero(~np.array(kept)), f"no cut has {self.text} on held-out rows with that confidence"

    def _cut(self, positive: npt.NDArray[np.bool_], scores: Float) -> tuple[float, bool]:
        """Return the cut, and whether it can be promised; otherwise it is the one of the highest lower bound."""
        if len(scores) == 0:
            return 0.0, False
        order = np.argsort(-scores, kind="stable")
        positive, scores = positive[order], scores[order]
        cuts, above = midpoints(scores)
        risk = (1.0 - CONFIDENCE) / N_STARTS
        tested = _places(above, np.log(risk) / np.log(self.floor))
        rows, hits = above[tested], np.concatenate([[0], np.cumsum(positive)])[above[tested]]
        rejected = binom.sf(hits - 1, rows, self.floor) <= risk
        best = -1
        for first in np.linspace(0, len(tested), N_STARTS, endpoint=False).astype(int):
            run = int(np.argmin(np.append(rejected[first:], False)))
            best = max(best, first + run - 1 if run else -1)
        if best >= 0:
            return float(cuts[tested[best]]), True
        bound = beta.ppf(risk, hits, rows - hits + 1)
        return float(cuts[tested[np.argmax(np.nan_to_num(bound))]]), False


def _places(above: npt.NDArray[np.int64], fewest: float) -> npt.NDArray[np.int64]:
    """Return which cuts are tested, from high ones to low: so many rows above the first, then ever more."""
    n = int(above[-1])
    steps = np.floor(np.log(max(n / fewest, 1.0)) / np.log(GROWTH)) + 1
    wanted = np.minimum(fewest * GROWTH ** np.arange(steps), n)
    return np.unique(np.minimum(np.searchsorted(above, wanted), len(above) - 1))
