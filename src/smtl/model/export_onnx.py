"""A whole pipeline as one ONNX graph, in double precision."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from smtl.model.plain import PlainModel

__all__ = ["onnx_graph"]

# Old enough for runtimes of the last years; nothing newer is needed.
_OPSET, _IR_VERSION = 13, 7
# Of a protocol buffer, less some room for names.
_MOST_BYTES = 2**31 - 2**24


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
    if plain.weights.nbytes > _MOST_BYTES:
        raise ValueError(
            f"an ONNX file can have weights of {_MOST_BYTES:,} bytes at the most, got {plain.weights.nbytes:,} "
            "instead; JSON has no limit."
        )
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError as error:
        raise ImportError("ONNX files need onnx, which is not installed; run pip install onnx.") from error
    graph = _Graph()
    _add_scores(graph, plain)
    _add_labels(graph, plain, TensorProto.INT64)
    scores_shape: list[Any] = ["N"] if plain.kind == "binary" else ["N", len(plain.tasks)]
    labels_shape: list[Any] = ["N"] if plain.kind in ("binary", "multiclass") else ["N", len(plain.tasks)]
    missing = "NaN where one is missing" if plain.fill is not None else "none may be missing"
    inputs = [helper.make_tensor_value_info("features", TensorProto.DOUBLE, ["N", len(plain.features)])]
    outputs = [
        helper.make_tensor_value_info("scores", TensorProto.DOUBLE, scores_shape),
        helper.make_tensor_value_info("labels", helper.np_dtype_to_tensor_dtype(_classes(plain).dtype), labels_shape),
    ]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "smtl", inputs, outputs, initializer=graph.constants),
        producer_name="smtl",
        producer_version=version("smtl"),
        doc_string=f"features: {len(plain.features)} of type double, in the order of the metadata; {missing}.",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    about = plain.about().items()
    helper.set_model_props(model, {key: value if isinstance(value, str) else _text(value) for key, value in about})
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


class _Graph:
    """Nodes and constants, in the order of their computation."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output


def _add_scores(graph: _Graph, plain: PlainModel) -> None:
    x, binary = "features", plain.kind == "binary"
    if plain.fill is not None:
        missing = graph.node("IsNaN", [x], "missing")
        x = graph.node("Where", [missing, graph.constant("fill", plain.fill), x], "filled")
    x = graph.node("Sub", [x, graph.constant("center", plain.center)], "centered")
    x = graph.node("MatMul", [x, graph.constant("weights", plain.weights.T)], "products")
    x = graph.node("Add", [x, graph.constant("intercepts", plain.intercepts)], "column" if binary else "scores")
    if binary:
        # A product with a vector would do, but onnxruntime has none for a matrix without rows.
        graph.node("Squeeze", [x, graph.constant("second", np.array([1]))], "scores")


def _add_labels(graph: _Graph, plain: PlainModel, whole: int) -> None:
    classes = _classes(plain)
    if plain.kind == "multiclass":
        number = graph.node("ArgMax", ["scores"], "number", axis=1, keepdims=0)
    else:
        classes = classes[[0, -1]]
        yes = graph.node("Greater", ["scores", graph.constant("zero", np.float64(0.0))], "yes")
        number = graph.node("Cast", [yes], "number", to=whole)
    graph.node("Gather", [graph.constant("classes", classes), number], "labels", axis=0)


def _classes(plain: PlainModel) -> npt.NDArray[Any]:
    """Return the classes as one of the types that ONNX has and runtimes know."""
    kinds: dict[str, Any] = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64, "U": np.object_}
    return plain.classes.astype(kinds[plain.classes.dtype.kind])


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
