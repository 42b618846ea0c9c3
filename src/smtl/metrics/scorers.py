"""Scorers that pass over missing labels, by name, for scikit-learn's cross-validation and searches."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import logit

from smtl.metrics.base import Metric
from smtl.registry import unknown_name

__all__ = ["LabelScorer", "get_scorer", "get_scorer_names", "make_scorer"]

Float: TypeAlias = npt.NDArray[np.float64]

# What scikit-learn calls our metrics.
_ALSO = {"roc_auc": "auc", "neg_log_loss": "log", "average_precision": "ap"}

LEAST = 1e-15  # probabilities are kept so far from 0 and 1: one row must not decide all


class LabelScorer:
    """What a fitted classifier scores on rows of which some labels may be missing: ``scorer(estimator, X, y)``.

    It may be given as ``scoring`` to scikit-learn's searches and to smtl's. Greater is better. With scikit-learn's
    metadata routing, `set_score_request` says whether it gets the weights of rows.

    Parameters
    ----------
    metric : Metric
        The metric of one label (or one of several classes, against the rest).
    average : {"macro", "micro"}
        The mean over the labels, or all rows of all labels taken together.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from smtl.metrics import F1
    >>> model = LogisticRegression().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> LabelScorer(F1(), "macro")(model, [[0.0], [4.0], [5.0]], [0, 1, np.nan])
    1.0
    """

    def __init__(self, metric: Metric, average: str) -> None:
        self.metric = metric
        self.average = average
        self._weights_asked_for: bool | str | None = None

    def __repr__(self) -> str:
        return f"make_scorer({self.metric!r}, average={self.average!r})"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score.

        Parameters
        ----------
        estimator : classifier
            Fitted; one of scikit-learn's will do.
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Classes, or a matrix of 0 and 1; NaN where a label is missing.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: a weight of k is k equal rows.

        Returns
        -------
        float
            NaN where no label has both classes.
        """
        from smtl.estimators.scoring import TaskScorer  # the estimators need the metrics
        from smtl.estimators.weights import read_sample_weight

        weights = read_sample_weight(sample_weight, X)
        signs = _signs(estimator, y)
        if self.metric.judges_answers:
            scores = _answers(estimator, X, signs.shape[1])
        elif self.metric.probability is not None:
            scores = logit(np.clip(_probabilities(estimator, X, signs.shape[1]), LEAST, 1.0 - LEAST))
        elif hasattr(estimator, "decision_function"):
            scores = _columns(estimator.decision_function(X), signs.shape[1])
        else:
            scores = _probabilities(estimator, X, signs.shape[1])
        each = None if weights is None else [weights] * signs.shape[1]
        return TaskScorer(self.metric, pooled=self.average == "micro")(zip(signs.T, scores.T, strict=True), each)

    def set_score_request(self, *, sample_weight: bool | str | None) -> LabelScorer:
        """Say whether the scorer gets weights of rows, where scikit-learn's metadata routing is switched on.

        Parameters
        ----------
        sample_weight : bool, str or None
            As for scikit-learn's own scorers: True to get them, False not to, a name under which they are passed;
            None to be an error where weights are passed.

        Returns
        -------
        LabelScorer
            Itself.

        Examples
        --------
        >>> from sklearn import config_context
        >>> from sklearn.model_selection import cross_validate
        >>> from smtl import SMTLClassifier
        >>> from smtl.metrics import get_scorer
        >>> X, y, weights = np.arange(40.0)[:, None], np.arange(40) > 15, np.ones(40)
        >>> with config_context(enable_metadata_routing=True):
        ...     model = SMTLClassifier().set_fit_request(sample_weight=True)
        ...     scorer = get_scorer("f1").set_score_request(sample_weight=True)
        ...     found = cross_validate(model, X, y, scoring=scorer, params={"sample_weight": weights})
        >>> found["test_score"].shape
        (5,)
        """
        self._weights_asked_for = sample_weight
        return self

    def get_metadata_routing(self) -> Any:
        """Return what the scorer asks for, for scikit-learn.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
            For ``score``.
        """
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self._weights_asked_for)
        return request

    def _accept_sample_weight(self) -> bool:
        """Return whether weights may be given: scikit-learn asks its scorers so where there is no routing."""
        return True


