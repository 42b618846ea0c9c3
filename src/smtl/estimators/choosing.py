"""What a search chooses from, and what it is chosen for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from smtl.estimators.points import Point
from smtl.estimators.racing import METRICS, PENALTIES
from smtl.estimators.rules import CutRule
from smtl.estimators.scoring import TaskScorer, get_scoring, given_weights, judges_answers
from smtl.estimators.targets import Kind, Targets
from smtl.estimators.thresholds import Cuts, choose_cuts, cut_target
from smtl.metrics import AUC, Metric, get_metric
from smtl.penalties import get_penalty

__all__ = ["Candidate", "Choice"]

Candidate: TypeAlias = tuple[Any, Any, float]


@dataclass
class Choice:
    """The parameters of `SMTLClassifierCV` that say what is chosen, and for what.

    Attributes
    ----------
    metric, penalty, ridge
        What there is to choose from: one, or a list; for the first two ``"auto"``, and None for a penalty that is
        chosen only where the metric is.
    scoring
        What it is chosen for.
    threshold, threshold_metric
        How cuts are chosen, and what for.

    Examples
    --------
    >>> choice = Choice("auto", None, 0.0, None, "auto", None)
    >>> len(choice.candidates), choice.racing, choice.scorer(AUC(), "multilabel").metric
    (9, True, F1())
    >>> Choice("auc", None, 0.0, None, "auto", None).candidates
    [('auc', 'l21', 0.0)]
    """

    metric: Any
    penalty: Any
    ridge: Any
    scoring: Any
    threshold: str | float | CutRule
    threshold_metric: str | Metric | None

    @property
    def racing(self) -> bool:
        """Whether candidates are raced rather than all searched."""
        return _is_auto(self.metric) or _is_auto(self.penalty)

    @property
    def metrics(self) -> list[Any]:
        """The metrics."""
        if not _is_auto(self.metric):
            return _as_list(self.metric)
        return list(METRICS)

    @property
    def candidates(self) -> list[Candidate]:
        """All combinations of metric, penalty and ridge."""
        penalty = self.penalty
        if penalty is None:
            penalty = "auto" if _is_auto(self.metric) else "l21"
        penalties = list(PENALTIES) if _is_auto(penalty) else _as_list(penalty)
        lists = {"metric": self.metrics, "penalty": penalties, "ridge": _as_list(self.ridge)}
        for name, values in lists.items():
            if not values:
                raise ValueError(f"{name} must not be an empty list.")
        for metric, penalty, ridge in product(*lists.values()):
            get_metric(metric), get_penalty(penalty, ridge)
        if len(self.metrics) > 1 and self.scoring is None and not _is_auto(self.metric):
            raise ValueError(
                f"scoring must be given where metric is a list, got None instead with metric={self.metric!r}: the "
                "metrics' own scores cannot be compared. Give scoring='f1' or 'auc', for example."
            )
        return list(product(*lists.values()))

    def scorer(self, metric: Metric, kind: Kind) -> TaskScorer | Callable[..., float]:
        """Return what a model is judged by that is trained on a metric.

        Parameters
        ----------
        metric : Metric
            The trained metric.
        kind : str
            The kind of the targets.

        Returns
        -------
        TaskScorer or callable
            See `get_scoring`.
        """
        return get_scoring("f1" if self.scoring is None and _is_auto(self.metric) else self.scoring, metric, kind)

    def check_scoring(self, targets: Targets, n_splits: int) -> None:
        """Raise if the score cannot be had, or not without bias.

        Parameters
        ----------
        targets : Targets
            Labels.
        n_splits : int
            The number of splits of the cross-validation.
        """
        for metric in self.metrics:
            scorer = self.scorer(get_metric(metric), targets.kind)
            ranks = isinstance(scorer, TaskScorer) and not judges_answers(scorer)
            if n_splits == 1 and not isinstance(self.threshold, Real) and not ranks:
                raise ValueError(
                    "cv must have at least two splits where thresholds are chosen on held-out scores and answers are "
                    "scored, got one instead: it would be scored with thresholds that its own labels have chosen. Give "
                    "threshold=0.0, more splits, or a scoring of the order alone, such as 'auc'."
                )
            if not isinstance(scorer, TaskScorer):
                given_weights(scorer, targets.row_weight)
            if not isinstance(scorer, TaskScorer) and targets.offset is not None:
                raise ValueError(
                    "scoring must be None, one of smtl's metrics, 'f1_macro', 'f1_micro' or 'roc_auc' where an offset "
                    f"is given, got {self.scoring!r} instead: scikit-learn's scorers do not pass it on."
                )
            if not isinstance(scorer, TaskScorer) and targets.kind == "multilabel" and not targets.Y.all():
                raise ValueError(
                    "scoring must be None, one of smtl's metrics, 'f1_macro', 'f1_micro' or 'roc_auc' where labels "
                    f"are missing, got {self.scoring!r} instead: scikit-learn's scorers know no NaN."
                )

    def guide(self, metric: Metric, kind: Kind) -> TaskScorer | None:
        """Return what points of a race are compared by instead of their score.

        Parameters
        ----------
        metric : Metric
            The trained metric.
        kind : str
            The kind of the targets.

        Returns
        -------
        TaskScorer or None
            AUC for a function of the answers, which is too noisy to choose by; otherwise None.
        """
        return TaskScorer(AUC()) if self.racing and judges_answers(self.scorer(metric, kind)) else None

    def cut_target(self, metric: Metric, kind: Kind) -> Metric:
        """Return what the cuts are to be best for.

        Parameters
        ----------
        metric : Metric
            The trained metric.
        kind : str
            The kind of the targets.

        Returns
        -------
        Metric
            One that judges answers.
        """
        scorer, wanted = self.scorer(metric, kind), self.threshold_metric
        if wanted is None and self.threshold == "auto" and isinstance(scorer, TaskScorer) and judges_answers(scorer):
            wanted = scorer.metric
        return cut_target(metric, wanted)

    def final_cuts(self, chosen: Point, metric: Metric, kind: Kind) -> Cuts:
        """Return the cuts of the chosen point, by all the rules that there are to choose from.

        Parameters
        ----------
        chosen : Point
            With its held-out scores.
        metric : Metric
            The trained metric.
        kind : str
            The kind of the targets.

        Returns
        -------
        Cuts
            Cut-offs.
        """
        if chosen.cuts is not None and self.threshold != "auto":
            return chosen.cuts
        assert chosen.held is not None
        scorer = self.scorer(metric, kind)
        answers = scorer if isinstance(scorer, TaskScorer) and judges_answers(scorer) else None
        return choose_cuts(
            chosen.held, self.threshold, metric, self.cut_target(metric, kind), answers, judge=chosen.judge
        )

    def judged_by_task(self, metric: Metric, kind: Kind) -> bool:
        """Return whether it means something to judge one task's answers by what the cuts are best for."""
        scorer = self.scorer(metric, kind)
        return isinstance(scorer, TaskScorer) and not scorer.pooled


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, list | tuple | np.ndarray) else [values]
