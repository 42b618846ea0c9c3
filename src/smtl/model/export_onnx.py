"""A whole pipeline of a linear model as one ONNX graph, in double precision."""

from __future__ import annotations

import numpy as np

from smtl.model.onnx_graph import Graph, add_labels, file_content
from smtl.model.plain import PlainModel

__all__ = ["onnx_graph"]


def onnx_graph(plain: PlainModel) -> bytes:
    """Return the content of an ONNX file: features in, scores and labels out; needs onnx.

    Everything is double. Where features have means of a million times their spread, which single precision cannot tell
    apart, the scores are still those of `decision_function`.

    Parameters
    ----------
    plain : PlainModel
        The model.

    Returns
    -------
    bytes
        A graph with the input ``features``, of shape (n_samples, n_features), and the outputs ``scores`` and
        ``labels``, of the shapes that `decision_function` and `predict` return.

    Raises
    ------
    ImportError
        If onnx is not installed.
    ValueError
        If the weights are too large for a file of this format.

    See Also
    --------
    smtl.model.onnx_ensemble.onnx_ensemble : The same of an ensemble.

    Examples
    --------
    >>> from onnx import load_from_string
    >>> from smtl import SMTLClassifier
    >>> from smtl.model.plain import plain_model
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> found = load_from_string(onnx_graph(plain_model(model, feature_names=["beat"])))
    >>> [node.op_type for node in found.graph.node]
    ['Sub', 'MatMul', 'Add', 'Squeeze', 'Greater', 'Cast', 'Gather']
    """
    graph = Graph()
    _add_scores(graph, plain)
    add_labels(graph, plain)
    return file_content(graph, plain)


def _add_scores(graph: Graph, plain: PlainModel) -> None:
    x, binary = "features", plain.kind == "binary"
    if plain.fill is not None:
        missing = graph.node("IsNaN", [x], "missing")
        x = graph.node("Where", [missing, graph.constant(plain.fill, "fill"), x], "filled")
    x = graph.node("Sub", [x, graph.constant(plain.center, "center")], "centered")
    x = graph.node("MatMul", [x, graph.constant(plain.weights.T, "weights")], "products")
    x = graph.node("Add", [x, graph.constant(plain.intercepts, "intercepts")], "column" if binary else "scores")
    if binary:
        # A product with a vector would do, but onnxruntime has none for a matrix without rows.
        graph.node("Squeeze", [x, graph.constant(np.array([1]), "second")], "scores")
