r"""StructSVM: a structural support vector machine for each task by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from smtl.baselines.base import Baseline
from smtl.estimators.classifier import SMTLClassifier
from smtl.metrics import Metric

__all__ = ["StructSVM"]


class StructSVM(SMTLClassifier, Baseline):
    r"""A structural support vector machine a task, trained on a metric: what SVM-perf does, for all tasks at once.

    For each task it solves

    .. math:: \min_{w, b} \; \tfrac12 |w|^2 + C\, G(w, b),

    where G is the structured hinge loss of the metric. It is `smtl.SMTLClassifier` with ``penalty="ridge"``: the tasks
    learn nothing from one another.

    Parameters
    ----------
    metric : str or Metric, default="f1"
        What the model is judged by: ``"f1"``, ``"auc"``, ``"error"``, or any other that `smtl.SMTLClassifier` takes.
    C : float or "auto", default="auto"
        Weight of the loss, the same for all tasks. ``"auto"`` is 20 times the data's critical value.
    solver : {"cutting-plane", "auto", "bundle", "paper"}, default="cutting-plane"
        ``"cutting-plane"`` is made for this penalty; the others find the same.
    tol : float, default=1e-3
        The relative duality gap at which to stop; with ``"cutting-plane"``, that of each task.
    fit_intercept, threshold, threshold_metric, max_iter, warm_start, n_jobs, random_state, verbose
        As in `smtl.SMTLClassifier`, with the same defaults.
    class_weight, task_weight
        What labels of each class, and each task's loss, count; as in `smtl.SMTLClassifier`.

    Attributes
    ----------
    coef_, intercept_, thresholds_, classes_, task_names_, C_, objective_, dual_bound_, gap_, n_iter_ and others
        As in `smtl.SMTLClassifier`. The objective is the sum over the tasks.

    Notes
    -----
    A pass over the data takes :math:`O(ndm)` for m tasks, n rows and d features, and :math:`O(mn \log n)` for the
    oracles (:math:`O(mn)` for the error). At most :math:`O(C/\varepsilon)` passes are needed; in practice a dozen for
    AUC and a few hundred for F1 at a gap of 1e-4.

    SVM-perf measures losses in per cent, and divides the features' sums by the number of rows n. Its trade-off c is, in
    our terms, :math:`C = 25 c / n^2` for F1 and other functions of the answers, :math:`C = 50 c / n` for the error, and
    :math:`C = 100 c` for AUC; its default is c = 0.01. Its intercept is the weight of a constant feature, and
    penalised; ours is not.

    References
    ----------
    T. Joachims, A support vector method for multivariate performance measures, ICML 2005.

    T. Joachims, Training linear SVMs in linear time, KDD 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import StructSVM
    >>> X, Y = make_multilabel_classification(300, random_state=0)
    >>> model = StructSVM("auc").fit(X[:200], Y[:200])
    >>> bool(model.score(X[200:], Y[200:]) > 0.8)  # mean AUC
    True
    >>> bool(model.gap_ <= 1e-3)
    True
    """

    name = "struct-svm"

    def __init__(
        self,
        metric: str | Metric = "f1",
        *,
        C: float | str = "auto",
        fit_intercept: bool = True,
        threshold: float | str = "auto",
        threshold_metric: str | Metric | None = None,
        solver: str = "cutting-plane",
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
            metric,
            "ridge",
            C=C,
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
