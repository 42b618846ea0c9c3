"""A forest as plain arrays: what a file may hold, small, and checked before any tree is made of it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.tree import ExtraTreeRegressor
from sklearn.tree._tree import Tree

__all__ = ["check_nodes", "forest_of", "packed_forest"]

Int: TypeAlias = npt.NDArray[np.int32]

LEAF = -1  # scikit-learn's child of a leaf
NO_FEATURE = -2  # scikit-learn's feature of a leaf


def packed_forest(forest: ExtraTreesRegressor) -> dict[str, Any]:
    r"""Return a forest as arrays whose answers are the same, to the last bit.

    Features are compared as float32. A threshold may then be rounded down to float32: :math:`x \le t` does not change.
    The value of a leaf is a count of positives over a count of rows, as a rule. It is then kept as the two counts.

    Parameters
    ----------
    forest : ExtraTreesRegressor
        A fitted forest.

    Returns
    -------
    dict
        Numbers and arrays; see `forest_of`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> packed = packed_forest(ExtraTreesRegressor(2, random_state=0).fit(X, y))
    >>> packed["n_trees"], packed["threshold"].dtype, packed["positives"].dtype
    (2, dtype('float32'), dtype('uint8'))
    """
    trees = [tree.tree_.__getstate__() for tree in forest.estimators_]
    nodes = np.concatenate([tree["nodes"] for tree in trees])
    values = np.concatenate([tree["values"][:, :, 0] for tree in trees])
    leaves = nodes["left_child"] == LEAF
    rows, values = nodes["weighted_n_node_samples"][leaves], values[leaves]
    positives = np.rint(values * rows[:, None])
    whole = bool(np.array_equal(positives / rows[:, None], values) and np.array_equal(np.rint(rows), rows))
    return {
        "n_trees": len(trees),
        "n_features": int(forest.n_features_in_),
        "n_jobs": forest.n_jobs,
        "n_nodes": np.array([tree["node_count"] for tree in trees], dtype=np.int32),
        "depth": np.array([tree["max_depth"] for tree in trees], dtype=np.int32),
        "left": nodes["left_child"].astype(np.int32),
        "right": nodes["right_child"].astype(np.int32),
        "feature": nodes["feature"].astype(np.int32),
        "threshold": _rounded_down(nodes["threshold"]),
        "missing_left": nodes["missing_go_to_left"].astype(np.uint8),
        "rows": _smallest(rows) if whole else np.ones(len(rows), dtype=np.uint8),
        "positives": _smallest(positives) if whole else values,
    }


def _rounded_down(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return the largest float32 that is not above each value."""
    with np.errstate(over="ignore"):
        near = values.astype(np.float32)
    return np.where(near > values, np.nextafter(near, np.float32(-np.inf)), near)


def _smallest(counts: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return counts in the smallest type that holds them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0.0))))


