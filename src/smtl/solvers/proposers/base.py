"""What a proposer of the next point must provide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.registry import Registered
from smtl.solvers.seam import Trainable
from smtl.solvers.state import Costs, State

__all__ = ["Proposer"]

Float: TypeAlias = npt.NDArray[np.float64]


class Proposer(Registered, ABC):
    """Where to pass over the data next. It may cost time, never truth.

    The bundle solver makes one of each that suits a problem, and asks them in their order after each pass; the first
    that has a point to propose is followed.

    Parameters
    ----------
    state : State
        What is known before the first pass.

    Attributes
    ----------
    name : str
        Its name.
    order : int
        Who is asked first: the least.
    needs_planes : bool
        Whether it works on the planes. They are kept of every pass after which one that does is asked.
    """

    known: ClassVar[dict[str, type[Any]]] = {}
    order: ClassVar[int]
    needs_planes: ClassVar[bool] = True

    def __init__(self, state: State) -> None:
        """Begin a run."""

    @classmethod
    @abstractmethod
    def suits(cls, problem: Trainable, costs: Costs, tol: float) -> bool:
        """Return whether it can be of use for a problem.

        Parameters
        ----------
        problem : Trainable
            The problem.
        costs : Costs
            What a pass and an iteration cost.
        tol : float
            The gap to reach.

        Returns
        -------
        bool
            Whether to ask it at all.
        """

    @abstractmethod
    def propose(self, state: State) -> Float | None:
        """Return the next point.

        Parameters
        ----------
        state : State
            What is known. A proposer may do iterations on its planes, and show it combinations of planes
            (`State.see_planes`), from which the bound comes.

        Returns
        -------
        ndarray of shape (n_tasks, n_features), or None
            None to have the next proposer asked.
        """
