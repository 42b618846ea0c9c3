"""What a model is judged by, from the labels and scores of its tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.held_out import HeldOut
from smtl.estimators.targets import Kind, Targets
from smtl.metrics import AUC, F1, Metric, get_metric, metric_names

__all__ = [
    "Column",
    "TaskScorer",
    "answer_counts",
    "as_answers",
    "columns_of_fold",
    "fold_scores",
    "get_scoring",
    "judges_answers",
]

Float: TypeAlias = npt.NDArray[np.float64]
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


def as_answers(scores: npt.NDArray[Any]) -> Float:
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


def columns_of_fold(held: HeldOut, k: int, cut: Float, *, answers: bool) -> list[Column]:
    """Return what a `TaskScorer` judges of one fold.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    k : int
        The fold.
    cut : ndarray of shape (n_tasks,)
        What is taken off the scores, so that the cut is at zero.
    answers : bool
        Whether answers are judged: of several classes only the one with the highest score is answered yes.

    Returns
    -------
    list of (labels, scores)
        One pair a task.
    """
    rows = np.flatnonzero(held.fold == k)
    part = held.targets.part(rows)
    if part.task is not None:
        scores = held.scores[rows] - cut[part.task]
        return [(part.column(i), scores) for i in range(held.n_tasks)]
    scores = held.scores[rows] - cut
    if part.kind == "multiclass" and answers:
        scores = as_answers(np.where(np.isnan(scores), -np.inf, scores))
    return list(zip(part.Y.T, scores.T, strict=True))


def fold_scores(held: HeldOut, cuts: Float, scorer: TaskScorer) -> Float:
    """Return the score of each fold by each of many sets of cuts, for a metric that judges answers.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    cuts : ndarray of shape (n_sets, n_folds, n_tasks)
        Cuts of each fold.
    scorer : TaskScorer
        What to score by.

    Returns
    -------
    ndarray of shape (n_sets, n_folds)
        Scores; NaN where a fold has no task with both classes. The loss of the answers that are all wrong is 0, as it
        is for smtl's own metrics.

    Notes
    -----
    It counts the answers of all tasks at once. Asking the scorer for each set and fold takes many times as long.
    """
    out = np.full(cuts.shape[:2], np.nan)
    for k in range(held.n_folds):
        rows = np.flatnonzero(held.fold == k)
        part, scores = held.targets.part(rows), held.scores[rows]
        own = slice(None) if part.task is None else part.task
        tables = np.array([answer_counts(part, scores - cut[k][own]) for cut in cuts])
        if scorer.pooled:
            tables = tables.sum(axis=2, keepdims=True)
        losses = []
        for tp, fp, n_pos, n_neg in tables.transpose(2, 1, 0):
            if n_pos[0] and n_neg[0]:
                worst = scorer.metric.losses(np.zeros(1), n_neg[:1].copy(), int(n_pos[0]), int(n_neg[0]))
                losses.append(scorer.metric.losses(tp.copy(), fp.copy(), int(n_pos[0]), int(n_neg[0])) / worst)
        if losses:
            out[:, k] = 1.0 - np.mean(losses, axis=0)
    return out


def answer_counts(targets: Targets, scores: Float) -> Float:
    """Count the answers of scores that are cut at zero.

    Parameters
    ----------
    targets : Targets
        Labels.
    scores : ndarray of shape (n_samples, n_tasks) or (n_samples,)
        Scores; of several classes only the one with the highest is answered yes. Those that are NaN are left out.

    Returns
    -------
    ndarray of shape (4, n_tasks)
        Numbers of true positives, false positives, positives and negatives.

    Examples
    --------
    >>> signs = np.array([[1, -1], [-1, -1], [1, 0]], dtype=np.int8)
    >>> targets = Targets("multilabel", np.arange(2), np.arange(2), signs)
    >>> answer_counts(targets, np.array([[1.0, 2.0], [1.0, -1.0], [-1.0, 1.0]]))
    array([[1., 0.],
           [1., 1.],
           [2., 0.],
           [1., 2.]])
    """
    signs = np.where(np.isnan(scores), 0, targets.Y)
    if targets.kind == "multiclass":
        scores = as_answers(np.where(np.isnan(scores), -np.inf, scores))
    yes = scores > 0
    chosen = [yes & (signs > 0), yes & (signs < 0), signs > 0, signs < 0]
    if targets.task is not None:
        m = len(targets.names)
        return np.array([np.bincount(targets.task, weights=which, minlength=m) for which in chosen])
    return np.array([which.sum(axis=0) for which in chosen], dtype=np.float64)


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


def judges_answers(scorer: TaskScorer | Callable[..., float]) -> bool:
    """Return whether a scorer judges answers, rather than the order of the scores or probabilities.

    Parameters
    ----------
    scorer : TaskScorer or callable
        What `get_scoring` returned.

    Returns
    -------
    bool
        False for a function of one's own: what it looks at is not known.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> judges_answers(TaskScorer(F1())), judges_answers(get_scorer("accuracy")), judges_answers(get_scorer("roc_auc"))
    (True, True, False)
    """
    if isinstance(scorer, TaskScorer):
        return scorer.metric.judges_answers
    return getattr(scorer, "_response_method", None) == "predict"  # scikit-learn's scorers have no public word for it
