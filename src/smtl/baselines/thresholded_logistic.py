"""ThresholdedLogistic: what a practitioner would use instead."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

from smtl import messages
from smtl.baselines.base import Baseline
from smtl.estimators.base import LinearTasksClassifier
from smtl.estimators.checks import check_threshold
from smtl.estimators.held_out import Fold, HeldOut, scores_of
from smtl.estimators.scoring import TaskScorer, columns_of_fold, get_scoring
from smtl.estimators.targets import Kind, Targets, read_targets
from smtl.estimators.thresholds import Cuts, choose_cuts, cut_target
from smtl.estimators.weights import read_sample_weight, weighed_splits
from smtl.metrics import Log, Metric
from smtl.solvers import check_stopping, grid_of_Cs

__all__ = ["ThresholdedLogistic"]

Float: TypeAlias = npt.NDArray[np.float64]
Model: TypeAlias = list[tuple[Float, float, int]]  # weights, intercept and number of iterations for each C

# The decades of the grid, where Cs is a number: as LogisticRegressionCV's.
LEAST_C, LARGEST_C = 1e-4, 1e4


class ThresholdedLogistic(LinearTasksClassifier, Baseline):
    """One-vs-rest logistic regression whose C and thresholds are cross-validated out of fold: the strong rival.

    Each task is scikit-learn's ``LogisticRegression``, for each C of a grid, on each fold. The held-out scores give the
    thresholds; what they score with thresholds chosen without the fold they are judged on decides on C. Then all tasks
    are fitted to all rows.

    Parameters
    ----------
    Cs : int or iterable of float, default=10
        How many values, evenly spread on a log scale from 1e-4 to 1e4; or the values.
    cv : int, splitter or iterable, default=5
        The number of folds, stratified for all labels at once; a scikit-learn splitter; or pairs of training and test
        rows.
    scoring : None, str or Metric, default=None
        What C is chosen by: one of smtl's metrics (``"auc"``, ``"f2"``, ...) averaged over the tasks, ``"f1_macro"``,
        ``"f1_micro"`` or ``"roc_auc"``. None is ``threshold_metric``.
    threshold : {"per-task", "shared", "smoothed"} or float, default="per-task"
        How the cuts are chosen, as in `smtl.SMTLClassifierCV`; 0 for none.
    threshold_metric : str or Metric, default="f1"
        What the cuts are to be best for.
    fit_intercept : bool, default=True
        Whether each task has an intercept.
    solver : str, default="lbfgs"
        That of ``LogisticRegression``; it must be one that can take a warm start.
    tol : float, default=1e-4
        Tolerance of ``LogisticRegression``.
    max_iter : int, default=1000
        The most iterations of ``LogisticRegression``. It warns if they do not suffice for a final model.
    class_weight : "balanced", dict, list of dict or None, default=None
        What the labels of each class count; see `smtl.SMTLClassifierCV`.
    n_jobs : int, default=None
        Models to fit at the same time; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        For the folds. None stands for a fixed seed.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C.
    scores_ : ndarray of shape (n_folds, n_Cs)
        What each scored on the held-out parts.
    thresholds_ : ndarray of shape (n_tasks,)
        The thresholds, as log odds. They are folded into `intercept_`.
    coef_ : ndarray of shape (n_tasks, n_features)
        Weights.
    intercept_ : ndarray of shape (n_tasks,)
        Intercepts, less the thresholds: a score above zero answers yes.
    classes_, task_names_ : ndarray
        The classes, and the names of the tasks; see `smtl.SMTLClassifier`.
    n_iter_ : int
        The most iterations that a final model took.
    refit_time_ : float
        Seconds of fitting the final models.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    It costs ``n_folds * n_Cs + 1`` logistic regressions a task, each started from the one before.

    C is one for all tasks, as it is in `smtl.SMTLClassifierCV`: a rare label has too few positives in a fold to tell
    one C from another, and its thresholds are fitted to the same held-out scores.

    ``predict_proba`` returns the probabilities of the models; thresholds do not enter, so that `predict` may say yes
    where the probability is below one half.

    References
    ----------
    R.-E. Fan, C.-J. Lin, A study on threshold selection for multi-label classification, National Taiwan University,
    2007.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import ThresholdedLogistic
    >>> X, Y = make_multilabel_classification(300, random_state=0)
    >>> model = ThresholdedLogistic(Cs=[0.01, 0.1, 1.0]).fit(X[:200], Y[:200])
    >>> model.predict(X[200:]).shape, model.predict_proba(X[200:]).shape
    ((100, 5), (100, 5))
    >>> bool(model.score(X[200:], Y[200:]) > 0.6)  # mean F1
    True
    """

    name = "thresholded-logistic"

    def __init__(
        self,
        Cs: int | Iterable[float] = 10,
        *,
        cv: Any = 5,
        scoring: str | Metric | None = None,
        threshold: float | str = "per-task",
        threshold_metric: str | Metric = "f1",
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _metric(self) -> Metric:
        return Log()

    def _scorer(self, kind: Kind) -> TaskScorer:
        scorer = get_scoring(self.scoring, cut_target(Log(), self.threshold_metric), kind)
        if not isinstance(scorer, TaskScorer):
            raise ValueError(
                "scoring must be None, one of smtl's metrics, 'f1_macro', 'f1_micro' or 'roc_auc', got "
                f"{self.scoring!r} instead."
            )
        return scorer

    def fit(
        self, X: Any, y: Any, tasks: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> ThresholdedLogistic:
        """Choose C and the thresholds, and fit the models.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Classes, or a matrix of 0 and 1 with a column a task. NaN: not labelled.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows; y then has two classes.
        groups : array-like of shape (n_samples,), optional
            Groups of rows that stay together in the folds; a splitter as ``cv`` is given them.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: a weight of k is k equal rows.

        Returns
        -------
        ThresholdedLogistic
            The fitted estimator.
        """
        check_threshold(self.threshold)
        check_stopping(self.tol, self.max_iter)
        self.Cs_ = grid_of_Cs(self.Cs, 1.0)
        if isinstance(self.Cs, Integral):
            self.Cs_ = np.geomspace(LEAST_C, LARGEST_C, len(self.Cs_))
        if y is None:
            raise ValueError("This ThresholdedLogistic estimator requires y to be passed, but the target y is None.")
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_min_samples=2)
        targets = read_targets(X, y, tasks)
        self.classes_, self.task_names_, self._kind = targets.classes, targets.names, targets.kind
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        weighing = read_sample_weight(sample_weight, X), self.class_weight, None
        X, y, targets, splits, _ = weighed_splits(self.cv, (X, y, targets), groups, weighing, rng)
        folds = [Fold(train, test, targets.part(train).learnable(), None) for train, test in splits]
        learnt = targets.learnable()
        self.coef_, intercept = np.zeros((len(targets.names), X.shape[1]), dtype=X.dtype), targets.constants()
        self.thresholds_ = np.zeros(len(intercept), dtype=X.dtype)
        self.n_iter_ = 0
        cuts = self._choose(X, targets, folds)
        started = time.perf_counter()
        if len(learnt):
            models = self._fit_tasks(X, targets, None, learnt, np.array([self.C_]))
            self.coef_[learnt] = [model[0][0] for model in models]
            intercept[learnt] = [model[0][1] for model in models]
            self.n_iter_ = max(model[0][2] for model in models)
            self.thresholds_[learnt] = cuts.cut[learnt]
        self.intercept_ = (intercept - self.thresholds_).astype(X.dtype)
        self.refit_time_ = time.perf_counter() - started
        constant = np.setdiff1d(np.arange(len(targets.names)), learnt)
        if len(constant):
            messages.warn(
                f"{targets.in_words(constant)} only one class (or no label) in the training data: the "
                "answer is constant. The other tasks are not affected."
            )
        return self

    def _choose(self, X: Any, targets: Targets, folds: list[Fold]) -> Cuts:
        """Set C and the scores of all, and return the cuts of the chosen one."""
        scorer, target = self._scorer(targets.kind), cut_target(Log(), self.threshold_metric)
        models = [self._fit_tasks(X, targets, fold.train, fold.usable, self.Cs_) for fold in folds]
        self.scores_ = np.full((len(folds), len(self.Cs_)), np.nan)
        chosen: list[Cuts] = []
        for j in range(len(self.Cs_)):
            scores = []
            for fold, of_tasks in zip(folds, models, strict=True):
                W = np.array([model[j][0] for model in of_tasks]).reshape(len(of_tasks), X.shape[1])
                scores.append(scores_of(X, targets, fold, W, np.array([model[j][1] for model in of_tasks])))
            held = HeldOut(targets, folds, scores).weighed()
            cuts = choose_cuts(held, self.threshold, Log(), target)
            answers = scorer.metric.judges_answers
            for k in range(len(folds)):
                cut = cuts.by_fold[k] if answers else np.zeros(held.n_tasks)
                self.scores_[k, j] = scorer(columns_of_fold(held, k, cut, answers=answers))
            chosen.append(cuts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # no fold has a score
            means = np.nanmean(self.scores_, axis=0)
        best = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
        self.C_ = float(self.Cs_[best])
        return chosen[best]

    def _fit_tasks(
        self, X: Any, targets: Targets, rows: npt.NDArray[np.int64] | None, chosen: npt.NDArray[np.int64], Cs: Float
    ) -> list[Model]:
        """Return the models of some tasks, trained on some of the rows (None: all)."""
        if rows is not None:
            X, targets = X[rows], targets.part(rows)
        options = {
            "fit_intercept": self.fit_intercept,
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
        }
        each = targets.weights
        jobs = (delayed(_path)(X, targets.column(i), _of_task(each, i), Cs, options, warn=rows is None) for i in chosen)
        models: list[Model] = Parallel(n_jobs=self.n_jobs)(jobs)
        return models

    def score(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> float:
        """Return what `scoring` says of the model: by default the mean over the tasks of ``threshold_metric``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        float
            The score.
        """
        self._check_scorable(tasks)
        scorer = self._scorer(self._kind)
        columns = self._columns(X, y, tasks, answers=scorer.metric.judges_answers)
        return scorer(columns, self._weights_of(columns, read_sample_weight(sample_weight, X), tasks))


def _of_task(weights: Float | None, i: int) -> Float | None:
    """Return what the labels of a task count."""
    return weights if weights is None or weights.ndim == 1 else weights[:, i]


def _path(
    X: Any, y: npt.NDArray[np.int8], weights: Float | None, Cs: Float, options: dict[str, Any], *, warn: bool
) -> Model:
    """Return the models of one task for ascending values of C, each started from the one before."""
    labelled = y != 0
    if not labelled.all():
        X, y, weights = X[labelled], y[labelled], None if weights is None else weights[labelled]
    model = LogisticRegression(warm_start=True, **options)
    out = []
    with warnings.catch_warnings():
        if not warn:
            warnings.simplefilter("ignore", ConvergenceWarning)
        for C in Cs:
            model.set_params(C=C).fit(X, y, weights)
            out.append((model.coef_[0].copy(), float(np.ravel(model.intercept_)[0]), int(model.n_iter_.max())))
    return out
