"""What a fitted model of one score per task can do: answer, and be judged; and linear functions as scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from smtl import messages
from smtl.estimators.dealing import group_numbers
from smtl.estimators.held_out import own_scores
from smtl.estimators.rules import row_rule
from smtl.estimators.scoring import Column, TaskScorer, as_answers
from smtl.estimators.targets import Kind, read_labels, read_targets, task_numbers
from smtl.estimators.weights import read_sample_weight
from smtl.metrics import Metric, get_metric
from smtl.notebook import ShowsFit

__all__ = ["LinearTasksClassifier", "TasksClassifier"]


def has_probability(estimator: TasksClassifier) -> bool:
    metric = estimator._metric()
    if metric.probability is None and getattr(estimator, "calibration", None) is None:
        raise AttributeError(
            f"predict_proba is not available with metric={metric!r}; metric='log' has it, and so has any other with "
            "calibration='logistic' or 'isotonic'."
        )
    return True


def _few(classes: npt.NDArray[Any]) -> str:
    return ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")


class TasksClassifier(ShowsFit, ClassifierMixin, BaseEstimator):
    """The part of an estimator that needs nothing but a score for each row and task.

    A subclass has `decision_function`: above zero answers yes.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_tasks,)
        What was taken off the scores.
    classes_, task_names_ : ndarray
        Classes, and names of the tasks.
    row_rule_ : str or None
        The rule for whole rows that answers follow, such as "at-most-3".
    """

    metric: Any
    row_rule_: str | None
    thresholds_: npt.NDArray[Any]
    classes_: npt.NDArray[Any]
    task_names_: npt.NDArray[Any]
    _kind: Kind

    def _metric(self) -> Metric:
        """Return the metric that the model is trained on."""
        return get_metric(self.metric)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def decision_function(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:
        """Return scores: above zero answers yes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_tasks)
            A vector for a binary problem and where ``tasks`` is given, else a column a task.
        """
        raise NotImplementedError(f"{type(self).__name__} must have decision_function.")

    def predict(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:
        """Return answers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_tasks)
            Classes; for multi-label targets, 0 and 1 with a column a task.
        """
        return self._answers(self.decision_function(X, tasks))

    def _answers(self, scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the answers that scores stand for."""
        if self._kind == "multilabel":
            return self.yes(scores).astype(np.int64)
        if self._kind == "multiclass":
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return np.asarray(self.classes_[np.where(scores > 0, len(self.classes_) - 1, 0)])

    def yes(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return where the answer is yes, a column a task.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_tasks) or (n_samples,)
            What `decision_function` returns.

        Returns
        -------
        ndarray of bool
            Of the shape of ``scores``. Of several classes only the one with the highest score is answered yes; a rule
            for whole rows, such as "at-most-3", counts the likeliest answers, by probability if there is one.
        """
        rule = row_rule(getattr(self, "row_rule_", None))
        if rule is not None:
            ranking = self.yes_probability(scores) if hasattr(self, "predict_proba") else scores
            return rule.answers(scores, ranking)
        return np.asarray((as_answers(scores) if self._kind == "multiclass" else scores) > 0)

    @available_if(has_probability)
    def predict_proba(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:
        """Return probabilities, for ``metric="log"`` or with ``calibration``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        ndarray
            Of shape (n_samples, n_classes) for a binary or multi-class problem and where ``tasks`` is given; else
            (n_samples, n_tasks), the probability of yes. Thresholds do not enter.
        """
        return self._probabilities(self.decision_function(X, tasks), tasks)

    def _probabilities(self, scores: npt.NDArray[Any], tasks: Any) -> npt.NDArray[Any]:
        """Return the probabilities that scores stand for."""
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1), dtype=scores.dtype)
        task = None if tasks is None else task_numbers(tasks, self._kind, self.task_names_, len(scores))
        yes = self.yes_probability(scores, task)
        if yes.ndim == 1:
            return np.column_stack([1.0 - yes, yes])
        if self._kind == "multiclass":
            return np.asarray(yes / np.maximum(yes.sum(axis=1, keepdims=True), np.finfo(yes.dtype).tiny))
        return np.asarray(yes)

    def yes_probability(self, scores: npt.NDArray[Any], task: npt.NDArray[np.int64] | None = None) -> npt.NDArray[Any]:
        """Return the probability of yes that scores stand for, each task by itself.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_tasks) or (n_samples,)
            What `decision_function` returns.
        task : ndarray of int64 of shape (n_samples,), optional
            The number of each row's task, for scores of these alone.

        Returns
        -------
        ndarray
            Of the shape of ``scores``. Those of several classes need not add up to one.
        """
        uncut = scores + (self.thresholds_ if task is None else self.thresholds_[task])
        calibration = getattr(self, "calibration_", None)
        if calibration is None:
            return np.asarray(self._metric().probability(uncut))
        if task is None:
            found = calibration.probability(np.reshape(uncut, (-1, len(self.thresholds_))).astype(np.float64))
            return np.asarray(found.reshape(uncut.shape), dtype=scores.dtype)
        return np.asarray(calibration.probability(uncut.astype(np.float64), task), dtype=scores.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> float:
        """Return the trained metric, averaged over the tasks.

        Not accuracy: what `GridSearchCV` chooses by default is then what the model is trained for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in `fit`; NaN entries are left out.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: a weight of k is k equal rows.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        float
            The mean over the tasks that have both classes in ``y``; NaN if none has.
        """
        self._check_scorable(tasks)
        scorer = TaskScorer(self._metric())
        columns = self._columns(X, y, tasks, answers=scorer.metric.judges_answers)
        return scorer(columns, self._weights_of(columns, read_sample_weight(sample_weight, X), tasks))

    def _check_scorable(self, tasks: Any) -> None:
        check_is_fitted(self)
        if self._kind == "tasks" and tasks is None:
            raise ValueError("tasks must be given to score a model that was fitted with tasks, got None instead.")

    def _columns(self, X: Any, y: Any, tasks: Any, *, answers: bool, groups: Any = None, **given: Any) -> list[Column]:
        """Return labels and scores of each task: with the cut at zero for a scorer of answers, otherwise uncut."""
        scores = self.decision_function(X, tasks, **given)
        check_consistent_length(scores, y)
        Y = self._signs(y)
        group = () if groups is None else (group_numbers(groups, len(scores), 1),)
        if tasks is not None:
            task = task_numbers(tasks, self._kind, self.task_names_, len(scores))
            if not answers:
                scores = scores + self.thresholds_[task]
            own = [np.flatnonzero(task == i) for i in np.unique(task)]
            return [(Y[rows, 0], scores[rows], *(numbers[rows] for numbers in group)) for rows in own]
        scores = scores.reshape(len(scores), -1)
        if not answers:
            scores = scores + self.thresholds_
        elif self._kind == "multiclass":
            scores = as_answers(scores)
        elif self._kind == "multilabel":
            scores = np.where(self._answers(scores) > 0, 1.0, -1.0)
        return [(y_i, s_i, *group) for y_i, s_i in zip(Y.T, scores.reshape(len(scores), -1).T, strict=True)]

    def _weights_of(
        self, columns: list[Column], weights: npt.NDArray[np.float64] | None, tasks: Any
    ) -> list[npt.NDArray[np.float64]] | None:
        """Return what each entry of each column counts."""
        if weights is None or tasks is None:
            return None if weights is None else [weights] * len(columns)
        task = task_numbers(tasks, self._kind, self.task_names_, len(weights))
        return [weights[task == i] for i in np.unique(task)]

    def _check_known(self, labels: npt.NDArray[Any]) -> None:
        """Warn of classes that were not there in `fit`; raise where there are no others."""
        given = np.unique(labels)
        new = given[~np.isin(given, self.classes_)]
        if len(new) == 0:
            return
        told = f"the classes of the training data, {_few(self.classes_)}, got {_few(new)}"
        if len(new) == len(given):
            raise ValueError(f"y must hold {told} instead.")
        messages.warn(f"y should hold {told} as well: rows of an unknown class count as being of none of the known.")

    def _signs(self, y: Any) -> npt.NDArray[np.int8]:
        """Return labels as +1, -1 and 0 in a column a task, by the classes seen in `fit`."""
        if self._kind == "multilabel":
            Y = read_targets(y, y).Y
            if Y.shape[1] != len(self.task_names_):
                raise ValueError(f"y must have {len(self.task_names_)} columns, one a task, got {Y.shape[1]} instead.")
            return Y
        labels, labelled = (values.ravel() for values in read_labels(y))
        self._check_known(labels[labelled])
        yes = self.classes_ if self._kind == "multiclass" else self.classes_[-1:]
        signs = np.zeros((len(labels), len(yes)), dtype=np.int8)
        signs[labelled] = np.where(labels[labelled, None] == yes, 1, -1)
        return signs


class LinearTasksClassifier(TasksClassifier):
    """The part of an estimator that needs nothing but weights and thresholds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_tasks, n_features)
        Weights.
    intercept_ : ndarray of shape (n_tasks,)
        Intercepts, less the thresholds.
    thresholds_ : ndarray of shape (n_tasks,)
        Thresholds.
    classes_, task_names_ : ndarray
        Classes, and names of the tasks.
    """

    coef_: npt.NDArray[Any]
    intercept_: npt.NDArray[Any]

    def decision_function(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:  # noqa: D102
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        if tasks is not None:
            task = task_numbers(tasks, self._kind, self.task_names_, X.shape[0])
            own: npt.NDArray[Any] = own_scores(X, self.coef_, task) + self.intercept_[task]
            return own
        scores: npt.NDArray[Any] = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if self._kind == "binary" else scores
