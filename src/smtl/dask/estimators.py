"""The classifiers for rows that are on a cluster, or in files larger than memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from smtl import estimators
from smtl.dask.collections import PATIENCE, rows_of
from smtl.estimators.all_or_nothing import all_or_nothing
from smtl.estimators.progress import with_callbacks
from smtl.metrics import Metric
from smtl.parts.fitting import fit_on_data, reading_data
from smtl.parts.parquet import ParquetRows
from smtl.parts.rows import Rows
from smtl.penalties import Penalty

__all__ = ["SMTLClassifier", "SMTLClassifierCV"]

E = TypeVar("E", bound="_FitsOnRows")


class _FitsOnRows:
    """The part of an estimator that fits it to rows that are not in memory."""

    client: Any
    patience: float
    n_jobs: int | None

    def fit(self: E, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> E:
        """Fit the model on a cluster.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame
            Features; blocks of an array may be sparse. Its partitions are the tasks' data: 64 to 256 MB each are best.
        y : Dask collection, or array-like where X is an array of known chunks
            Labels of the same rows, in any form that `smtl.SMTLClassifier` takes.
        tasks : as y, optional
            The task of each row, where each task has its own rows; y then has two classes.
        sample_weight : as y, optional
            Weights of the rows in the objective: a row of weight k counts as k equal rows. Metrics that are no sum over
            rows send all scores to the driver then.

        Returns
        -------
        object
            The fitted estimator.
        """
        return self._fit_rows(rows_of(X, y, tasks, sample_weight, client=self.client, patience=self.patience))

    def fit_parquet(
        self: E,
        source: str | os.PathLike[str],
        labels: str | Sequence[str],
        tasks: str | None = None,
        *,
        sample_weight: str | None = None,
        ignore: Collection[str] = (),
    ) -> E:
        """Fit the model to Parquet files, batch by batch: no cluster is needed, and memory holds a few batches.

        Parameters
        ----------
        source : path-like
            A folder of Parquet files, or one file. Columns that are not named here are features, all numbers.
        labels : str or list of str
            The columns that are labels: several of yes and no, or one with classes.
        tasks : str, optional
            The column that says each row's task.
        sample_weight : str, optional
            The column of weights; see `fit`.
        ignore : collection of str, default=()
            Columns that are neither.

        Returns
        -------
        object
            The fitted estimator.
        """
        names = [labels] if isinstance(labels, str) else list(labels)
        n_threads = effective_n_jobs(self.n_jobs)
        rows = ParquetRows(source, names, tasks, weight=sample_weight, ignore=ignore, n_threads=n_threads)
        try:
            return self._fit_rows(rows)
        finally:
            rows.close()

    def _fit_rows(self: E, rows: Rows) -> E:
        """Fit the model to rows in parts."""
        raise NotImplementedError

    def plain(self) -> Any:
        """Return the same fitted model as an estimator of `smtl`, which knows nothing of clusters.

        Returns
        -------
        smtl.SMTLClassifier or smtl.SMTLClassifierCV
            The one that files hold.
        """
        return _plain(self)


def _plain(model: Any) -> Any:
    """Return a model as the estimator of `smtl` that it is derived from, with all that was fitted."""
    base = type(model).__mro__[2]
    plain = base(**{name: value for name, value in model.get_params(deep=False).items() if name in _names(base)})
    for name, value in vars(model).items():
        if name not in model.get_params(deep=False):
            setattr(plain, name, value)
    return plain


def _names(estimator: type[Any]) -> list[str]:
    return list(estimator._get_param_names())


class SMTLClassifier(_FitsOnRows, estimators.SMTLClassifier):  # type: ignore[misc]
    r"""`smtl.SMTLClassifier` for Dask collections and folders of Parquet: the same models, with the same certificate.

    Once it is fitted, it is what `smtl.SMTLClassifier` is: it can be saved, reported on and exported. On Dask
    collections `predict`, `decision_function` and `predict_proba` are lazy.

    Parameters
    ----------
    metric, penalty, C, ridge, fit_intercept, threshold, threshold_metric, calibration
        As in `smtl.SMTLClassifier`. A threshold that has to be chosen is chosen on the held-out scores of a sample of
        at most 200,000 rows.
    solver, tol, max_iter, warm_start, random_state
        As in `smtl.SMTLClassifier`.
    scale : bool, default=False
        Whether to bring the features to one scale, as StandardScaler does, without a copy of them. The scaling is
        folded into `coef_` and `intercept_`; objective and bound are those of the scaled features.
    checkpoint : path-like, default=None
        A file in which passes are kept. A fit that was stopped, given the same file, goes on where it was.
    client : distributed.Client, default=None
        The cluster for `fit`; by default the current one.
    patience : float, default=60
        Seconds without any worker, or without the scheduler, after which `fit` gives up with an error.
    n_jobs : int, default=None
        Threads for `fit_parquet`.
    verbose : int, default=0
        Whether to show passes and rows per second on standard error.

    Attributes
    ----------
    coef_, intercept_, thresholds_, classes_, task_names_, null_tasks_, C_, objective_, dual_bound_, gap_, history_
        As in `smtl.SMTLClassifier`.
    n_iter_, n_features_in_, feature_names_in_
        As in `smtl.SMTLClassifier`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow
    >>> import pyarrow.parquet
    >>> x = np.linspace(-1.0, 1.0, 200)
    >>> with TemporaryDirectory() as folder:
    ...     for k in range(2):
    ...         table = pyarrow.table({"x": x[k::2], "y": x[k::2] > 0.2})
    ...         pyarrow.parquet.write_table(table, Path(folder, f"{k}.parquet"))
    ...     model = SMTLClassifier(metric="f1", C=1e3).fit_parquet(folder, labels="y")
    >>> model.predict([[-0.5], [0.5]])
    array([False,  True])
    """

    def __init__(
        self,
        metric: str | Metric = "log",
        penalty: str | Penalty = "l21",
        *,
        C: float | str = "auto",
        ridge: float = 0.0,
        fit_intercept: bool = True,
        threshold: float | str = "auto",
        threshold_metric: str | Metric | None = None,
        calibration: str | None = None,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 5000,
        warm_start: bool = False,
        scale: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        client: Any = None,
        patience: float = PATIENCE,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            metric,
            penalty,
            C=C,
            ridge=ridge,
            fit_intercept=fit_intercept,
            threshold=threshold,
            threshold_metric=threshold_metric,
            calibration=calibration,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.scale = scale
        self.checkpoint = checkpoint
        self.client = client
        self.patience = patience

    @all_or_nothing
    def _fit_rows(self, rows: Rows) -> SMTLClassifier:
        self._check_parameters()
        with reading_data(self, rows) as data:
            fit_on_data(self, data)
        return self


class SMTLClassifierCV(_FitsOnRows, estimators.SMTLClassifierCV):
    r"""`smtl.SMTLClassifierCV` for Dask collections and for folders of Parquet.

    Models of the folds are trained on all rows but their own; their scores on a sample of at most 200,000 rows choose
    metric, penalty, C and thresholds. A final model is trained on all rows.

    Parameters
    ----------
    metric, penalty, Cs, scoring, ridge, fit_intercept, threshold, threshold_metric, calibration
        As in `smtl.SMTLClassifierCV`.
    selection, refit
        As in `smtl.SMTLClassifierCV`.
    cv : int, default=5
        The number of folds.
    solver, tol, max_iter, random_state
        As in `smtl.SMTLClassifierCV`.
    scale, checkpoint, client, patience, n_jobs, verbose
        As in `SMTLClassifier`.

    Attributes
    ----------
    C_, metric_, penalty_, ridge_, Cs_, scores_, cv_results_, threshold_rule_, threshold_spread_, coef_, intercept_
        As in `smtl.SMTLClassifierCV`, as all others are.

    Examples
    --------
    >>> SMTLClassifierCV("auc", cv=3).cv
    3
    """

    def __init__(
        self,
        metric: str | Metric | list[str | Metric] = "auto",
        penalty: str | Penalty | list[str | Penalty] | None = None,
        *,
        Cs: int | str | Iterable[float] = 20,
        cv: int = 5,
        scoring: Any = None,
        ridge: float | list[float] = 0.0,
        fit_intercept: bool = True,
        threshold: float | str = "auto",
        threshold_metric: str | Metric | None = None,
        calibration: str | None = None,
        selection: str = "best",
        refit: bool = True,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 5000,
        scale: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        client: Any = None,
        patience: float = PATIENCE,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            metric,
            penalty,
            Cs=Cs,
            cv=cv,
            scoring=scoring,
            ridge=ridge,
            fit_intercept=fit_intercept,
            threshold=threshold,
            threshold_metric=threshold_metric,
            calibration=calibration,
            selection=selection,
            refit=refit,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.scale = scale
        self.checkpoint = checkpoint
        self.client = client
        self.patience = patience

    @all_or_nothing
    @with_callbacks
    def _fit_rows(self, rows: Rows) -> SMTLClassifierCV:
        if not isinstance(self.cv, Integral) or int(self.cv) < 2:
            raise ValueError(f"cv must be a number of folds, 2 or more, for rows in parts, got {self.cv!r} instead.")
        self._check_parameters()
        with reading_data(self, rows, int(self.cv)) as data:
            self._choose(data, (None, 1))
        return self
