"""``threshold="at-least-one"``: a row without an answer gets the likeliest."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smtl.estimators.rules.base import Float, RowRule

__all__ = ["AtLeastOne"]


@dataclass(frozen=True)
class AtLeastOne(RowRule):
    """Every row is answered yes for at least one label.

    Examples
    --------
    >>> AtLeastOne().answers(np.array([[-1.0, -2.0], [1.0, 2.0]]), np.array([[0.4, 0.3], [0.7, 0.9]]))
    array([[ True, False],
           [ True,  True]])
    """

    pattern = r"at-least-one"
    example = "at-least-one"

    @classmethod
    def from_match(cls, match: re.Match[str]) -> AtLeastOne:  # noqa: D102
        return cls()

    @property
    def text(self) -> str:  # noqa: D102
        return "at-least-one"

    def answers(self, scores: Float, ranking: Float) -> npt.NDArray[np.bool_]:  # noqa: D102
        yes = scores > 0
        empty = np.flatnonzero(~yes.any(axis=1))
        yes[empty, ranking[empty].argmax(axis=1)] = True
        return yes
