"""The learners of an ensemble in an ONNX graph: one function a kind.

The operators are written here, not taken from skl2onnx, which has no exact forest of several tasks and none of our
learners. Only classifiers of the user's own go through it; see `smtl.model.onnx_wrapped`.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl.ensemble.boosted_trees import MISSING
from smtl.ensemble.forest_arrays import packed_forest
from smtl.ensemble.learners.boosting import LIMIT, BoostingLearner
from smtl.ensemble.learners.features import Features, SparseScaler, SparseToDense
from smtl.ensemble.learners.forest import FLOOR, CoarseForestLearner, ForestLearner
from smtl.ensemble.learners.kernel import KernelLearner
from smtl.ensemble.learners.linear import LinearLearner
from smtl.ensemble.learners.own_rows import PerTask, Pooled
from smtl.ensemble.learners.wrapped import WrappedLearner
from smtl.model.onnx_graph import Graph, NotExpressible
from smtl.model.onnx_trees import Trees, sum_of_leaves
from smtl.model.onnx_wrapped import joint_scores, log_odds, one_task_scores
from smtl.tables.encoder import TableEncoder

__all__ = ["add_step", "learner_scores"]


def learner_scores(learner: Any, graph: Graph, x: str) -> str:
    """Add what a learner's `decision_function` computes.

    Parameters
    ----------
    learner : Learner
        A fitted learner.
    graph : Graph
        A graph.
    x : str
        Features: double, NaN where one is missing.

    Returns
    -------
    str
        The scores, a double matrix with a column a task.

    Raises
    ------
    NotExpressible
        With the reason, where ONNX cannot express it.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> X = np.arange(6.0)[:, None]
    >>> learner, graph = KernelLearner(scaled=False), Graph()
    >>> _ = learner.held_out_scores(X, read_targets(X, [0, 1, 0, 1, 0, 1]), [(np.arange(3), np.arange(3, 6))])
    >>> learner.fit(X, read_targets(X, [0, 1, 0, 1, 0, 1]))
    >>> _ = learner_scores(learner, graph, "features")
    >>> "Exp" in [node.op_type for node in graph.nodes]
    True
    """
    # A subclass may compute something else.
    if type(learner) not in _scores.registry:
        raise NotExpressible(f"smtl has no ONNX operators for {type(learner).__name__}")
    return _scores(learner, graph, x)


@singledispatch
def _scores(learner: Any, graph: Graph, x: str) -> str:
    raise NotImplementedError


@_scores.register
def _linear(learner: LinearLearner, graph: Graph, x: str) -> str:
    x = _add_features(graph, x, learner._features)
    return _add_affine(graph, x, learner.coef.T, learner.intercept)


@_scores.register
def _kernel(learner: KernelLearner, graph: Graph, x: str) -> str:
    x = _add_features(graph, x, learner._features)
    landmarks = learner.landmarks.astype(np.float64)
    # In scikit-learn's order of operations.
    own = graph.node("ReduceSumSquare", [x], axes=[1], keepdims=1)
    products = graph.node("MatMul", [x, graph.constant(-2.0 * landmarks.T)])
    distances = graph.node("Add", [graph.node("Add", [products, own]), graph.constant((landmarks**2).sum(axis=1))])
    distances = graph.node("Max", [distances, graph.constant(np.float64(0.0))])
    kernel = graph.node("Exp", [graph.node("Mul", [distances, graph.constant(np.float64(-learner.gamma))])])
    return _add_affine(graph, kernel, learner.coef, learner.intercept)


@_scores.register(ForestLearner)
@_scores.register(CoarseForestLearner)
def _forest(learner: ForestLearner, graph: Graph, x: str) -> str:
    x = _add_features(graph, x, learner._features)
    packed = packed_forest(learner._forest)
    # Thresholds are float32: features are rounded to it before they are compared, as in scikit-learn.
    trees = Trees(*(packed[name] for name in Trees._fields))
    values = packed["positives"]
    total = sum_of_leaves(graph, x, trees, values, counts=packed["rows"], start=np.zeros(values.shape[1]))
    return log_odds(graph, graph.node("Div", [total, graph.constant(np.float64(len(trees.n_nodes)))]), FLOOR)


@_scores.register
def _boosting(learner: BoostingLearner, graph: Graph, x: str) -> str:
    assert learner._features is not None
    x = _add_features(graph, x, learner._features)
    columns = [
        graph.repeated([constant], x) if model is None else _boosted(model, graph, x)
        for model, constant in zip(learner._models, learner._constants, strict=True)
    ]
    limits = [graph.constant(np.float64(limit)) for limit in (-LIMIT, LIMIT)]
    return graph.node("Clip", [graph.node("Concat", columns, axis=1), *limits])


def _boosted(model: Any, graph: Graph, x: str) -> str:
    """Add the log odds of one task's boosted trees."""
    nodes = {name: getattr(model, name) for name in Trees._fields if name != "missing_left"}
    leaf, missing = model.left < 0, model.missing
    if np.any(missing[~leaf] == MISSING["Zero"]):
        raise NotExpressible("its trees take 0 for a missing value")
    # Where a tree saw no NaN in training, NaN counts as 0.
    nodes["missing_left"] = np.where(missing == MISSING["None"], model.threshold >= 0.0, model.missing_left)
    trees = Trees(**nodes)
    return sum_of_leaves(graph, x, trees, model.value[leaf][:, None], start=[model.baseline])


