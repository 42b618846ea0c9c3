r"""MTLRegressor: multi-task learning with the squared loss, for regression and for classification."""

from __future__ import annotations

from contextlib import nullcontext
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from smtl import messages
from smtl.baselines.base import Baseline
from smtl.estimators.base import LinearTasksClassifier
from smtl.estimators.held_out import own_scores
from smtl.estimators.targets import read_targets, task_numbers, tasks_in_words
from smtl.estimators.threads import threads
from smtl.estimators.weights import read_sample_weight, whole_copies
from smtl.metrics import Error, Metric
from smtl.notebook import LinksToDocs
from smtl.penalties import Norm, Penalty, get_penalty
from smtl.solvers import check_stopping
from smtl.solvers.squared import largest_alpha, solve_squared
from smtl.solvers.squared_data import Squares

__all__ = ["MTLRegressor", "MTLRegressorClassifier"]

Float: TypeAlias = npt.NDArray[np.float64]

# alpha="auto" is this part of the alpha above which all weights are zero.
AUTO = 0.05
# Products of fewer multiplications than this are small.
SMALL = 2**17


class SquaredLoss(LinksToDocs, BaseEstimator):
    """What regression and classification share: the parameters, and the fit to targets in numbers."""

    def __init__(
        self,
        penalty: str | Penalty = "l21",
        *,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> Norm:
        """Return the norm, or raise for parameters that have no meaning."""
        penalty = get_penalty(self.penalty)
        if not isinstance(penalty, Norm):
            raise ValueError(f"penalty must be a norm, such as 'l11', 'l21' or 'trace', got {self.penalty!r} instead.")
        if not (isinstance(self.alpha, str) and self.alpha == "auto") and not (
            isinstance(self.alpha, Real) and np.isfinite(self.alpha) and self.alpha > 0
        ):
            raise ValueError(f"alpha must be a positive number or 'auto', got {self.alpha!r} instead.")
        check_stopping(self.tol, self.max_iter)
        return penalty

    def _solve(self, penalty: Norm, X: Any, Y: Float, task: npt.NDArray[np.int64] | None) -> tuple[Float, Float]:
        """Return weights (a row a task) and intercepts, and keep what is to be known of the solution."""
        # BLAS makes small products in one thread anyway, and telling it to takes as long as a small fit.
        with nullcontext() if X.shape[1] * Y.size < SMALL else threads(None):
            squares = Squares(X, Y, task, with_intercept=bool(self.fit_intercept))
            d, m = squares.shape
            self.alpha_max_ = largest_alpha(squares, penalty)
            self.alpha_ = float(AUTO * self.alpha_max_ or 1.0) if isinstance(self.alpha, str) else float(self.alpha)
            start = getattr(self, "_start", None) if self.warm_start else None
            if start is not None and start.shape != (d, m):
                start = None
            certificate, self.n_iter_ = solve_squared(
                squares, penalty, self.alpha_, tol=self.tol, max_iter=self.max_iter, start=start
            )
        self.objective_, self.dual_bound_, self.gap_ = certificate.objective, certificate.bound, certificate.gap
        self._start = certificate.W if self.warm_start else None
        if self.gap_ > self.tol:
            messages.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations at a certified relative gap of "
                f"{self.gap_:.2g}, above tol={self.tol:g}. Raise max_iter, tol or alpha; features on very different "
                "scales also slow it down (scale them).",
                ConvergenceWarning,
            )
        return certificate.W, certificate.intercept


