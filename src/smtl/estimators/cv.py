"""SMTLClassifierCV: the classifier that chooses its metric, penalty, C and thresholds by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from smtl import messages
from smtl.estimators.all_or_nothing import all_or_nothing
from smtl.estimators.base import CorrectingTasksClassifier
from smtl.estimators.behaviour import keep_cuts_inside, null_tasks, report_answers
from smtl.estimators.choosing import Candidate, Choice
from smtl.estimators.classifier import CHOSEN, SMTLClassifier, check_scale, check_tasks, check_threshold, natural_C
from smtl.estimators.cv_results import results_table
from smtl.estimators.folds import make_folds, rare_tasks
from smtl.estimators.progress import CallbackSupport, Progress, with_callbacks
from smtl.estimators.racing import COARSE_ITER, COARSE_TOL, Heat, most_points, race
from smtl.estimators.scoring import TaskScorer, judges_answers
from smtl.estimators.search import Data, Point, choose, forget_losers, report_an_open_end, search
from smtl.estimators.targets import Targets, read_offset, read_targets
from smtl.estimators.threads import threads
from smtl.metrics import Metric, get_metric
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import Problem, grid_of_Cs

__all__ = ["SMTLClassifierCV"]

Float: TypeAlias = npt.NDArray[np.float64]

# Models of the folds serve to compare values of C: to this gap, or so many passes for each C.
FOLD_TOL = 2e-2
FOLD_ITER = 50


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
    threshold_metric : str or Metric, default=None
        What the cuts are to be best for. By default, with ``threshold="auto"``, `scoring`; otherwise the trained
        metric; F1 if these are no function of the answers (AUC, log).
    selection : {"best", "1se"}, default="best"
        The C of the best mean score, or the smallest whose score is within one standard error of it.
    refit : bool, default=True
        Whether to fit a model to all rows in the end. Otherwise weights are averaged over the folds.
    solver, tol, max_iter
        As in `SMTLClassifier`, for the final model. Models of the folds stop at a gap of 0.02, or after 50 iterations
        for each C; the gaps they reached are in `cv_results_`.
    n_jobs : int, default=None
        Threads for folds side by side, and for the tasks of the final model. The result is the same for any number.
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
    coef_, intercept_, thresholds_, classes_, task_names_, null_tasks_, n_features_in_, feature_names_in_
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
        threshold_metric: str | Metric | None = None,
        selection: str = "best",
        refit: bool = True,
        solver: str = "bundle",
        tol: float = 1e-3,
        max_iter: int = 5000,
        n_jobs: int | None = None,
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
        self.threshold_metric = threshold_metric
        self.selection = selection
        self.refit = refit
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _metric(self) -> Metric:
        return get_metric(getattr(self, "metric_", self._choice().metrics[0]))

    def _choice(self) -> Choice:
        return Choice(self.metric, self.penalty, self.ridge, self.scoring, self.threshold, self.threshold_metric)

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, tasks: Any = None, groups: Any = None, offset: Any = None) -> SMTLClassifierCV:
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
            Groups of rows, for a ``cv`` that keeps them together.
        offset : array-like of shape (n_samples,) or (n_samples, n_tasks), optional
            Scores to start from; see `SMTLClassifier.fit`.

        Returns
        -------
        SMTLClassifierCV
            The fitted estimator.
        """
        choice = self._choice()
        candidates = choice.candidates
        self._check_parameters()
        if y is None:
            raise ValueError("This SMTLClassifierCV estimator requires y to be passed, but the target y is None.")
        dtypes = (np.float64, np.float32)
        checked = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=dtypes, ensure_min_samples=2)
        check_scale(checked)
        targets = read_targets(checked, y, tasks)
        if offset is not None:
            targets.offset = read_offset(offset, targets.Y.shape)
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        splits = make_folds(self.cv, checked, y, targets, rng, groups)
        choice.check_scoring(targets, len(splits))
        self._report_rare_tasks(targets, len(splits))
        data = Data(checked, y, targets, splits)
        with threads(self.n_jobs) as (executor, _):
            grids = self._grids(data, candidates)
            points, self.partial_ = self._search(data, candidates, grids, executor)
        chosen = choose(points, self.selection)
        metric = get_metric(candidates[chosen.candidate][0])
        chosen.cuts = choice.final_cuts(chosen, metric, targets.kind)
        if not np.isfinite(chosen.mean) and len(targets.learnable()):
            raise ValueError(
                "No fold could be scored: none has a task with both classes in its test part and its training part. "
                f"Use fewer folds, folds that are stratified or shuffled, or another scoring; got cv={self.cv!r}."
            )
        self._keep_search(points, chosen, candidates)
        self._keep_model(chosen, targets, checked.dtype)
        if not self.partial_:
            report_an_open_end(self.C_, self.Cs_, self.scores_, grids[chosen.candidate])
        self._finish(X, y, tasks, offset, chosen, targets, len(points))
        if isinstance(self.threshold, str):  # whoever gives the cut knows what it does
            held = chosen.held if choice.judged_by_task(metric, targets.kind) else None
            if self.threshold == "auto" and held is not None:
                keep_cuts_inside(self, checked, targets)
            target = choice.cut_target(metric, targets.kind)
            report_answers(self, checked, targets, held, chosen.cuts.by_fold, target)
        return self

    def _finish(self, X: Any, y: Any, tasks: Any, offset: Any, chosen: Point, targets: Targets, n_points: int) -> None:
        """Fit the final model, unless it is not asked for or the search was interrupted."""
        if self.partial_:
            messages.warn(
                f"The search was interrupted after {n_points} values of C. The best so far, C={self.C_:.4g}, is "
                "kept with weights averaged over the folds; see partial_ and cv_results_. Fit again for a final model."
            )
        elif self.refit:
            try:
                self._refit(X, y, tasks, offset, chosen, targets)
            except KeyboardInterrupt:
                self.partial_ = True
                messages.warn(
                    f"The final fit was interrupted. The search is whole: C={self.C_:.4g} is chosen, and weights are "
                    "averaged over the folds. SMTLClassifier with that C makes a final model."
                )

    def _check_parameters(self) -> None:
        """Raise for parameters that have no meaning."""
        check_threshold(self.threshold, CHOSEN)
        if self.selection not in ("best", "1se"):
            raise ValueError(f"selection must be 'best' or '1se', got {self.selection!r} instead.")
        SMTLClassifier(solver=self.solver, tol=self.tol, max_iter=self.max_iter)._check_parameters()

    def _report_rare_tasks(self, targets: Targets, n_folds: int) -> None:
        rare = rare_tasks(targets, n_folds)
        if isinstance(self.cv, Integral) and len(rare):
            messages.warn(
                f"{targets.in_words(rare)} fewer positives, or negatives, than the {n_folds} folds. They "
                "are trained, but count only in the folds where both classes are; their thresholds are uncertain "
                "(threshold='smoothed' helps)."
            )

    def _search(
        self, data: Data, candidates: list[Candidate], grids: list[Float], executor: Executor | None
    ) -> tuple[list[Point], bool]:
        """Return the points that were done, and whether there should have been more."""
        points: list[Point] = []
        racing, n_folds = self._choice().racing, len(data.splits)
        n_points = most_points(candidates, grids) if racing else sum(map(len, grids))

        def run(heat: Heat) -> Iterator[Point]:
            return self._tried(data, candidates[heat.candidate], heat, executor)

        whole = (point for number, Cs in enumerate(grids) for point in run(Heat(number, Cs, coarse=False)))
        try:
            with Progress(self, n_folds * n_points, show=bool(self.verbose), X=data.X, y=data.y) as progress:
                for point in race(candidates, grids, run) if racing else whole:
                    points.append(point)
                    forget_losers(points, self.selection)
                    if progress.step(f"C={point.C:.3g} scores {point.mean:.4f}", n_folds):
                        return points, len(points) < n_points
        except KeyboardInterrupt:
            if not points:
                raise
            return points, True
        return points, False

    def _tried(self, data: Data, candidate: Candidate, heat: Heat, executor: Executor | None) -> Iterator[Point]:
        """Yield the points of some values of C of one candidate."""
        name, penalty, ridge = candidate
        metric, kind, choice = get_metric(name), data.targets.kind, self._choice()
        tol, max_iter = (COARSE_TOL, COARSE_ITER) if heat.coarse else (FOLD_TOL, FOLD_ITER)
        for point in search(
            data,
            heat.candidate,
            metric,
            get_penalty(penalty, ridge),
            heat.Cs,
            scorer=choice.scorer(metric, kind),
            threshold=self.threshold,
            target=choice.cut_target(metric, kind),
            cut_later=self.selection == "best",
            guide=choice.guide(metric, kind),
            with_intercept=bool(self.fit_intercept),
            executor=executor,
            solver=self.solver,
            tol=max(self.tol, tol),
            max_iter=min(self.max_iter, max_iter),
        ):
            point.coarse = heat.coarse
            yield point

    def _grids(self, data: Data, candidates: list[Candidate]) -> list[Float]:
        """Return the values of C of each candidate."""
        values: Any = list(self.Cs) if isinstance(self.Cs, Iterator) else self.Cs
        return [self._grid(values, data, get_metric(metric), get_penalty(p, ridge)) for metric, p, ridge in candidates]

    def _grid(self, Cs: Any, data: Data, metric: Metric, penalty: Penalty) -> Float:
        """Return the values of C for one candidate."""
        fitted = data.targets.learnable()
        check_tasks(metric, data.targets)
        if len(fitted) == 0:
            return grid_of_Cs(Cs, 1.0)
        tasks, offset = data.targets.tasks(data.X, fitted), data.targets.flat_offset(fitted)
        problem = Problem(tasks, metric, penalty, 1.0, with_intercept=bool(self.fit_intercept), offset=offset)
        return grid_of_Cs(Cs, natural_C(problem, data.X))

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

    def _keep_model(self, chosen: Point, targets: Targets, dtype: Any) -> None:
        """Set the attributes of the model whose weights are averaged over the folds."""
        self.classes_, self.task_names_, self._kind = targets.classes, targets.names, targets.kind
        self._has_offset = targets.offset is not None
        self.coef_ = chosen.coef.astype(dtype)
        self._set_thresholds(chosen, chosen.intercept, chosen.modelled, dtype)
        self.null_tasks_ = targets.names[null_tasks(self.coef_, targets.learnable())]
        for name in ("objective_", "dual_bound_", "gap_", "history_", "n_iter_", "refit_time_"):
            if hasattr(self, name):
                delattr(self, name)

    def _set_thresholds(
        self, chosen: Point, intercept: npt.NDArray[Any], modelled: npt.NDArray[np.bool_], dtype: Any
    ) -> None:
        """Set the thresholds, and fold them into the intercepts; a task without a model keeps its constant answer."""
        assert chosen.cuts is not None
        location, cut = (np.where(modelled, values, 0.0) for values in (chosen.cuts.location, chosen.cuts.cut))
        self.thresholds_ = cut.astype(dtype)
        self.intercept_ = (intercept - location - cut).astype(dtype)

    def _refit(self, X: Any, y: Any, tasks: Any, offset: Any, chosen: Point, targets: Targets) -> None:
        """Fit a model with the chosen C to all rows, and take over its attributes."""
        started = time.perf_counter()
        final = SMTLClassifier(
            self.metric_,
            self.penalty_,
            C=self.C_,
            ridge=self.ridge_,
            fit_intercept=self.fit_intercept,
            threshold=0.0,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        ).fit(X, y, tasks, offset)
        for name in ("coef_", "null_tasks_", "objective_", "dual_bound_", "gap_", "history_", "n_iter_"):
            setattr(self, name, getattr(final, name))
        learnable = np.isin(np.arange(len(targets.names)), targets.learnable())
        self._set_thresholds(chosen, final.intercept_, learnable, final.intercept_.dtype)
        self.refit_time_ = time.perf_counter() - started

    def score(self, X: Any, y: Any, sample_weight: None = None, tasks: Any = None, offset: Any = None) -> float:
        """Return what `scoring` says of the model: by default the trained metric, averaged over the tasks.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in `fit`.
        sample_weight : None
            There for scikit-learn's sake: the metrics are not weighted.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.
        offset : array-like of shape (n_samples,) or (n_samples, n_tasks), optional
            Scores to start from, for a model fitted with them.

        Returns
        -------
        float
            The score.
        """
        self._check_scorable(sample_weight, tasks)
        scorer = self._choice().scorer(self._metric(), self._kind)
        if not isinstance(scorer, TaskScorer):
            return float(scorer(self, X, y))
        return scorer(self._columns(X, y, tasks, answers=judges_answers(scorer), offset=offset))
