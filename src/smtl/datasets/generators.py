"""Data made to order, with the weights that made them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from smtl.registry import unknown_name

__all__ = ["Multitask", "make_multitask"]

Float: TypeAlias = npt.NDArray[np.float64]


class Multitask(NamedTuple):
    """Data, and the weights that made them.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features.
    Y : ndarray of int8 of shape (n_rows, n_tasks), or (n_rows,) if tasks have rows of their own
        Labels 0 and 1.
    tasks : ndarray of shape (n_rows,) or None
        Each row's task, if tasks have rows of their own.
    W : ndarray of shape (n_features, n_tasks)
        The true weights, one column a task, each of length 1.
    intercepts : ndarray of shape (n_tasks,)
        The true intercepts: before labels are flipped, a label is 1 where ``X @ w + b`` is positive.

    Examples
    --------
    >>> made = Multitask(np.eye(2), np.eye(2), None, np.eye(2), np.full(2, -0.5))
    >>> ((made.X @ made.W + made.intercepts > 0) == made.Y).all()
    np.True_
    """

    X: Float
    Y: npt.NDArray[np.int8]
    tasks: npt.NDArray[np.int64] | None
    W: Float
    intercepts: Float


def make_multitask(
    n_tasks: int,
    n_samples: int,
    n_features: int,
    *,
    sharing: Literal["rows", "low-rank", "none"] = "rows",
    imbalance: float | Sequence[float] = 1.0,
    noise: float = 0.0,
    n_informative: int | None = None,
    rank: int | None = None,
    own_rows: bool = False,
    random_state: Any = None,
) -> Multitask:
    r"""Make tasks that share something, and return the true weights with them.

    Features are independent and standard normal. Task t has the weights :math:`w_t` of length 1; its labels are 1 for
    the rows with the largest :math:`x'w_t`, as many as `imbalance` asks for, and its intercept lies halfway between
    them and the rest. Then labels are flipped, as many positive as negative ones, so that the shares stay.

    Parameters
    ----------
    n_tasks, n_samples, n_features : int
        How many tasks, rows (of each task, if they have their own) and features.
    sharing : {"rows", "low-rank", "none"}, default="rows"
        What the tasks have in common. ``"rows"``: the same features have weights, all others have none, which is what
        the penalty ``"l21"`` looks for. ``"low-rank"``: the weights lie in a space of few dimensions, as for
        ``"trace"``. ``"none"``: each task has features of its own that have weights.
    imbalance : float or sequence of float, default=1.0
        Negatives for each positive, for all tasks or for each. Shares are exact but for the rounding to whole rows.
    noise : float, default=0.0
        The share of labels that are flipped; rounded so that as many positives as negatives are.
    n_informative : int, optional
        How many features have weights, for ``"rows"`` and ``"none"``. By default a tenth, at least one.
    rank : int, optional
        The dimension for ``"low-rank"``. By default 2, or 1 if there is but one task or feature.
    own_rows : bool, default=False
        Whether each task has rows of its own.
    random_state : int, RandomState or None, default=None
        For reproducible data.

    Returns
    -------
    Multitask
        X, Y, tasks, W and intercepts.

    Examples
    --------
    >>> made = make_multitask(3, 200, 20, sharing="rows", imbalance=[1, 4, 9], n_informative=5, random_state=0)
    >>> made.Y.mean(axis=0)
    array([0.5, 0.2, 0.1])
    >>> int(made.W.any(axis=1).sum())
    5
    >>> made = make_multitask(8, 50, 20, sharing="low-rank", rank=3, own_rows=True, random_state=0)
    >>> made.X.shape, made.Y.shape, int(np.linalg.matrix_rank(made.W))
    ((400, 20), (400,), 3)
    """
    for name, value in (("n_tasks", n_tasks), ("n_samples", n_samples), ("n_features", n_features)):
        _check_count(name, value, 2 if name == "n_samples" else 1, None)
    if sharing not in _WEIGHTS:
        raise unknown_name("sharing", sharing, _WEIGHTS)
    low = sharing == "low-rank"
    n_informative = _chosen("n_informative", n_informative, not low, sharing, n_features // 10, n_features)
    rank = _chosen("rank", rank, low, sharing, 2, min(n_features, n_tasks))
    positives = _positives(imbalance, n_tasks, n_samples)
    flips = _flips(noise, positives, n_samples)
    rng = check_random_state(random_state)
    W = _WEIGHTS[sharing](rng, n_features, n_tasks, rank if low else n_informative)
    W /= np.linalg.norm(W, axis=0)
    X = rng.standard_normal((n_samples * (n_tasks if own_rows else 1), n_features))
    scores = np.einsum("tnd,dt->nt", X.reshape(n_tasks, n_samples, -1), W) if own_rows else X @ W
    order = np.argsort(-scores, axis=0, kind="stable")
    columns = np.arange(n_tasks)
    last, next_one = scores[order[positives - 1, columns], columns], scores[order[positives, columns], columns]
    Y = np.zeros((n_samples, n_tasks), dtype=np.int8)
    for t in range(n_tasks):
        Y[order[: positives[t], t], t] = 1
        for rows in (order[: positives[t], t], order[positives[t] :, t]):
            Y[rng.choice(rows, flips, replace=False), t] ^= 1
    intercepts = -(last + next_one) / 2.0
    if not own_rows:
        return Multitask(X, Y, None, W, intercepts)
    return Multitask(X, Y.T.ravel(), np.repeat(np.arange(n_tasks), n_samples), W, intercepts)


def _shared_rows(rng: np.random.RandomState, d: int, m: int, n_informative: int) -> Float:
    W = np.zeros((d, m))
    W[rng.choice(d, n_informative, replace=False)] = rng.standard_normal((n_informative, m))
    return W


def _low_rank(rng: np.random.RandomState, d: int, m: int, rank: int) -> Float:
    W: Float = rng.standard_normal((d, rank)) @ rng.standard_normal((rank, m))
    return W


def _nothing_shared(rng: np.random.RandomState, d: int, m: int, n_informative: int) -> Float:
    return np.hstack([_shared_rows(rng, d, 1, n_informative) for _ in range(m)])


_WEIGHTS: dict[str, Callable[[np.random.RandomState, int, int, int], Float]] = {
    "rows": _shared_rows,
    "low-rank": _low_rank,
    "none": _nothing_shared,
}


def _check_count(name: str, value: Any, least: int, most: int | None) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, got {value!r} instead.")
    if int(value) < least or (most is not None and int(value) > most):
        allowed = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {allowed}, got {value!r} instead.")


def _chosen(name: str, value: int | None, used: bool, sharing: str, usual: int, most: int) -> int:
    """Return a number that goes with one kind of sharing, or the usual one."""
    if value is None:
        return min(max(usual, 1), most)
    if not used:
        raise ValueError(f"{name} must be None with sharing={sharing!r}, got {value!r} instead.")
    _check_count(name, value, 1, most)
    return value


def _positives(imbalance: Any, m: int, n: int) -> npt.NDArray[np.int64]:
    """Return how many positives each task has."""
    ratios = np.asarray(imbalance, dtype=np.float64)
    if ratios.shape not in ((), (m,)):
        raise ValueError(f"imbalance must be a number or one for each of {m} tasks, got {imbalance!r} instead.")
    if not (np.isfinite(ratios) & (ratios > 0)).all():
        raise ValueError(f"imbalance must be positive and finite, got {imbalance!r} instead.")
    counts = np.broadcast_to(np.rint(n / (1.0 + ratios)), m).astype(np.int64)
    if (counts < 1).any() or (counts >= n).any():
        raise ValueError(
            f"imbalance must leave both classes among {n} rows, got {imbalance!r} instead; make n_samples larger."
        )
    return counts


def _flips(noise: Any, positives: npt.NDArray[np.int64], n: int) -> int:
    """Return how many labels of each class are flipped."""
    if not isinstance(noise, Real) or not 0.0 <= float(noise) < 1.0:
        raise ValueError(f"noise must be a number from 0 to 1, without 1, got {noise!r} instead.")
    flips = round(float(noise) * n / 2.0)
    most = int(min(positives.min(), n - positives.max()))
    if flips > most:
        raise ValueError(
            f"noise must be at most {2 * most / n:.3g}, for as many positives as negatives are flipped and a class has "
            f"{most} rows, got {noise!r} instead."
        )
    return flips
