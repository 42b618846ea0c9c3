r"""What a metric must provide: its score, and the oracle of its structured hinge loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics.spreading import Ask, SpreadOracle, gathered
from smtl.registry import Registered

__all__ = ["Metric", "Planes", "check_scores", "compiled", "plane_of_one"]

Float: TypeAlias = npt.NDArray[np.float64]
Labels: TypeAlias = npt.NDArray[np.int8]
Offsets: TypeAlias = npt.NDArray[np.int64]

# For each task: the plane's offset Delta, its coefficients c (flat, over the tasks' rows), and the loss itself.
Planes: TypeAlias = tuple[Float, Float, Float]


class Metric(Registered, ABC):
    r"""A metric of one task, with the convex loss that training on it minimises.

    The loss of a task is the largest of many planes, one for each wrong answer the model could give,

    .. math:: G(s) = \max_j \; \Delta_j - s'c_j,

    a convex function of the scores :math:`s = Xw`. All that a solver needs of it is `oracle`: the plane that attains
    the maximum. A smooth convex loss fits as well: its plane is the tangent.

    A subclass that sets ``name`` is found under it by `smtl.metrics.get_metric`. Most metrics are better derived from
    `smtl.metrics.ContingencyMetric` (write the formula) or `smtl.metrics.PointwiseMetric` (write the loss of a
    margin): these bring fast oracles along. `smtl.testing.check_metric` tells whether a metric keeps what follows.

    Attributes
    ----------
    name : str
        The name that `SMTLClassifier(metric=...)` knows it by.
    has_cut : bool
        Whether zero is the cut between the classes. If not (AUC), a threshold has to be chosen by other means.
    judges_answers : bool
        Whether the score depends on nothing but the answers, the signs of the scores. If so, a cut can be chosen for
        it, and `losses` is there.
    uses_intercept : bool
        Whether the loss depends on a constant added to all scores. If not (AUC), :math:`\sum_k c_k = 0` always.
    smooth : bool
        Whether the loss has a second derivative nearly everywhere, so that a solver for smooth losses is the fastest.
        Only time depends on it.
    probability : callable or None
        The probability of +1 for given scores, where the loss makes scores into log odds or the like.

    Notes
    -----
    Conventions.

    - ``y`` holds +1 and -1, at least one of each; ``scores`` are float64 of the same length.
    - The true answer is a candidate with :math:`\Delta = 0, c = 0`, so :math:`G \ge 0`. For a labelling y' it is
      :math:`c = y - y'`: +2 on a missed positive, -2 on a false positive.
    - `score` is greater for better answers.
    - Parameters of the constructor are kept in attributes of the same name.
    - What a class declares is true of its own formula. A subclass that overrides the formula and does not say it again
      has the safe default: see `smtl.registry.Registered`.

    Examples
    --------
    A metric with nothing but an oracle; the hinge loss of the single worst row:

    >>> import numpy as np
    >>> class WorstRow(Metric):
    ...     def score(self, y, s):
    ...         return float(np.min(y * s))
    ...     def oracle(self, scores, y):
    ...         k = np.argmin(y * scores)
    ...         c = np.zeros(len(y))
    ...         if y[k] * scores[k] >= 1:
    ...             return 0.0, c
    ...         c[k] = y[k]
    ...         return 1.0, c
    >>> WorstRow().oracle(np.array([2.0, -0.5]), np.array([1, -1]))
    (1.0, array([ 0., -1.]))
    """

    known: ClassVar[dict[str, type[Any]]] = {}
    has_cut: ClassVar[bool] = True
    judges_answers: ClassVar[bool] = False
    uses_intercept: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    probability: ClassVar[Any] = None
    rests_on: ClassVar[dict[str, tuple[str, ...]]] = {
        "planes": ("oracle",),
        "spread": ("oracle", "planes"),
        "uses_intercept": ("oracle", "planes"),
        "smooth": ("oracle", "planes"),
        "highest_offsets": ("loss", "oracle", "planes"),
        "judges_answers": ("score",),
        "probability": ("loss", "oracle", "planes"),
    }

    @abstractmethod
    def score(self, y: npt.ArrayLike, s: npt.ArrayLike) -> float:
        r"""Return the metric of the scores ``s``: what is reported, greater for better.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores. Where the metric has a cut, a score above zero answers +1.

        Returns
        -------
        float
            The metric.
        """

    @abstractmethod
    def oracle(self, scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, Float]:
        r"""Return the plane :math:`(\Delta, c)` that attains :math:`\max_j \Delta_j - s'c_j`.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The scores s.
        y : array-like of shape (n,)
            Labels, +1 and -1, at least one of each.

        Returns
        -------
        Delta : float
            The plane's offset.
        c : ndarray of shape (n,)
            The plane's coefficients, in float64.
        """

    def losses(self, tp: Float, fp: Float, n_pos: float, n_neg: float) -> Float:
        """Return the loss of each of many contingency tables of one task, for a metric that judges answers.

        Parameters
        ----------
        tp, fp : ndarray of shape (n_tables,)
            Numbers of true and false positives.
        n_pos, n_neg : float
            Numbers of positives and negatives.

        Returns
        -------
        ndarray of shape (n_tables,)
            Losses, smaller for better answers.
        """
        raise NotImplementedError(f"{self!r} does not judge answers.")

    def check_task(self, n_pos: int, n_neg: int) -> None:
        """Raise ValueError if the metric is not defined on a task of so many positives and negatives.

        Parameters
        ----------
        n_pos : int
            Number of positives, at least 1.
        n_neg : int
            Number of negatives, at least 1.
        """

    def planes(
        self, scores: Float, y: Labels, ptr: Offsets, *, shift: Float, with_intercept: bool, eps: float
    ) -> Planes:
        r"""Return the planes of all tasks: `oracle` for each of them, minimised over the intercept where there is one.

        Here by a loop over `oracle`; the metrics that come with the package do it in compiled code.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            The tasks' scores, one task after another.
        y : ndarray of int8 of shape (n_rows,)
            Labels +1 and -1; 0 for rows that are not labelled for the task.
        ptr : ndarray of int64 of shape (n_tasks + 1,)
            Task i owns the rows ``ptr[i]:ptr[i + 1]``.
        shift : ndarray of shape (n_tasks,)
            With an intercept: a first guess of it for each task, overwritten by the best one.
        with_intercept : bool
            Whether to minimise over a constant added to the task's scores.
        eps : float
            How far from the minimum over the intercept the value may be.

        Returns
        -------
        delta : ndarray of shape (n_tasks,)
            The planes' offsets.
        c : ndarray of shape (n_rows,)
            The planes' coefficients. With an intercept they sum to zero over each task.
        value : ndarray of shape (n_tasks,)
            The tasks' losses.
        """
        from smtl.kernels import intercept

        m = len(ptr) - 1
        delta, value, c = np.zeros(m), np.zeros(m), np.zeros(len(scores))
        state = np.empty(intercept.SIZE)
        for i in range(m):
            rows = ptr[i] + np.flatnonzero(y[ptr[i] : ptr[i + 1]])
            s, labels = scores[rows], y[rows]
            sides: dict[int, tuple[float, Float]] = {}
            intercept.begin(state, 0.01)
            while not np.isnan(x := intercept.propose(state, shift[i] if with_intercept else 0.0, eps)):
                offset, coefficients = self.oracle(s + x, labels)
                slope = -coefficients.sum() if with_intercept else 0.0
                if abs(slope) <= 1e-12 * np.abs(coefficients).sum():
                    slope = 0.0  # nothing but rounding: the loss does not depend on the intercept here
                side = intercept.take(state, x, offset - (s + x) @ coefficients, slope)
                sides[side] = offset, coefficients
            if with_intercept:
                shift[i] = state[intercept.BEST_X]
            value[i] = state[intercept.BEST_VALUE]
            if intercept.IS_BOTH in sides:
                delta[i], c[rows] = sides[intercept.IS_BOTH]
            else:
                theta = intercept.left_weight(state)
                (left, c_left), (right, c_right) = sides[intercept.IS_LEFT], sides[intercept.IS_RIGHT]
                delta[i], c[rows] = theta * left + (1 - theta) * right, theta * c_left + (1 - theta) * c_right
        return delta, c, value

    def curvatures(self, scores: Float, y: Labels, ptr: Offsets, shift: Float) -> Float | None:
        r"""Return the loss's second derivative in the score of each row, for a smooth loss that is a sum over rows.

        Solvers use it as a guess of where to pass next: it may cost time, never truth.

        Parameters
        ----------
        scores, y, ptr
            As in `planes`.
        shift : ndarray of shape (n_tasks,)
            What is added to the scores of each task.

        Returns
        -------
        ndarray of shape (n_rows,), or None
            Non-negative, 0 for rows that are not labelled; None, as here, where it is not known.
        """
        return None

    def highest_offsets(self, c: Float, y: Labels, ptr: Offsets, weights: Float | None = None) -> Float | None:
        r"""Return the highest offsets with which planes of these coefficients lie below the loss.

        That is :math:`\min_s G(s) + s'c` for each task. A loss that is a sum of simple functions knows it; solvers make
        better bounds of it, where they may take only a part of a plane's slope.

        Parameters
        ----------
        c : ndarray of shape (n_rows,)
            Coefficients: those of a plane, or a part of them.
        y, ptr
            As in `planes`.
        weights : ndarray of shape (n_rows,), optional
            What each row counts.

        Returns
        -------
        ndarray of shape (n_tasks,), or None
            None, as here, where it is not known.
        """
        return None

    def spread(self, ask: Ask) -> SpreadOracle:
        """Return how the oracle spreads over parts of the rows; see `smtl.metrics.spreading`.

        Here all scores are gathered, which is right for every oracle, and slow where there are many rows.

        Parameters
        ----------
        ask : Ask
            What is asked, as in `planes`.

        Returns
        -------
        generator
            What the parts are to do, round by round.
        """
        return gathered(self, ask)


def check_scores(scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Float, Labels]:
    """Return scores as float64 and labels as int8, or raise ValueError if an oracle cannot take them.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores, finite.
    y : array-like of shape (n,)
        Labels, +1 and -1 with at least one of each.

    Returns
    -------
    scores : ndarray of shape (n,)
        The scores.
    y : ndarray of int8 of shape (n,)
        The labels.

    Examples
    --------
    >>> check_scores([0, 1, 2], [1, -1, -1])
    (array([0., 1., 2.]), array([ 1, -1, -1], dtype=int8))
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or set(np.unique(labels).tolist()) != {-1, 1}:
        raise ValueError(
            f"y must be a vector of +1 and -1 with at least one of each, got shape {labels.shape} with values "
            f"{np.unique(labels)[:5]} instead."
        )
    s = np.ascontiguousarray(scores, dtype=np.float64)
    if s.shape != labels.shape or not np.all(np.isfinite(s)):
        raise ValueError(
            f"scores must be {len(labels)} finite numbers, one a label, got shape {s.shape} with "
            f"{int(np.sum(~np.isfinite(s)))} that are not finite instead."
        )
    return s, labels.astype(np.int8)


