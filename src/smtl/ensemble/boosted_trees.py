"""Boosted trees as plain arrays, whoever has grown them: LightGBM, XGBoost or scikit-learn."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import logit

from smtl.ensemble.forest_arrays import check_nodes

__all__ = ["BoostedTrees"]

Float: TypeAlias = npt.NDArray[np.float64]

BLOCK = 2**22  # entries of sparse features that are made dense at a time
LEAF = -1
MISSING = {"None": 0, "NaN": 1, "Zero": 2}  # LightGBM's names of what the kernel does with missing values
# A node: children, feature, threshold, treatment of missing values, whether these go left, value.
_Node: TypeAlias = tuple[int, int, int, float, int, int, float]
_NAMES = ("left", "right", "feature", "threshold", "missing", "missing_left", "value")
_TYPES = (np.int32, np.int32, np.int32, np.float64, np.uint8, np.uint8, np.float64)


class BoostedTrees:
    """The log odds of a boosted model of two classes.

    Parameters
    ----------
    model : LGBMClassifier, XGBClassifier or HistGradientBoostingClassifier
        A fitted classifier of two classes, without categorical features.
    sparse : bool, default=False
        Whether it was fitted to sparse features: to XGBoost, what is not stored there is missing.

    Attributes
    ----------
    n_features : int
        Number of features.
    baseline : float
        What the leaf values are added to.
    n_nodes : ndarray of int32 of shape (n_trees,)
        Nodes of each tree.
    left, right, feature, threshold, missing, missing_left, value : ndarray of shape (n_nodes,)
        The nodes.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> X, y = np.arange(60.0)[:, None], np.arange(60) > 30
    >>> model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    >>> np.allclose(BoostedTrees(model).decision_function(X), model.decision_function(X))
    True
    """

    def __init__(self, model: Any, *, sparse: bool = False) -> None:
        self.n_features = int(model.n_features_in_)
        trees: list[list[_Node]]
        if hasattr(model, "booster_"):
            found = model.booster_.dump_model()["tree_info"]
            self.baseline, trees = 0.0, [_lightgbm_nodes(tree["tree_structure"]) for tree in found]
        elif hasattr(model, "get_booster"):
            learner = json.loads(model.get_booster().save_raw("json"))["learner"]
            self.baseline = float(logit(float(learner["learner_model_param"]["base_score"].strip("[]"))))
            trees = [
                _xgboost_nodes(tree, MISSING["Zero" if sparse else "NaN"])
                for tree in learner["gradient_booster"]["model"]["trees"]
            ]
        else:
            self.baseline = float(np.ravel(model._baseline_prediction)[0])
            trees = [_sklearn_nodes(predictor) for [predictor] in model._predictors]
        self.n_nodes = np.array([len(tree) for tree in trees], dtype=np.int32)
        columns = list(zip(*(node for tree in trees for node in tree), strict=True))
        for name, kind, column in zip(_NAMES, _TYPES, columns, strict=True):
            setattr(self, name, np.array(column, dtype=kind))

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Take arrays from a file, once every path in them is known to end in a leaf."""
        self.__dict__.update(kept)
        for name, kind in zip(("n_nodes", *_NAMES), (np.int32, *_TYPES), strict=True):
            setattr(self, name, np.ascontiguousarray(kept[name], dtype=kind))
        n_nodes, left, right, feature = (
            np.asarray(getattr(self, name), dtype=np.int64) for name in ("n_nodes", "left", "right", "feature")
        )
        check_nodes(n_nodes, left, right, feature, int(self.n_features))
        if any(getattr(self, name).shape != left.shape for name in _NAMES):
            raise ValueError("the arrays of boosted trees must have one entry a node.")

    def decision_function(self, X: Any) -> Float:
        """Return log odds.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features; NaN where a value is missing.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log odds of yes.
        """
        from smtl.kernels.boosted import sum_of_trees

        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} features, got {X.shape[1]} instead.")
        first = (np.cumsum(self.n_nodes) - self.n_nodes).astype(np.int64)
        out = np.full(X.shape[0], self.baseline)
        step = max(1, BLOCK // max(self.n_features, 1)) if sp.issparse(X) else max(X.shape[0], 1)
        arrays = [getattr(self, name) for name in _NAMES]
        for at in range(0, X.shape[0], step):
            rows = X[at : at + step]
            dense = np.ascontiguousarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
            sum_of_trees(dense, first, *arrays, out[at : at + step])
        return out


def _lightgbm_nodes(root: dict[str, Any]) -> list[_Node]:
    """Return the nodes of a tree of LightGBM's, parents before their children."""
    nodes: list[_Node] = []

    def add(node: dict[str, Any]) -> int:
        place = len(nodes)
        if "split_feature" not in node:
            nodes.append((LEAF, LEAF, 0, 0.0, 0, 0, float(node["leaf_value"])))
            return place
        if node["decision_type"] != "<=":
            raise ValueError(f"trees must split numbers, got a split by {node['decision_type']!r} instead.")
        nodes.append((0, 0, 0, 0.0, 0, 0, 0.0))
        left, right = add(node["left_child"]), add(node["right_child"])
        missing, side = MISSING[node["missing_type"]], int(node["default_left"])
        nodes[place] = (left, right, int(node["split_feature"]), float(node["threshold"]), missing, side, 0.0)
        return place

    add(root)
    return nodes


def _xgboost_nodes(tree: dict[str, Any], missing: int) -> list[_Node]:
    """Return the nodes of a tree of XGBoost's, whose children come after their parents."""
    if any(tree["split_type"]):
        raise ValueError("trees must split numbers, got a split by categories instead.")
    names = ("left_children", "right_children", "split_indices", "split_conditions", "default_left")
    return [
        (LEAF, LEAF, 0, 0.0, missing, 0, float(value))
        if left == LEAF
        else (left, right, feature, _largest_below(value), missing, side, 0.0)
        for left, right, feature, value, side in zip(*(tree[name] for name in names), strict=True)
    ]


def _largest_below(threshold: float) -> float:
    """Return the largest float64 that is below a threshold once it is rounded to float32, as XGBoost does."""
    t = np.float32(threshold)
    middle = 0.5 * (float(np.nextafter(t, np.float32(-np.inf))) + float(t))
    return middle if np.float32(middle) < t else float(np.nextafter(middle, -np.inf))


def _sklearn_nodes(predictor: Any) -> list[_Node]:
    """Return the nodes of a tree of scikit-learn's histogram boosting, whose children come after their parents."""
    nodes = predictor.nodes
    if nodes["is_categorical"].any():
        raise ValueError("trees must split numbers, got a split by categories instead.")
    missing = MISSING["NaN"]
    return [
        (LEAF, LEAF, 0, 0.0, missing, 0, float(node["value"]))
        if node["is_leaf"]
        else (
            int(node["left"]),
            int(node["right"]),
            int(node["feature_idx"]),
            float(node["num_threshold"]),
            missing,
            int(node["missing_go_to_left"]),
            0.0,
        )
        for node in nodes
    ]
