"""What a rule for answers is: one that chooses each task's cut, or one that looks at all answers of a row."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.held_out import HeldOut
from smtl.estimators.targets import Kind

__all__ = ["CONFIDENCE", "CutRule", "RowRule", "WrittenRule", "midpoints"]

Float: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95  # with which a floor holds for a task on new rows of the same kind


class WrittenRule(ABC):
    """A rule that has a written form; a subclass in this package is found by it.

    Attributes
    ----------
    known : list of type
        All of them.
    pattern : str
        What it looks like, a regular expression.
    example : str
        One of its forms, for messages.
    kinds : tuple of str
        The kinds of targets that it makes sense for.
    """

    known: ClassVar[list[type[WrittenRule]]] = []
    pattern: ClassVar[str] = ""
    example: ClassVar[str] = ""
    kinds: ClassVar[tuple[Kind, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.pattern:
            WrittenRule.known.append(cls)

    @classmethod
    @abstractmethod
    def from_match(cls, match: re.Match[str]) -> WrittenRule:
        """Return the rule that a text has spelled, or raise ValueError."""

    def check_kind(self, kind: Kind) -> None:
        """Raise ValueError for targets that the rule makes no sense for."""
        if kind not in self.kinds:
            raise ValueError(
                f"threshold must be something else for {_IN_WORDS[kind]}, got {self.text!r}: there that makes no sense."
            )

    @property
    @abstractmethod
    def text(self) -> str:
        """The rule as it is written."""


class CutRule(WrittenRule):
    """A rule that chooses the cut of each task by held-out scores."""

    kinds = ("binary", "multilabel", "tasks")

    def check_weights(self, weights: Float | None) -> None:
        """Raise ValueError for weights of rows that the rule cannot count by.

        Here for those that are no whole numbers: a promise rests on how many rows have kept it.
        """
        if weights is not None and np.any(weights % 1.0):
            raise ValueError(
                f"threshold must be something else than {self.text!r} where rows have weights that are no whole "
                f"numbers, got a weight of {float(weights[weights % 1.0 > 0.0][0])!r}: what it promises rests on a "
                "number of rows."
            )

    @abstractmethod
    def cuts(self, held: HeldOut, k: int) -> Float:
        """Return the cuts by what the folds other than k say.

        Parameters
        ----------
        held : HeldOut
            Held-out scores.
        k : int
            The fold that is left out; ``n_folds`` for none.

        Returns
        -------
        ndarray of shape (n_tasks,)
            What is taken off the scores.
        """

    def broken(self, held: HeldOut) -> tuple[npt.NDArray[np.int64], str]:
        """Return the tasks for which the rule cannot promise what it says, and the reason in words."""
        return np.zeros(0, dtype=np.int64), ""


class RowRule(WrittenRule):
    """A rule that looks at all answers of a row; the cuts are those of ``threshold="auto"``."""

    kinds = ("multilabel",)

    @abstractmethod
    def answers(self, scores: Float, ranking: Float) -> npt.NDArray[np.bool_]:
        """Return the answers to some rows.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_tasks)
            Above zero answers yes, if nothing else speaks against it.
        ranking : ndarray of the same shape
            What the answers of a row are compared by: probabilities, where there are any.

        Returns
        -------
        ndarray of bool of the same shape
            Yes or no.
        """


def midpoints(scores: Float) -> tuple[Float, npt.NDArray[np.int64]]:
    """Return the cuts between scores in descending order, and how many scores are above each.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Descending, at least one.

    Returns
    -------
    cuts : ndarray
        Descending: 1 above the highest, half-way between neighbours, 1 below the lowest.
    above : ndarray of int64
        Counts.

    Examples
    --------
    >>> midpoints(np.array([3.0, 1.0, 1.0]))
    (array([4., 2., 0.]), array([0, 1, 3]))
    """
    above = np.concatenate([[0], np.flatnonzero(scores[1:] < scores[:-1]) + 1, [len(scores)]])
    padded = np.concatenate([[scores[0] + 2.0], scores, [scores[-1] - 2.0]])
    return 0.5 * (padded[above] + padded[above + 1]), above


_IN_WORDS = {
    "binary": "a single question",
    "multiclass": "one of several classes a row",
    "tasks": "tasks that have their own rows",
    "multilabel": "several labels",
}
