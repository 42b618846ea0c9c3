"""What a model is judged by, from the labels and scores of its tasks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.held_out import HeldOut
from smtl.estimators.targets import Kind, Targets
from smtl.groups import rows_of_groups
from smtl.metrics import Metric, get_metric, get_scorer, get_scorer_names, metric_names
from smtl.metrics.scorers import LabelScorer
from smtl.metrics.weighting import weighted_score
from smtl.registry import did_you_mean

__all__ = [
    "Column",
    "TaskScorer",
    "answer_counts",
    "as_answers",
    "columns_of_fold",
    "fold_scores",
    "get_scoring",
    "given_weights",
    "judges_answers",
]

Float: TypeAlias = npt.NDArray[np.float64]
# Labels (0: not labelled) and scores of one task; and the group of each row, where it is judged within groups.
Column: TypeAlias = (
    tuple[npt.NDArray[np.int8], npt.NDArray[Any]] | tuple[npt.NDArray[np.int8], npt.NDArray[Any], npt.NDArray[np.int64]]
)


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
    >>> from smtl import F1
    >>> y = np.array([1, 1, -1, 0], dtype=np.int8)
    >>> TaskScorer(F1())([(y, np.array([0.5, -1.0, -1.0, 2.0])), (abs(y), np.ones(4))])
    0.6666666666666667
    """

    def __init__(self, metric: Metric, *, pooled: bool = False) -> None:
        self.metric = metric
        self.pooled = pooled

    def __call__(self, columns: Iterable[Column], weights: Sequence[Float] | None = None) -> float:
        """Return the score.

        Parameters
        ----------
        columns : iterable of (y, s) or (y, s, group)
            Labels (0: not labelled) and scores of each task; rows whose score is NaN are left out. With groups, a
            task's score is the mean over those that have both classes.
        weights : list of ndarray, optional
            What each row of each task counts.

        Returns
        -------
        float
            The mean over the tasks that have both classes, or the score of all rows taken together; NaN where neither
            is defined.
        """
        known: list[tuple[Any, ...]] = []
        for i, (y, s, *group) in enumerate(columns):
            rows = (y != 0) & ~np.isnan(s)
            each = None
            if weights is not None:
                rows &= weights[i] > 0
                each = weights[i][rows]
            if rows.any():
                known.append((y[rows], s[rows], each, *(numbers[rows] for numbers in group)))
        if self.pooled and known:
            parts = [[column[part] for column in known] for part in range(2 if weights is None else 3)]
            known = [tuple([*map(np.concatenate, parts), None][:3])]
        return _mean_of_known([self._of_task(*column) for column in known])

    def _of_task(
        self,
        y: npt.NDArray[np.int8],
        s: npt.NDArray[Any],
        weights: Float | None,
        group: npt.NDArray[np.int64] | None = None,
    ) -> float:
        """Return the score of one task, or the mean over its groups; NaN where none has both classes."""
        if group is not None:
            parts = rows_of_groups(group)
            return _mean_of_known(
                [self._of_task(y[rows], s[rows], None if weights is None else weights[rows]) for rows in parts]
            )
        both = (y > 0).any() and (y < 0).any()
        return weighted_score(self.metric, y, s, weights) if both else float("nan")


