"""A linear model that may correct another one, with all that a certified fit knows of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from smtl import messages
from smtl.estimators.base import LinearTasksClassifier, has_probability
from smtl.estimators.calibrating import calibration_of
from smtl.estimators.calibration import Curves
from smtl.estimators.fitting import LinearModel
from smtl.estimators.held_out import HeldOut
from smtl.estimators.isotonic import Steps
from smtl.estimators.rules import CutRule, parse_rule, row_rule
from smtl.estimators.scoring import TaskScorer, given_weights, judges_answers
from smtl.estimators.targets import Targets, read_offset
from smtl.estimators.thresholds import Cuts
from smtl.estimators.weights import read_sample_weight

__all__ = ["CorrectingTasksClassifier"]


class CorrectingTasksClassifier(LinearTasksClassifier):
    """A linear model that may start from given scores: those of another model, which it corrects."""

    threshold: str | float
    costs: Any
    calibration: str | None
    calibration_: Curves | Steps | None
    unpromised_tasks_: npt.NDArray[Any]
    objective_: float
    dual_bound_: float
    gap_: float
    history_: dict[str, npt.NDArray[np.float64]]
    n_iter_: int
    _has_offset: bool = False  # whether it was fitted with given scores to start from
    _has_groups: bool = False  # whether it was trained within groups

    def _keep_solution(self, model: LinearModel) -> None:
        """Set the attributes that tell of the certificate; nothing is left to gain where nothing could be learnt."""
        solution = model.solution
        best = None if solution is None else solution.certificate
        self.objective_, self.dual_bound_, self.gap_ = (
            (0.0, 0.0, 0.0) if best is None else (best.objective, best.bound, best.gap)
        )
        self.history_, self.n_iter_ = ({}, 0) if solution is None else (solution.history, solution.n_iter)

    def _promises(self) -> bool:
        """Return whether held-out scores must be on the scale of the final model, for what is said of new rows."""
        conditioned = self.costs is not None or isinstance(parse_rule(self.threshold), CutRule)
        return conditioned or self.calibration is not None

    def _keep_row_rule(self) -> None:
        rule = row_rule(self.threshold)
        self.row_rule_ = None if rule is None else rule.text

    def _keep_calibration(self, held: HeldOut | None, cuts: Cuts, targets: Targets) -> None:
        """Fit what makes probabilities of the scores, where that is asked for."""
        self.calibration_ = None
        if self.calibration is not None:
            assert held is not None
            task = held.targets.task
            location = cuts.location if task is None else cuts.location[task]
            placed = held.with_scores(held.scores - location)
            self.calibration_ = calibration_of(placed, self.calibration, targets.learnable())

    def _keep_weights(
        self, coef: Any, intercept: Any, cuts: Cuts, modelled: npt.NDArray[np.bool_], targets: Targets, dtype: Any
    ) -> None:
        """Set weights and thresholds, these folded into the intercepts; a task without a model keeps its answer."""
        self.classes_, self.task_names_, self._kind = targets.classes, targets.names, targets.kind
        self._has_offset, self._has_groups = targets.offset is not None, targets.group is not None
        location, cut = (np.where(modelled, values, 0.0) for values in (cuts.location, cuts.cut))
        self.coef_ = np.ascontiguousarray(coef, dtype=dtype)
        self.thresholds_ = cut.astype(dtype)
        self.intercept_ = (intercept - location - cut).astype(dtype)

    def decision_function(self, X: Any, tasks: Any = None, offset: Any = None) -> npt.NDArray[Any]:
        """Return scores: above zero answers yes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.
        offset : array-like of shape (n_samples,) or (n_samples, n_tasks), optional
            Scores that are added: those of the model that this one corrects, in the form that they had in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_tasks)
            A vector for a binary problem and where ``tasks`` is given, else a column a task.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily("decision_function", X, tasks, offset)  # type: ignore[no-any-return]
        scores = super().decision_function(X, tasks)
        if offset is not None:
            return np.asarray(scores + read_offset(offset, scores.shape))
        if self._has_offset:
            messages.warn(
                "This model was fitted with an offset and none is given here: its scores are those of the correction "
                "alone. Give the offset of these rows (zeros to have the correction alone without this warning)."
            )
        return scores

    def predict(self, X: Any, tasks: Any = None, offset: Any = None) -> npt.NDArray[Any]:
        """Return answers.

        Parameters
        ----------
        X, tasks, offset
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_tasks)
            Classes; for multi-label targets, 0 and 1 with a column a task.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily("predict", X, tasks, offset)  # type: ignore[no-any-return]
        return self._answers(self.decision_function(X, tasks, offset))

    def _lazily(self, method: str, X: Any, tasks: Any, offset: Any) -> Any:
        """Return what a method gives for a Dask collection, as a collection."""
        from smtl.dask.predicting import lazily

        check_is_fitted(self)
        if offset is not None:
            raise ValueError("offset must be None for a Dask collection; add it to what decision_function returns.")
        return lazily(self, method, X, tasks)

    @available_if(has_probability)
    def predict_proba(self, X: Any, tasks: Any = None, offset: Any = None) -> npt.NDArray[Any]:
        """Return probabilities, for ``metric="log"`` or with ``calibration``.

        Parameters
        ----------
        X, tasks, offset
            As in `decision_function`.

        Returns
        -------
        ndarray
            Of shape (n_samples, n_classes) for a binary or multi-class problem and where ``tasks`` is given; else
            (n_samples, n_tasks), the probability of yes. Thresholds do not enter.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily("predict_proba", X, tasks, offset)  # type: ignore[no-any-return]
        return self._probabilities(self.decision_function(X, tasks, offset), tasks)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None, offset: Any = None, groups: Any = None
    ) -> float:
        """Return the trained metric, averaged over the tasks, or what `scoring` says where the estimator has it.

        Not accuracy: what `GridSearchCV` chooses by default is then what the model is trained for.

        Parameters
        ----------
        X, tasks, offset
            As in `decision_function`.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in `fit`; NaN entries are left out.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: a weight of k is k equal rows.
        groups : array-like of shape (n_samples,), optional
            The group of each row, for a model that was trained within groups: a task's score is then the mean over its
            groups that have both classes.

        Returns
        -------
        float
            The mean over the tasks that have both classes in ``y``; NaN if none has.
        """
        self._check_scorable(tasks)
        self._check_groups(groups)
        scorer = self._scorer()
        if not isinstance(scorer, TaskScorer):
            return float(scorer(self, X, y, **given_weights(scorer, sample_weight)))
        answers = judges_answers(scorer)
        within = self._groups_to_score(groups, answers=answers)
        columns = self._columns(X, y, tasks, answers=answers, groups=within, offset=offset)
        return scorer(columns, self._weights_of(columns, read_sample_weight(sample_weight, X), tasks))

    def _scorer(self) -> TaskScorer | Callable[..., float]:
        """Return what `score` says."""
        return TaskScorer(self._metric())

    def _groups_to_score(self, groups: Any, *, answers: bool) -> Any:
        """Return the groups within which a score of answers, or of the order, is taken; None for all rows together."""
        return groups

    def _check_groups(self, groups: Any) -> None:
        """Raise where the groups are missing within which the model was trained."""
        if self._has_groups and groups is None:
            raise ValueError("groups must be given to score a model that was trained within groups, got None instead.")
