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
from smtl.estimators.held_out import own_scores
from smtl.estimators.scoring import Column, TaskScorer, as_answers
from smtl.estimators.targets import Kind, read_labels, read_offset, read_targets, task_numbers
from smtl.metrics import Metric, get_metric

__all__ = ["CorrectingTasksClassifier", "LinearTasksClassifier", "TasksClassifier"]


def _has_probability(estimator: TasksClassifier) -> bool:
    metric = estimator._metric()
    if metric.probability is None:
        raise AttributeError(f"predict_proba is not available with metric={metric!r}; metric='log' has it.")
    return True


def _few(classes: npt.NDArray[Any]) -> str:
    return ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")


class TasksClassifier(ClassifierMixin, BaseEstimator):
    """The part of an estimator that needs nothing but a score for each row and task.

    A subclass has `decision_function`: above zero answers yes.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_tasks,)
        What was taken off the scores.
    classes_, task_names_ : ndarray
        Classes, and names of the tasks.
    """

    metric: Any
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
            return (scores > 0).astype(np.int64)
        if self._kind == "multiclass":
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return np.asarray(self.classes_[np.where(scores > 0, len(self.classes_) - 1, 0)])

    @available_if(_has_probability)
    def predict_proba(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:
        """Return probabilities, for ``metric="log"``.

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
        thresholds = self.thresholds_
        if tasks is not None:
            thresholds = thresholds[task_numbers(tasks, self._kind, self.task_names_, len(scores))]
        yes = self._metric().probability(scores + thresholds)
        if yes.ndim == 1:
            return np.column_stack([1.0 - yes, yes])
        if self._kind == "multiclass":
            return np.asarray(yes / np.maximum(yes.sum(axis=1, keepdims=True), np.finfo(yes.dtype).tiny))
        return np.asarray(yes)

    def score(self, X: Any, y: Any, sample_weight: None = None, tasks: Any = None) -> float:
        """Return the trained metric, averaged over the tasks.

        Not accuracy: what `GridSearchCV` chooses by default is then what the model is trained for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in `fit`; NaN entries are left out.
        sample_weight : None
            There for scikit-learn's sake: the metrics are not weighted.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        float
            The mean over the tasks that have both classes in ``y``; NaN if none has.
        """
        self._check_scorable(sample_weight, tasks)
        scorer = TaskScorer(self._metric())
        return scorer(self._columns(X, y, tasks, answers=scorer.metric.judges_answers))

    def _check_scorable(self, sample_weight: None, tasks: Any) -> None:
        if sample_weight is not None:
            raise ValueError("sample_weight must be None: the metrics are defined on rows that all count the same.")
        check_is_fitted(self)
        if self._kind == "tasks" and tasks is None:
            raise ValueError("tasks must be given to score a model that was fitted with tasks, got None instead.")

    def _columns(self, X: Any, y: Any, tasks: Any, *, answers: bool, **given: Any) -> list[Column]:
        """Return labels and scores of each task: with the cut at zero for a scorer of answers, otherwise uncut."""
        scores = self.decision_function(X, tasks, **given)
        check_consistent_length(scores, y)
        Y = self._signs(y)
        if tasks is not None:
            task = task_numbers(tasks, self._kind, self.task_names_, len(scores))
            if not answers:
                scores = scores + self.thresholds_[task]
            return [(Y[task == i, 0], scores[task == i]) for i in np.unique(task)]
        scores = scores.reshape(len(scores), -1)
        if not answers:
            scores = scores + self.thresholds_
        elif self._kind == "multiclass":
            scores = as_answers(scores)
        return list(zip(Y.T, scores.reshape(len(scores), -1).T, strict=True))

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


class CorrectingTasksClassifier(LinearTasksClassifier):
    """A linear model that may start from given scores: those of another model, which it corrects."""

    _has_offset: bool = False  # whether it was fitted with given scores to start from

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
        return self._answers(self.decision_function(X, tasks, offset))

    @available_if(_has_probability)
    def predict_proba(self, X: Any, tasks: Any = None, offset: Any = None) -> npt.NDArray[Any]:
        """Return probabilities, for ``metric="log"``.

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
        return self._probabilities(self.decision_function(X, tasks, offset), tasks)

    def score(self, X: Any, y: Any, sample_weight: None = None, tasks: Any = None, offset: Any = None) -> float:
        """Return the trained metric, averaged over the tasks.

        Not accuracy: what `GridSearchCV` chooses by default is then what the model is trained for.

        Parameters
        ----------
        X, tasks, offset
            As in `decision_function`.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in `fit`; NaN entries are left out.
        sample_weight : None
            There for scikit-learn's sake: the metrics are not weighted.

        Returns
        -------
        float
            The mean over the tasks that have both classes in ``y``; NaN if none has.
        """
        self._check_scorable(sample_weight, tasks)
        scorer = TaskScorer(self._metric())
        return scorer(self._columns(X, y, tasks, answers=scorer.metric.judges_answers, offset=offset))