@_scores.register
def _wrapped(learner: WrappedLearner, graph: Graph, x: str) -> str:
    assert learner._features is not None
    x = _add_features(graph, x, learner._features)
    if learner._joint:
        return joint_scores(learner._models[0], graph, x)
    columns = [
        graph.repeated([constant], x) if model is None else one_task_scores(model, graph, x)
        for model, constant in zip(learner._models, learner._constants, strict=True)
    ]
    return graph.node("Concat", columns, axis=1)


@_scores.register
def _pooled(learner: Pooled, graph: Graph, x: str) -> str:
    x = _add_features(graph, x, learner._features)
    m = learner.n_tasks
    # Every row once for each task, with the columns that say which.
    apart = graph.node("Unsqueeze", [x, graph.constant([1])])
    n_rows = graph.node("Gather", [graph.node("Shape", [x]), graph.constant([0])], axis=0)
    shape = graph.node("Concat", [n_rows, graph.constant([m, 1])], axis=0)
    copies = graph.node("Expand", [apart, shape])
    which = graph.node("Expand", [graph.constant(np.eye(m)[None]), shape])
    both = graph.node("Concat", [copies, which], axis=2)
    width = graph.node("Gather", [graph.node("Shape", [both]), graph.constant([2])], axis=0)
    rows = graph.node("Reshape", [both, graph.node("Concat", [graph.constant([-1]), width], axis=0)])
    return graph.node("Reshape", [learner_scores(learner.learner, graph, rows), graph.constant([-1, m])])


@_scores.register
def _per_task(learner: PerTask, graph: Graph, x: str) -> str:
    columns = [graph.repeated([0.0], x) if one is None else learner_scores(one, graph, x) for one in learner.learners]
    return graph.node("Concat", columns, axis=1)


def _add_features(graph: Graph, x: str, features: Features) -> str:
    for step in features._steps:
        x = add_step(graph, x, step)
    return x


def add_step(graph: Graph, x: str, step: Any) -> str:
    """Add a step that comes before a learner.

    Parameters
    ----------
    graph : Graph
        A graph.
    x : str
        What goes in.
    step : SimpleImputer, StandardScaler, MaxAbsScaler, SparseScaler, SparseToDense or TableEncoder
        A fitted step, of as many features as go in; of a TableEncoder, what columns become before they are scaled.

    Returns
    -------
    str
        What comes out.

    Examples
    --------
    >>> graph = Graph()
    >>> _ = add_step(graph, "features", StandardScaler().fit([[0.0], [1.0]]))
    >>> [node.op_type for node in graph.nodes]
    ['Sub', 'Div']
    """
    if isinstance(step, SimpleImputer):
        if getattr(step, "_fit_dtype", None) == np.float32:
            raise NotExpressible(
                "its training data were of type float32, in which scikit-learn then scales; fit it to "
                'X.astype("float64")'
            )
        fill = graph.constant(np.asarray(step.statistics_, dtype=np.float64))
        return graph.node("Where", [graph.node("IsNaN", [x]), fill, x])
    if isinstance(step, TableEncoder):
        center, scale = step.affine()
        fill = graph.constant(center)
        filled = graph.node("Where", [graph.node("IsNaN", [x]), fill, x])
        return graph.node("Div", [graph.node("Sub", [filled, fill]), graph.constant(scale)])
    if isinstance(step, SparseScaler):
        return graph.node("Mul", [x, graph.constant(step.scale)])
    if isinstance(step, SparseToDense):
        k, r = len(step.full), step.components.shape[1]
        weights = np.zeros((k + len(step.rest), k + r))
        weights[step.full, np.arange(k)] = 1.0
        weights[step.rest, k:] = step.components
        return _add_affine(graph, x, weights, np.concatenate([-step.center, np.zeros(r)]))
    if isinstance(step, StandardScaler) and step.with_mean:
        x = graph.node("Sub", [x, graph.constant(step.mean_.astype(np.float64))])
    if not isinstance(step, StandardScaler | MaxAbsScaler):
        raise TypeError(f"a step must be SimpleImputer, StandardScaler or MaxAbsScaler, got {step!r} instead.")
    if step.scale_ is None:
        return x
    return graph.node("Div", [x, graph.constant(step.scale_.astype(np.float64))])


def _add_affine(graph: Graph, x: str, weights: npt.NDArray[Any], intercept: npt.NDArray[Any]) -> str:
    products = graph.node("MatMul", [x, graph.constant(weights.astype(np.float64))])
    return graph.node("Add", [products, graph.constant(intercept.astype(np.float64))])
