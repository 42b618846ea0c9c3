"""Who holds the parts of the rows, and carries out what oracles ask of them: here, parts that are in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from smtl.metrics.spreading import Round, Scored, added
from smtl.parts.part import Part, Sums, Where, answered, marked, scored, slopes
from smtl.parts.raw import Raw, Reading, encoded

__all__ = ["PartsInMemory", "Pass", "Rows", "sum_of"]


class Pass(ABC):
    """One pass over all parts, at some weights: rounds, of which the last gives the slopes."""

    @abstractmethod
    def answer(self, todo: Round) -> Any:
        """Return what the parts send in a round: a list, or its sum.

        Parameters
        ----------
        todo : Round
            What the parts are to do; not the last round.

        Returns
        -------
        list or tuple of ndarray
            An entry a part, or the sum of them.
        """

    @abstractmethod
    def sums(self, todo: Round) -> Sums:
        """Return the slopes, and the sum of what the parts send in the last round.

        Parameters
        ----------
        todo : Round
            The last round.

        Returns
        -------
        Sums
            Added up over the parts.
        """


class Rows(ABC):
    """Parts of the rows, wherever they are.

    Attributes
    ----------
    n_parts : int
        How many parts there are.
    overhead : float
        About what a pass takes beside its arithmetic, in multiplications.
    """

    n_parts: int
    overhead: float = 0.0

    @abstractmethod
    def each_raw(self, function: Callable[..., Any], *common: Any) -> list[Any]:
        """Return ``function(raw, *common)`` for every part as it is read."""

    @abstractmethod
    def prepare(self, reading: Reading) -> None:
        """Take in how labels are read; from now on parts can be asked for."""

    @abstractmethod
    def each(self, function: Callable[..., Any], *common: Any) -> list[Any]:
        """Return ``function(part, *common)`` for every part."""

    @abstractmethod
    def summed(self, function: Callable[..., tuple[npt.NDArray[Any], ...]], *common: Any) -> Any:
        """Return the sums over all parts of the arrays that ``function(part, *common)`` returns, entry by entry."""

    @abstractmethod
    def begin(self, where: Where) -> Pass:
        """Return a pass at some weights."""


class PartsInMemory(Rows):
    """Parts that are in memory, one after another: the plain way, which the others are tested against.

    Parameters
    ----------
    raws : list of Raw
        The parts as they were read.

    Examples
    --------
    >>> raw = Raw(np.eye(2), np.array([0, 1]), None, 0)
    >>> rows = PartsInMemory([raw])
    >>> rows.each_raw(lambda raw: len(raw.y))
    [2]
    """

    def __init__(self, raws: Sequence[Raw]) -> None:
        self.raws, self.n_parts = raws, len(raws)
        self.parts: list[Part] = []

    def each_raw(self, function: Callable[..., Any], *common: Any) -> list[Any]:  # noqa: D102
        return [function(raw, *common) for raw in self.raws]

    def prepare(self, reading: Reading) -> None:  # noqa: D102
        self.parts = [marked(*encoded(raw, reading), raw.number) for raw in self.raws]

    def each(self, function: Callable[..., Any], *common: Any) -> list[Any]:  # noqa: D102
        return [function(part, *common) for part in self.parts]

    def summed(self, function: Callable[..., tuple[npt.NDArray[Any], ...]], *common: Any) -> Any:  # noqa: D102
        return added(self.each(function, *common))

    def begin(self, where: Where) -> Pass:  # noqa: D102
        return _PassInMemory(self.parts, where)


class _PassInMemory(Pass):
    def __init__(self, parts: Sequence[Part], where: Where) -> None:
        self.parts, self.where = parts, where
        self.states: list[Scored] = [scored(part, where) for part in parts]

    def answer(self, todo: Round) -> Any:
        own = [None] * len(self.parts) if todo.own is None else todo.own
        done = [answered(state, todo, mine) for state, mine in zip(self.states, own, strict=True)]
        self.states = [state for state, _ in done]
        sent = [one for _, one in done]
        return sent if todo.joined is None else todo.joined(sent)

    def sums(self, todo: Round) -> Sums:
        sent = self.answer(todo._replace(joined=None))
        return sum_of(
            [
                slopes(part, self.where, state.kept, one or ())
                for part, state, one in zip(self.parts, self.states, sent, strict=True)
            ]
        )


def sum_of(sums: Sequence[Sums]) -> Sums:
    """Return the sum of what some parts add up to.

    Examples
    --------
    >>> one = Sums(np.ones((1, 2)), np.ones(1), ())
    >>> sum_of([one, one]).slope
    array([[2., 2.]])
    """
    slope: npt.NDArray[np.float64] = sums[0].slope
    total = sums[0].total
    for other in sums[1:]:
        slope, total = slope + other.slope, total + other.total
    return Sums(slope, total, added([one.sent for one in sums]))
