r"""What a solver knows of a problem: where the data are and what the metric is remains behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics import Metric
from smtl.penalties import Penalty
from smtl.solvers.curvature import Curvature

__all__ = ["Losses", "Pass", "Trainable"]

Float: TypeAlias = npt.NDArray[np.float64]


class Pass(NamedTuple):
    r"""What one pass over the data tells of some weights, for every task: its loss, and the plane that attains it.

    Attributes
    ----------
    loss : ndarray of shape (n_tasks,)
        The losses :math:`G_i(w_i)`.
    delta : ndarray of shape (n_tasks,)
        The planes' offsets: :math:`G_i(v) \ge \delta_i - v'g_i` for every v.
    slope : ndarray of shape (n_tasks, n_features)
        The planes' slopes g.
    scaled : callable or None
        What returns, for a part s of 1, the offsets of planes with the slopes s g. Of a smooth loss they may be higher
        than s times the planes' own, which always do. None where that is not known.

    Examples
    --------
    >>> Pass(loss=np.ones(1), delta=np.ones(1), slope=np.array([[1.0, -1.5]])).slope.shape
    (1, 2)
    """

    loss: Float
    delta: Float
    slope: Float
    scaled: Callable[[float], Float] | None = None


class Losses(NamedTuple):
    """What planes depend on: everything of a problem but the penalty and C.

    Attributes
    ----------
    data : object
        What holds rows and labels.
    metric : Metric
        The metric.
    parameters : dict
        Its parameters, in case they are changed later.
    with_intercept : bool
        Whether each task has an intercept.
    offset : object
        Scores to start from.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> data, metric = object(), AUC()
    >>> losses = Losses(data, metric, {}, with_intercept=False, offset=None)
    >>> losses.are(losses._replace(with_intercept=True))
    False
    """

    data: object
    metric: Metric
    parameters: dict[str, Any]
    with_intercept: bool
    offset: object

    def are(self, other: Losses | None) -> bool:
        """Return whether planes of the other losses hold for these: data, metric and offset are the same objects.

        Parameters
        ----------
        other : Losses or None
            The other losses.

        Returns
        -------
        bool
            False for data that are equal but not the same: to find that out would cost as much as a pass.
        """
        return other is not None and (
            self.data is other.data
            and self.metric is other.metric
            and self.parameters == other.parameters
            and self.with_intercept == other.with_intercept
            and self.offset is other.offset
        )


class Span(NamedTuple):
    r"""A problem of more features than rows in the span of its rows.

    Where the penalty does not change when the features are rotated, the optimal weights are :math:`W = VQ'`, where V
    solves the problem of as many features as rows. Losses, norms and dual norms are the same, and so is the
    certificate.

    Attributes
    ----------
    problem : Trainable
        The problem there.
    Q : ndarray of shape (n_features, n_rows)
        Orthonormal columns.
    """

    problem: Trainable
    Q: Float


class Trainable(Protocol):
    """A training problem but for its C. Solvers ask for nothing else; `repr` is part of errors.

    `smtl.solvers.Problem` is the one whose data are in memory. Others do a pass in other ways.

    Attributes
    ----------
    penalty : Penalty
        The penalty.
    with_intercept : bool
        Whether each task has an intercept.

    Examples
    --------
    Data that are somewhere else: all that is sent there are the weights.

    >>> from smtl.metrics import AUC
    >>> from smtl.penalties import L11
    >>> from smtl.solvers import Problem, solve
    >>> from smtl.tasks import SharedRows
    >>> class Elsewhere:
    ...     def __init__(self, problem):
    ...         self._there = problem
    ...         self.penalty, self.with_intercept = problem.penalty, problem.with_intercept
    ...         self.shape, self.losses, self.cost = problem.shape, problem.losses, problem.cost
    ...     def one_pass(self, W, intercept, eps=0.0):
    ...         return self._there.one_pass(W, intercept, eps)
    ...     def in_span(self):
    ...         return None
    ...     def curvature(self):
    ...         return None
    >>> tasks = SharedRows(np.array([[4.0], [0.0]]), np.array([[1], [-1]], dtype=np.int8))
    >>> solve(Elsewhere(Problem(tasks, AUC(), L11())), C=10.0, tol=1e-6).certificate.W.round(4)
    array([[0.25]])
    """

    penalty: Penalty
    with_intercept: bool

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n_tasks, n_features) of W."""

    @property
    def losses(self) -> Losses:
        """What the planes of this problem hold for."""

    def cost(self) -> float:
        """Return about how many multiplications a pass takes."""

    def curvature(self) -> Curvature | None:
        """Return the losses' second derivatives, or None where they are not known or not to be had."""

    def in_span(self) -> Span | None:
        """Return the problem in the span of its rows, or None where that is not possible or not worth it."""

    def one_pass(self, W: Float, intercept: Float, eps: float = 0.0) -> Pass:
        """Pass over the data once.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights, in C order.
        intercept : ndarray of shape (n_tasks,)
            With an intercept: a first guess for each task, overwritten by the best one.
        eps : float, default=0.0
            How far from its minimum over the intercept a loss may be.

        Returns
        -------
        Pass
            Losses and planes.
        """