def plane_of_one(planes: Callable[..., Planes], scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, Float]:
    """Return the oracle of a metric whose `planes` does the work: that of a single task without an intercept.

    Parameters
    ----------
    planes : callable
        The method that does the work.
    scores : array-like of shape (n,)
        Scores, finite.
    y : array-like of shape (n,)
        Labels, +1 and -1 with at least one of each.

    Returns
    -------
    Delta : float
        The plane's offset.
    c : ndarray of shape (n,)
        The plane's coefficients.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> plane_of_one(AUC().planes, [0.0, 0.0], [1, -1])
    (1.0, array([ 1., -1.]))
    """
    s, labels = check_scores(scores, y)
    ptr = np.array([0, len(s)])
    delta, c, _ = planes(s, labels, ptr, shift=np.zeros(1), with_intercept=False, eps=0.0)
    return float(delta[0]), c


def compiled(what: str, compiler: Callable[[Any], Any], formula: Any) -> Any:
    """Return a formula in compiled form, or raise ValueError with what a formula may use.

    Parameters
    ----------
    what : str
        What the formula is, for the message.
    compiler : callable
        What compiles it at once, such as ``numba.njit(signature)``.
    formula : callable
        The formula.

    Returns
    -------
    callable
        The compiled one.

    Examples
    --------
    >>> from numba import float64, njit
    >>> compiled("half", njit(float64(float64)), lambda x: 0.5 * x)(3.0)
    1.5
    """
    from numba.core.errors import NumbaError

    try:
        return compiler(formula)
    except NumbaError as error:
        cause = " ".join(str(error).split())
        raise ValueError(
            f"{what} must be plain arithmetic on its arguments and on numbers (if, min, max, abs and the functions of "
            f"math are fine; strings, lists, other methods and other objects are not), to be compiled. What numba says "
            f"of it: {cause[:600]}"
        ) from error
