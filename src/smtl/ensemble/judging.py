"""Cuts for what the user is judged by, and what held-out scores are worth with them."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.base import TasksClassifier
from smtl.estimators.held_out import HeldOut
from smtl.estimators.rules import CutRule
from smtl.estimators.scoring import TaskScorer, columns_of_fold, get_scoring, judges_answers
from smtl.estimators.targets import Targets
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
    threshold : str, float or CutRule
        How cuts are chosen; see `smtl.estimators.thresholds.choose_cuts`.
    held : HeldOut
        Any held-out scores of the rows.

    Examples
    --------
    >>> from smtl.estimators.held_out import Fold
    >>> from smtl.estimators.targets import read_targets
    >>> odds, none = np.array([[2.0], [-1.0], [-3.0], [4.0]]), np.zeros(0, dtype=np.int64)
    >>> folds = [Fold(none, np.array([0, 1]), none, None), Fold(none, np.array([2, 3]), none, None)]
    >>> held = HeldOut(read_targets(odds, [1, 1, 0, 1]), folds, [odds[:2], odds[2:]])
    >>> judge = Judge("accuracy", 0.0, held)
    >>> judge.score(held, judge.cuts(held))
    0.75
    """

    def __init__(self, scoring: Any, threshold: str | float | CutRule, held: HeldOut) -> None:
        self.scorer = get_scoring(scoring, Log(), held.targets.kind)
        self.threshold = threshold
        # Scores by fold and hash of the answers. Many cuts give the same answers, and a scorer of scikit-learn's takes
        # milliseconds.
        self._known: dict[tuple[int, bytes], float] = {}
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
            chosen = choose_cuts(held, self.threshold, Log(), self.target, scorer)
        else:
            judge = partial(self._of_fold, held)
            chosen = choose_cuts(held, self.threshold, Log(), self.target, None, judge)
        if held.targets.kind == "binary" and self.threshold == "auto":
            return self._if_it_gains(held, chosen)
        return chosen

    def _if_it_gains(self, held: HeldOut, chosen: Cuts) -> Cuts:
        """Return the cut, or that at even odds where the gain over it is less than its standard error.

        Probabilities and answers then agree, as those who use a binary classifier expect, unless it costs something.
        """
        even = choose_cuts(held, 0.0, Log(), self.target)
        gains = self.scores(held, chosen) - self.scores(held, even)
        gains = gains[np.isfinite(gains)]
        if len(gains) > 1 and gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)):
            return chosen
        return even

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
        values = self.scores(held, cuts)
        known = values[np.isfinite(values)]
        return float(known.mean()) if len(known) else float("nan")

    def scores(self, held: HeldOut, cuts: Cuts) -> Float:
        """Return the score of each fold.

        Parameters
        ----------
        held, cuts
            As in `score`.

        Returns
        -------
        ndarray of shape (n_folds,)
            NaN where a fold cannot be scored.
        """
        return np.array([self._of_fold(held, k, cuts.by_fold[k]) for k in range(held.n_folds)])

    def _of_fold(self, held: HeldOut, k: int, cut: Float) -> float:
        if isinstance(self.scorer, TaskScorer):
            cut = np.zeros_like(cut) if self.ranks else cut
            return self.scorer(columns_of_fold(held, k, cut, answers=not self.ranks))
        places = np.flatnonzero((held.fold == k) & held.targets.Y.any(axis=1))
        if len(places) == 0:
            return float("nan")
        model, labels = _Stored(held, cut), _labels(held.targets.part(places))
        if not judges_answers(self.scorer):
            return float(self.scorer(model, places[:, None], labels))
        key = k, blake2b(model.predict(places[:, None]).tobytes()).digest()
        if key not in self._known:
            self._known[key] = float(self.scorer(model, places[:, None], labels))
        return self._known[key]


class _Stored(TasksClassifier):
    """Held-out log odds as an estimator, for scikit-learn's scorers: X holds the places of the entries."""

    def __init__(self, held: HeldOut, cut: Float) -> None:
        self.held = held
        self.cut = cut
        self.thresholds_ = cut
        self.classes_, self.task_names_, self._kind = held.targets.classes, held.targets.names, held.targets.kind

    def _metric(self) -> Metric:
        return Log()

    def decision_function(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:
        odds = self.held.scores[np.asarray(X)[:, 0]]
        odds = np.where(np.isnan(odds), self.held.targets.constants(), odds) - self.cut
        return np.asarray(odds[:, 0] if self._kind == "binary" else odds)


def _labels(targets: Targets) -> npt.NDArray[Any]:
    """Return labels as scikit-learn's scorers take them, of rows that are labelled."""
    if targets.kind == "multilabel":
        return (targets.Y > 0).astype(np.int64)
    if targets.kind == "multiclass":
        return np.asarray(targets.classes[targets.Y.argmax(axis=1)])
    return np.asarray(targets.classes[np.where(targets.Y[:, 0] > 0, -1, 0)])
