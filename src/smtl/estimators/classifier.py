r"""SMTLClassifier: one linear model per task, trained jointly on the metric they are judged by."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from smtl.estimators.all_or_nothing import all_or_nothing
from smtl.estimators.base import CorrectingTasksClassifier
from smtl.estimators.behaviour import (
    keep_cuts_inside,
    null_tasks,
    report_answers,
    report_constants,
    report_zero_weights,
)
from smtl.estimators.folds import make_folds
from smtl.estimators.held_out import HeldOut, fold_problems, scores_of
from smtl.estimators.targets import Targets, read_offset, read_targets
from smtl.estimators.threads import threads
from smtl.estimators.thresholds import Cuts, choose_cuts, cut_target
from smtl.metrics import Metric, get_metric
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import Problem, Solution, Start, check_stopping, critical_C, solve

__all__ = [
    "SMTLClassifier",
    "check_tasks",
    "check_threshold",
    "natural_C",
]

Float: TypeAlias = npt.NDArray[np.float64]

# C="auto" is this multiple of the data's own critical value.
AUTO = 20.0
# Folds for choosing thresholds, and the gap to which their models are fitted at least.
N_FOLDS = 3
FOLD_TOL = 1e-2
# The ways in which thresholds are chosen.
CHOSEN = ("auto", "expected", "per-task", "shared", "smoothed", "calibrated", "cardinality")


class SMTLClassifier(CorrectingTasksClassifier):
    r"""Linear multi-task classifier trained on a metric, to a certified optimum.

    It solves

    .. math:: \min_W \; \Omega(W) + C \sum_i \min_{b_i} G_i(w_i, b_i),

    where :math:`G_i` is the structured hinge loss of the metric on task i, and the penalty :math:`\Omega` ties the
    tasks together. Features should be on one scale, as for every penalised linear model.

    Parameters
    ----------
    metric : str or Metric, default="log"
        What the model is trained on: ``"log"``, ``"auc"``, ``"auc-labelling"``, ``"f1"``, ``"f2"``, ``"f0.5"``,
        ``"error"``, ``"jaccard"``, ``"gmean"``, or an instance of `smtl.metrics.Metric`. Where classes overlap, the
        losses of F1 and the like are flat, and the answer may be the same for every row: log and AUC, cut for F1, are
        better there.
    penalty : str or Penalty, default="l21"
        ``"l21"`` selects features for all tasks jointly, ``"l11"`` for each task by itself, ``"trace"`` makes the tasks
        share a few directions, ``"ridge"`` does not tie them. Or an instance of `smtl.penalties.Penalty`.
    C : float or "auto", default="auto"
        Weight of the loss; larger values fit the training data more closely. ``"auto"`` is 20 times the data's
        critical value, around which the weights become zero (see `smtl.solvers.critical_C`): a sensible start at any
        number of rows.
    ridge : float, default=0.0
        Weight of half the squared Frobenius norm added to the penalty.
    fit_intercept : bool, default=True
        Whether each task has an intercept. It is not penalised, and the certificate holds for it.
    threshold : str or float, default="auto"
        The cut between the classes. ``"auto"`` is zero where the metric is a function of the answers (F1, error, ...);
        for others (log, AUC) it is chosen by cross-validation on the training data, which takes three more fits. The
        rules are ``"auto"``, ``"expected"``, ``"per-task"``, ``"shared"``, ``"smoothed"``, ``"calibrated"`` and
        ``"cardinality"``; see `SMTLClassifierCV`. A number is used as it is.
    threshold_metric : str or Metric, default=None
        What a chosen cut is to be best for. By default the metric itself; F1 if that is no function of the answers
        (AUC, log).
    solver : {"bundle", "cutting-plane", "paper"}, default="bundle"
        ``"cutting-plane"`` is for the ridge penalty, each task by itself; ``"paper"`` is the original algorithm, for
        comparison.
    tol : float, default=1e-3
        The relative duality gap at which to stop.
    max_iter : int, default=5000
        The most iterations of the solver. It warns if they do not suffice.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    n_jobs : int, default=None
        Threads to spread the tasks over; -1 for all cores. The result is the same for any number. BLAS is kept to one
        thread while a model is fitted.
    random_state : int, RandomState instance or None, default=None
        For the folds on which thresholds are chosen. Nothing else is random; None stands for a fixed seed, so that
        the result of two fits is the same.
    verbose : int, default=0
        Log the progress every so many iterations, to the logger ``"smtl"``; ``logging.basicConfig(level="INFO")`` makes
        it visible.

    Attributes
    ----------
    coef_ : ndarray of shape (n_tasks, n_features)
        Weights. One row for a binary problem, one a class, one a label, or one a task.
    intercept_ : ndarray of shape (n_tasks,)
        Intercepts, less the thresholds: a score above zero answers yes.
    thresholds_ : ndarray of shape (n_tasks,)
        The thresholds that were folded into `intercept_`.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_tasks - 1.
    task_names_ : ndarray of shape (n_tasks,)
        Names of the tasks: the classes, the columns of Y, or the values of ``tasks``.
    null_tasks_ : ndarray
        Names of the tasks whose answer is the same for every training row, because weights are zero or too small to
        bring any row across the threshold. With a threshold that is a number, only weights of zero count.
    C_ : float
        The value of C that was used.
    objective_, dual_bound_ : float
        The objective reached, and the bound below which no weights can bring it.
    gap_ : float
        ``(objective_ - dual_bound_) / objective_``: the certified relative gap.
    history_ : dict of ndarray
        ``objective``, ``bound``, ``primal_residual``, ``dual_residual``, ``passes`` and ``seconds``, one entry an
        iteration.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Notes
    -----
    A task with one class only, or with no label at all, is fitted as a constant, with a warning; it takes no part in
    the objective. A task whose answers are nearly all the same, or on the held-out rows that chose its threshold no
    better than a constant, is named in a warning, too.

    References
    ----------
    G.-Y. Ke, Y. Pan, J. Yin, C.-Q. Huang, Optimizing evaluation metrics for multitask learning via the alternating
    direction method of multipliers, IEEE Transactions on Cybernetics, 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from smtl import SMTLClassifier
    >>> X, Y = make_multilabel_classification(300, random_state=0)
    >>> model = make_pipeline(StandardScaler(), SMTLClassifier(metric="f1", penalty="l21"))
    >>> model.fit(X[:200], Y[:200]).predict(X[200:]).shape
    (100, 5)
    >>> bool(model.score(X[200:], Y[200:]) > 0.6)  # mean F1
    True
    >>> bool(model[-1].gap_ <= 1e-3)
    True
    """

    def __init__(
        self,
        metric: str | Metric = "log",
        penalty: str | Penalty = "l21",
        *,
        C: float | str = "auto",
        ridge: float = 0.0,
        fit_intercept: bool = True,
        threshold: float | str = "auto",
        threshold_metric: str | Metric | None = None,
        solver: str = "bundle",
        tol: float = 1e-3,
        max_iter: int = 5000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.penalty = penalty
        self.C = C
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any, tasks: Any = None, offset: Any = None) -> SMTLClassifier:
        """Fit the model. Where that fails or is interrupted, the estimator is as it was before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features. Neither copied (unless ``tasks`` has to sort it) nor made dense; float32 is kept.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Classes, or a matrix of 0 and 1 with a column a task. NaN: not labelled.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows; y then has two classes.
        offset : array-like of shape (n_samples,) or (n_samples, n_tasks), optional
            Scores to start from: those of another model, which this one corrects. The scores of a task are then
            :math:`o_i + X w_i + b_i`. A column a task (a class, a label); a vector for a binary problem and where
            ``tasks`` is given.

        Returns
        -------
        SMTLClassifier
            The fitted estimator.
        """
        metric, penalty = get_metric(self.metric), get_penalty(self.penalty, self.ridge)
        self._check_parameters()
        if y is None:
            raise ValueError("This SMTLClassifier estimator requires y to be passed, but the target y is None.")
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_min_samples=2)
        check_scale(X)
        targets = read_targets(X, y, tasks)
        if offset is not None:
            targets.offset = read_offset(offset, targets.Y.shape)
        fitted = targets.learnable()
        check_tasks(metric, targets)

        m = len(targets.names)
        W = np.zeros((X.shape[1], m), order="F")
        intercept, thresholds = targets.constants(), np.zeros(m)
        cuts, held = Cuts(np.zeros(m), np.zeros(m), np.zeros((0, m)), 0.0), None
        with threads(self.n_jobs) as (executor, n_threads):
            problem = Problem(
                targets.tasks(X, fitted),
                metric,
                penalty,
                1.0,
                with_intercept=bool(self.fit_intercept),
                offset=targets.flat_offset(fitted),
                executor=executor,
                n_threads=n_threads,
            )
            self.C_ = (
                (AUTO * natural_C(problem, X) if isinstance(self.C, str) else float(self.C)) if len(fitted) else np.nan
            )
            problem.C = self.C_
            solution = None
            if len(fitted):
                solution = solve(
                    problem,
                    self.solver,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    start=self._warm(problem.shape),
                    verbose=self.verbose,
                )
                W[:, fitted] = solution.certificate.W
                intercept[fitted] = solution.certificate.intercept
                cuts, held = self._choose_cuts(problem, X, y, targets)
                intercept[fitted] -= cuts.location[fitted]
                thresholds[fitted] = cuts.cut[fitted]
        self._keep_solution(solution)
        self.classes_ = targets.classes
        self.task_names_ = targets.names
        self.coef_ = np.ascontiguousarray(W.T, dtype=X.dtype)
        self.thresholds_ = thresholds.astype(X.dtype)
        self.intercept_ = (intercept - thresholds).astype(X.dtype)
        self._kind = targets.kind
        self._has_offset = offset is not None
        if self.threshold == "auto" and held is not None:
            keep_cuts_inside(self, X, targets)
        self._report_behaviour(X, targets, held, cuts.by_fold)
        return self

    def _check_parameters(self) -> None:
        """Raise for parameters that have no meaning."""
        if not (isinstance(self.C, str) and self.C == "auto") and not (
            isinstance(self.C, Real) and np.isfinite(self.C) and self.C > 0
        ):
            raise ValueError(f"C must be a positive number or 'auto', got {self.C!r} instead.")
        check_threshold(self.threshold, CHOSEN)
        check_stopping(self.tol, self.max_iter)

    def _warm(self, shape: tuple[int, int]) -> Start | None:
        start: Start | None = getattr(self, "_start", None) if self.warm_start else None
        return start if start is not None and start.S.shape == shape else None

    def _choose_cuts(self, problem: Problem, X: Any, y: Any, targets: Targets) -> tuple[Cuts, HeldOut | None]:
        """Return the cuts of all tasks, and the held-out scores where they are chosen on those."""
        metric, m = problem.metric, len(targets.names)
        target = cut_target(metric, self.threshold_metric)
        if not isinstance(self.threshold, str) or (self.threshold == "auto" and metric.judges_answers):
            cut = np.full(m, 0.0 if isinstance(self.threshold, str) else float(self.threshold))
            return Cuts(np.zeros(m), cut, np.zeros((0, m)), 0.0), None
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        splits = make_folds(min(N_FOLDS, X.shape[0]), X, y, targets, rng)
        folds = fold_problems(X, targets, splits, metric, problem.penalty, with_intercept=problem.with_intercept)
        scores = []
        for fold in folds:
            W, intercept = np.zeros((X.shape[1], 0)), np.zeros(0)
            if fold.problem is not None:
                fold.problem.C = problem.C
                tol = max(self.tol, FOLD_TOL)
                best = solve(fold.problem, self.solver, tol=tol, max_iter=self.max_iter, warn=False).certificate
                W, intercept = best.W, best.intercept
            scores.append(scores_of(X, targets, fold, W, intercept))
        held = HeldOut(targets, folds, scores)
        return choose_cuts(held, self.threshold, metric, target), held

    def _keep_solution(self, solution: Solution | None) -> None:
        if solution is None:
            self.objective_ = self.dual_bound_ = self.gap_ = 0.0
            self.history_: dict[str, Float] = {}
            self.n_iter_ = 0
            self._start = None
            return
        self.objective_ = solution.certificate.objective
        self.dual_bound_ = solution.certificate.bound
        self.gap_ = solution.certificate.gap
        self.history_ = solution.history
        self.n_iter_ = solution.n_iter
        self._start = solution.start.without_planes() if self.warm_start else None

    def _report_behaviour(self, X: Any, targets: Targets, held: HeldOut | None, by_fold: Float) -> None:
        """Set the null tasks, and warn of tasks whose answers are worth little."""
        fitted = targets.learnable()
        report_constants(targets, fitted)
        zero = null_tasks(self.coef_, fitted)
        self.null_tasks_ = targets.names[zero]
        report_zero_weights(targets, zero, self.C_, self.gap_)
        if isinstance(self.threshold, str):  # whoever gives the cut knows what it does
            report_answers(self, X, targets, held, by_fold, cut_target(self._metric(), self.threshold_metric))


def check_tasks(metric: Metric, targets: Targets) -> None:
    """Raise if the metric is not defined on one of the tasks."""
    n_pos, n_neg = targets.counts()
    for i in targets.learnable():
        metric.check_task(int(n_pos[i]), int(n_neg[i]))


def check_scale(X: Any) -> None:
    """Raise if squares of sums over X would not be numbers any more."""
    limit = 1e30 if X.dtype == np.float32 else 1e100
    largest = _largest(X)
    if largest > limit or 0.0 < largest < 1.0 / limit:
        raise ValueError(
            f"X must have its largest absolute value between {1.0 / limit:g} and {limit:g}, got {largest:g} instead; "
            "bring the features to one scale, as StandardScaler does."
        )


def _largest(X: Any) -> float:
    values = X.data if sp.issparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def natural_C(problem: Problem, X: Any) -> float:
    """Return the data's own scale for C: the critical value, around which the weights become zero."""
    C = critical_C(problem)
    # Where slopes are nothing but rounding errors, there is nothing to learn, and any C will do.
    return C if C * _largest(X) < 1e12 else 1.0 / AUTO


def check_threshold(threshold: Any, names: tuple[str, ...]) -> None:
    """Raise for a threshold that is neither one of the names nor a number."""
    if isinstance(threshold, str):
        known = threshold in names
    else:
        known = isinstance(threshold, Real) and math.isfinite(threshold)
    if not known:
        words = ", ".join(repr(name) for name in names)
        raise ValueError(f"threshold must be one of {words} or a number, got {threshold!r} instead.")