def _mean_of_known(values: list[float]) -> float:
    """Return the mean of what is not NaN; NaN where nothing is."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


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
    list of (labels, scores) or (labels, scores, groups)
        One a task; groups where the order of the scores is judged within them.
    """
    rows = np.flatnonzero(held.fold == k)
    part = held.targets.part(rows)
    group = () if part.group is None or answers else (part.group,)
    if part.task is not None:
        scores = held.scores[rows] - cut[part.task]
        return [(part.column(i), scores, *group) for i in range(held.n_tasks)]
    scores = held.scores[rows] - cut
    if part.kind == "multiclass" and answers:
        scores = as_answers(np.where(np.isnan(scores), -np.inf, scores))
    return [(y, s, *group) for y, s in zip(part.Y.T, scores.T, strict=True)]


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
        or scorer of scikit-learn's; one of `smtl.metrics.get_scorer`. For several tasks ``"f1_macro"``, ``"f1_micro"``,
        other metrics with these endings, ``"roc_auc"`` and ``"average_precision"`` are smtl's own: they leave out what
        is not labelled, and tasks with one class only. So are ``"roc_auc"`` and ``"average_precision"`` for several
        classes, each against the rest.
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
    if isinstance(scoring, LabelScorer):
        return TaskScorer(scoring.metric, pooled=scoring.average == "micro")
    scoring = _usual(scoring) if isinstance(scoring, str) else scoring
    if isinstance(scoring, Metric) or (isinstance(scoring, str) and scoring in metric_names()):
        return TaskScorer(get_metric(scoring))
    if kind in ("multilabel", "tasks") and _is_averaged(scoring):
        return get_scoring(get_scorer(scoring), metric, kind)
    if kind != "binary" and scoring in ("roc_auc", "average_precision"):
        return TaskScorer(get_metric(scoring))
    if kind == "tasks":
        raise ValueError(
            "scoring must be None, one of smtl's metrics, 'f1_macro', 'f1_micro', 'roc_auc' or 'average_precision' "
            f"where tasks have their own rows, got {scoring!r} instead: scikit-learn's scorers do not know which task "
            "a row belongs to."
        )
    if callable(scoring) and not isinstance(scoring, type):
        found: Callable[..., float] = scoring
        return found
    if isinstance(scoring, str):
        import sklearn.metrics  # most of scikit-learn comes with it

        names = sklearn.metrics.get_scorer_names()
        if scoring in names:
            named: Callable[..., float] = sklearn.metrics.get_scorer(scoring)
            return named
        near = did_you_mean(scoring, ["f1_macro", "f1_micro", "roc_auc", *metric_names(), *names])
    else:
        near = ""
    raise ValueError(
        f"scoring must be None, one of smtl's metrics ({', '.join(metric_names())}), or a scorer of scikit-learn's or "
        f"its name, got {scoring!r} instead{f'{near}?' if near else '.'}"
    )


def _is_averaged(scoring: Any) -> bool:
    """Return whether it is the name of a metric of ours and how it is averaged, such as "f1_macro"."""
    return isinstance(scoring, str) and scoring.endswith(("_macro", "_micro")) and scoring in get_scorer_names()


def _usual(name: str) -> str:
    """Return the name that is meant: capitals, hyphens and the order of words do not count."""
    words = name.strip().lower().replace("-", "_").replace(" ", "_")
    usual = {
        "macro_f1": "f1_macro",
        "micro_f1": "f1_micro",
        "auroc": "roc_auc",
        "rocauc": "roc_auc",
        "auc_roc": "roc_auc",
        "map": "average_precision",
        "balanced_error": "balanced-error",
    }
    known = ("f1_macro", "f1_micro", "roc_auc", "average_precision", *metric_names())
    return usual.get(words, words if words in known else name)


def given_weights(scorer: Callable[..., float], weights: Any) -> dict[str, Any]:
    """Return the keywords with which a scorer is told of weights of rows, or raise where it knows none.

    Parameters
    ----------
    scorer : callable
        A scorer of scikit-learn's, or one of the user's.
    weights : array-like or None
        What each row counts.

    Returns
    -------
    dict
        Empty where all rows count the same.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> given_weights(get_scorer("accuracy"), [1.0, 2.0])
    {'sample_weight': [1.0, 2.0]}
    >>> given_weights(lambda model, X, y: 0.5, [1.0, 2.0])
    Traceback (most recent call last):
    ValueError: scoring must take sample_weight where rows have weights, ...
    """
    if weights is None:
        return {}
    asked = getattr(scorer, "_score_func", scorer)  # of scikit-learn's scorers, the metric
    parameters = inspect.signature(asked).parameters.values()
    if not any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters):
        raise ValueError(
            f"scoring must take sample_weight where rows have weights, got {scorer!r} instead; one of smtl's metrics, "
            "'f1_macro', 'f1_micro' or 'roc_auc' does."
        )
    return {"sample_weight": weights}


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
    >>> from smtl import F1
    >>> judges_answers(TaskScorer(F1())), judges_answers(get_scorer("accuracy")), judges_answers(get_scorer("roc_auc"))
    (True, True, False)
    """
    if isinstance(scorer, TaskScorer):
        return scorer.metric.judges_answers
    return getattr(scorer, "_response_method", None) == "predict"  # scikit-learn's scorers have no public word for it
