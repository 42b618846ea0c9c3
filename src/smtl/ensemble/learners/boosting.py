"""Gradient boosting of trees: LightGBM where it is installed, else XGBoost, else scikit-learn's."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from smtl.ensemble.boosted_trees import BoostedTrees
from smtl.ensemble.learners.base import Float, Rows
from smtl.ensemble.learners.wrapped import WrappedLearner
from smtl.estimators.targets import Targets
from smtl.estimators.weights import weights_of_labels, whole_copies

__all__ = ["BoostingLearner", "boosted_trees"]

N_TREES = 100  # trees a task
LIMIT = 9.21  # of the log odds, either way: a probability of 0.9999


class BoostingLearner(WrappedLearner):
    """Boosted trees, a model a task.

    These libraries count rows, not weights, for the bins of a feature and for the size of a leaf. So rows whose weights
    are whole numbers are given as so many rows, where that is at most some times as many.

    Parameters
    ----------
    random_state : int, default=0
        The seed.
    n_jobs : int, optional
        Threads.

    Examples
    --------
    >>> BoostingLearner().name
    'boosting'
    """

    name = "boosting"
    takes_labels_together = False

    def __init__(self, *, random_state: int = 0, n_jobs: int | None = None) -> None:
        super().__init__(boosted_trees(n_jobs), random_state=random_state, n_jobs=n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is kept of it: the trees, not what has grown them."""
        return {**self.__dict__, "estimator": None}

    def fit(self, X: Any, targets: Targets) -> None:  # noqa: D102
        copies = whole_copies(targets.row_weight)
        if copies is not None and weights_of_labels(targets) is None:
            X, targets = X[copies], replace(targets.part(copies), row_weight=None, weights=None)
        super().fit(X, targets)
        # The same arrays before and after a model is saved, whichever library has grown the trees.
        sparse = sp.issparse(X)
        self._models = [None if model is None else BoostedTrees(model, sparse=sparse) for model in self._models]

    def decision_function(self, X: Any, task: Rows | None = None) -> Float:  # noqa: D102
        return np.clip(super().decision_function(X, task), -LIMIT, LIMIT)


def boosted_trees(n_jobs: int | None) -> Any:
    """Return a classifier of boosted trees.

    Parameters
    ----------
    n_jobs : int or None
        Threads; scikit-learn's own takes all that OpenMP gives it.

    Returns
    -------
    object
        An unfitted classifier.

    Examples
    --------
    >>> type(boosted_trees(1)).__name__ in ("LGBMClassifier", "XGBClassifier", "HistGradientBoostingClassifier")
    True
    """
    if find_spec("lightgbm") is not None:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=N_TREES, n_jobs=n_jobs or 1, verbose=-1)
    if find_spec("xgboost") is not None:
        from xgboost import XGBClassifier

        # Depth and step of the other two's defaults.
        return XGBClassifier(
            n_estimators=N_TREES,
            max_leaves=31,
            max_depth=0,
            grow_policy="lossguide",
            learning_rate=0.1,
            n_jobs=n_jobs or 1,
        )
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=N_TREES, early_stopping=False)
