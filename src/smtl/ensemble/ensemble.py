"""SMTLEnsemble: learners of several kinds, put together by their scores on held-out rows."""

from __future__ import annotations

import time
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from smtl import messages
from smtl.ensemble.combination import Combination, combine
from smtl.ensemble.correction import Correction, fit_correction, score_features
from smtl.ensemble.judging import Judge
from smtl.ensemble.learners import Learner
from smtl.ensemble.presets import ON_TRIAL, make_learners
from smtl.ensemble.trained import Trained, alone, check_weights_known, refit, usable_only, without_nan
from smtl.ensemble.trial import gain_of
from smtl.estimators.all_or_nothing import all_or_nothing
from smtl.estimators.base import TasksClassifier
from smtl.estimators.behaviour import report_broken, report_constants
from smtl.estimators.checks import check_threshold
from smtl.estimators.dealing import group_numbers
from smtl.estimators.folds import rare_tasks
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.progress import CallbackSupport, Progress, with_callbacks
from smtl.estimators.rules import CutRule, cut_by, row_rule
from smtl.estimators.scoring import TaskScorer, get_scoring, given_weights
from smtl.estimators.targets import Targets, read_targets, task_numbers
from smtl.estimators.threads import threads
from smtl.estimators.weights import in_copies, read_sample_weight, weighed_splits
from smtl.metrics import Log, Metric
from smtl.notebook import Table

__all__ = ["SMTLEnsemble"]

Float: TypeAlias = npt.NDArray[np.float64]


