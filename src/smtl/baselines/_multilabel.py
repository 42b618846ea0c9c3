"""What the multi-label methods share: reading X and Y, labels of one class, and answers in the form of the question."""

from __future__ import annotations

import numbers
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from smtl.baselines.base import Baseline
from smtl.estimators.targets import Kind, read_targets
from smtl.estimators.weights import read_sample_weight, without_zeros
from smtl.notebook import LinksToDocs

__all__ = [
    "Labels",
    "MultiLabelClassifier",
    "OneClassTolerant",
    "Real",
    "VotingClassifier",
    "as_keyword",
    "check_base_weights",
    "check_choice",
    "check_positive",
    "seeded",
]

Labels: TypeAlias = npt.NDArray[np.int64]
Real: TypeAlias = npt.NDArray[np.float64]


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """Return a clone whose random states that were left open are drawn from ``rng``.

    Those that are set stay as they are: a user who has seeded the base means it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seeded(DecisionTreeClassifier(), np.random.RandomState(0)).random_state
    209652396
    >>> seeded(DecisionTreeClassifier(random_state=3), np.random.RandomState(0)).random_state
    3
    """
    estimator = clone(estimator)
    for key, value in sorted(estimator.get_params(deep=True).items()):
        if value is None and (key == "random_state" or key.endswith("__random_state")):
            estimator.set_params(**{key: int(rng.randint(np.iinfo(np.int32).max))})
    return estimator


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless a parameter is one of the words it may be."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r} instead.")


def check_positive(name: str, value: object) -> None:
    """Raise unless a parameter is a positive integer."""
    if not (isinstance(value, numbers.Integral) and int(value) >= 1):
        raise ValueError(f"{name} must be a positive integer, got {value!r} instead.")


def as_keyword(weights: Any) -> dict[str, Any]:
    """Return the keywords with which a base is told of weights.

    Examples
    --------
    >>> as_keyword(None)
    {}
    """
    return {} if weights is None else {"sample_weight": weights}


def check_base_weights(base: Any) -> None:
    """Raise where a base cannot be told what rows count.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> check_base_weights(KNeighborsClassifier())
    Traceback (most recent call last):
    ValueError: estimator must take sample_weight in its fit where rows have weights, got KNeighborsClassifier()
    instead, which does not.
    """
    if base is not None and not has_fit_parameter(base, "sample_weight"):
        raise ValueError(
            f"estimator must take sample_weight in its fit where rows have weights, got {base!r} instead, which does "
            "not."
        )


def _offers(method: str) -> Any:
    """Return the condition under which a `MultiLabelClassifier` has a method, for `available_if`."""

    def check(self: MultiLabelClassifier) -> bool:
        reason = self._lacks(method)
        if reason:
            raise AttributeError(f"{type(self).__name__} has no {method}: {reason}.")
        return True

    return available_if(check)


