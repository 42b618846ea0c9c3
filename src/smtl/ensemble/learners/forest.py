r"""Extremely randomised trees that answer for all tasks at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from smtl.ensemble.forest_arrays import forest_of, packed_forest
from smtl.ensemble.learners.base import Float, Learner, Rows, Splits, log_odds
from smtl.ensemble.learners.features import Features
from smtl.estimators.targets import Targets
from smtl.estimators.weights import weights_of_labels

__all__ = ["CoarseForestLearner", "ForestLearner"]

FINAL = 2  # times the trees for the final forest: rare labels need many, and only one forest has to have them
FLOOR = 0.0025  # least distance of a share of positives from 0 and 1
N_ROWS = 2_000_000  # rows that all trees together are grown on, at most
FEWEST = 2_000  # rows that a tree is grown on, at least


class ForestLearner(Learner):
    r"""One forest for all tasks: each split is judged by all of them, each leaf answers for all of them.

    Trees regress the 0/1 targets; with squared errors that is the Gini criterion, summed over the tasks. X may hold
    NaN. Sparse X is reduced to a dense basis.

    No tree can take a missing target. It is filled with the share of positives to grow the trees, which then neither
    asks for a split nor forbids one. The answers of the leaves are counted from labelled rows only. So are they where
    labels of a row have weights of their own: these count in the leaves, those of rows and tasks in the splits, too.

    Parameters
    ----------
    n_trees : int, default=200
        The number of trees of a fold's forest. The final one has twice as many.
    random_state : int, default=0
        The seed.
    n_jobs : int, optional
        Threads, for trees side by side.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> X = np.random.default_rng(0).standard_normal((80, 2))
    >>> Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 0] > 1])
    >>> learner = ForestLearner(n_trees=30)
    >>> learner.fit(X, read_targets(X, Y))
    >>> bool(np.mean((learner.decision_function(X) > 0) == Y) > 0.9)
    True
    """

    name = "forest"
    one_task: ClassVar[dict[str, Any] | None] = {"n_trees": 50}
    min_samples_leaf = 2
    max_features: float | str = "sqrt"

    def __init__(self, *, n_trees: int = 200, random_state: int = 0, n_jobs: int | None = None) -> None:
        super().__init__(random_state=random_state, n_jobs=n_jobs)
        self.n_trees = n_trees
        self._features = Features(scale=False, dense=True, random_state=random_state)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is kept of it, the trees as plain arrays: small, and without code."""
        kept = dict(self.__dict__)
        if "_forest" in kept:
            kept["_forest"] = packed_forest(kept["_forest"])
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        if "_forest" in kept:
            self._forest = forest_of(kept["_forest"])

    @property
    def knows_weights(self) -> bool:  # noqa: D102
        return True

    def held_out_scores(self, X: Any, targets: Targets, folds: Splits) -> list[Float]:  # noqa: D102
        scores = []
        for train, test in folds:
            self._grow(X[train], targets.part(train), self.n_trees)
            scores.append(self.decision_function(X[test]))
        return scores

    def fit(self, X: Any, targets: Targets) -> None:  # noqa: D102
        self._grow(X, targets, FINAL * self.n_trees)

    def decision_function(self, X: Any, task: Rows | None = None) -> Float:  # noqa: D102
        share = self._forest.predict(self._features.transform(X))
        return log_odds(share.reshape(len(share), -1), FLOOR)

    def _grow(self, X: Any, targets: Targets, n_trees: int) -> None:
        weights = targets.row_weight
        X = self._features.fit_transform(X, weights)
        Y = targets.Y
        known = Y != 0
        labels = weights_of_labels(targets)
        n_pos, n_neg = targets.masses()
        share = n_pos / np.where(n_pos + n_neg > 0.0, n_pos + n_neg, 1.0)
        wanted = np.where(known, Y > 0, share)
        if targets.task_weight is not None:
            wanted = wanted * np.sqrt(targets.task_weight)  # squared errors then count what the task does
        n_rows = max(FEWEST, N_ROWS // n_trees)
        # A leaf has so many rows, or rows that weigh as much.
        least: dict[str, Any] = {"min_samples_leaf": self.min_samples_leaf}
        if weights is not None:
            least = {"min_weight_fraction_leaf": min(self.min_samples_leaf / weights.sum(), 0.5)}
        self._forest = ExtraTreesRegressor(
            n_trees,
            **least,
            max_features=self.max_features,
            bootstrap=n_rows < len(Y),
            max_samples=n_rows if n_rows < len(Y) else None,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(X, wanted if wanted.shape[1] > 1 else wanted[:, 0], weights)
        if not known.all() or labels is not None or targets.task_weight is not None:
            each = np.ones((len(Y), 1)) if weights is None else weights[:, None]
            self._count_labelled(X, Y, share, each if labels is None else each * labels)

    def _count_labelled(self, X: Any, Y: Any, share: Float, weights: Float) -> None:
        """Set the answers of the leaves to the share of positives among their labelled rows, as their labels weigh."""
        leaves = self._forest.apply(X)
        for number, tree in enumerate(self._forest.estimators_):
            n_pos, n_neg = (np.zeros(tree.tree_.value.shape[:2]) for _ in range(2))
            np.add.at(n_pos, leaves[:, number], weights * (Y > 0))
            np.add.at(n_neg, leaves[:, number], weights * (Y < 0))
            # Half a row of the share of all: what a leaf without labelled rows answers.
            tree.tree_.value[:, :, 0] = (n_pos + 0.5 * share) / (n_pos + n_neg + 0.5)


class CoarseForestLearner(ForestLearner):
    """A forest of larger leaves, which looks at more features for each split.

    Parameters
    ----------
    n_trees, random_state, n_jobs
        As in `ForestLearner`.

    Examples
    --------
    >>> CoarseForestLearner().min_samples_leaf
    5
    """

    name = "coarse-forest"
    one_task = None
    min_samples_leaf = 5
    max_features = 0.3
