"""Ensembles of classifier chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.multioutput import ClassifierChain
from sklearn.utils.parallel import Parallel, delayed

from smtl.baselines._multilabel import (
    Labels,
    OneClassTolerant,
    Real,
    VotingClassifier,
    check_choice,
    check_positive,
    seeded,
)
from smtl.estimators.folds import order_of_content
from smtl.estimators.targets import Targets

__all__ = ["EnsembleOfClassifierChains"]


class EnsembleOfClassifierChains(VotingClassifier):
    """Chains of classifiers in random orders, on bootstrap samples, which vote.

    In a chain (`sklearn.multioutput.ClassifierChain`) the classifier of a label sees the labels before it as features.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns a label; ``LogisticRegression(max_iter=1000)`` by default. The paper uses support vector machines,
        Mulan C4.5 trees.
    n_estimators : int, default=10
        Number of chains.
    order : {"random"} or array-like of shape (n_labels,) or None, default="random"
        The order of the labels in a chain: a new one for each chain, one for all, or that of the columns.
    bootstrap : bool, default=True
        Whether each chain is trained on as many rows drawn with replacement, or on all rows.
    threshold : float, default=0.5
        The share of the votes that makes a yes.
    n_jobs : int, default=None
        Chains to fit at the same time; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        For samples and orders, and for bases whose own ``random_state`` is None.

    Attributes
    ----------
    estimators_ : list of ClassifierChain
        The fitted chains.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    Costs ``n_estimators`` times m fits of the base, with up to m - 1 more features. ``predict`` counts votes, as in the
    paper; ``predict_proba`` is the mean probability over the chains (which Mulan cuts at one half, instead of the
    votes). Where the base has no probabilities, ``decision_function`` has the share of the votes, less the threshold,
    instead. The paper chooses the threshold so that there are as many labels a row as in the training data; here, as in
    Mulan, it is a number. A label that has one class only in the sample of a chain is a constant in that chain.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank, Classifier chains for multi-label classification, Machine Learning
    85(3), 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import EnsembleOfClassifierChains
    >>> X, Y = make_multilabel_classification(n_samples=200, random_state=0)
    >>> model = EnsembleOfClassifierChains(random_state=0).fit(X, Y)
    >>> len(model.estimators_), model.predict(X).shape
    (10, (200, 5))
    """

    name = "ecc"

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        order: Any = "random",
        bootstrap: bool = True,
        threshold: float = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.order = order
        self.bootstrap = bootstrap
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False  # ClassifierChain does not take it
        return tags

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        self._check_threshold()
        check_positive("n_estimators", self.n_estimators)
        m = Y.shape[1]
        rng = self._rng()
        parts = []
        for _ in range(self.n_estimators):
            rows = _drawn(X, Y, weights, rng) if self.bootstrap else None
            chain = ClassifierChain(OneClassTolerant(seeded(self._base(), rng)), order=self._draw_order(m, rng))
            parts.append((chain, rows))
        self.estimators_: list[Any] = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_chain)(chain, X, Y, rows, weights) for chain, rows in parts
        )

    def _draw_order(self, m: int, rng: np.random.RandomState) -> list[int] | None:
        if self.order is None:
            return None
        if isinstance(self.order, str):
            check_choice("order", self.order, ("random",))
            return [int(label) for label in rng.permutation(m)]
        order = np.asarray(self.order)
        if not np.array_equal(np.sort(order.ravel()), np.arange(m)):
            raise ValueError(f"order must have each of the labels 0 to {m - 1} once, got {self.order!r} instead.")
        return [int(label) for label in order]

    def _mean(self, X: Any, method: str) -> Real:
        return np.asarray(sum(getattr(chain, method)(X) for chain in self.estimators_) / len(self.estimators_))


def _drawn(X: Any, Y: Labels, weights: Real | None, rng: np.random.RandomState) -> Labels:
    """Return rows drawn with replacement, as many as there are or as they weigh.

    A row of weight k is drawn as k equal rows are, in whatever order rows are given.
    """
    each = np.ones(len(Y)) if weights is None else weights
    targets = Targets("multilabel", np.arange(Y.shape[1]), np.arange(Y.shape[1]), (2 * Y - 1).astype(np.int8))
    order, _ = order_of_content(X, targets, rng)
    mass = np.cumsum(each[order])
    drawn = rng.random_sample(max(round(mass[-1]), 1)) * mass[-1]
    return np.asarray(order[np.minimum(np.searchsorted(mass, drawn, side="right"), len(order) - 1)])


def _fit_chain(chain: ClassifierChain, X: Any, Y: Labels, rows: Labels | None, weights: Real | None) -> ClassifierChain:
    if rows is not None:
        return chain.fit(X[rows], Y[rows])
    if weights is None:
        return chain.fit(X, Y)
    with config_context(enable_metadata_routing=True):  # the only way to tell a chain of weights
        chain.set_params(estimator=chain.get_params(deep=False)["estimator"].set_fit_request(sample_weight=True))
        return chain.fit(X, Y, sample_weight=weights)
