"""A model of one fold as an estimator, for scorers of scikit-learn's."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.base import LinearTasksClassifier
from smtl.estimators.targets import Targets
from smtl.metrics import Metric

__all__ = ["FoldModel"]

Float: TypeAlias = npt.NDArray[np.float64]


class FoldModel(LinearTasksClassifier):
    """A linear model whose weights are given, with the scores of some rows that are known already.

    Parameters
    ----------
    metric : Metric
        What it was trained on.
    targets : Targets
        What was asked.
    weights : (coef, intercept)
        Of shapes (n_tasks, n_features) and (n_tasks,), before the cuts.
    cut : ndarray of shape (n_tasks,)
        What is taken off the scores.
    known : (X, scores)
        Features and their scores before the cuts: whoever asks for these very rows again is given what is known.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> from smtl.metrics import Log
    >>> X = np.array([[1.0], [3.0]])
    >>> weights = np.array([[1.0]]), np.zeros(1)
    >>> model = FoldModel(Log(), read_targets(X, [0, 1]), weights, np.array([2.0]), (X, X))
    >>> model.predict(X), model.predict([[2.5]])
    (array([0, 1]), array([1]))
    """

    def __init__(
        self,
        metric: Metric,
        targets: Targets,
        weights: tuple[Float, Float],
        cut: Float,
        known: tuple[Any, Float],
    ) -> None:
        self.metric = metric
        self.targets = targets
        self.weights = weights
        self.cut = cut
        self.known = known
        self.coef_, self.intercept_, self.thresholds_ = weights[0], weights[1] - cut, cut
        self.classes_, self.task_names_, self._kind = targets.classes, targets.names, targets.kind
        self.n_features_in_ = self.coef_.shape[1]

    def fit(self, X: Any, y: Any) -> FoldModel:
        """Return the model as it is: its weights are given. What has no `fit` is no estimator to scikit-learn."""
        return self

    def decision_function(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:  # noqa: D102
        rows, scores = self.known
        if X is not rows:
            return super().decision_function(X, tasks)
        cut_scores = scores - self.cut
        return np.asarray(cut_scores[:, 0] if self._kind == "binary" else cut_scores)
