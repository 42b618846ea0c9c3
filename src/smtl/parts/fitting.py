"""Fitting a classifier to rows in parts: the steps of `SMTLClassifier.fit`, with the rows where they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from smtl.estimators.aligning import aligned
from smtl.estimators.checks import check_tasks
from smtl.estimators.classifier import FOLD_TOL, N_FOLDS, SMTLClassifier
from smtl.estimators.fitting import Formula, LinearModel, Solving, start_of
from smtl.estimators.held_out import HeldOut, scores_of
from smtl.estimators.rules import cut_by
from smtl.metrics import get_metric
from smtl.parts.data import PartsData, read_rows
from smtl.parts.passes import Checkpoint
from smtl.parts.rows import Rows
from smtl.parts.watching import Watch
from smtl.penalties import get_penalty
from smtl.solvers import solve

__all__ = ["fit_on_data", "reading_data"]

# Parameters that do not change which passes a fit asks for.
_NOT_OF_THE_FIT = ("client", "checkpoint", "patience", "n_jobs", "verbose", "warm_start", "max_iter", "tol")


@contextmanager
def reading_data(estimator: Any, rows: Rows, n_folds: int = N_FOLDS) -> Iterator[PartsData]:
    """Yield what a fit of an estimator starts from, with its progress shown and its passes kept.

    Parameters
    ----------
    estimator : SMTLClassifier or SMTLClassifierCV of `smtl.dask`
        Whose fit it is; it gets ``n_features_in_`` and ``feature_names_in_``.
    rows : Rows
        Who holds the parts.
    n_folds : int
        The number of folds.

    Yields
    ------
    PartsData
        The data.
    """
    seed = estimator.random_state
    seed = int(seed.randint(2**31)) if isinstance(seed, np.random.RandomState) else seed
    data = read_rows(rows, n_folds=n_folds, seed=seed, scale=estimator.scale)
    _keep_names(estimator, data)
    with Watch(int(data.reading.n_rows.sum()), show=bool(estimator.verbose)) as watch:
        data.watch = watch
        if estimator.checkpoint is None:
            yield data
            return
        with Checkpoint(estimator.checkpoint, _identity(estimator, data)) as checkpoint:
            data.checkpoint = checkpoint
            yield data


def _keep_names(estimator: Any, data: PartsData) -> None:
    reading = data.reading
    estimator.n_features_in_ = reading.n_features
    if reading.feature_names is not None and all(isinstance(name, str) for name in reading.feature_names):
        estimator.feature_names_in_ = np.asarray(reading.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _identity(estimator: Any, data: PartsData) -> dict[str, Any]:
    """Return what tells a fit from others: its parameters, and the rows by their numbers, labels and means."""
    digest = hashlib.sha256()
    for values in (data.reading.n_rows, data.by_fold, data.reading.mean, data.reading.deviation):
        digest.update(np.ascontiguousarray(values).tobytes())
    parameters = {
        name: repr(value) for name, value in estimator.get_params(deep=False).items() if name not in _NOT_OF_THE_FIT
    }
    return {"estimator": type(estimator).__name__, "rows": digest.hexdigest(), **parameters}


def fit_on_data(model: SMTLClassifier, data: PartsData) -> None:
    """Fit a classifier, and set its attributes.

    Parameters
    ----------
    model : SMTLClassifier
        What to fit.
    data : PartsData
        The data.
    """
    formula = Formula(get_metric(model.metric), get_penalty(model.penalty, model.ridge), bool(model.fit_intercept))
    targets, solving = data.targets, Solving(model.solver, model.tol, model.max_iter)
    check_tasks(formula.metric, targets)
    start = getattr(model, "_start", None) if model.warm_start else None
    fitted = data.fit(formula, model.C, solving, start)
    cutting, held = cut_by(model.threshold, model.costs, targets.names, targets.kind), None
    if model._needs_held_out(cutting, formula.metric, targets):
        held = _held_out(data, formula, fitted, solving, align=model._promises())
    modelled = np.isin(np.arange(len(targets.names)), targets.learnable())
    model._start = start_of(fitted.coef[modelled], fitted.intercept[modelled]) if model.warm_start else None
    model._keep_fit(cutting, formula.metric, fitted, held, data.X, targets)


def _held_out(
    data: PartsData, formula: Formula, fitted: LinearModel, solving: Solving, *, align: bool
) -> tuple[HeldOut, HeldOut]:
    """Return scores of the sample's rows by models that have not seen them, as they are and as the final model's."""
    folds, models = data.folds(formula), []
    for fold in folds:
        solution = None
        if fold.problem is not None:
            tol = max(solving.tol, FOLD_TOL)
            solution = solve(fold.problem, fitted.C, solving.solver, tol=tol, max_iter=solving.max_iter, warn=False)
        models.append(data.weights(solution))
    scores = [scores_of(data.X, data.targets, fold, *model) for fold, model in zip(folds, models, strict=True)]
    held = HeldOut(data.targets, folds, scores)
    if not align:
        return held, held
    return held, aligned(held, data.X, data.targets, folds, models, (fitted.coef, fitted.intercept))
