r"""SMTLClassifier: one linear model per task, trained jointly on the metric they are judged by."""

from __future__ import annotations

from concurrent.futures import Executor
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from smtl.estimators.aligning import aligned
from smtl.estimators.all_or_nothing import all_or_nothing
from smtl.estimators.behaviour import (
    keep_cuts_inside,
    null_tasks,
    report_answers,
    report_broken,
    report_constants,
    report_zero_weights,
)
from smtl.estimators.calibrating import check_calibration
from smtl.estimators.checks import check_C, check_groups, check_tasks, check_threshold, checked_data
from smtl.estimators.correcting import CorrectingTasksClassifier
from smtl.estimators.dealing import group_numbers
from smtl.estimators.fitting import Formula, LinearModel, Solving, fit_linear
from smtl.estimators.folds import make_folds
from smtl.estimators.held_out import Fold, HeldOut, fold_problems, scores_of
from smtl.estimators.rules import CutRule, cut_by
from smtl.estimators.targets import Targets
from smtl.estimators.threads import threads
from smtl.estimators.thresholds import Cuts, choose_cuts, cut_target
from smtl.estimators.weights import for_folds, read_sample_weight, weigh, without_zeros
from smtl.metrics import Metric, get_metric
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import Start, check_stopping, solve

__all__ = ["SMTLClassifier"]

Float: TypeAlias = npt.NDArray[np.float64]
Cutting: TypeAlias = str | float | CutRule

