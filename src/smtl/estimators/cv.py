"""SMTLClassifierCV: the classifier that chooses its metric, penalty, C and thresholds by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from smtl import messages
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
from smtl.estimators.candidates import Candidates
from smtl.estimators.checks import check_threshold, checked_data
from smtl.estimators.choosing import Candidate, Choice
from smtl.estimators.correcting import CorrectingTasksClassifier
from smtl.estimators.cv_results import results_table
from smtl.estimators.dealing import group_numbers
from smtl.estimators.fitting import Formula, LinearModel, Solving, start_of
from smtl.estimators.folds import rare_tasks
from smtl.estimators.points import Point, choose, report_an_open_end
from smtl.estimators.progress import CallbackSupport, Progress, with_callbacks
from smtl.estimators.rules import CutRule, cut_by
from smtl.estimators.scoring import TaskScorer
from smtl.estimators.search import Data
from smtl.estimators.targets import Targets
from smtl.estimators.threads import threads
from smtl.estimators.thresholds import choose_cuts
from smtl.estimators.weights import read_sample_weight, weighed_splits
from smtl.metrics import Metric, get_metric
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import check_stopping

__all__ = ["SMTLClassifierCV"]

Threading: TypeAlias = tuple[ThreadPoolExecutor | None, int]


class SMTLClassifierCV(CallbackSupport, CorrectingTasksClassifier):
    r"""`SMTLClassifier` with metric, penalty, C and thresholds chosen by cross-validation.

    On each fold it goes up a path of values of C, each model started from the one before; what the held-out parts score
    decides on C, and their scores on the thresholds. Then a model with that C is fitted to all rows.

    Parameters
    ----------
    metric : str, Metric or list of them, default="auto"
        What the model is trained on; see `SMTLClassifier`. ``"auto"`` chooses among log, AUC and F1 by a race (see
        Notes). Of a list the best is chosen, jointly with C; `scoring` must then say what best means.
    penalty : str, Penalty or list of them, default=None
        What ties the tasks together; see `SMTLClassifier`. ``"auto"`` chooses among ridge, trace and l21 by a race. Of
        a list the best is chosen. None is ``"auto"`` where the metric is, otherwise ``"l21"``.
    Cs : int, "paper" or iterable of float, default=20
        How many values, evenly spread on a log scale over three decades from the data's own critical C (below it, with
        any of the norms, all weights are zero); the 60 values of the paper; or the values.
    cv : int, splitter or iterable, default=5
        The number of folds, stratified for all labels at once (Sechidis 2011), or inside each task where tasks have
        their own rows; a scikit-learn splitter; or pairs of training and test rows. A fold is scored with thresholds
        that the others choose: a single split will do only where there are none to choose, or the score needs none.
    scoring : None, str, Metric or callable, default=None
        What held-out parts are judged by. None is the trained metric, or macro F1 where the metric is ``"auto"``. One
        of smtl's metrics (``"auc"``, ``"f2"``, ...)
        is averaged over the tasks; ``"f1_macro"``, ``"f1_micro"`` and ``"roc_auc"`` are what they are in scikit-learn,
        but leave out what is not labelled and tasks with one class only; any other scorer of scikit-learn's, or its
        name, will do, unless tasks have their own rows, or there are holes in a matrix of labels.
    ridge : float or list of float, default=0.0
        Weight of half the squared Frobenius norm added to the penalty. Of a list the best is chosen.
    fit_intercept : bool, default=True
        Whether each task has an intercept.
    threshold : str or float, default="auto"
        How the cuts between the classes are chosen on the held-out scores, at no extra fit. ``"expected"``: by the
        probabilities of each task's rows. By the labels: ``"per-task"``; ``"shared"``, one for all tasks;
        ``"smoothed"``, the nearer to the shared one the fewer positives a task has; ``"calibrated"``, one for the log
        odds of all tasks; ``"cardinality"``, where yes is said as often as all labels do. ``"auto"`` is the first,
        unless another is clearly better where each fold is cut by what the others say. A number is used as it is.
        With a promise for new rows, kept with a confidence of 95 % for each task: ``"recall>=0.9"``, the best precision
        that keeps this recall; ``"precision>=0.8"``, the best recall. Of several labels ``"at-least-one"``,
        ``"at-most-3"``, ``"top-2"``: so many answers of yes a row, the likeliest ones, with the cuts of ``"auto"``.
    costs : pair, array-like of shape (n_tasks, 2) or dict, default=None
        What a miss and a false alarm cost: a pair for all tasks, one a task, or pairs by the tasks' names. Cuts are
        then those of least expected cost, and ``threshold`` must be left as it is.
    threshold_metric : str or Metric, default=None
        What the cuts are to be best for. By default, with ``threshold="auto"``, `scoring`; otherwise the trained
        metric; F1 if these are no function of the answers (AUC, log).
    calibration : {"logistic", "isotonic"} or None, default=None
        What makes probabilities of the scores, fitted to the held-out ones; `predict_proba` is then there for any
        metric. A curve a task, or rising steps, drawn to what all tasks share where labels are rare; see
        `smtl.calibrate`. None: only a metric that gives probabilities (log) has them.
    within_groups : bool, default=False
        Whether the tasks are judged within the ``groups`` that `fit` is given, as in `SMTLClassifier`: losses and
        scores of the order are means over the groups. Otherwise groups only stay together in the folds.
    selection : {"best", "1se"}, default="best"
        The C of the best mean score, or the smallest whose score is within one standard error of it.
    refit : bool, default=True
        Whether to fit a model to all rows in the end. Otherwise weights are averaged over the folds.
    solver, tol, max_iter
        As in `SMTLClassifier`, for the final model. Models of the folds stop at a gap of 0.02, or after 50 iterations
        for each C; the gaps they reached are in `cv_results_`.
    n_jobs : int, default=None
        Threads for folds side by side, and for the tasks of the final model. The result is the same for any number.
    class_weight : "balanced", dict, list of dict or None, default=None
        What the labels of each class count; see `SMTLClassifier`. Of one answer a row it is a weight of the row, in
        scores and cuts as well. Of several labels a row it counts in training only.
    task_weight : array-like of shape (n_tasks,), dict or None, default=None
        What the loss of each task is multiplied by, in order or by the task's name. Scores are not weighted by it.
    random_state : int, RandomState instance or None, default=None
        For the folds. None stands for a fixed seed.
    verbose : int, default=0
        Whether to show a progress bar on standard error. With scikit-learn 1.9 or later ``set_callbacks`` does so as
        well, with ``sklearn.callback.ProgressBar``.

    Attributes
    ----------
    C_ : float
        The chosen C. Where it is the largest one and scores still rise there, a warning says so.
    metric_, penalty_, ridge_ : str or object, float
        The chosen metric, penalty and ridge, as they were given.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C that were tried with these.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Their scores on the held-out parts; NaN where a fold has no task with both classes.
    cv_results_ : dict of ndarray
        A table of all that was tried, a row each, in the form of `GridSearchCV`: ``param_metric``, ``param_penalty``,
        ``param_ridge``, ``param_C``, ``params``, ``split0_test_score`` and so on, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``, ``mean_guide`` (what rows were compared by: the score, or in a race
        the mean AUC), ``coarse`` (whether it was only a first look), ``max_gap``, ``mean_n_iter``, ``seconds``,
        ``smoothing`` (NaN where the score needs no thresholds: then they are only chosen for the best).
    smoothing_ : float
        How many positives' worth of trust the shared threshold has got; 0 for ``"per-task"``, infinite for
        ``"shared"``.
    threshold_rule_ : str
        How the thresholds were chosen; with ``"auto"`` the rule that scored best. "given" for a number.
    threshold_spread_ : ndarray of shape (n_tasks,)
        The standard deviation of each threshold over the folds, each time chosen without one of them. Any two of five
        folds' choices share three fifths of the rows, so that the threshold is less sure than this seems to say.
    partial_ : bool
        Whether the search was interrupted (Ctrl-C, or a callback that asked to stop): the best of what was done until
        then is kept, with a warning, its weights averaged over the folds.
    coef_, intercept_, thresholds_, calibration_, classes_, task_names_, null_tasks_, unpromised_tasks_
        As in `SMTLClassifier`.
    n_features_in_, feature_names_in_
        As in `SMTLClassifier`. Where AUC is trained on and ``threshold`` is ``"shared"`` or ``"smoothed"``,
        `intercept_` also brings the scores of all tasks to one place: that at which each says yes as often as its
        labels do.
    objective_, dual_bound_, gap_, history_, n_iter_
        Of the final model, as in `SMTLClassifier`; not there with ``refit=False`` or where the search was interrupted.
    refit_time_ : float
        Seconds of the final fit; not there where there was none.

    Notes
    -----
    The race tries log, AUC and F1 with the ridge penalty, then the best of them with the other penalties, each at four
    values of C and with models that stop early; then the values of C around the best. It takes about as long as two
    searches of one metric and penalty. Where `scoring` is a function of the answers, such as macro F1, candidates and
    values of C are compared by the mean AUC of the held-out scores: F1 of a few rows is too noisy to choose by. F1 must
    lead by two standard errors, because its loss is flat where classes overlap.

    A task whose answers are nearly all the same, or on held-out rows no better than a constant, is named in a warning.

    See Also
    --------
    smtl_path : The models of many values of C.
    smtl.plotting : Pictures of the scores, the path and the model.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl import SMTLClassifierCV
    >>> X, Y = make_multilabel_classification(300, random_state=0)
    >>> model = SMTLClassifierCV("auc", "trace", Cs=10, cv=3).fit(X[:200], Y[:200])
    >>> model.scores_.shape
    (3, 10)
    >>> bool(model.C_ in model.Cs_)
    True
    >>> model.predict(X[200:]).shape
    (100, 5)
    >>> chosen = SMTLClassifierCV().fit(X[:200], Y[:200])
    >>> chosen.metric_ in ("log", "auc", "f1"), chosen.penalty_ in ("ridge", "trace", "l21")
    (True, True)
    >>> chosen.threshold_spread_.shape
    (5,)
    """

    def __init__(
        self,
        metric: str | Metric | list[str | Metric] = "auto",
        penalty: str | Penalty | list[str | Penalty] | None = None,
        *,
        Cs: int | str | Iterable[float] = 20,
        cv: Any = 5,
        scoring: Any = None,
        ridge: float | list[float] = 0.0,
        fit_intercept: bool = True,
        threshold: float | str = "auto",
        costs: Any = None,
        threshold_metric: str | Metric | None = None,
        calibration: str | None = None,
        within_groups: bool = False,
        selection: str = "best",
        refit: bool = True,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 5000,
        n_jobs: int | None = None,
        class_weight: Any = None,
        task_weight: Any = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.penalty = penalty
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.costs = costs
        self.threshold_metric = threshold_metric
        self.calibration = calibration
        self.within_groups = within_groups
        self.selection = selection
        self.refit = refit
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.task_weight = task_weight
        self.random_state = random_state
        self.verbose = verbose

    def _metric(self) -> Metric:
        return get_metric(getattr(self, "metric_", self._choice().metrics[0]))

    def _choice(self) -> Choice:
        return Choice(self.metric, self.penalty, self.ridge, self.scoring, self.threshold, self.threshold_metric)

    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        tasks: Any = None,
        groups: Any = None,
        offset: Any = None,
        sample_weight: Any = None,
    ) -> SMTLClassifierCV:
        """Choose C and the thresholds, and fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Classes, or a matrix of 0 and 1 with a column a task. NaN: not labelled.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows; y then has two classes.
        groups : array-like of shape (n_samples,), optional
            Groups of rows that stay together in the folds; a splitter as ``cv`` is given them. With ``within_groups``
            the tasks are judged within them, too.
        offset : array-like of shape (n_samples,) or (n_samples, n_tasks), optional
            Scores to start from; see `SMTLClassifier.fit`.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts, in training, in the scores of the held-out parts and in the choice of cuts; see
            `SMTLClassifier.fit`.

        Returns
        -------
        SMTLClassifierCV
            The fitted estimator.
        """
        self._check_parameters()
        X, targets = checked_data(self, X, y, tasks, offset)
        if self.within_groups:
            targets.group = group_numbers(groups, X.shape[0], 1)
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        weighing = read_sample_weight(sample_weight, X), self.class_weight, self.task_weight
        X, y, targets, splits, _ = weighed_splits(self.cv, (X, y, targets), groups, weighing, rng)
        with threads(self.n_jobs) as threading:
            return self._choose(Data(X, y, targets, splits), threading)

    def _choose(self, data: Data, threading: Threading) -> SMTLClassifierCV:
        """Choose all that is to be chosen, and fit the model."""
        X, targets, splits = data.X, data.targets, data.splits
        cutting = cut_by(self.threshold, self.costs, targets.names, targets.kind)
        if isinstance(cutting, CutRule):
            cutting.check_weights(targets.row_weight)
        choice = replace(self._choice(), threshold=cutting)
        candidates = Candidates(choice, self.Cs, self.selection, bool(self.fit_intercept), self._solving())
        choice.check_scoring(targets, len(splits))
        self._report_rare_tasks(targets, len(splits))
        grids = candidates.grids(data)
        n_steps = len(splits) * candidates.most_points(grids)
        with Progress(self, n_steps, show=bool(self.verbose), X=X, y=data.y) as progress:
            points, self.partial_ = candidates.tried(data, grids, threading[0], progress)
        chosen = choose(points, self.selection)
        if not np.isfinite(chosen.mean) and len(targets.learnable()):
            raise ValueError(
                "No fold could be scored: none has a task with both classes in its test part and its training "
                "part. Use fewer folds, folds that are stratified or shuffled, another scoring, or weights that are "
                f"not so far apart that next to nothing is left of a class; got cv={self.cv!r}."
            )
        formula = candidates.formula(chosen.candidate)
        chosen.cuts = choice.final_cuts(chosen, formula.metric, targets.kind)
        self._keep_search(points, chosen, candidates.names)
        self._keep_means(chosen, targets, X.dtype)
        if not self.partial_:
            report_an_open_end(self.C_, self.Cs_, self.scores_, grids[chosen.candidate])
        model = self._finish(data, formula, chosen, len(points), threading)
        self._keep_promises(cutting, data, chosen, model)
        if isinstance(cutting, str):  # whoever gives the cut knows what it does
            held = chosen.held if choice.judged_by_task(formula.metric, targets.kind) else None
            if cutting == "auto" and held is not None:
                keep_cuts_inside(self, X, targets)
            target = choice.cut_target(formula.metric, targets.kind)
            report_answers(self, X, targets, held, chosen.cuts.by_fold, target)
        return self

    def _finish(
        self, data: Data, formula: Formula, chosen: Point, n_points: int, threading: Threading
    ) -> LinearModel | None:
        """Fit the final model, unless it is not asked for or the search was interrupted."""
        if self.partial_:
            messages.warn(
                f"The search was interrupted after {n_points} values of C. The best so far, C={self.C_:.4g}, is "
                "kept with weights averaged over the folds; see partial_ and cv_results_. Fit again for a final model."
            )
        elif self.refit:
            try:
                return self._refit(data, formula, chosen, threading)
            except KeyboardInterrupt:
                self.partial_ = True
                messages.warn(
                    f"The final fit was interrupted. The search is whole: C={self.C_:.4g} is chosen, and weights are "
                    "averaged over the folds. SMTLClassifier with that C makes a final model."
                )
        return None

    def _keep_promises(
        self, cutting: str | float | CutRule, data: Data, chosen: Point, model: LinearModel | None
    ) -> None:
        """Set what is said of new rows: cuts with a condition, and probabilities."""
        self._keep_row_rule()
        self.unpromised_tasks_ = data.targets.names[:0]
        assert chosen.cuts is not None
        held, targets = chosen.held, data.targets
        if held is not None and self._promises():
            final = (chosen.coef, chosen.intercept) if model is None else (model.coef, model.intercept)
            held = aligned(held, data.X, targets, chosen.folds, chosen.models, final)
            if isinstance(cutting, CutRule):
                metric = self._metric()
                chosen.cuts = choose_cuts(held, cutting, metric, metric)
                modelled = chosen.modelled if model is None else _learnable(targets)
                self._keep_weights(*final, chosen.cuts, modelled, targets, data.X.dtype)
                self.threshold_spread_ = chosen.cuts.spread
                self.unpromised_tasks_ = report_broken(cutting, held, targets)
        self._keep_calibration(held, chosen.cuts, targets)

    def _solving(self) -> Solving:
        return Solving(self.solver, self.tol, self.max_iter, self.verbose)

    def _check_parameters(self) -> None:
        """Raise for parameters that have no meaning."""
        check_threshold(self.threshold)
        check_calibration(self.calibration)
        check_stopping(self.tol, self.max_iter)
        for metric, penalty, ridge in self._choice().candidates:
            get_metric(metric), get_penalty(penalty, ridge)  # raise for names that are not known
        if self.selection not in ("best", "1se"):
            raise ValueError(f"selection must be 'best' or '1se', got {self.selection!r} instead.")

    def _report_rare_tasks(self, targets: Targets, n_folds: int) -> None:
        rare = rare_tasks(targets, n_folds)
        if isinstance(self.cv, Integral) and len(rare):
            messages.warn(
                f"{targets.in_words(rare)} fewer positives, or negatives, than the {n_folds} folds. They "
                "are trained, but count only in the folds where both classes are; their thresholds are uncertain "
                "(threshold='smoothed' helps)."
            )

    def _keep_search(self, points: list[Point], chosen: Point, candidates: list[Candidate]) -> None:
        """Set the attributes that tell of the search."""
        self.C_ = chosen.C
        self.metric_, self.penalty_, self.ridge_ = candidates[chosen.candidate]
        same = [point for point in points if (point.candidate, point.coarse) == (chosen.candidate, chosen.coarse)]
        self.Cs_ = np.array([point.C for point in same])
        self.scores_ = np.array([point.scores for point in same]).T
        assert chosen.cuts is not None
        self.smoothing_, self.threshold_rule_ = chosen.cuts.smoothing, chosen.cuts.rule
        self.threshold_spread_ = chosen.cuts.spread
        self.cv_results_ = results_table(points, candidates)

    def _keep_means(self, chosen: Point, targets: Targets, dtype: Any) -> None:
        """Set the attributes of the model whose weights are averaged over the folds."""
        assert chosen.cuts is not None
        self._keep_weights(chosen.coef, chosen.intercept, chosen.cuts, chosen.modelled, targets, dtype)
        self.null_tasks_ = targets.names[null_tasks(self.coef_, targets.learnable())]
        for name in ("objective_", "dual_bound_", "gap_", "history_", "n_iter_", "refit_time_"):
            if hasattr(self, name):
                delattr(self, name)

    def _refit(self, data: Data, formula: Formula, chosen: Point, threading: Threading) -> LinearModel:
        """Fit a model with the chosen C to all rows, from the mean of the folds' models."""
        started = time.perf_counter()
        X, targets = data.X, data.targets
        learnable = targets.learnable()
        start = start_of(chosen.coef[learnable], chosen.intercept[learnable])
        model = data.fit(formula, chosen.C, self._solving(), start, threading)
        assert chosen.cuts is not None
        self._keep_solution(model)
        self._keep_weights(model.coef, model.intercept, chosen.cuts, _learnable(targets), targets, X.dtype)
        zero = null_tasks(self.coef_, learnable)
        self.null_tasks_ = targets.names[zero]
        report_constants(targets, learnable)
        report_zero_weights(targets, zero, self.C_, self.gap_)
        self.refit_time_ = time.perf_counter() - started
        return model

    def _scorer(self) -> TaskScorer | Callable[..., float]:
        return self._choice().scorer(self._metric(), self._kind)

    def _groups_to_score(self, groups: Any, *, answers: bool) -> Any:
        return groups if self._has_groups and not answers else None


def _learnable(targets: Targets) -> npt.NDArray[np.bool_]:
    """Return for each task whether it has both classes."""
    return np.isin(np.arange(len(targets.names)), targets.learnable())