class SMTLEnsemble(CallbackSupport, TasksClassifier):
    r"""Learners of several kinds, weighted by their scores on held-out rows, with cuts for what counts.

    1. Every learner gives scores of held-out rows, on the same folds.
    2. One weight a learner, shared by all tasks, minimises the log loss of the weighted sum. A logistic curve a task
       makes log odds of it.
    3. A joint linear model corrects the log odds of each task by those of all others. It stays only where it gains.
    4. Cuts are chosen for `scoring`.
    5. The learners that have a weight are fitted to all rows.

    Parameters
    ----------
    scoring : str, Metric or callable, default="f1_macro"
        What you are judged by: ``"f1_macro"``, ``"f1_micro"``, ``"roc_auc"``, one of smtl's metrics, or a scorer of
        scikit-learn's or its name. See `SMTLClassifierCV`.
    learners : "auto" or list, default="auto"
        ``"auto"`` leaves them to `preset`. Or a list: names (see `smtl.ensemble.learner_names`), classifiers in the
        manner of scikit-learn, and pairs of a name and a classifier.
    correction : {"auto", True, False}, default="auto"
        Whether the joint model corrects the combination: where it gains more than its standard error over the folds,
        always, or never.
    threshold : str or float, default="auto"
        How cuts are chosen; see `SMTLClassifierCV`. ``"auto"`` is the best of the ways for `scoring`, judged on
        held-out rows. A number is a cut of the log odds. For several classes there is no cut: the most probable one
        is the answer.
    costs : pair, array-like of shape (n_tasks, 2) or dict, default=None
        What a miss and a false alarm cost; see `SMTLClassifierCV`.
    cv : int, splitter or iterable, default=5
        The folds; see `SMTLClassifierCV`.
    within_groups : bool, default=False
        Whether the tasks are judged within the ``groups`` that `fit` is given: scores of the order are means over the
        groups, and so is the loss of the correction. Otherwise groups only stay together in the folds.
    class_weight : "balanced", dict, list of dict or None, default=None
        What the labels of each class count, for the learners, their weights and the correction; see `SMTLClassifier`.
        Of one answer a row it is a weight of the row, in scores and cuts as well.
    task_weight : array-like of shape (n_tasks,), dict or None, default=None
        What the loss of each task is multiplied by, in order or by name. Scores are not weighted by it.
    preset : {"fast", "balanced", "best"}, default="balanced"
        ``"fast"``: a Gaussian kernel, a linear model, a small forest. ``"balanced"``: two larger forests, a linear
        model that chooses its penalty, and gradient boosting where a trial on one fold and a few tasks shows that it
        adds to the others. ``"best"``: boosting always. It is LightGBM's if that is installed, else XGBoost's, else
        scikit-learn's.
    time_limit : float, optional
        Seconds after which no further learner is begun. Those done by then make the ensemble, with a warning.
    n_jobs : int, default=None
        Threads. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        For the folds and the learners. None stands for a fixed seed.
    verbose : int, default=0
        Whether to show a progress bar on standard error.

    Attributes
    ----------
    leaderboard_ : Table, a dict of ndarray
        A row a learner, the best first: ``learner`` (its name), ``score`` (`scoring` of its held-out scores by
        themselves), ``weight`` (its share of the ensemble) and ``seconds`` (for all folds).
    score_ : float
        The same score of the whole ensemble on held-out rows. Weights and correction were chosen on these rows, so it
        is a little high.
    weights_ : dict of float
        The share of each learner, by name; 0 for those that are left out.
    learners_ : dict of Learner
        The fitted learners that have a weight, by name.
    combination_ : Combination
        How their scores become log odds.
    correction_ : Correction or None
        The joint model on top, with its ``gain`` in mean log loss and the ``standard_error`` of it; None where it is
        left out.
    thresholds_ : ndarray of shape (n_tasks,)
        The cuts of the log odds.
    held_out_scores_ : ndarray of shape (n_samples, n_tasks) or (n_samples,)
        Log odds of the training rows by models that have not seen them; NaN where there are none.
    partial_ : bool
        Whether learners are missing because of Ctrl-C, a callback, or the time limit.
    classes_, task_names_, unpromised_tasks_, n_features_in_, feature_names_in_
        As in `SMTLClassifier`.

    Notes
    -----
    X may hold NaN. Forests and boosting take it as it is; for other learners the column's mean stands in. Sparse X is
    reduced to its leading singular directions for the kernel and the forests.

    Where labels are missing, every learner trains without them; see `smtl.ensemble.learners`. A task with one class
    only is constant, with a warning.

    Where each task has its own rows (``tasks``), the linear model is joint. Other learners are there twice, on all rows
    with the task as a feature and for each task by itself, and the weights decide.

    See Also
    --------
    SMTLClassifierCV : The best linear model.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl import SMTLEnsemble
    >>> X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
    >>> model = SMTLEnsemble(preset="fast", cv=3).fit(X[:200], Y[:200])
    >>> sorted(model.weights_)
    ['forest', 'kernel', 'linear']
    >>> model.predict(X[200:]).shape, model.predict_proba(X[200:]).shape
    ((100, 4), (100, 4))
    >>> bool(model.score(X[200:], Y[200:]) > 0.6)  # macro F1
    True
    """

    def __init__(
        self,
        scoring: Any = "f1_macro",
        *,
        learners: Any = "auto",
        correction: bool | str = "auto",
        threshold: float | str = "auto",
        costs: Any = None,
        cv: Any = 5,
        within_groups: bool = False,
        class_weight: Any = None,
        task_weight: Any = None,
        preset: str = "balanced",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.scoring = scoring
        self.learners = learners
        self.correction = correction
        self.threshold = threshold
        self.costs = costs
        self.cv = cv
        self.within_groups = within_groups
        self.class_weight = class_weight
        self.task_weight = task_weight
        self.preset = preset
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _metric(self) -> Metric:
        return Log()

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, tasks: Any = None, groups: Any = None, sample_weight: Any = None) -> SMTLEnsemble:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features; NaN where a value is missing.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Classes, or a matrix of 0 and 1 with a column a task. NaN: not labelled.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows; y then has two classes.
        groups : array-like of shape (n_samples,), optional
            Groups of rows that stay together in the folds; a splitter as ``cv`` is given them. With ``within_groups``
            they are those within which the tasks are judged.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts, for the learners and for all that is chosen on held-out rows: a weight of k is k equal
            rows, one of 0 is no row. Classifiers of your own must take it in their ``fit``.

        Returns
        -------
        SMTLEnsemble
            The fitted estimator.
        """
        started = time.perf_counter()
        self._check_parameters()
        if y is None:
            raise ValueError("This SMTLEnsemble estimator requires y to be passed, but the target y is None.")
        checked = self._checked(X, reset=True)
        targets = read_targets(checked, y, tasks)
        if self.within_groups:
            targets.group = group_numbers(groups, checked.shape[0], 1)
        weighing = read_sample_weight(sample_weight, checked), self.class_weight, self.task_weight
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        given, n_rows = (without_nan(checked), y, targets), checked.shape[0]
        _, y, targets, splits, taken = weighed_splits(self.cv, given, groups, weighing, rng)
        checked = checked if np.array_equal(taken, np.arange(n_rows)) else checked[taken]
        judged, targets = targets, replace(targets, group=None)  # learners train on all rows alike
        folds = [Fold(train, test, targets.part(train).learnable(), None) for train, test in splits]
        seed, own_rows = int(rng.randint(2**31 - 1)), targets.task is not None
        learners = make_learners(self.learners, self.preset, seed, self.n_jobs, own_rows=own_rows)
        if targets.weights is not None:
            check_weights_known(learners)
        self.classes_, self.task_names_, self._kind = targets.classes, targets.names, targets.kind
        self._constants, self._learnable = targets.constants(), targets.learnable()
        get_scoring(self.scoring, Log(), targets.kind)  # raises before anything is fitted
        cutting = cut_by(self.threshold, self.costs, targets.names, targets.kind)
        if isinstance(cutting, CutRule):
            cutting.check_weights(targets.row_weight)
        self._report_odd_tasks(targets, len(folds))
        with (
            threads(self.n_jobs) as (executor, _),
            Progress(self, len(learners) + 1, show=bool(self.verbose), X=checked, y=y) as progress,
        ):
            trained = self._train(learners, checked, judged, folds, progress, started)
            trained = [replace(one, held=one.held.weighed()) for one in trained]
            judge = Judge(self.scoring, cutting, trained[0].held)
            kept, interrupted = refit(trained, checked, targets)
            if interrupted:
                self.partial_ = True
            held = self._put_together(kept, targets)
            cuts = judge.cuts(held)
            self.score_ = judge.score(held, cuts)
            self.thresholds_ = np.zeros(len(targets.names))
            self.thresholds_[self._learnable] = (cuts.location + cuts.cut)[self._learnable]
            self.unpromised_tasks_ = targets.names[:0]
            if isinstance(cutting, CutRule):
                self.unpromised_tasks_ = report_broken(cutting, held, targets)
            rule = row_rule(self.threshold)
            self.row_rule_ = None if rule is None else rule.text
            self._keep_tables(trained, alone(trained, judge, executor))
            rows = np.concatenate([test for _, test in splits])
            if targets.row_weight is not None:
                rows = rows[in_copies(targets.row_weight[rows])]
            self.held_out_scores_ = held.by_row(taken[rows], n_rows)
            progress.step(f"the ensemble scores {self.score_:.4f}")
        return self

    def _check_parameters(self) -> None:
        """Raise for parameters that have no meaning."""
        check_threshold(self.threshold)
        if not (isinstance(self.correction, bool) or self.correction == "auto"):
            raise ValueError(f"correction must be 'auto', True or False, got {self.correction!r} instead.")
        limit = self.time_limit
        if limit is not None and not (isinstance(limit, Real) and limit > 0):
            raise ValueError(f"time_limit must be a positive number of seconds or None, got {limit!r} instead.")

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return X as learners take it."""
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )

    def _report_odd_tasks(self, targets: Targets, n_folds: int) -> None:
        """Warn of tasks that are constant, or that hardly can be judged."""
        report_constants(targets, self._learnable)
        rare = rare_tasks(targets, n_folds)
        if isinstance(self.cv, Integral) and len(rare):
            messages.warn(
                f"{targets.in_words(rare)} fewer positives, or negatives, than the {n_folds} folds. They "
                "are trained, but their cuts are uncertain."
            )

    def _train(
        self,
        learners: dict[str, Learner],
        X: Any,
        targets: Targets,
        folds: list[Fold],
        progress: Progress,
        started: float,
    ) -> list[Trained]:
        """Return the learners that were done, with their held-out scores."""
        trained: list[Trained] = []
        left_out: list[str] = []
        judged, targets = targets, replace(targets, group=None)
        splits = [(fold.train, fold.test) for fold in folds]
        reason = "was interrupted"
        try:
            for name, learner in learners.items():
                # The final fit of a learner takes about as long as that of one fold.
                spent = (time.perf_counter() - started) * (1.0 + 1.0 / len(folds))
                if trained and self.time_limit is not None and spent >= self.time_limit:
                    reason = f"has used up its time_limit of {self.time_limit:g} s"
                    break
                begun = time.perf_counter()
                others = [one.held for one in trained]
                if name in self._on_trial(targets) and not gain_of(learner, X, targets, folds[0], others).is_worth_it:
                    left_out.append(name)
                    progress.step(f"{name} adds nothing")
                    continue
                scores = learner.held_out_scores(X, targets, splits)
                held = HeldOut(judged, folds, [usable_only(s, f, targets) for s, f in zip(scores, folds, strict=True)])
                trained.append(Trained(name, learner, held, time.perf_counter() - begun))
                if progress.step(f"{name} took {trained[-1].seconds:.1f} s"):
                    break
        except KeyboardInterrupt:
            if not trained:
                raise
        self.partial_ = len(trained) + len(left_out) < len(learners)
        if self.partial_:
            done = {*left_out, *(one.name for one in trained)}
            missing = ", ".join(name for name in learners if name not in done)
            messages.warn(
                f"The fit {reason} before {missing}. The ensemble is made of {', '.join(t.name for t in trained)}. Fit "
                "again, with more time, for all of them."
            )
        return trained

    def _on_trial(self, targets: Targets) -> tuple[str, ...]:
        """Return the learners that are taken in only if a trial says so."""
        chosen_here = isinstance(self.learners, str) and targets.task is None
        return ON_TRIAL.get(self.preset, ()) if chosen_here else ()

    def _put_together(self, kept: list[Trained], targets: Targets) -> HeldOut:
        """Set combination and correction, and return the held-out log odds."""
        self.learners_ = {one.name: one.learner for one in kept}
        self.combination_: Combination = combine([one.held for one in kept])
        first = kept[0].held
        scores, task = [one.held.scores for one in kept], first.targets.task
        held = first.with_scores(self.combination_.log_odds(scores, task))
        self.correction_: Correction | None = None
        if self.correction is not False:
            features = score_features(self.combination_, scores, task)
            found = fit_correction(held, features, always=self.correction is True, n_jobs=self.n_jobs)
            if found is not None:
                self.correction_, held = found
        return held

    def _keep_tables(self, trained: list[Trained], scores: list[float]) -> None:
        """Set the attributes that tell of the learners, and of the score of each by itself."""
        total = max(float(self.combination_.weights.sum()), 1e-12)
        shares = dict(zip(self.learners_, (self.combination_.weights / total).tolist(), strict=True))
        self.weights_ = {one.name: shares.get(one.name, 0.0) for one in trained}
        order = np.argsort([-score if np.isfinite(score) else np.inf for score in scores], kind="stable")
        self.leaderboard_ = Table(
            {
                "learner": np.array([trained[k].name for k in order]),
                "score": np.array([scores[k] for k in order]),
                "weight": np.array([self.weights_[trained[k].name] for k in order]),
                "seconds": np.array([trained[k].seconds for k in order]),
            }
        )

    def decision_function(self, X: Any, tasks: Any = None) -> npt.NDArray[Any]:
        """Return log odds less the thresholds: above zero answers yes.

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
        X = self._checked(X, reset=False)
        task = None if tasks is None else task_numbers(tasks, self._kind, self.task_names_, X.shape[0])
        scores = [learner.decision_function(X, task) for learner in self.learners_.values()]
        if self._kind == "tasks" and task is None:
            every = [np.full(X.shape[0], i) for i in range(len(self.task_names_))]
            odds = np.column_stack([self._log_odds([s[:, i] for s in scores], t) for i, t in enumerate(every)])
        else:
            odds = self._log_odds(scores, task)
        chosen: Any = slice(None) if task is None else task
        learnable = np.isin(np.arange(len(self.task_names_)), self._learnable)
        odds = np.where(learnable[chosen], odds, self._constants[chosen]) - self.thresholds_[chosen]
        return np.asarray(odds[:, 0] if self._kind == "binary" else odds)

    def _log_odds(self, scores: list[Float], task: npt.NDArray[np.int64] | None) -> Float:
        odds = self.combination_.log_odds(scores, task)
        if self.correction_ is not None:
            odds = odds + self.correction_.log_odds(score_features(self.combination_, scores, task), task)
        return odds

    def score(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None, groups: Any = None) -> float:
        """Return what `scoring` says of the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts: a weight of k is k equal rows.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, for a model fitted with ``tasks``.
        groups : array-like of shape (n_samples,), optional
            The group of each row, for a model that was fitted within groups: a score of the order is then the mean over
            the groups that have both classes.

        Returns
        -------
        float
            The score.
        """
        self._check_scorable(tasks)
        scorer = get_scoring(self.scoring, Log(), self._kind)
        if not isinstance(scorer, TaskScorer):
            return float(scorer(self, X, y, **given_weights(scorer, sample_weight)))
        answers = scorer.metric.judges_answers
        if self.within_groups and groups is None and not answers:
            raise ValueError("groups must be given to score a model that was trained within groups, got None instead.")
        columns = self._columns(X, y, tasks, answers=answers, groups=None if answers else groups)
        return scorer(columns, self._weights_of(columns, read_sample_weight(sample_weight, X), tasks))
