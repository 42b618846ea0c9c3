r"""SMTLClassifier: one linear model per task, trained jointly on the metric they are judged by."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from smtl.estimators.targets import Targets, read_targets
from smtl.estimators.thresholds import best_cuts, held_out_scores
from smtl.metrics import Metric, get_metric
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import Problem, Solution, Start, critical_C, solve
from smtl.tasks import Tasks

__all__ = ["SMTLClassifier"]

Float: TypeAlias = npt.NDArray[np.float64]

# C="auto" is this multiple of the data's own critical value.
AUTO = 20.0
# Folds for choosing thresholds, and the gap to which their models are fitted at least.
N_FOLDS = 3
FOLD_TOL = 1e-2
# A task is null when its weights are so much smaller than the largest task's.
NULL = 1e-6


def _has_probability(estimator: SMTLClassifier) -> bool:
    metric = get_metric(estimator.metric)
    if not hasattr(metric, "probability"):
        raise AttributeError(f"predict_proba is not available with metric={estimator.metric!r}; metric='log' has it.")
    return True


class SMTLClassifier(ClassifierMixin, BaseEstimator):
    r"""Linear multi-task classifier trained on a metric, to a certified optimum.

    It solves

    .. math:: \min_W \; \Omega(W) + C \sum_i \min_{b_i} G_i(w_i, b_i),

    where :math:`G_i` is the structured hinge loss of the metric on task i, and the penalty :math:`\Omega` ties the
    tasks together. Features should be on one scale, as for every penalised linear model.

    Parameters
    ----------
    metric : str or Metric, default="f1"
        What the model is judged by: ``"f1"``, ``"f2"``, ``"f0.5"``, ``"auc"``, ``"auc-labelling"``, ``"error"``,
        ``"log"``, ``"jaccard"``, ``"gmean"``, or an instance of `smtl.metrics.Metric`.
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
    threshold : {"auto", "tuned"} or float, default="auto"
        The cut between the classes. ``"auto"`` is zero where the metric defines a cut; for AUC, which does not, it is
        chosen for F1 by cross-validation on the training data, each task by itself. ``"tuned"`` always chooses it so,
        for the metric (for F1 if that has no cut). A number is used as it is.
    solver : {"bundle", "paper"}, default="bundle"
        ``"paper"`` is the original algorithm, for comparison.
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
        Log the progress every so many iterations.

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
        Names of the tasks whose weights are all zero: their answer is the same for every row.
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
    the objective.

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
        metric: str | Metric = "f1",
        penalty: str | Penalty = "l21",
        *,
        C: float | str = "auto",
        ridge: float = 0.0,
        fit_intercept: bool = True,
        threshold: float | str = "auto",
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
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, tasks: Any = None) -> SMTLClassifier:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features. Neither copied (unless ``tasks`` has to sort it) nor made dense; float32 is kept.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Classes, or a matrix of 0 and 1 with a column a task. NaN: not labelled.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows; y then has two classes.

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
        targets = read_targets(X, y, tasks)
        n_pos, n_neg = targets.counts()
        fitted = np.flatnonzero((n_pos > 0) & (n_neg > 0))
        for i in fitted:
            metric.check_task(int(n_pos[i]), int(n_neg[i]))

        m = len(targets.names)
        W = np.zeros((X.shape[1], m), order="F")
        # The answer of a task that is not fitted: yes if all its labels are, no otherwise.
        intercept, thresholds = np.where(n_pos > 0, 1.0, -1.0), np.zeros(m)
        with self._threads() as threads:
            data = targets.tasks(X, fitted)
            problem = Problem(data, metric, penalty, 1.0, with_intercept=bool(self.fit_intercept), **threads)
            self.C_ = self._choose_C(problem, X) if len(fitted) else np.nan
            problem.C = self.C_
            solution = self._solve(problem, self._warm(problem.shape), self.tol) if len(fitted) else None
            if solution is not None:
                W[:, fitted] = solution.certificate.W
                intercept[fitted] = solution.certificate.intercept
                thresholds[fitted] = self._choose_thresholds(problem, X, targets, fitted)
        self._keep_solution(solution)
        self.classes_ = targets.classes
        self.task_names_ = targets.names
        self.coef_ = np.ascontiguousarray(W.T, dtype=X.dtype)
        self.thresholds_ = thresholds.astype(X.dtype)
        self.intercept_ = (intercept - thresholds).astype(X.dtype)
        self._kind = targets.kind
        self._report_odd_tasks(targets, fitted)
        return self

    def _check_parameters(self) -> None:
        """Raise for parameters that have no meaning."""
        if not (isinstance(self.C, str) and self.C == "auto") and not (
            isinstance(self.C, Real) and np.isfinite(self.C) and self.C > 0
        ):
            raise ValueError(f"C must be a positive number or 'auto', got {self.C!r} instead.")
        if not (isinstance(self.threshold, str) and self.threshold in ("auto", "tuned")) and not (
            isinstance(self.threshold, Real) and np.isfinite(self.threshold)
        ):
            raise ValueError(f"threshold must be 'auto', 'tuned' or a number, got {self.threshold!r} instead.")
        if not (isinstance(self.tol, Real) and self.tol > 0):
            raise ValueError(f"tol must be a positive number, got {self.tol!r} instead.")
        if not (isinstance(self.max_iter, Integral) and self.max_iter >= 1):
            raise ValueError(f"max_iter must be a positive integer, got {self.max_iter!r} instead.")

    @contextmanager
    def _threads(self) -> Iterator[dict[str, Any]]:
        """Yield what `Problem` needs to spread the tasks over threads.

        BLAS keeps to one thread meanwhile: the tasks are spread already, and the many small products of a fit lose
        more by waiting for one another than they gain, many times over on a busy machine.
        """
        n_threads = effective_n_jobs(self.n_jobs)
        with _thread_pools().limit(limits=1, user_api="blas"):
            if n_threads == 1:
                yield {}
                return
            with ThreadPoolExecutor(n_threads) as executor:
                yield {"executor": executor, "n_threads": n_threads}

    def _choose_C(self, problem: Problem, X: Any) -> float:
        if not isinstance(self.C, str):
            return float(self.C)
        values = X.data if sp.issparse(X) else X
        largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        C = AUTO * critical_C(problem)
        # Where slopes are nothing but rounding errors, there is nothing to learn, and any C will do.
        return C if C * largest < 1e12 * AUTO else 1.0

    def _warm(self, shape: tuple[int, int]) -> Start | None:
        start: Start | None = getattr(self, "_start", None) if self.warm_start else None
        return start if start is not None and start.S.shape == shape else None

    def _solve(self, problem: Problem, start: Start | None, tol: float, verbose: bool = True) -> Solution:
        return solve(
            problem,
            self.solver,
            tol=tol,
            max_iter=self.max_iter,
            start=start,
            verbose=self.verbose if verbose else 0,
        )

    def _choose_thresholds(
        self, problem: Problem, X: Any, targets: Targets, fitted: npt.NDArray[np.int64]
    ) -> Float | float:
        """Return the thresholds of the fitted tasks."""
        metric = problem.metric
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        if self.threshold == "auto" and metric.has_cut:
            return 0.0

        def fit_fold(tasks: Tasks) -> tuple[Float, Float]:
            fold = Problem(tasks, metric, problem.penalty, problem.C, with_intercept=problem.with_intercept)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                best = self._solve(fold, None, max(self.tol, FOLD_TOL), verbose=False).certificate
            return best.W, best.intercept

        rng = check_random_state(0 if self.random_state is None else self.random_state)
        scores = held_out_scores(X, targets, fitted, fit_fold, N_FOLDS, rng)
        return best_cuts(targets, fitted, scores, metric)

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
        self._start = solution.start if self.warm_start else None

    def _report_odd_tasks(self, targets: Targets, fitted: npt.NDArray[np.int64]) -> None:
        """Warn of tasks that are constant, for want of labels or because that is the optimum."""
        constant = np.setdiff1d(np.arange(len(targets.names)), fitted)
        if len(constant):
            warnings.warn(
                f"{_tasks_in_words(targets.names[constant])} only one class (or no label) in the training data: no "
                "loss is defined there, and the answer is constant. The other tasks are not affected.",
                UserWarning,
                stacklevel=3,
            )
        sizes = np.abs(self.coef_[fitted]).max(axis=1, initial=0.0)
        null = fitted[sizes <= NULL * sizes.max(initial=0.0)]
        self.null_tasks_ = targets.names[null]
        if len(null):
            warnings.warn(
                f"{_tasks_in_words(self.null_tasks_)} all weights zero at C={self.C_:.4g}, to within a gap of "
                f"{self.gap_:.2g} of the optimum: the answer is the same for every row. Raise C, lower tol, or "
                "choose another metric or penalty; see null_tasks_.",
                UserWarning,
                stacklevel=3,
            )

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
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        if tasks is not None:
            task = self._task_numbers(tasks, X.shape[0])
            weights = self.coef_[task]
            products = X.multiply(weights).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, weights)
            own: npt.NDArray[Any] = np.asarray(products).ravel() + self.intercept_[task]
            return own
        scores: npt.NDArray[Any] = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if self._kind == "binary" else scores

    def _task_numbers(self, tasks: Any, n_samples: int) -> npt.NDArray[np.int64]:
        if self._kind != "tasks":
            raise ValueError("tasks must be None for a model that was fitted without tasks.")
        names = np.asarray(tasks).ravel()
        if len(names) != n_samples:
            raise ValueError(f"tasks must have one entry a row of X ({n_samples}), got {len(names)} instead.")
        known = self.task_names_
        place = np.minimum(np.searchsorted(known, names), len(known) - 1)
        wrong = known[place] != names
        if wrong.any():
            raise ValueError(
                f"tasks must be among the {len(known)} tasks of the training data, got {names[wrong][0]!r} instead."
            )
        return place

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
        scores = self.decision_function(X, tasks)
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
        scores = self.decision_function(X, tasks)
        thresholds = self.thresholds_ if tasks is None else self.thresholds_[self._task_numbers(tasks, len(scores))]
        yes = get_metric(self.metric).probability(scores + thresholds)  # type: ignore[attr-defined]
        if yes.ndim == 1:
            return np.column_stack([1.0 - yes, yes])[:, -len(self.classes_) :]
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
        if sample_weight is not None:
            raise ValueError("sample_weight must be None: the metrics are defined on rows that all count the same.")
        check_is_fitted(self)
        if self._kind == "tasks" and tasks is None:
            raise ValueError("tasks must be given to score a model that was fitted with tasks, got None instead.")
        metric = get_metric(self.metric)
        scores = self.decision_function(X, tasks)
        Y = self._signs(y)
        if tasks is not None:
            task = self._task_numbers(tasks, len(scores))
            columns = [(Y[task == i, 0], scores[task == i]) for i in np.unique(task)]
        else:
            if self._kind == "multiclass" and metric.has_cut:
                # What is judged is the answer: yes for one class only.
                scores = np.where(np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None], 1.0, -1.0)
            columns = list(zip(Y.T, scores.reshape(len(scores), -1).T, strict=True))
        values = [metric.score(y[y != 0], s[y != 0]) for y, s in columns if (y > 0).any() and (y < 0).any()]
        return float(np.mean(values)) if values else float("nan")

    def _signs(self, y: Any) -> npt.NDArray[np.int8]:
        """Return labels as +1, -1 and 0 in a column a task, by the classes seen in `fit`."""
        if self._kind == "multilabel":
            return read_targets(y, y).Y
        labels = np.asarray(y).ravel()
        missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)
        yes = self.classes_ if self._kind == "multiclass" else self.classes_[-1:]
        signs: npt.NDArray[np.int8] = np.where(labels[:, None] == yes, 1, -1).astype(np.int8)
        signs[missing] = 0
        return signs


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the handle on BLAS; finding it takes longer than a small fit."""
    return ThreadpoolController()


def _tasks_in_words(names: npt.NDArray[Any]) -> str:
    """Return the beginning of a sentence about tasks: 'Task 3 has' or 'Tasks 1, 2, ... (17 in all) have'."""
    shown = ", ".join(str(name) for name in names[:8])
    if len(names) == 1:
        return f"Task {shown} has"
    return f"Tasks {shown}{', ...' if len(names) > 8 else ''} ({len(names)} in all) have"
