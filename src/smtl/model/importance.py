r"""How much worse a model ranks rows when a feature is shuffled among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.targets import Targets
from smtl.model.evaluation import auc_of_draws
from smtl.model.scores import encoder_of, some_rows, task_scores
from smtl.tables.frames import is_frame

__all__ = ["permutation_importance"]

Float: TypeAlias = npt.NDArray[np.float64]

MOST_ROWS = 500  # rows that are shuffled, at most
MOST_FEATURES = 200  # features that are looked at, at most
N_SHUFFLES = 3  # how often each is shuffled
N_DRAWS = 200  # draws of the bootstrap, for the intervals
BATCH = 20_000  # rows that a model scores at a time


def permutation_importance(
    model: Any,
    X: Any,
    truth: Targets,
    names: Sequence[str],
    tasks: Any = None,
    *,
    top: int = 5,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    r"""Return the features that each task's ranking rests on.

    The importance of a feature is the AUC of the rows less their AUC with the feature shuffled among them, the mean of
    a few shuffles. Its interval is that of the bootstrap over the rows. Two features that say the same each seem to
    matter little.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    X : ndarray, CSR matrix or DataFrame of shape (n_samples, n_features)
        Features, or columns, of rows that the model was not trained on. Of many rows, some are taken; of many
        features, those that vary most with the scores.
    truth : Targets
        Labels.
    names : sequence of str
        Names of the features.
    tasks : ndarray of shape (n_samples,), optional
        The task of each row.
    top : int, default=5
        Features of each task.
    seed : int, default=0
        For rows, shuffles and draws.
    tell : callable, optional
        It is told how far this is.

    Returns
    -------
    dict
        ``rows`` and ``features`` looked at, and for each of ``tasks`` a list of ``feature``, ``drop`` and
        ``interval``, the largest first; an empty one where there are not both classes.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> from smtl.estimators.targets import read_targets
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = SMTLClassifier().fit(X, y)
    >>> found = permutation_importance(model, X, read_targets(X, y), ["beat", "key"])
    >>> found["tasks"][0][0]["feature"], found["tasks"][0][0]["drop"] > 0.3
    ('beat', True)
    """
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(X.shape[0])[:MOST_ROWS])
    X, truth, own = some_rows(X, rows), truth.part(rows), None if tasks is None else np.asarray(tasks)[rows]
    encoder = encoder_of(model)
    if encoder is not None:  # a column of a table is shuffled as a whole, with all features that are made of it
        names, groups = [part.name for part in encoder.parts_], encoder.groups()
        model, X = model[1:], encoder.transform(X)
    elif is_frame(X):
        names, groups = X.column_names, [[j] for j in range(X.num_columns)]
    else:
        groups = [[j] for j in range(X.shape[1])]
    before = task_scores(model, X, own)
    chosen = list(range(len(groups))) if is_frame(X) else _chosen(X, groups, before)
    after = np.empty((len(chosen), N_SHUFFLES, *before.shape))
    step = max(1, BATCH // (N_SHUFFLES * len(rows)))
    for at in range(0, len(chosen), step):
        tell(f"Feature {at + 1:,} of {len(chosen):,}")
        part = chosen[at : at + step]
        shuffled = [_shuffled(X, groups[k], rng.permutation(len(rows))) for k in part for _ in range(N_SHUFFLES)]
        many = _one_below_the_other(shuffled)
        found = task_scores(model, many, None if own is None else np.tile(own, len(shuffled)))
        after[at : at + step] = found.reshape(len(part), N_SHUFFLES, *before.shape)
    drawn = np.ones((len(rows), 1 + N_DRAWS), dtype=np.float32)
    for k in range(N_DRAWS):
        drawn[:, 1 + k] = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
    return {
        "rows": len(rows),
        "features": len(chosen),
        "tasks": [
            [
                {
                    "feature": names[chosen[k]],
                    "drop": drop,
                    "interval": ends,
                }
                for k, drop, ends in largest
            ]
            for largest in (_largest(truth, i, before, after, drawn, top) for i in range(len(truth.names)))
        ],
    }


def _one_below_the_other(parts: list[Any]) -> Any:
    if is_frame(parts[0]):
        import pyarrow as pa

        return pa.concat_tables(parts)
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def _chosen(X: Any, groups: Sequence[Sequence[int]], scores: Float) -> list[int]:
    """Return the groups of features to look at: all, or those with the largest correlation with a score."""
    if len(groups) <= MOST_FEATURES:
        return list(range(len(groups)))
    Z = np.nan_to_num(X.toarray() if sp.issparse(X) else X)
    Z, S = Z - Z.mean(axis=0), scores - scores.mean(axis=0)
    sizes = np.abs(Z.T @ S) / np.maximum(np.outer(np.linalg.norm(Z, axis=0), np.linalg.norm(S, axis=0)), 1e-12)
    largest = np.array([sizes[group].max() for group in map(list, groups)])
    return sorted(np.argsort(-largest, kind="stable")[:MOST_FEATURES].tolist())


def _shuffled(X: Any, columns: Sequence[int], order: npt.NDArray[np.int64]) -> Any:
    """Return X with some columns, side by side, in another order of rows."""
    first, end = columns[0], columns[-1] + 1
    if is_frame(X):
        return X.set_column(first, X.column_names[first], X.column(first).take(order))
    if not sp.issparse(X):
        X = X.copy()
        X[:, first:end] = X[order, first:end]
        return X
    return sp.hstack([X[:, :first], X[order][:, first:end], X[:, end:]], format="csr")


def _largest(
    truth: Targets, i: int, before: Float, after: Float, drawn: npt.NDArray[np.float32], top: int
) -> list[tuple[int, float, list[float]]]:
    """Return number, importance and interval of the features that matter most for a task."""
    y = truth.column(i)
    if not ((y > 0).any() and (y < 0).any()):
        return []
    column = 0 if before.shape[1] == 1 else i
    whole, one = auc_of_draws(y, before[:, column], drawn), drawn[:, :1]
    drops = [
        float(whole[0] - np.mean([auc_of_draws(y, s[:, column], one)[0] for s in of_feature])) for of_feature in after
    ]
    out = []
    for k in np.argsort(-np.array(drops), kind="stable")[:top]:
        draws = whole - np.mean([auc_of_draws(y, s[:, column], drawn) for s in after[k]], axis=0)
        known = draws[1:][np.isfinite(draws[1:])]
        out.append((int(k), drops[k], [float(end) for end in np.quantile(known, [0.025, 0.975])]))
    return out
