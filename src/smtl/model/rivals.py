"""What one would use instead, on the same rows: logistic regression and a forest, both with tuned cuts."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from smtl.datasets import Dataset
from smtl.model.evaluation import evaluate
from smtl.model.scores import answers_of, task_scores
from smtl.model.training import Settings, named_labels, prepared, targets_of
from smtl.tables.data import TableData
from smtl.tables.matrix import encoded

__all__ = ["rival_models", "rival_results"]

CS = (0.01, 0.1, 1.0, 10.0)  # values of C that logistic regression chooses from


def rival_models(settings: Settings, *, sparse: bool) -> dict[str, Pipeline]:
    """Return the rivals, not fitted.

    Parameters
    ----------
    settings : Settings
        How the model was trained; rivals get the same folds, seed and threads.
    sparse : bool
        Whether the features are sparse.

    Returns
    -------
    dict
        Pipelines by name.

    Examples
    --------
    >>> list(rival_models(Settings(), sparse=False))
    ['logistic', 'forest']
    """
    from smtl import SMTLEnsemble
    from smtl.baselines import ThresholdedLogistic

    common: dict[str, Any] = {"cv": settings.cv, "random_state": settings.seed, "n_jobs": settings.jobs}
    logistic = ThresholdedLogistic(CS, **common)
    forest = SMTLEnsemble(learners=["forest"], preset="fast", correction=False, **common)
    return {
        "logistic": Pipeline([*prepared(sparse=sparse, scale=True), ("classifier", logistic)]),
        "forest": Pipeline([("classifier", forest)]),
    }


def rival_results(train: Dataset, test: Dataset, settings: Settings) -> dict[str, dict[str, Any]]:
    """Return what the rivals score.

    Parameters
    ----------
    train, test : Dataset
        Rows to train on, and others.
    settings : Settings
        See `rival_models`.

    Returns
    -------
    dict
        What `smtl.model.evaluation.evaluate` says of each, by name.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> data = Dataset(X, (X > 0).astype(int))
    >>> found = rival_results(data, data, Settings(cv=2))
    >>> found["logistic"]["macro"]["auc"] > 0.9
    True
    """
    if isinstance(train, TableData):
        train, encoder = encoded(train)
        test = replace(train, X=encoder.transform(test.X), Y=test.Y, tasks=test.tasks, weights=test.weights)
    results = {}
    for name, model in rival_models(settings, sparse=sp.issparse(train.X)).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model's own fit has told what is odd about the data
            told = {"classifier__tasks": train.tasks, "classifier__sample_weight": train.weights}
            model.fit(train.X, named_labels(train)[0], **told)
            scores = task_scores(model, test.X, test.tasks)
        answers = answers_of(scores, model[-1])
        results[name] = evaluate(targets_of(test), scores, answers, draws=0, weights=test.weights)
    return results
