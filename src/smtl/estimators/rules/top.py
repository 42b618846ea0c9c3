"""``threshold="top-2"``: the likeliest labels of each row, always as many."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smtl.estimators.rules.base import Float, RowRule

__all__ = ["Top", "highest"]


@dataclass(frozen=True)
class Top(RowRule):
    """Every row is answered yes for its k likeliest labels; where there are fewer, for all of them.

    Attributes
    ----------
    k : int
        How many labels a row has.

    Examples
    --------
    >>> Top(1).answers(np.array([[-1.0, -2.0]]), np.array([[0.4, 0.3]]))
    array([[ True, False]])
    """

    k: int

    pattern = r"top-([1-9][0-9]*)"
    example = "top-2"

    @classmethod
    def from_match(cls, match: re.Match[str]) -> Top:  # noqa: D102
        return cls(int(match.group(1)))

    @property
    def text(self) -> str:  # noqa: D102
        return f"top-{self.k}"

    def answers(self, scores: Float, ranking: Float) -> npt.NDArray[np.bool_]:  # noqa: D102
        return highest(ranking, self.k)


def highest(ranking: Float, k: int) -> npt.NDArray[np.bool_]:
    """Return which are the k highest of each row; of equals the first.

    Examples
    --------
    >>> highest(np.array([[1.0, 3.0, 3.0]]), 1)
    array([[False,  True, False]])
    """
    order = np.argsort(-ranking, axis=1, kind="stable")[:, :k]
    out = np.zeros(ranking.shape, dtype=bool)
    np.put_along_axis(out, order, True, axis=1)
    return out