# Folds for choosing thresholds, and the gap to which their models are fitted at least.
N_FOLDS = 3
FOLD_TOL = 1e-2


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
        ``"error"``, ``"balanced-error"``, ``"jaccard"``, ``"gmean"``, ``"mcc"``, ``"ap"``, ``"ndcg"``, ``"pauc"``,
        ``"precision@k"``, ``"prbep"``, or an instance of `smtl.metrics.Metric`. Where classes overlap, the
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
        ``"cardinality"``; see `SMTLClassifierCV`. A number is used as it is. ``"recall>=0.9"``, ``"precision>=0.8"``:
        the best precision, or recall, that keeps this floor on new rows with a confidence of 95 % for each task. Of
        several labels ``"at-least-one"``, ``"at-most-3"``, ``"top-2"``: so many answers of yes a row, the likeliest.
    costs : pair, array-like of shape (n_tasks, 2) or dict, default=None
        What a miss and a false alarm cost: a pair for all tasks, one a task, or pairs by the tasks' names. Cuts are
        then those of least expected cost, and ``threshold`` must be left as it is.
    threshold_metric : str or Metric, default=None
        What a chosen cut is to be best for. By default the metric itself; F1 if that is no function of the answers
        (AUC, log).
    calibration : {"logistic", "isotonic"} or None, default=None
        What makes probabilities of the scores, fitted to held-out ones, which takes three more fits unless cuts are
        chosen on them; `predict_proba` is then there for any metric. A curve a task, or rising steps, drawn to what all
        tasks share where labels are rare; see `smtl.calibrate`. None: only a metric that gives probabilities (log) has
        them.
    solver : {"auto", "bundle", "cutting-plane", "paper"}, default="auto"
        ``"auto"`` goes by the curvature of smooth losses (``"log"``) and by planes for all others; ``"bundle"`` goes by
        planes; ``"cutting-plane"`` is for the ridge penalty, each task by itself; ``"paper"`` is the original
        algorithm, for comparison.
    tol : float, default=1e-3
        The relative duality gap at which to stop.
    max_iter : int, default=5000
        The most iterations of the solver. It warns if they do not suffice.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    n_jobs : int, default=None
        Threads to spread the tasks over; -1 for all cores. The result is the same for any number. BLAS is kept to one
        thread while a model is fitted.
    class_weight : "balanced", dict, list of dict or None, default=None
        What the labels of each class count in training: in inverse proportion to their number, or as the dict says. Of
        one answer a row it is a weight of the row. Of several labels a row each has its own, by 0 and 1, in one dict or
        a list with one entry a task; cuts are then still chosen for the metric as it is.
    task_weight : array-like of shape (n_tasks,), dict or None, default=None
        What the loss of each task is multiplied by, in order or by the task's name.
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
    calibration_ : Curves, Steps or None
        What makes probabilities of scores, where that was asked for.
    thresholds_ : ndarray of shape (n_tasks,)
        The thresholds that were folded into `intercept_`.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_tasks - 1.
    task_names_ : ndarray of shape (n_tasks,)
        Names of the tasks: the classes, the columns of Y, or the values of ``tasks``.
    null_tasks_ : ndarray
        Names of the tasks whose answer is the same for every training row, because weights are zero or too small to
        bring any row across the threshold. With a threshold that is a number, only weights of zero count.
    unpromised_tasks_ : ndarray
        Names of the tasks for which the floor that ``threshold`` asks for cannot be promised, for want of labels.
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
    feature_names_in_ : ndarray of shape (n_features,)
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
        costs: Any = None,
        threshold_metric: str | Metric | None = None,
        calibration: str | None = None,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 5000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        class_weight: Any = None,
        task_weight: Any = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.penalty = penalty
        self.C = C
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.costs = costs
        self.threshold_metric = threshold_metric
        self.calibration = calibration
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.task_weight = task_weight
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        tasks: Any = None,
        offset: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> SMTLClassifier:
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
        groups : array-like of shape (n_samples,), optional
            Groups of rows within which the tasks are judged: queries, visits, customers. The loss of a task is then the
            mean of the metric's loss over its groups that have both classes, with one w for all of them; folds keep
            groups together. For metrics of the order, such as ``"ap"``, ``"ndcg"`` and ``"auc"``; for others
            ``fit_intercept`` must be False, since an intercept would have to suit all groups at once.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: a weight of k is k equal rows, one of 0 is no row. Of weights that are no whole
            numbers cuts are chosen on held-out rows in copies in proportion to them. A metric of one's own that does
            not know weights takes whole numbers only.

        Returns
        -------
        SMTLClassifier
            The fitted estimator.
        """
        formula = Formula(get_metric(self.metric), get_penalty(self.penalty, self.ridge), bool(self.fit_intercept))
        self._check_parameters()
        X, targets = checked_data(self, X, y, tasks, offset)
        weights = read_sample_weight(sample_weight, X)
        if groups is not None:
            targets.group = group_numbers(groups, X.shape[0], 1)
            check_groups(formula.metric, formula.with_intercept)
        X, targets, weights = without_zeros(X, targets, weights)
        cutting = cut_by(self.threshold, self.costs, targets.names, targets.kind)
        if groups is None and self._needs_held_out(cutting, formula.metric, targets):
            copies = for_folds(X, targets, weights, N_FOLDS)
            if copies is not None:
                X, targets, weights = X[copies], targets.part(copies), None
        weigh(targets, weights, self.class_weight, self.task_weight)
        check_tasks(formula.metric, targets)
        if isinstance(cutting, CutRule):
            cutting.check_weights(targets.row_weight)
        start: Start | None = getattr(self, "_start", None) if self.warm_start else None
        with threads(self.n_jobs) as threading:
            solving = Solving(self.solver, self.tol, self.max_iter, self.verbose)
            model = fit_linear(X, targets, formula, self.C, solving, start=start, threading=threading)
            held = None
            if self._needs_held_out(cutting, formula.metric, targets):
                held = self._held_out(formula, model, X, targets, threading[0])
        self._start = model.solution.start.without_planes() if self.warm_start and model.solution else None
        self._keep_fit(cutting, formula.metric, model, held, X, targets)
        return self

    def _needs_held_out(self, cutting: Cutting, metric: Metric, targets: Targets) -> bool:
        """Return whether there is anything that is chosen on held-out scores."""
        return len(targets.learnable()) > 0 and (_on_held_out(cutting, metric) or self.calibration is not None)

    def _keep_fit(
        self,
        cutting: Cutting,
        metric: Metric,
        model: LinearModel,
        helds: tuple[HeldOut, HeldOut] | None,
        X: Any,
        targets: Targets,
    ) -> None:
        """Set all attributes but the start of another fit, and warn of what is worth little.

        Held-out scores are there as they are, and on the scale of the final model.
        """
        self.C_ = model.C
        held, placed = (None, None) if helds is None else helds
        held = placed if isinstance(cutting, CutRule) else held
        cuts = self._cuts(cutting, metric, held, len(targets.names))
        self._keep_solution(model)
        modelled = np.isin(np.arange(len(targets.names)), targets.learnable())
        self._keep_weights(model.coef, model.intercept, cuts, modelled, targets, X.dtype)
        self._keep_calibration(placed, cuts, targets)
        self._keep_row_rule()
        chosen = held if _on_held_out(cutting, metric) else None
        if cutting == "auto" and chosen is not None:
            keep_cuts_inside(self, X, targets)
        self._report_behaviour(cutting, X, targets, chosen, cuts.by_fold)

    def _check_parameters(self) -> None:
        """Raise for parameters that have no meaning."""
        check_C(self.C)
        check_threshold(self.threshold)
        check_calibration(self.calibration)
        check_stopping(self.tol, self.max_iter)

    def _cuts(self, cutting: Cutting, metric: Metric, held: HeldOut | None, m: int) -> Cuts:
        """Return the cuts of all tasks."""
        if held is not None and _on_held_out(cutting, metric):
            return choose_cuts(held, cutting, metric, cut_target(metric, self.threshold_metric))
        cut = np.full(m, cutting if isinstance(cutting, Real) else 0.0, dtype=np.float64)
        return Cuts(np.zeros(m), cut, np.zeros((0, m)), 0.0)

    def _held_out(
        self,
        formula: Formula,
        model: LinearModel,
        X: Any,
        targets: Targets,
        executor: Executor | None,
    ) -> tuple[HeldOut, HeldOut]:
        """Return scores of all rows by models that have not seen them, as they are and as the final model's."""
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        n_units = X.shape[0] if targets.group is None else int(targets.group.max()) + 1
        splits = make_folds(max(min(N_FOLDS, n_units), 2), X, None, targets, rng, targets.group)
        folds = fold_problems(X, targets, splits, formula)

        def weights(fold: Fold) -> tuple[Float, Float]:
            if fold.problem is None:
                return np.zeros((0, X.shape[1])), np.zeros(0)
            tol = max(self.tol, FOLD_TOL)
            best = solve(fold.problem, model.C, self.solver, tol=tol, max_iter=self.max_iter, warn=False).certificate
            return best.W, best.intercept

        models = list(map(weights, folds) if executor is None else executor.map(weights, folds))
        scores = [scores_of(X, targets, fold, *one) for fold, one in zip(folds, models, strict=True)]
        held = HeldOut(targets, folds, scores)
        if not self._promises():
            return held.weighed(), held.weighed()
        as_final = aligned(held, X, targets, folds, models, (model.coef, model.intercept))
        return held.weighed(), as_final.weighed()

    def _report_behaviour(
        self, cutting: Cutting, X: Any, targets: Targets, held: HeldOut | None, by_fold: Float
    ) -> None:
        """Set the null tasks, and warn of tasks whose answers are worth little."""
        fitted = targets.learnable()
        report_constants(targets, fitted)
        zero = null_tasks(self.coef_, fitted)
        self.null_tasks_ = targets.names[zero]
        report_zero_weights(targets, zero, self.C_, self.gap_)
        self.unpromised_tasks_ = targets.names[:0]
        if isinstance(cutting, CutRule):
            self.unpromised_tasks_ = report_broken(cutting, held, targets)
        elif isinstance(cutting, str):  # whoever gives the cut knows what it does
            report_answers(self, X, targets, held, by_fold, cut_target(self._metric(), self.threshold_metric))


def _on_held_out(cutting: Cutting, metric: Metric) -> bool:
    """Return whether cuts are chosen on held-out scores."""
    return not isinstance(cutting, Real) and not (cutting == "auto" and metric.judges_answers)
