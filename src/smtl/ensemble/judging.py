"""Cuts for what the user is judged by, and what held-out scores are worth with them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from smtl.estimators.base import TasksClassifier
from smtl.estimators.held_out import HeldOut
from smtl.estimators.scoring import TaskScorer, columns_of_fold, get_scoring
from smtl.estimators.thresholds import Cuts, choose_cuts
from smtl.metrics import F1, Log, Metric

__all__ = ["Judge"]

Float: TypeAlias = npt.NDArray[np.float64]


class Judge:
    """What chooses cuts of log odds, and scores the folds with cuts that the other folds have chosen.

    Parameters
    ----------
    scoring : str, Metric or callable
        What counts; see `smtl.estimators.scoring.get_scoring`.
    threshold : str or float
        How cuts are chosen; see `smtl.estimators.thresholds.choose_cuts`.
    held : HeldOut
        Any held-out scores of the rows.
    rows : ndarray of int64 of shape (n_entries,)
        Which rows these are.
    y : array-like
        Labels as the user gave them.

    Examples
    --------
    >>> from smtl.estimators.held_out import Fold
    >>> from smtl.estimators.targets import read_targets
    >>> odds, none = np.array([[2.0], [-1.0], [-3.0], [4.0]]), np.zeros(0, dtype=np.int64)
    >>> y = np.array([1, 1, 0, 1])
    >>> folds = [Fold(none, np.array([0, 1]), none, None), Fold(none, np.array([2, 3]), none, None)]
    >>> held = HeldOut(read_targets(odds, y), folds, [odds[:2], odds[2:]])
    >>> judge = Judge("accuracy", 0.0, held, np.arange(4), y)
    >>> judge.score(held, judge.cuts(held))
    0.75
    """

    def __init__(self, scoring: Any, threshold: str | float, held: HeldOut, rows: Any, y: Any) -> None:
        self.scorer = get_scoring(scoring, Log(), held.targets.kind)
        self.threshold = threshold
        self._rows, self._y = rows, y
        if not isinstance(self.scorer, TaskScorer) and held.targets.kind == "multilabel" and not held.targets.Y.all():
            raise ValueError(
                "scoring must be one of smtl's metrics, 'f1_macro', 'f1_micro' or 'roc_auc' where labels are missing, "
                f"got {scoring!r} instead: scikit-learn's scorers know no NaN."
            )

    @property
    def target(self) -> Metric:
        """The metric of one task that its cut is to be best for."""
        if isinstance(self.scorer, TaskScorer) and self.scorer.metric.judges_answers:
            return self.scorer.metric
        return F1()

    @property
    def ranks(self) -> bool:
        """Whether only the order of scores counts, or their values, and no cut."""
        return isinstance(self.scorer, TaskScorer) and not self.scorer.metric.judges_answers

    def cuts(self, held: HeldOut) -> Cuts:
        """Choose cuts.

        Parameters
        ----------
        held : HeldOut
            Held-out log odds.

        Returns
        -------
        Cuts
            Of several classes the most probable is the answer, and there is nothing to cut.
        """
        if held.targets.kind == "multiclass":
            return choose_cuts(held, 0.0, Log(), self.target)
        if isinstance(self.scorer, TaskScorer):
            scorer = TaskScorer(self.target) if self.ranks else self.scorer
            return choose_cuts(held, self.threshold, Log(), self.target, scorer)
        return choose_cuts(held, self.threshold, Log(), self.target, None, lambda k, cut: self._of_fold(held, k, cut))

    def score(self, held: HeldOut, cuts: Cuts) -> float:
        """Return the mean score of the folds, each cut by what the others say.

        Parameters
        ----------
        held : HeldOut
            Held-out log odds.
        cuts : Cuts
            What `cuts` returned for them.

        Returns
        -------
        float
            NaN where no fold can be scored.
        """
        values = np.array([self._of_fold(held, k, cuts.by_fold[k]) for k in range(held.n_folds)])
        known = values[np.isfinite(values)]
        return float(known.mean()) if len(known) else float("nan")

    def _of_fold(self, held: HeldOut, k: int, cut: Float) -> float:
        if isinstance(self.scorer, TaskScorer):
            cut = np.zeros_like(cut) if self.ranks else cut
            return self.scorer(columns_of_fold(held, k, cut, answers=not self.ranks))
        places = np.flatnonzero((held.fold == k) & held.targets.Y.any(axis=1))
        if len(places) == 0:
            return float("nan")
        model = _Stored(held, cut)
        return float(self.scorer(model, places[:, None], _safe_indexing(self._y, self._rows[places])))


class _Stored(TasksClassifier):
    """Held-out log odds as an estimator, for scikit-learn's scorers: X holds the places of the entries."""

    def __init__(self, held: HeldOut, cut: Float) -> None:
        self.held = held
        self.cut = cut
        self.thresholds_ = cut
        self.classes_, self.task_names_, self._kind = held.targets.classes, held.targets.names, held.targets.kind

    def _metric(self) -> Metric:
        return Log()

    def decision_function(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:  # noqa: D102
        odds = self.held.scores[np.asarray(X)[:, 0]]
        odds = np.where(np.isnan(odds), self.held.targets.constants(), odds) - self.cut
        return np.asarray(odds[:, 0] if self._kind == "binary" else odds)