class MultiLabelClassifier(LinksToDocs, ClassifierMixin, BaseEstimator, Baseline):
    """The frame of a multi-label method: a subclass learns a 0/1 matrix, and this turns any targets into one.

    A subclass has ``_fit_labels(X, Y, weights)`` and ``_answers(X)``, and ``_probabilities(X)`` or ``_decisions(X)``
    or both, with one column a label; ``_lacks`` says why it does not have one of the two. A vector of two classes is
    one label; one of several classes is one label a class, and the answer is the class of the highest score.

    Attributes
    ----------
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.
    """

    classes_: npt.NDArray[Any]
    n_features_in_: int
    _kind: Kind

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        raise NotImplementedError

    def _answers(self, X: Any) -> Labels:
        raise NotImplementedError

    def _probabilities(self, X: Any) -> Real:
        raise NotImplementedError

    def _decisions(self, X: Any) -> Real:
        raise NotImplementedError

    def _lacks(self, method: str) -> str:
        """Return why there is no ``predict_proba`` or ``decision_function``, or an empty string where there is."""
        raise NotImplementedError

    def _base(self) -> Any:
        """Return the base estimator, not fitted; None for a method that has none."""
        given = getattr(self, "estimator", None)
        return LogisticRegression(max_iter=1000) if given is None else given

    def _base_lacks(self, method: str) -> str:
        return "" if hasattr(self._base(), method) else f"its base estimator {self._base()!r} has none"

    def _rng(self) -> np.random.RandomState:
        rng: np.random.RandomState = check_random_state(getattr(self, "random_state", None))
        return rng

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        base = self._base()
        tags.input_tags.sparse = base is None or get_tags(base).input_tags.sparse
        tags.input_tags.allow_nan = base is not None and get_tags(base).input_tags.allow_nan
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels) or (n_samples,)
            A matrix of 0 and 1; or classes.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: a weight of k is k equal rows, one of 0 is no row. A base must take it in its ``fit``.

        Returns
        -------
        self
            The fitted model.
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = self._check_X(X, reset=True)
        targets = read_targets(X, y)
        if not targets.Y.all():
            row, column = np.argwhere(targets.Y == 0)[0]
            raise ValueError(
                f"y must have no missing labels: {type(self).__name__} cannot learn from them, got NaN in row {row}, "
                f"column {column}. SMTLClassifier can."
            )
        weights = read_sample_weight(sample_weight, X)
        if weights is not None:
            check_base_weights(self._base())
        X, targets, weights = without_zeros(X, targets, weights)
        self._kind, self.classes_ = targets.kind, targets.classes
        self._fit_labels(X, (targets.Y > 0).astype(np.int64), weights)
        return self

    def _fit_part(self, X: Any, Y: Labels, weights: Real | None = None) -> Any:
        """Fit as a part of another method: X is checked already, and Y is a matrix even if it has one column."""
        self._kind, self.classes_ = "multilabel", np.arange(Y.shape[1])
        self.n_features_in_ = X.shape[1]
        self._fit_labels(X, Y, weights)
        return self

    def _check_X(self, X: Any, *, reset: bool) -> Any:
        finite = not get_tags(self).input_tags.allow_nan
        sparse = "csr" if get_tags(self).input_tags.sparse else False
        dtype = (np.float64, np.float32)
        return validate_data(self, X, accept_sparse=sparse, dtype=dtype, ensure_all_finite=finite, reset=reset)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return answers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            0 and 1 with a column a label; classes where `fit` was given classes.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        if self._kind == "multilabel":
            return self._answers(X)
        if not self._lacks("predict_proba"):
            chosen = self._class_probabilities(X).argmax(axis=1)
        elif not self._lacks("decision_function"):
            scores = self._decisions(X)
            chosen = scores.argmax(axis=1) if self._kind == "multiclass" else (scores[:, 0] > 0).astype(np.intp)
        else:
            answers = self._answers(X)
            chosen = answers.argmax(axis=1) if self._kind == "multiclass" else answers[:, 0]
        return np.asarray(self.classes_[np.minimum(chosen, len(self.classes_) - 1)])

    @_offers("predict_proba")
    def predict_proba(self, X: Any) -> Real:
        """Return probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            The probability of yes, with a column a label; the probability of each class where `fit` was given classes.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        return self._probabilities(X) if self._kind == "multilabel" else self._class_probabilities(X)

    @_offers("decision_function")
    def decision_function(self, X: Any) -> Real:
        """Return scores: above zero answers yes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            Scores, with a column a label or class; a vector where `fit` was given two classes.
        """
        check_is_fitted(self)
        scores = self._decisions(self._check_X(X, reset=False))
        return scores[:, 0] if self._kind == "binary" else scores

    def _class_probabilities(self, X: Any) -> Real:
        yes = self._probabilities(X)
        if self._kind == "binary":
            return np.hstack([1.0 - yes, yes])[:, -len(self.classes_) :]
        total = yes.sum(axis=1, keepdims=True)
        # A row that no class wants is shared out evenly.
        return np.where(total > 0, yes / np.where(total > 0, total, 1.0), 1.0 / yes.shape[1])


class VotingClassifier(MultiLabelClassifier):
    """The frame of a method whose members vote.

    A subclass has ``_mean(X, method)``: for each label, the mean over the members that know it of what they return,
    ``"predict"`` for their answers and ``"predict_proba"`` for their probabilities.
    """

    threshold: float

    def _mean(self, X: Any, method: str) -> Real:
        raise NotImplementedError

    def _lacks(self, method: str) -> str:
        lack = self._base_lacks("predict_proba")
        if method == "predict_proba" or lack:
            return lack if method == "predict_proba" else ""
        return "predict_proba has the mean of its members"

    def _check_threshold(self) -> None:
        if not (isinstance(self.threshold, numbers.Real) and 0.0 <= float(self.threshold) <= 1.0):
            raise ValueError(f"threshold must be a number from 0 to 1, got {self.threshold!r} instead.")

    def _answers(self, X: Any) -> Labels:
        return (self._decisions(X) > 0).astype(np.int64)

    def _decisions(self, X: Any) -> Real:
        # A share of votes is rounded, and half of them must count as half.
        return self._mean(X, "predict") - (self.threshold - 1e-12)

    def _probabilities(self, X: Any) -> Real:
        return self._mean(X, "predict_proba")


class OneClassTolerant(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier of 0 and 1 that answers with a constant where the training data have one of them only.

    Parameters
    ----------
    estimator : estimator
        What learns where there are both.

    Examples
    --------
    >>> model = OneClassTolerant(LogisticRegression()).fit(np.eye(3), np.ones(3))
    >>> model.predict_proba(np.eye(3)[:1])
    array([[0., 1.]])
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Labels, sample_weight: Any = None) -> OneClassTolerant:
        """Fit the base, or remember the constant."""
        self.classes_ = np.arange(2)
        self.constant_ = int(y[0]) if (y == y[0]).all() else None
        if self.constant_ is None:
            self.estimator_ = clone(self.estimator).fit(X, y, **as_keyword(sample_weight))
        return self

    def predict(self, X: Any) -> Labels:
        """Return 0 and 1."""
        if self.constant_ is not None:
            return np.full(X.shape[0], self.constant_)
        return np.asarray(self.estimator_.predict(X))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> Real:
        """Return the probabilities of 0 and of 1."""
        if self.constant_ is not None:
            return np.eye(2)[self.predict(X)]
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))
    def decision_function(self, X: Any) -> Real:
        """Return scores, -1 or 1 for a constant."""
        if self.constant_ is not None:
            return 2.0 * self.predict(X).astype(np.float64) - 1.0
        return np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