class MTLRegressor(MultiOutputMixin, RegressorMixin, SquaredLoss, Baseline):
    r"""Multi-task linear regression with a norm that ties the tasks together (MTL-REG), to a certified optimum.

    It solves

    .. math:: \min_{W, b} \; \frac{1}{2n} \sum_i |y_i - X_i w_i - b_i|^2 + \alpha\,\Omega(W).

    With ``"l21"`` and one X for all tasks it is scikit-learn's ``MultiTaskLasso``.

    Parameters
    ----------
    penalty : {"l11", "l21", "trace"} or Norm, default="l21"
        ``"l21"`` selects features for all tasks jointly (Liu et al.), ``"l11"`` for each task by itself, ``"trace"``
        makes the tasks share a few directions (Ji and Ye). Or another `smtl.penalties.Norm`.
    alpha : float or "auto", default="auto"
        Weight of the norm, as in ``MultiTaskLasso``. ``"auto"`` is a twentieth of `alpha_max_`.
    fit_intercept : bool, default=True
        Whether each task has an intercept. It is not penalised.
    tol : float, default=1e-4
        The relative duality gap at which to stop.
    max_iter : int, default=10000
        The most iterations: cycles over the features (l11, l21) or proximal steps. It warns if they do not suffice.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.

    Attributes
    ----------
    coef_ : ndarray of shape (n_tasks, n_features), or (n_features,) where y is a vector and there are no tasks
        Weights.
    intercept_ : ndarray of shape (n_tasks,), or float
        Intercepts.
    task_names_ : ndarray of shape (n_tasks,)
        Names of the tasks: the columns of Y, or the values of ``tasks``.
    alpha_, alpha_max_ : float
        The value of alpha that was used, and the least for which all weights are zero.
    objective_, dual_bound_ : float
        The objective reached, and the bound below which no weights can bring it.
    gap_ : float
        ``(objective_ - dual_bound_) / objective_``: the certified relative gap.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    Where tasks have their own rows, or not all rows have all targets, n is the mean number of targets of a task: every
    target counts the same.

    For l21 Liu et al. use accelerated gradients; here l11 and l21 take block coordinate descent on a working set of
    features, with Anderson acceleration, which needs fewer and cheaper iterations: :math:`O(pqm)` each for p features
    in the set, q of them not zero, and m tasks, after :math:`O(np^2)` for their Gram matrix. The trace norm takes the
    accelerated gradient method of Ji and Ye with restarts and a fixed step, :math:`O(d^2m + dm \min(d, m))` each. See
    `smtl.solvers.squared`.

    The features are used in float64.

    References
    ----------
    J. Liu, S. Ji, J. Ye, Multi-task feature learning via efficient l2,1-norm minimization, UAI 2009.

    S. Ji, J. Ye, An accelerated gradient method for trace norm minimization, ICML 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from smtl.baselines import MTLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> Y = X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((200, 4))
    >>> model = MTLRegressor("l21").fit(X[:100], Y[:100])
    >>> np.flatnonzero(np.abs(model.coef_).max(axis=0) > 0)  # the features that were selected
    array([0, 1, 2])
    >>> bool(model.score(X[100:], Y[100:]) > 0.9)
    True
    """

    name = "mtl-regressor"

    coef_: npt.NDArray[Any]
    intercept_: Any

    def fit(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> MTLRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Targets. NaN: not known.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows; y is then a vector.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: whole numbers, since rows are repeated. One of 0 is no row.

        Returns
        -------
        MTLRegressor
            The fitted estimator.
        """
        penalty = self._check_parameters()
        if y is None:
            raise ValueError("This MTLRegressor estimator requires y to be passed, but the target y is None.")
        columns = getattr(y, "columns", None)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64)
        Y = _read(y, X)
        rows = _repeated(sample_weight, X)
        if rows is not None:
            X, Y, tasks = X[rows], Y[rows], None if tasks is None else np.asarray(tasks)[rows]
        task = None
        if tasks is not None:
            if Y.ndim != 1:
                raise ValueError(f"y must have shape (n_samples,) where tasks is given, got shape {Y.shape} instead.")
            check_consistent_length(X, tasks)
            self.task_names_, task = np.unique(np.asarray(tasks).ravel(), return_inverse=True)
            known = np.bincount(task, weights=~np.isnan(Y)) > 0
        else:
            known = np.atleast_1d(~np.isnan(Y).all(axis=0))
            self.task_names_ = np.arange(len(known)) if columns is None else np.asarray(columns)
        if not known.any():
            raise ValueError("y must have at least one target, got only NaN instead.")
        self._kind = "tasks" if tasks is not None else "one" if Y.ndim == 1 else "several"
        coef, intercept = self._solve(penalty, *_of_tasks(X, Y, task, known))
        if not known.all():
            found = coef, intercept
            coef, intercept = np.zeros((len(known), X.shape[1])), np.full(len(known), float(np.nanmean(Y)))
            coef[known], intercept[known] = found
            messages.warn(
                f"{tasks_in_words(self.task_names_[~known])} no target in the training data: the mean of all targets "
                "is predicted. The other tasks are not affected."
            )
        self.coef_, self.intercept_ = (coef[0], float(intercept[0])) if self._kind == "one" else (coef, intercept)
        return self

    def predict(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:
        """Return predictions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_tasks)
            A vector where `fit` had one or where ``tasks`` is given, else a column a task.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)
        if tasks is not None:
            task = task_numbers(tasks, self._kind, self.task_names_, X.shape[0])
            return np.asarray(own_scores(X, self.coef_, task) + self.intercept_[task])
        predicted: npt.NDArray[Any] = np.asarray(X @ self.coef_.T) + self.intercept_
        return predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> float:
        r"""Return :math:`R^2`, averaged over the columns of y; of all rows together where ``tasks`` is given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Targets; NaN entries are left out.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.

        Returns
        -------
        float
            At most 1; NaN if there is no target.
        """
        check_is_fitted(self)
        if self._kind == "tasks" and tasks is None:
            raise ValueError("tasks must be given to score a model that was fitted with tasks, got None instead.")
        predicted = self.predict(X, tasks)
        Y = _read(y, X).reshape(predicted.shape)
        weight = None if sample_weight is None else np.asarray(sample_weight)
        values = []
        for target, prediction in zip(np.atleast_2d(Y.T), np.atleast_2d(predicted.T), strict=True):
            known = ~np.isnan(target)
            if known.any():
                part = None if weight is None else weight[known]
                values.append(r2_score(target[known], prediction[known], sample_weight=part))
        return float(np.mean(values)) if values else float("nan")


