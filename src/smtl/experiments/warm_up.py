"""An untimed first fit, so that compiling code, or loading what was compiled, is in nobody's seconds."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

from smtl.experiments.methods import Search, get_method, method_names
from smtl.experiments.protocol import scores_of

__all__ = ["warm_up"]


@cache
def warm_up(method: str, sparse: bool = False, dtype: str = "int64", missing: bool = False) -> None:
    """Fit a method to a tiny made-up data set like the one that comes; once in a process.

    Whatever goes wrong is ignored: the timed fit will say it. An estimator by its import path is not ours to fit once
    more than was asked for.

    Parameters
    ----------
    method : str
        Its name.
    sparse : bool, default=False
        Whether the features are.
    dtype : str, default="int64"
        The type of the labels: compiled code is compiled for each.
    missing : bool, default=False
        Whether some of the labels are NaN.

    Examples
    --------
    >>> warm_up("smtl-auc-l21")
    """
    if method not in method_names():
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = (X[:, :2] + rng.normal(size=(40, 2)) > 0.0).astype(dtype)
    if missing:
        Y[::7, 0] = np.nan
    features = sp.csr_matrix(X) if sparse else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = get_method(method).make(Search(cv=2, n_values=2))
            # A search only repeats what is searched over, and with ensembles that takes seconds.
            model = model.estimator if isinstance(model, GridSearchCV) else model
            model.fit(features, Y).predict(features)
            scores_of(model, features)
        except Exception:
            return
