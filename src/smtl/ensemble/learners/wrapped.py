"""Any classifier of scikit-learn's manner as a learner."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from smtl.ensemble.learners.base import Float, Learner, Rows, log_odds
from smtl.ensemble.learners.features import Features
from smtl.estimators.targets import Targets
from smtl.estimators.weights import weights_of_labels

__all__ = ["WrappedLearner"]

FLOOR = 1e-4  # least distance of a probability from 0 and 1


class WrappedLearner(Learner):
    """A classifier, once for all tasks where it takes several labels and all are there, else a copy a task.

    Where the labels of a row have weights of their own it is a copy a task as well.

    Features come as they are. Holes are filled with the mean where the classifier cannot take them, and sparse
    features are reduced to a dense basis where it cannot take those.

    Parameters
    ----------
    estimator : object
        A classifier. It is not changed: copies of it are fitted.
    random_state : int, default=0
        The seed, for an estimator that has ``random_state`` unset.
    n_jobs : int, optional
        Not used: an estimator has its own.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from smtl.estimators.targets import read_targets
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> learner = WrappedLearner(LogisticRegression())
    >>> learner.fit(X, read_targets(X, [[0, 1], [0, 1], [1, 0], [np.nan, 0]]))
    >>> learner.decision_function(X)[0] > 0
    array([False,  True])
    """

    takes_labels_together: ClassVar[bool] = True  # if the classifier does

    def __init__(self, estimator: Any, *, random_state: int = 0, n_jobs: int | None = None) -> None:
        super().__init__(random_state=random_state, n_jobs=n_jobs)
        self.estimator = estimator
        self._features: Features | None = None

    @property
    def knows_weights(self) -> bool:  # noqa: D102
        return bool(has_fit_parameter(self.estimator, "sample_weight"))

    def fit(self, X: Any, targets: Targets) -> None:  # noqa: D102
        tags = get_tags(self.estimator)
        values = X.data if sp.issparse(X) else X
        fills = np.isnan(values).any() and not tags.input_tags.allow_nan
        reduces = sp.issparse(X) and not tags.input_tags.sparse
        self._features = Features(scale=fills, dense=reduces, random_state=self.random_state)
        weights, labels = targets.row_weight, weights_of_labels(targets)
        X, Y = self._features.fit_transform(X, weights), targets.Y
        self._constants = targets.constants()
        together = self.takes_labels_together and bool(tags.classifier_tags.multi_label)
        self._joint = together and Y.shape[1] > 1 and bool(Y.all()) and labels is None
        if self._joint:
            self._models = [self._copy().fit(X, (Y > 0).astype(np.int64), **_given(weights))]
            return
        self._models = []
        for i in range(Y.shape[1]):
            known = np.flatnonzero(Y[:, i])
            y = (Y[known, i] > 0).astype(np.int64)
            if len(known) == 0 or y.min() == y.max():
                self._models.append(None)
                continue
            each = weights if labels is None else targets.weights[:, i]  # type: ignore[index]
            given = _given(None if each is None else each[known])
            self._models.append(self._copy().fit(X if len(known) == len(Y) else X[known], y, **given))

    def decision_function(self, X: Any, task: Rows | None = None) -> Float:  # noqa: D102
        assert self._features is not None
        X = self._features.transform(X)
        if self._joint:
            return _joint_scores(self._models[0], X)
        columns = [
            np.full(X.shape[0], constant) if model is None else _scores(model, X)
            for model, constant in zip(self._models, self._constants, strict=True)
        ]
        return np.column_stack(columns)

    def _copy(self) -> Any:
        copy = clone(self.estimator)
        if "random_state" in copy.get_params() and copy.get_params()["random_state"] is None:
            copy.set_params(random_state=self.random_state)
        return copy


def _given(weights: Float | None) -> dict[str, Float]:
    """Return the keywords with which a classifier is told of weights."""
    return {} if weights is None else {"sample_weight": weights}


def _scores(model: Any, X: Any) -> npt.NDArray[Any]:
    """Return the scores of a classifier of 0 and 1."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if hasattr(model, "predict_proba"):
        return log_odds(np.asarray(model.predict_proba(X))[:, 1], FLOOR)
    return np.asarray(model.predict(X), dtype=np.float64)


def _joint_scores(model: Any, X: Any) -> Float:
    """Return the scores of a classifier of several labels, a column each."""
    if hasattr(model, "predict_proba"):
        found = model.predict_proba(X)
        if isinstance(found, list):  # one array a label, with a column for each class that it has
            found = [p[:, -1] if p.shape[1] == 2 else np.full(len(p), 0.5) for p in found]
            found = np.column_stack(found)
        return log_odds(np.asarray(found), FLOOR)
    return np.asarray(model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X))