def _read(y: Any, X: Any) -> Float:
    """Return targets as numbers, NaN where they are not known."""
    Y: Float = check_array(y, ensure_2d=False, ensure_all_finite="allow-nan", dtype=np.float64, input_name="y")
    check_consistent_length(X, Y)
    return Y


def _repeated(sample_weight: Any, X: Any) -> npt.NDArray[np.int64] | None:
    """Return rows in as many copies as they weigh; None without weights."""
    weights = read_sample_weight(sample_weight, X)
    if weights is None:
        return None
    rows = whole_copies(weights)
    if rows is None:
        raise ValueError(
            "sample_weight must be whole numbers, and at most a few on average, where rows are repeated, got "
            f"{float(weights[np.argmax(np.where(weights % 1.0, np.inf, weights))])!r} instead."
        )
    return rows


def _of_tasks(
    X: Any, Y: Float, task: npt.NDArray[np.int64] | None, chosen: npt.NDArray[np.bool_]
) -> tuple[Any, Float, npt.NDArray[np.int64] | None]:
    """Return rows, targets and task numbers of some of the tasks."""
    if task is None:
        Y = Y.reshape(len(Y), -1)
        return X, Y if chosen.all() else Y[:, chosen], None
    if chosen.all():
        return X, Y, task
    rows = chosen[task]
    return X[rows], Y[rows], np.cumsum(chosen)[task[rows]] - 1


class MTLRegressorClassifier(SquaredLoss, LinearTasksClassifier, Baseline):
    r"""Classification by `MTLRegressor`: regress on -1 and +1, and answer by the sign.

    Several classes become a task each, of which the largest answers.

    Parameters
    ----------
    penalty, alpha, fit_intercept, tol, max_iter, warm_start
        As in `MTLRegressor`, with the same defaults.

    Attributes
    ----------
    coef_ : ndarray of shape (n_tasks, n_features)
        Weights. One row for a binary problem, one a class, one a label, or one a task.
    intercept_ : ndarray of shape (n_tasks,)
        Intercepts.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_tasks - 1.
    task_names_ : ndarray of shape (n_tasks,)
        Names of the tasks: the classes, the columns of Y, or the values of ``tasks``.
    alpha_, alpha_max_, objective_, dual_bound_, gap_, n_iter_, n_features_in_, feature_names_in_
        As in `MTLRegressor`.

    Notes
    -----
    `score` is the mean accuracy of the tasks. A task with one class only is fitted as a constant, with a warning. For
    complexity and references see `MTLRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import MTLRegressorClassifier
    >>> X, Y = make_multilabel_classification(300, random_state=0)
    >>> model = MTLRegressorClassifier("trace").fit(X[:200], Y[:200])
    >>> bool(model.score(X[200:], Y[200:]) > 0.7)  # mean accuracy
    True
    """

    name = "mtl-regressor-classifier"

    def _metric(self) -> Metric:
        return Error()

    def fit(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> MTLRegressorClassifier:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Classes, or a matrix of 0 and 1 with a column a task. NaN: not labelled.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows; y then has two classes.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: whole numbers, since rows are repeated. One of 0 is no row.

        Returns
        -------
        MTLRegressorClassifier
            The fitted estimator.
        """
        penalty = self._check_parameters()
        if y is None:
            raise ValueError("This MTLRegressorClassifier estimator requires y to be passed, but the target y is None.")
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64)
        targets = read_targets(X, y, tasks)
        repeated = _repeated(sample_weight, X)
        if repeated is not None:
            X, targets = X[repeated], targets.part(repeated)
        m = len(targets.names)
        learnt = np.zeros(m, dtype=bool)
        learnt[targets.learnable()] = True
        self.coef_, self.intercept_, self.thresholds_ = np.zeros((m, X.shape[1])), targets.constants(), np.zeros(m)
        Y = np.where(targets.Y == 0, np.nan, targets.Y.astype(np.float64))
        if learnt.any():
            rows = _of_tasks(X, Y, targets.task, learnt)
            self.coef_[learnt], self.intercept_[learnt] = self._solve(penalty, *rows)
        else:
            self.alpha_ = self.alpha_max_ = np.nan
            self.objective_ = self.dual_bound_ = self.gap_ = 0.0
            self.n_iter_ = 0
        self.classes_, self.task_names_, self._kind = targets.classes, targets.names, targets.kind
        if not learnt.all():
            messages.warn(
                f"{targets.in_words(~learnt)} only one class (or no label) in the training data: the "
                "answer is constant. The other tasks are not affected."
            )
        return self
