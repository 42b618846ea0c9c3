r"""Trees in an ONNX graph, exact to the last bit.

ONNX adds up the leaves of trees in single precision. So here a tree returns the number of its leaf, which single
precision holds exactly, and the leaf's value is looked up in a table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from smtl.model.onnx_graph import Graph

__all__ = ["Trees", "sum_of_leaves"]

BYTES_OF_A_NODE = 40  # in a file: numbers of the node, its tree, its feature and its children, a word and a threshold


class Trees(NamedTuple):
    """The nodes of all trees, one tree after the other.

    Attributes
    ----------
    n_nodes : ndarray of shape (n_trees,)
        Nodes of each tree.
    left, right : ndarray of shape (n_nodes,)
        Children by their number inside the tree; -1 for those of a leaf.
    feature : ndarray of shape (n_nodes,)
        What a node looks at.
    threshold : ndarray of float32 or float64 of shape (n_nodes,)
        Left is where the feature is not above it. The features are compared in the same type.
    missing_left : ndarray of shape (n_nodes,)
        Whether NaN goes left.
    """

    n_nodes: npt.NDArray[Any]
    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    feature: npt.NDArray[Any]
    threshold: npt.NDArray[Any]
    missing_left: npt.NDArray[Any]


def sum_of_leaves(
    graph: Graph,
    x: str,
    trees: Trees,
    values: npt.NDArray[Any],
    *,
    counts: npt.NDArray[Any] | None = None,
    start: npt.ArrayLike,
) -> str:
    """Add the sum over trees of what their leaves say.

    Parameters
    ----------
    graph : Graph
        A graph.
    x : str
        Features, double.
    trees : Trees
        The trees.
    values : ndarray of shape (n_leaves, m)
        What each leaf says, in the order of the nodes, of any type of numbers.
    counts : ndarray of shape (n_leaves,), optional
        What the values are divided by.
    start : array-like of shape (m,)
        What the sum begins with.

    Returns
    -------
    str
        A double matrix with m columns.

    Examples
    --------
    One split at 0.5, with the answers 10 and 20:

    >>> from smtl.model.onnx_graph import Graph
    >>> nodes = np.array([1, -1, -1]), np.array([2, -1, -1]), np.zeros(3, dtype=int), np.array([0.5, 0.0, 0.0])
    >>> graph = Graph()
    >>> found = sum_of_leaves(
    ...     graph, "features", Trees(np.array([3]), *nodes, np.zeros(3)), np.array([[10.0], [20.0]]), start=[0.0]
    ... )
    >>> [node.op_type for node in graph.nodes][:3]
    ['Cast', 'TreeEnsembleRegressor', 'Cast']
    """
    from onnx import TensorProto, helper

    leaves = _leaves(graph, x, trees)
    add, table = graph.new_name("tree"), graph.constant(values)
    nodes = [
        helper.make_node("Gather", [table, f"{add}_leaf"], [f"{add}_found"], axis=0),
        helper.make_node("Cast", [f"{add}_found"], [f"{add}_value"], to=TensorProto.DOUBLE),
    ]
    value = f"{add}_value"
    if counts is not None:
        nodes += [
            helper.make_node("Gather", [graph.constant(counts[:, None]), f"{add}_leaf"], [f"{add}_rows"], axis=0),
            helper.make_node("Cast", [f"{add}_rows"], [f"{add}_count"], to=TensorProto.DOUBLE),
            helper.make_node("Div", [value, f"{add}_count"], [f"{add}_share"]),
        ]
        value = f"{add}_share"
    nodes.append(helper.make_node("Add", [f"{add}_before", value], [f"{add}_after"]))
    rows = f"{add}_N"  # not N: a learner of tasks with rows of their own has a row for each task here
    body = helper.make_graph(
        nodes,
        add,
        [
            helper.make_tensor_value_info(f"{add}_before", TensorProto.DOUBLE, [rows, values.shape[1]]),
            helper.make_tensor_value_info(f"{add}_leaf", TensorProto.INT64, [rows]),
        ],
        [helper.make_tensor_value_info(f"{add}_after", TensorProto.DOUBLE, [rows, values.shape[1]])],
    )
    # One tree at a time: the values of all trees at once would take rows x trees x tasks of memory.
    return graph.node("Scan", [graph.repeated(start, x), leaves], body=body, num_scan_inputs=1, scan_input_axes=[1])


def _leaves(graph: Graph, x: str, trees: Trees) -> str:
    """Add the number of each row's leaf among all leaves, a column a tree."""
    from onnx import TensorProto

    n_trees, n_nodes, leaf = len(trees.n_nodes), trees.n_nodes.astype(np.int64), trees.left < 0
    tree = np.repeat(np.arange(n_trees), n_nodes)
    number = np.arange(len(leaf)) - np.repeat(np.cumsum(n_nodes) - n_nodes, n_nodes)
    n_leaves = np.bincount(tree[leaf], minlength=n_trees)
    first = np.cumsum(n_leaves) - n_leaves
    place = np.arange(leaf.sum()) - first[tree[leaf]]
    single = trees.threshold.dtype == np.float32
    compared = graph.node("Cast", [x], to=TensorProto.FLOAT if single else TensorProto.DOUBLE)
    graph.count(BYTES_OF_A_NODE * len(leaf))
    reached = graph.node("TreeEnsembleRegressor", [compared], domain="ai.onnx.ml", n_targets=n_trees)
    words = np.where(leaf, b"LEAF", b"BRANCH_LEQ").tolist()
    numbers = {
        "nodes_treeids": tree,
        "nodes_nodeids": number,
        "nodes_featureids": np.maximum(trees.feature, 0),
        "nodes_truenodeids": np.maximum(trees.left, 0),
        "nodes_falsenodeids": np.maximum(trees.right, 0),
        "nodes_missing_value_tracks_true": trees.missing_left,
        "target_treeids": tree[leaf],
        "target_nodeids": number[leaf],
        "target_ids": tree[leaf],
    }
    attributes = [_attribute(name, "ints", values.astype(np.int64).tolist()) for name, values in numbers.items()]
    attributes.append(_attribute("nodes_modes", "strings", words))
    # Thresholds and targets must be of one type.
    for name, values in {"nodes_values": np.where(leaf, 0, trees.threshold), "target_weights": place}.items():
        if single:
            attributes.append(_attribute(name, "floats", values.astype(np.float32).tolist()))
        else:
            attributes.append(_tensor(f"{name}_as_tensor", values.astype(np.float64)))
    graph.nodes[-1].attribute.extend(attributes)
    return graph.node("Add", [graph.node("Cast", [reached], to=TensorProto.INT64), graph.constant(first)])


def _attribute(name: str, kind: str, values: list[Any]) -> Any:
    """Return a list as an attribute, without the check of every entry that makes `onnx.helper` slow."""
    from onnx import AttributeProto

    types = {"ints": AttributeProto.INTS, "floats": AttributeProto.FLOATS, "strings": AttributeProto.STRINGS}
    made = AttributeProto(name=name, type=types[kind])
    getattr(made, kind).extend(values)
    return made


def _tensor(name: str, values: npt.NDArray[Any]) -> Any:
    from onnx import AttributeProto, numpy_helper

    return AttributeProto(name=name, type=AttributeProto.TENSOR, t=numpy_helper.from_array(values, name))
