r"""MTLClassifier: multi-task learning with the hinge loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from smtl.baselines.base import Baseline
from smtl.estimators.classifier import SMTLClassifier
from smtl.metrics import Metric
from smtl.penalties import Penalty

__all__ = ["MTLClassifier"]


class MTLClassifier(SMTLClassifier, Baseline):
    r"""Multi-task classification with the hinge loss (MTL-CLS): joint learning, but not for a metric.

    It solves

    .. math:: \min_{W, b} \; \Omega(W) + C \sum_i \sum_k 2 \max(0,\, 1 - y_{ik}(x_{ik}'w_i + b_i)).

    It is `smtl.SMTLClassifier` with ``metric="error"``.

    Parameters
    ----------
    penalty : str or Penalty, default="l21"
        ``"l11"``, ``"l21"``, ``"trace"``, or any other that `smtl.SMTLClassifier` takes.
    C : float or "auto", default="auto"
        Weight of the loss. ``"auto"`` is 20 times the data's critical value.
    ridge, fit_intercept, threshold, threshold_metric, solver, tol, max_iter, warm_start, n_jobs, random_state, verbose
        As in `smtl.SMTLClassifier`, with the same defaults. The cut is zero unless another one is asked for.
    class_weight, task_weight
        What labels of each class, and each task's loss, count; as in `smtl.SMTLClassifier`.

    Attributes
    ----------
    coef_, intercept_, thresholds_, classes_, task_names_, C_, objective_, dual_bound_, gap_, n_iter_ and others
        As in `smtl.SMTLClassifier`.

    Notes
    -----
    A pass over the data takes :math:`O(ndm)` for m tasks, n rows and d features; the trace norm adds
    :math:`O(dm \min(d, m))`. A gap of 1e-3 takes some hundred passes.

    The paper trains it by the same ADMM as the proposed method, with the error rate for the metric; so does this.

    References
    ----------
    G.-Y. Ke, Y. Pan, J. Yin, C.-Q. Huang, Optimizing evaluation metrics for multitask learning via the alternating
    direction method of multipliers, IEEE Transactions on Cybernetics, 2017: the baseline MTL-CLS.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import MTLClassifier
    >>> X, Y = make_multilabel_classification(300, random_state=0)
    >>> model = MTLClassifier("trace").fit(X[:200], Y[:200])
    >>> bool(model.score(X[200:], Y[200:]) > 0.7)  # mean accuracy
    True
    """

    name = "mtl-classifier"

    def __init__(
        self,
        penalty: str | Penalty = "l21",
        *,
        C: float | str = "auto",
        ridge: float = 0.0,
        fit_intercept: bool = True,
        threshold: float | str = "auto",
        threshold_metric: str | Metric | None = None,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 5000,
        warm_start: bool = False,
        class_weight: Any = None,
        task_weight: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            "error",
            penalty,
            C=C,
            ridge=ridge,
            fit_intercept=fit_intercept,
            threshold=threshold,
            threshold_metric=threshold_metric,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            class_weight=class_weight,
            task_weight=task_weight,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
