r"""``costs=(5, 1)``: the cut where a miss and a false alarm cost as much as they are likely."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from smtl.estimators.calibration import logistic_curves
from smtl.estimators.cut_rules import at_log_odds
from smtl.estimators.held_out import HeldOut
from smtl.estimators.rules.base import CutRule, Float

__all__ = ["Costs", "read_costs"]


@dataclass(frozen=True, eq=False)
class Costs(CutRule):
    r"""The cut of least expected cost: yes where the probability is above f / (f + m).

    Probabilities are those of a logistic curve a task, fitted to held-out scores.

    Attributes
    ----------
    miss : ndarray of shape (n_tasks,)
        What a positive costs that is answered no.
    false_alarm : ndarray of shape (n_tasks,)
        What a negative costs that is answered yes.

    Examples
    --------
    >>> Costs(np.array([5.0]), np.array([1.0])).text
    'costs'
    """

    miss: Float
    false_alarm: Float

    @classmethod
    def from_match(cls, match: re.Match[str]) -> Costs:  # noqa: D102
        raise ValueError("costs are given by the parameter costs.")

    @property
    def text(self) -> str:  # noqa: D102
        return "costs"

    def check_weights(self, weights: Float | None) -> None:
        """Take any weights: the cut rests on probabilities."""

    def cuts(self, held: HeldOut, k: int) -> Float:  # noqa: D102
        curves = logistic_curves(held, k)
        ends = np.array(
            [(s.min() - 1.0, s.max() + 1.0) if len(s) else (0.0, 0.0) for _, _, s in held.columns()], dtype=np.float64
        )
        return np.clip(at_log_odds(curves, np.log(self.false_alarm / self.miss)), *ends.T)


def read_costs(costs: Any, names: npt.NDArray[Any]) -> Costs:
    """Return costs of any form, or raise ValueError.

    Parameters
    ----------
    costs : pair, array-like of shape (n_tasks, 2) or dict
        What a miss and a false alarm cost: the same for all tasks; a row a task; or pairs by the tasks' names, 1 and 1
        for those that are not in it.
    names : ndarray of shape (n_tasks,)
        Names of the tasks.

    Returns
    -------
    Costs
        The rule.

    Examples
    --------
    >>> read_costs({"fraud": (10, 1)}, np.array(["fraud", "typo"])).miss
    array([10.,  1.])
    """
    told = (
        f"costs must be a pair of positive numbers, what a miss and a false alarm cost, or one for each of the "
        f"{len(names)} tasks, got {costs!r} instead."
    )
    if isinstance(costs, Mapping):
        known = names.tolist()
        unknown = [name for name in costs if name not in known]
        if unknown:
            raise ValueError(f"costs must name tasks of the data, {known[:8]}, got {unknown[0]!r} instead.")
        costs = [costs.get(name, (1.0, 1.0)) for name in known]
    try:
        values = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(told) from None
    if values.shape == (2,):
        values = np.tile(values, (len(names), 1))
    if values.shape != (len(names), 2) or not np.isfinite(values).all() or not (values > 0.0).all():
        raise ValueError(told)
    return Costs(values[:, 0], values[:, 1])