def make_scorer(metric: str | Metric, *, average: str = "macro") -> LabelScorer:
    """Return a scorer that passes over missing labels.

    Parameters
    ----------
    metric : str or Metric
        The metric of one label.
    average : {"macro", "micro"}, default="macro"
        The mean over the labels, or all rows of all labels taken together.

    Returns
    -------
    LabelScorer
        ``scorer(estimator, X, y, sample_weight=None)``.

    Examples
    --------
    >>> from smtl.metrics import make_scorer
    >>> make_scorer("f2", average="micro")
    make_scorer(F2(), average='micro')
    """
    from smtl.metrics import get_metric

    if average not in ("macro", "micro"):
        raise ValueError(f"average must be 'macro' or 'micro', got {average!r} instead.")
    return LabelScorer(get_metric(metric), average)


def get_scorer_names() -> list[str]:
    """Return the names of all scorers that pass over missing labels.

    Returns
    -------
    list of str
        Sorted. A metric's own name and ``_macro`` stand for the mean over the labels, ``_micro`` for all rows of all
        labels taken together.

    Examples
    --------
    >>> from smtl.metrics import get_scorer_names
    >>> [name for name in get_scorer_names() if "f1" in name or "auc" in name][:5]
    ['auc', 'auc-labelling', 'f1', 'f1_macro', 'f1_micro']
    """
    answers = [name for name, metric in Metric.known.items() if metric.judges_answers]
    averaged = [f"{name}_{average}" for name in answers for average in ("macro", "micro")]
    return sorted([*Metric.known, *averaged, *(name for name, ours in _ALSO.items() if ours in Metric.known)])


def get_scorer(scoring: str) -> LabelScorer:
    """Return the scorer of that name.

    Parameters
    ----------
    scoring : str
        One of `get_scorer_names`.

    Returns
    -------
    LabelScorer
        ``scorer(estimator, X, y, sample_weight=None)``; labels that are missing do not count.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from smtl import SMTLClassifier
    >>> from smtl.metrics import get_scorer
    >>> from smtl.model_selection import MultilabelStratifiedKFold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3))
    >>> Y = np.where(rng.random((60, 2)) < 0.2, np.nan, X[:, :2] > 0)
    >>> folds = MultilabelStratifiedKFold(3)
    >>> cross_val_score(SMTLClassifier(), X, Y, scoring=get_scorer("f1_macro"), cv=folds).shape
    (3,)
    """
    if not isinstance(scoring, str) or scoring not in get_scorer_names():
        raise unknown_name("scoring", scoring, get_scorer_names())
    name, _, average = scoring.rpartition("_")
    if name in Metric.known and average in ("macro", "micro"):
        return make_scorer(name, average=average)
    return make_scorer(_ALSO.get(scoring, scoring))


def _signs(estimator: Any, y: Any) -> npt.NDArray[np.int8]:
    """Return labels as +1, -1 and 0 in a column a label, or a column a class where there are several."""
    from smtl.estimators.targets import read_labels, read_targets

    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        return read_targets(y, y).Y
    values, labelled = (part.ravel() for part in read_labels(y))
    classes = np.asarray(estimator.classes_)
    yes = classes[-1:] if len(classes) <= 2 else classes
    signs = np.zeros((len(values), len(yes)), dtype=np.int8)
    signs[labelled] = np.where(values[labelled, None] == yes, 1, -1)
    return signs


def _answers(estimator: Any, X: Any, n_columns: int) -> Float:
    """Return +1 for yes and -1 for no."""
    said = np.asarray(estimator.predict(X))
    if said.ndim == 2 and said.shape[1] > 1:
        return np.where(said > 0, 1.0, -1.0)
    classes = np.asarray(estimator.classes_)
    yes = classes if n_columns > 1 else classes[-1:]
    return np.where(said.reshape(-1, 1) == yes, 1.0, -1.0)


def _probabilities(estimator: Any, X: Any, n_columns: int) -> Float:
    """Return probabilities of yes, a column a label."""
    found = estimator.predict_proba(X)
    if isinstance(found, list):  # one matrix a label, of no and yes
        return np.column_stack([label[:, -1] for label in found])
    return _columns(np.asarray(found)[:, -1] if n_columns == 1 else found, n_columns)


def _columns(scores: Any, n_columns: int) -> Float:
    return np.asarray(scores, dtype=np.float64).reshape(-1, n_columns)
