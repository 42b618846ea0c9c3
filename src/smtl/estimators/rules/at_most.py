"""``threshold="at-most-3"``: of too many answers to a row, the likeliest stay."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smtl.estimators.rules.base import Float, RowRule
from smtl.estimators.rules.top import highest

__all__ = ["AtMost"]


@dataclass(frozen=True)
class AtMost(RowRule):
    """No row is answered yes for more than k labels.

    Attributes
    ----------
    k : int
        How many labels a row may have.

    Examples
    --------
    >>> AtMost(1).answers(np.array([[1.0, 2.0], [-1.0, -2.0]]), np.array([[0.7, 0.9], [0.4, 0.3]]))
    array([[False,  True],
           [False, False]])
    """

    k: int

    pattern = r"at-most-([1-9][0-9]*)"
    example = "at-most-3"

    @classmethod
    def from_match(cls, match: re.Match[str]) -> AtMost:  # noqa: D102
        return cls(int(match.group(1)))

    @property
    def text(self) -> str:  # noqa: D102
        return f"at-most-{self.k}"

    def answers(self, scores: Float, ranking: Float) -> npt.NDArray[np.bool_]:  # noqa: D102
        yes = scores > 0
        return np.asarray(yes & highest(np.where(yes, ranking, -np.inf), self.k))
