r"""Metrics that are a function of the contingency table: write the formula, get the oracle."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections import namedtuple
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Offsets, Planes, compiled, plane_of_one
from smtl.metrics.spread_cuts import two_cuts
from smtl.metrics.spreading import Ask, SpreadOracle, gathered

__all__ = ["ContingencyMetric"]

# Compiled formulas, by class and parameters. Metrics are small value objects, copied often; compiling takes 0.1 s.
_COMPILED: dict[Any, Any] = {}


class ContingencyMetric(Metric):
    r"""A metric whose loss :math:`\Delta` is a function of the contingency table of a labelling.

    A subclass writes that formula as `delta`, in plain arithmetic on its arguments and on the numbers in its own
    attributes: it is compiled when a model is fitted. The structured hinge loss of a task is then

    .. math:: G(s) = \max_{y'} \; \Delta(y, y') - s'(y - y')

    over all :math:`2^n` labellings y', of which only those can attain the maximum that take the highest scores of
    each class: :math:`(P + 1)(N + 1)` for P positives and N negatives.

    Attributes
    ----------
    concave_in_fp : bool
        Set it to True where, for every fixed ``tp``, the formula is concave in ``fp`` (linear is enough). The oracle
        then takes :math:`O(n \log n)`, otherwise :math:`O(PN)`. A subclass that overrides `delta` has to set it again.

    Examples
    --------
    Balanced error, the mean of the two classes' error rates:

    >>> from smtl import SMTLClassifier
    >>> from smtl.testing import check_metric
    >>> class BalancedError(ContingencyMetric):
    ...     concave_in_fp = True
    ...     def delta(self, tp, fp, fn, tn):
    ...         return 0.5 * fn / (tp + fn) + 0.5 * fp / (tn + fp)
    >>> BalancedError().delta(3, 2, 1, 8)
    0.225
    >>> check_metric(BalancedError())
    >>> SMTLClassifier(metric=BalancedError())
    SMTLClassifier(metric=BalancedError())
    """

    judges_answers: ClassVar[bool] = True
    concave_in_fp: ClassVar[bool] = False
    rests_on: ClassVar[dict[str, tuple[str, ...]]] = {
        "concave_in_fp": ("delta",),
        "oracle": ("delta",),
        "planes": ("delta",),
        "spread": ("delta",),
        "losses": ("delta",),
        "score": ("delta",),
        "check_task": ("delta",),
    }

    @abstractmethod
    def delta(self, tp: float, fp: float, fn: float, tn: float) -> float:
        r"""Return the loss :math:`\Delta` of a labelling with this contingency table.

        Parameters
        ----------
        tp, fp, fn, tn : float
            Numbers of true positives, false positives, false negatives and true negatives. ``tp + fn`` and
            ``fp + tn`` are at least 1.

        Returns
        -------
        float
            Finite and non-negative for every table, and 0 where ``fp = fn = 0``.
        """

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        r"""Return :math:`1 - \Delta` of the labelling that answers +1 where ``s > 0``.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores.
        weights : array-like of shape (n,), optional
            What each row counts.

        Returns
        -------
        float
            The metric; NaN where the labels are of one class only and the formula is not defined.
        """
        truth, answer = np.asarray(y) > 0, np.asarray(s) > 0
        each = np.ones(len(truth)) if weights is None else np.asarray(weights, dtype=np.float64)
        tp, fp = float(each @ (truth & answer)), float(each @ (~truth & answer))
        fn, tn = float(each @ (truth & ~answer)), float(each @ (~truth & ~answer))
        try:
            return 1.0 - float(self.delta(tp, fp, fn, tn))
        except ZeroDivisionError:
            return float("nan")

    def oracle(self, scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, Float]:
        r"""Return :math:`\Delta` and :math:`c = y - y'` of the labelling y' that attains the maximum.

        Among equal scores, which of them a labelling takes does not matter; they are taken evenly spread.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The scores s.
        y : array-like of shape (n,)
            Labels, +1 and -1, at least one of each.

        Returns
        -------
        Delta : float
            The labelling's loss.
        c : ndarray of shape (n,)
            +2 on missed positives, -2 on false positives, 0 elsewhere.
        """
        return plane_of_one(functools.partial(ContingencyMetric.planes, self), scores, y)

    def losses(self, tp: Float, fp: Float, n_pos: float, n_neg: float) -> Float:
        r"""Return :math:`\Delta` of each of many contingency tables of one task.

        Parameters
        ----------
        tp, fp : ndarray of shape (n_tables,)
            Numbers of true and false positives.
        n_pos, n_neg : float
            Numbers of positives and negatives.

        Returns
        -------
        ndarray of shape (n_tables,)
            Losses.
        """
        from smtl.kernels.tables import losses

        out = np.empty(len(tp))
        losses(self._compiled(), tp, fp, float(n_pos), float(n_neg), out)
        return out

    def check_task(self, n_pos: int, n_neg: int) -> None:
        """Raise ValueError if the formula does not hold at the corners of the table.

        Parameters
        ----------
        n_pos : int
            Number of positives.
        n_neg : int
            Number of negatives.
        """
        P, N = float(n_pos), float(n_neg)
        for tp, fp in [(0.0, 0.0), (0.0, N), (P, N), (P, 0.0)]:
            try:
                loss = float(self.delta(tp, fp, P - tp, N - fp))
            except ZeroDivisionError:
                loss = float("nan")
            true_answer = tp == P and fp == 0.0
            if not np.isfinite(loss) or loss < 0 or (true_answer and loss != 0):
                wanted = "0" if true_answer else "finite and non-negative"
                raise ValueError(
                    f"{self!r} is not defined on a task of {n_pos} positives and {n_neg} negatives: delta(tp={tp:g}, "
                    f"fp={fp:g}, fn={P - tp:g}, tn={N - fp:g}) must be {wanted}, got {loss} instead."
                )

    def planes(
        self,
        scores: Float,
        y: Labels,
        ptr: Offsets,
        *,
        shift: Float,
        with_intercept: bool,
        eps: float,
        weights: Float | None = None,
    ) -> Planes:
        r"""Return the planes of all tasks; see `Metric.planes`.

        Parameters
        ----------
        scores, y, ptr, shift, with_intercept, eps
            As in `Metric.planes`.
        weights : ndarray of shape (n_rows,), optional
            What each row counts, positive where it has a label. Between whole numbers of errors :math:`\\Delta` is
            interpolated; so is it where they are more than 100 a row, and more than 1,000.

        Returns
        -------
        delta, c, value : ndarray
            As in `Metric.planes`.
        """
        m = len(ptr) - 1
        delta, value, c = np.empty(m), np.empty(m), np.empty(len(scores))
        formula, concave = self._compiled(), self.concave_in_fp
        if weights is None:
            from smtl.kernels.labelling import labelling_planes

            labelling_planes(formula, concave, scores, y, ptr, with_intercept, shift, eps, c, delta, value)
        else:
            from smtl.kernels.weighted_errors import weighted_labelling_planes

            weighted_labelling_planes(
                formula, concave, scores, y, weights, ptr, with_intercept, shift, eps, c, delta, value
            )
        return delta, c, value

    def spread(self, ask: Ask) -> SpreadOracle:  # noqa: D102
        return gathered(self, ask) if ask.weighted else two_cuts(self, ask)

    def _compiled(self) -> Any:
        """Return `delta` in compiled form, with the numbers of the attributes that it uses built in."""
        formula = type(self).delta
        parameters = self._parameters()
        key = (formula, *parameters.items())
        if key not in _COMPILED:
            from numba import cfunc, float64, njit

            # Compiled code reads `self.beta` from a named tuple as well as from an instance.
            self_ = namedtuple("self_", list(parameters))(**parameters)
            delta = njit(error_model="numpy")(formula)

            # A plain C function is handed to compiled code in a third of the time that one of numba's own takes.
            def table(tp, fp, fn, tn):  # type: ignore[no-untyped-def]
                return delta(self_, tp, fp, fn, tn)

            _COMPILED[key] = compiled(f"delta of {self!r}", cfunc(float64(float64, float64, float64, float64)), table)
        return _COMPILED[key]

    def _parameters(self) -> dict[str, float]:
        """Return the numbers that the formula reads from the instance or its class."""
        code = getattr(type(self).delta, "__code__", None)
        used = {*getattr(code, "co_names", ()), *vars(self)}
        parameters = {}
        for name in sorted(used):
            value = getattr(self, name, None)
            if isinstance(value, Real):
                parameters[name] = float(value)
            elif name in vars(self):
                raise ValueError(
                    f"{name} of {self!r} must be a number for delta to be compiled, got {value!r} instead."
                )
        return parameters