def forest_of(packed: dict[str, Any]) -> ExtraTreesRegressor:
    """Return the forest that `packed_forest` has made arrays of.

    Parameters
    ----------
    packed : dict
        The arrays. Nothing about them is taken for granted: scikit-learn follows the numbers of nodes and features
        without a check, so that they are checked here.

    Returns
    -------
    ExtraTreesRegressor
        With the same answers. It knows nothing of impurities.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> forest_of(packed_forest(ExtraTreesRegressor(2, random_state=0).fit(X, y))).predict(X)
    array([0., 0., 1., 1.])
    """
    n_nodes = np.asarray(packed["n_nodes"], dtype=np.int64)
    left, right, feature = (np.asarray(packed[key], dtype=np.int64) for key in ("left", "right", "feature"))
    d = int(packed["n_features"])
    check_nodes(n_nodes, left, right, feature, d)
    leaves = left == LEAF
    rows, positives = np.asarray(packed["rows"], dtype=np.float64), np.asarray(packed["positives"], dtype=np.float64)
    threshold, missing = np.asarray(packed["threshold"], dtype=np.float64), np.asarray(packed["missing_left"])
    depth, n_leaves = np.asarray(packed["depth"], dtype=np.int64), int(leaves.sum())
    if (
        positives.ndim != 2
        or len(positives) != n_leaves
        or rows.shape != (n_leaves,)
        or threshold.shape != left.shape
        or missing.shape != left.shape
        or depth.shape != n_nodes.shape
    ):
        raise ValueError("the arrays of a forest must have one entry a node, a leaf or a tree.")
    n_outputs = positives.shape[1]
    values = np.zeros((len(left), n_outputs, 1))
    values[leaves, :, 0] = positives / rows[:, None]
    nodes = np.zeros(len(left), dtype=_empty_tree(d, n_outputs).__getstate__()["nodes"].dtype)
    for name, array in {
        "left_child": left,
        "right_child": right,
        "feature": feature,
        "threshold": threshold,
        "missing_go_to_left": missing,
    }.items():
        nodes[name] = array
    nodes["weighted_n_node_samples"] = nodes["n_node_samples"] = 1
    nodes["weighted_n_node_samples"][leaves] = rows
    nodes["n_node_samples"][leaves] = rows
    ends = np.cumsum(n_nodes)
    trees = [
        _tree(nodes[end - n : end], values[end - n : end], d, int(deep))
        for n, end, deep in zip(n_nodes, ends, depth, strict=True)
    ]
    forest = ExtraTreesRegressor(len(trees), n_jobs=packed["n_jobs"])
    forest.estimators_, forest.n_features_in_, forest.n_outputs_ = trees, d, n_outputs
    return forest


def check_nodes(n_nodes: Any, left: Any, right: Any, feature: Any, n_features: int) -> None:
    """Raise ValueError unless every path from a root ends in a leaf of its own tree.

    Parameters
    ----------
    n_nodes : ndarray of int64 of shape (n_trees,)
        Nodes of each tree.
    left, right : ndarray of int64 of shape (n_nodes,)
        Children by their number inside the tree; -1 for those of a leaf.
    feature : ndarray of int64 of shape (n_nodes,)
        What a node looks at.
    n_features : int
        How many there are.

    Examples
    --------
    >>> check_nodes(np.array([1]), np.array([0]), np.array([0]), np.array([0]), 1)
    Traceback (most recent call last):
        ...
    ValueError: a tree must be a tree, got nodes that lead elsewhere.
    """
    if n_nodes.ndim != 1 or len(n_nodes) == 0 or n_nodes.min() < 1 or not left.ndim == right.ndim == feature.ndim == 1:
        raise ValueError("a forest must have trees, and each of them nodes.")
    if not int(n_nodes.sum()) == len(left) == len(right) == len(feature):
        raise ValueError("the arrays of a forest must have one entry a node.")
    size = np.repeat(n_nodes, n_nodes)
    number = np.arange(len(left)) - np.repeat(np.cumsum(n_nodes) - n_nodes, n_nodes)
    leaf = (left == LEAF) & (right == LEAF)
    # Children come after their parent, so that there is no way round in a circle.
    inner = (left > number) & (right > number) & (left < size) & (right < size) & (feature >= 0)
    if not (leaf | (inner & (feature < n_features))).all():
        raise ValueError("a tree must be a tree, got nodes that lead elsewhere.")


def _empty_tree(n_features: int, n_outputs: int) -> Tree:
    return Tree(n_features, np.ones(n_outputs, dtype=np.intp), n_outputs)


def _tree(nodes: Any, values: Any, n_features: int, depth: int) -> ExtraTreeRegressor:
    """Return one tree of nodes that are known to be sound."""
    n_outputs = values.shape[1]
    tree = _empty_tree(n_features, n_outputs)
    tree.__setstate__({"max_depth": depth, "node_count": len(nodes), "nodes": nodes.copy(), "values": values.copy()})
    one = ExtraTreeRegressor()
    one.tree_, one.n_features_in_, one.n_outputs_ = tree, n_features, n_outputs
    return one
