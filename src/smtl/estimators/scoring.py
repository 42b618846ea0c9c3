"""What a model is judged by, from the labels and scores of its tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.targets import Kind
from smtl.metrics import AUC, F1, Metric, get_metric, metric_names

__all__ = ["Column", "TaskScorer", "as_answers", "get_scoring"]

# Labels (0: not labelled) and scores of one task.
Column: TypeAlias = tuple[npt.NDArray[np.int8], npt.NDArray[Any]]


class TaskScorer:
    """A number for the labels and scores of all tasks.

    Parameters
    ----------
    metric : Metric
        The metric of one task.
    pooled : bool, default=False
        Whether the rows of all tasks are taken together ("micro") instead of averaging over the tasks ("macro").

    Examples
    --------
    >>> y = np.array([1, 1, -1, 0], dtype=np.int8)
    >>> TaskScorer(F1())([(y, np.array([0.5, -1.0, -1.0, 2.0])), (abs(y), np.ones(4))])
    0.6666666666666667
    """

    def __init__(self, metric: Metric, *, pooled: bool = False) -> None:
        self.metric = metric
        self.pooled = pooled

    def __call__(self, columns: Iterable[Column]) -> float:
        """Return the score.

        Parameters
        ----------
        columns : iterable of (y, s)
            Labels (0: not labelled) and scores of each task; rows whose score is NaN are left out.

        Returns
        -------
        float
            The mean over the tasks that have both classes, or the score of all rows taken together; NaN where neither
            is defined.
        """
        known = [(y[rows], s[rows]) for y, s in columns if (rows := (y != 0) & ~np.isnan(s)).any()]
        if self.pooled and known:
            known = [(np.concatenate([y for y, _ in known]), np.concatenate([s for _, s in known]))]
        values = [self.metric.score(y, s) for y, s in known if (y > 0).any() and (y < 0).any()]
        return float(np.mean(values)) if values else float("nan")


def as_answers(scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return scores that say yes to the class with the highest score, and no to the others.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Scores.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        +1 and -1.

    Examples
    --------
    >>> as_answers(np.array([[0.2, 0.3], [-1.0, -2.0]]))
    array([[-1.,  1.],
           [ 1., -1.]])
    """
    return np.where(np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None], 1.0, -1.0)


def get_scoring(scoring: Any, metric: Metric, kind: Kind) -> TaskScorer | Callable[..., float]:
    """Return what `scoring` stands for.

    Parameters
    ----------
    scoring : None, str, Metric or callable
        None for the trained metric; the name of one of smtl's metrics, or an instance, averaged over the tasks; a name
        or scorer of scikit-learn's. For several tasks ``"f1_macro"``, ``"f1_micro"`` and ``"roc_auc"`` are smtl's own:
        they leave out what is not labelled, and tasks with one class only. So is ``"roc_auc"`` for several classes,
        each against the rest.
    metric : Metric
        The trained metric.
    kind : str
        The kind of the targets.

    Returns
    -------
    TaskScorer or callable
        A callable is a scorer of scikit-learn's: ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> from smtl import Jaccard
    >>> get_scoring(None, Jaccard(), "multilabel").metric
    Jaccard()
    >>> get_scoring("f1_micro", Jaccard(), "multilabel").pooled
    True
    """
    if scoring is None:
        return TaskScorer(metric)
    if isinstance(scoring, Metric) or (isinstance(scoring, str) and scoring in metric_names()):
        return TaskScorer(get_metric(scoring))
    if kind in ("multilabel", "tasks") and scoring in ("f1_macro", "f1_micro"):
        return TaskScorer(F1(), pooled=scoring == "f1_micro")
    if kind != "binary" and scoring == "roc_auc":
        return TaskScorer(AUC())
    if kind == "tasks":
        raise ValueError(
            "scoring must be None, one of smtl's metrics, 'f1_macro', 'f1_micro' or 'roc_auc' where tasks have their "
            f"own rows, got {scoring!r} instead: scikit-learn's scorers do not know which task a row belongs to."
        )
    if callable(scoring) and not isinstance(scoring, type):
        found: Callable[..., float] = scoring
        return found
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer, get_scorer_names  # most of scikit-learn comes with them

        if scoring in get_scorer_names():
            named: Callable[..., float] = get_scorer(scoring)
            return named
    raise ValueError(
        f"scoring must be None, one of smtl's metrics ({', '.join(metric_names())}), or a scorer of scikit-learn's or "
        f"its name, got {scoring!r} instead."
    )
