r"""SMTLRanker: a linear score that puts the relevant rows of each query first."""

from __future__ import annotations

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from smtl import messages
from smtl.estimators.all_or_nothing import all_or_nothing
from smtl.estimators.checks import check_scale
from smtl.estimators.classifier import SMTLClassifier
from smtl.estimators.dealing import group_numbers
from smtl.estimators.fitting import AUTO, natural_C
from smtl.estimators.threads import threads
from smtl.estimators.weights import read_sample_weight
from smtl.groups import Groups, graded_groups, groups_of_tasks, rows_of_groups
from smtl.metrics import NDCG, Metric, get_metric
from smtl.metrics.discounting import graded_ndcg
from smtl.metrics.weighting import weighted_score
from smtl.notebook import ShowsFit
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import Problem, solve
from smtl.tasks import SharedRows

__all__ = ["SMTLRanker"]

Float: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]

GAINS = {"exponential": lambda grade: 2.0**grade - 1.0, "linear": lambda grade: 1.0 * grade}
MOST = 30  # the highest grade: beyond it, the gains of lower ones are lost to rounding


class SMTLRanker(ShowsFit, BaseEstimator):
    r"""A linear score, trained on how well it orders the rows of each query.

    .. math:: \min_w \; \Omega(w) + \frac{C}{K} \sum_{k=1}^{K} G(X_k w)

    with a convex loss G of the order of the rows :math:`X_k` of query k, to a certified gap. See `SMTLClassifier` for
    several questions, and for `groups` there.

    Parameters
    ----------
    metric : str or Metric, default="ndcg"
        What a query is judged by: a metric of the order, such as ``"ndcg"``, ``"ap"`` (its mean over the queries is
        mean average precision), ``"auc"``, ``"pauc"``, ``"precision@k"``, or an instance of one. NDCG knows grades of
        relevance, others know yes and no.
    penalty : str or Penalty, default="ridge"
        ``"ridge"``, or ``"l11"`` for few features. Or an instance of `smtl.penalties.Penalty`.
    C : float or "auto", default="auto"
        Weight of the loss; ``"auto"`` is 20 times the data's critical value, as in `SMTLClassifier`.
    ridge : float, default=0.0
        Weight of half the squared norm added to the penalty.
    relevant : int, default=1
        The least grade that is a yes, for metrics other than NDCG.
    gain : {"exponential", "linear"}, default="exponential"
        What a row of grade g is worth in NDCG: :math:`2^g - 1`, or g. With grades 0 and 1 there is no difference.
    solver : str, default="auto"
        As in `SMTLClassifier`.
    tol : float, default=1e-3
        The relative duality gap at which to stop.
    max_iter : int, default=5000
        The most iterations of the solver.
    verbose : int, default=0
        Log the progress every so many iterations, to the logger ``"smtl"``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    C_ : float
        The value of C that was used.
    n_groups_, n_groups_left_out_ : int
        How many queries the loss is a mean of; and how many there are that say nothing of the order, as all of their
        rows are equally relevant.
    objective_, dual_bound_, gap_ : float
        The objective reached, the bound below which no weights can bring it, and the relative gap between them.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    With grades, 1 - NDCG is a weighted mean of that of the questions "is the grade at least t", and the loss is the
    same mean of theirs; see `smtl.groups.graded_groups`. It is convex and at least 1 - NDCG.

    Examples
    --------
    Twenty queries of ten rows each, with grades from 0 to 2:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.normal(size=(200, 5)), np.repeat(np.arange(20), 10)
    >>> grade = np.clip(np.round(X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=200)), 0, 2).astype(int)
    >>> model = SMTLRanker().fit(X, grade, groups=query)
    >>> bool(model.gap_ <= 1e-3)
    True
    >>> model.score(X, grade, groups=query) > 0.95  # mean NDCG
    True
    >>> best_first = np.argsort(-model.predict(X[query == 3]))
    """

    coef_: npt.NDArray[Any]

    def __init__(
        self,
        metric: str | Metric = "ndcg",
        penalty: str | Penalty = "ridge",
        *,
        C: float | str = "auto",
        ridge: float = 0.0,
        relevant: int = 1,
        gain: str = "exponential",
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 5000,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.penalty = penalty
        self.C = C
        self.ridge = ridge
        self.relevant = relevant
        self.gain = gain
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> SMTLRanker:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Grades of relevance: 0 for none, and whole numbers from 1 on, or yes and no as 1 and 0.
        groups : array-like of shape (n_samples,), optional
            The query of each row; by default all rows are of one.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts in its query: a weight of k is k equal rows, one of 0 is no row. Queries count the
            same.

        Returns
        -------
        SMTLRanker
            The fitted estimator.
        """
        metric, penalty = self._metric(), get_penalty(self.penalty, self.ridge)
        SMTLClassifier(C=self.C, solver=self.solver, tol=self.tol, max_iter=self.max_iter)._check_parameters()
        if y is None:
            raise ValueError("This SMTLRanker estimator requires y to be passed, but the target y is None.")
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_min_samples=2)
        check_scale(X)
        grades = read_grades(y)
        check_consistent_length(X, grades)
        weights, group = read_sample_weight(sample_weight, X), _group_numbers(groups, X.shape[0])
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, grades, group, weights = (
                (X.tocsr() if sp.issparse(X) else X)[kept],
                grades[kept],
                group[kept],
                weights[kept],
            )
        found = self._groups(metric, grades, group, weights)
        self.n_groups_, self.n_groups_left_out_ = int(found.n_used[0]), int(found.n_left_out[0])
        self._report()
        self.coef_ = np.zeros(X.shape[1], dtype=X.dtype)
        self.C_, self.n_iter_ = np.nan, 0
        self.objective_ = self.dual_bound_ = self.gap_ = 0.0
        if self.n_groups_:
            for n_pos, n_neg in found.sizes():
                metric.check_task(n_pos, n_neg)
            self._solve(X, weights, found, metric, penalty)
        return self

    def _metric(self) -> Metric:
        """Return the metric, which must be one of the order."""
        metric = get_metric(self.metric)
        if metric.uses_intercept:
            raise ValueError(
                f"metric must be one of the order, such as 'ndcg', 'ap' or 'auc', got {metric!r} instead: a constant "
                "added to all scores would change it, and no query's order."
            )
        return metric

    def _groups(self, metric: Metric, grades: Numbers, group: Numbers, weights: Float | None) -> Groups:
        """Return the groups that the loss is a mean of."""
        if type(metric) is NDCG:
            return graded_groups(grades, group, self._gains(int(grades.max())), weights)
        return groups_of_tasks(self._signs(grades), np.array([0, len(grades)]), group)

    def _gains(self, most: int) -> Float:
        """Return the gain of each grade."""
        if self.gain not in GAINS:
            raise ValueError(f"gain must be 'exponential' or 'linear', got {self.gain!r} instead.")
        return np.asarray(GAINS[self.gain](np.arange(most + 1.0)), dtype=np.float64)

    def _signs(self, grades: Numbers) -> npt.NDArray[np.int8]:
        """Return +1 for what is relevant, and -1 for the rest."""
        if not (isinstance(self.relevant, Integral) and self.relevant >= 1):
            raise ValueError(f"relevant must be a grade, a whole number from 1 on, got {self.relevant!r} instead.")
        return np.where(grades >= self.relevant, 1, -1).astype(np.int8)

    def _report(self) -> None:
        """Warn where groups say nothing of the order."""
        if self.n_groups_ == 0:
            messages.warn(
                "No group has rows of different relevance: there is no order to learn, and all scores are zero."
            )
        elif self.n_groups_left_out_:
            messages.warn(
                f"{self.n_groups_left_out_} of {self.n_groups_ + self.n_groups_left_out_} groups have rows of one "
                "relevance only: they say nothing of the order, and are left out."
            )

    def _solve(self, X: Any, weights: Float | None, groups: Groups, metric: Metric, penalty: Penalty) -> None:
        """Solve the problem, and set the weights and what the certificate says."""
        tasks = SharedRows(X, np.zeros((X.shape[0], 1), dtype=np.int8))
        tasks.groups, tasks.weights = groups, weights
        with threads(None):
            problem = Problem(tasks, metric, penalty)
            self.C_ = AUTO * natural_C(problem, X) if isinstance(self.C, str) else float(self.C)
            solution = solve(problem, self.C_, self.solver, tol=self.tol, max_iter=self.max_iter, verbose=self.verbose)
        best = solution.certificate
        self.coef_ = best.W[0].astype(X.dtype)
        self.objective_, self.dual_bound_, self.gap_ = best.objective, best.bound, best.gap
        self.n_iter_ = solution.n_iter

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return scores: of the rows of a query, those with the highest come first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores. Only their order within a query means something.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        return np.asarray(X @ self.coef_)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of the metric over the queries.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Grades of relevance.
        groups : array-like of shape (n_samples,), optional
            The query of each row; by default all rows are of one.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts in its query.

        Returns
        -------
        float
            The mean over the queries whose rows are not all equally relevant; NaN if there is none. NDCG is of all
            ranks, and equals scikit-learn's ``ndcg_score`` of the gains.
        """
        scores, metric, grades = self.predict(X), self._metric(), read_grades(y)
        check_consistent_length(scores, grades)
        group, weights = _group_numbers(groups, len(grades)), read_sample_weight(sample_weight, X)
        known = np.arange(len(grades)) if weights is None else np.flatnonzero(weights)
        parts = [known[rows] for rows in rows_of_groups(group[known])]
        each = [None if weights is None else weights[rows] for rows in parts]
        if type(metric) is NDCG:
            gains = self._gains(int(grades.max()))[grades]
            judged = [graded_ndcg(gains[rows], scores[rows], w) for rows, w in zip(parts, each, strict=True)]
            values = [value for value, rows in zip(judged, parts, strict=True) if np.ptp(gains[rows]) > 0]
        else:
            signs = self._signs(grades)
            values = [
                weighted_score(metric, signs[rows], scores[rows], w)
                for rows, w in zip(parts, each, strict=True)
                if np.ptp(signs[rows]) > 0
            ]
        return float(np.mean(values)) if values else float("nan")


def _group_numbers(groups: Any, n: int) -> Numbers:
    """Return the number of each row's group; all rows are of one where there are no groups."""
    return np.zeros(n, dtype=np.int64) if groups is None else group_numbers(groups, n, 1)


def read_grades(y: Any) -> Numbers:
    """Return grades of relevance as whole numbers, or raise ValueError.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Whole numbers from 0 on, or booleans.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Grades.

    Examples
    --------
    >>> read_grades([0.0, 2.0, True])
    array([0, 2, 1])
    """
    values = column_or_1d(y, warn=True)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Unknown label type: y must hold grades of relevance, which are numbers; {error}.") from error
    wrong = ~((numbers >= 0) & (numbers <= MOST) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise ValueError(
            f"y must hold grades of relevance, whole numbers from 0 to {MOST}, got {values[wrong][0]} instead."
        )
    grades: Numbers = numbers.astype(np.int64)
    return grades
