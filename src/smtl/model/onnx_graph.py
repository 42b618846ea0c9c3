"""The parts of an ONNX file: nodes, constants, labels, and what is told about the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from smtl.model.described import Described

__all__ = ["Graph", "NotExpressible", "add_labels", "file_content", "first_line"]

MOST_BYTES = 2**31 - 2**24  # of a protocol buffer, less some room for names
# Old enough for runtimes of the last years; nothing newer is needed.
OPSET = 13
OPSET_OF_TREES = 3  # of ai.onnx.ml, the first with thresholds in double precision
IR_VERSION = 7
IR_VERSION_OF_TREES = 8
LINE = 120  # characters that are shown of another library's error


class NotExpressible(ValueError):  # noqa: N818
    """What ONNX cannot say, with the reason.

    Examples
    --------
    >>> raise NotExpressible("its trees take 0 for a missing value")
    Traceback (most recent call last):
        ...
    smtl.model.onnx_graph.NotExpressible: its trees take 0 for a missing value
    """


def first_line(error: Exception) -> str:
    r"""Return what an error of another library says, in one line.

    Parameters
    ----------
    error : Exception
        The error.

    Returns
    -------
    str
        The beginning of its first line, without a full stop.

    Examples
    --------
    >>> first_line(ValueError("No converter.\nSee the docs."))
    'No converter'
    """
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return line[:LINE].rstrip(".: ")


class Graph:
    """Nodes and constants, in the order of their computation; needs onnx.

    Parameters
    ----------
    advice : str, default="JSON has no limit"
        What to do about a model that is too large for a file.

    Attributes
    ----------
    nodes, constants : list
        What has been added.
    converted : list of str
        Classes of the classifiers among it that another library has made nodes of.

    Raises
    ------
    ImportError
        If onnx is not installed.

    Examples
    --------
    >>> graph = Graph()
    >>> total = graph.node("Add", ["features", graph.constant([1.0, 2.0])])
    >>> [node.op_type for node in graph.nodes]
    ['Add']
    """

    def __init__(self, advice: str = "JSON has no limit") -> None:
        try:
            import onnx  # noqa: F401
        except ImportError as error:
            raise ImportError("ONNX files need onnx, which is not installed; run pip install onnx.") from error
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.converted: list[str] = []
        self._advice = advice
        self._n_bytes = 0
        self._n_names = 0

    def count(self, n_bytes: int) -> None:
        """Add to the size of the file.

        Parameters
        ----------
        n_bytes : int
            What comes to it.

        Raises
        ------
        ValueError
            If it is too large.
        """
        self._n_bytes += n_bytes
        if self._n_bytes > MOST_BYTES:
            raise ValueError(
                f"an ONNX file can hold {MOST_BYTES:,} bytes at the most, and this model needs more; {self._advice}."
            )

    def new_name(self, what: str) -> str:
        """Return a name that nothing has yet.

        Parameters
        ----------
        what : str
            What it begins with.

        Returns
        -------
        str
            The name.
        """
        self._n_names += 1
        return f"{what}_{self._n_names}"

    def constant(self, value: npt.ArrayLike, name: str | None = None) -> str:
        """Add a constant.

        Parameters
        ----------
        value : array-like
            Its value.
        name : str, optional
            Its name.

        Returns
        -------
        str
            Its name.
        """
        from onnx import numpy_helper

        array = np.asarray(value)
        self.count(array.nbytes)
        name = name or self.new_name("constant")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str | None = None, **attributes: Any) -> str:
        """Add a node.

        Parameters
        ----------
        kind : str
            The operator.
        inputs : sequence of str
            Names of what it takes.
        output : str, optional
            The name of what it returns.
        **attributes
            Of the node.

        Returns
        -------
        str
            The name of what it returns.
        """
        from onnx import helper

        output = output or self.new_name(kind)
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def repeated(self, row: npt.ArrayLike, like: str) -> str:
        """Add a matrix whose rows are all the same.

        Parameters
        ----------
        row : array-like of shape (m,)
            The row.
        like : str
            A matrix that has as many rows.

        Returns
        -------
        str
            Its name.
        """
        n_rows = self.node("Gather", [self.node("Shape", [like]), self.constant([0])], axis=0)
        shape = self.node("Concat", [n_rows, self.constant([1])], axis=0)
        return self.node("Expand", [self.constant(np.atleast_2d(row)), shape])


def add_labels(graph: Graph, model: Described) -> None:
    """Add ``labels``, the answers that ``scores`` stand for.

    Parameters
    ----------
    graph : Graph
        A graph that has ``scores``.
    model : Described
        The model.
    """
    from onnx import TensorProto

    classes = _classes(model)
    if model.kind == "multiclass":
        number = graph.node("ArgMax", ["scores"], "number", axis=1, keepdims=0)
    else:
        classes = classes[[0, -1]]
        yes = graph.node("Greater", ["scores", graph.constant(np.float64(0.0), "zero")], "yes")
        number = graph.node("Cast", [yes], "number", to=TensorProto.INT64)
    graph.node("Gather", [graph.constant(classes, "classes"), number], "labels", axis=0)


def _classes(model: Described) -> npt.NDArray[Any]:
    """Return the classes as one of the types that ONNX has and runtimes know."""
    kinds: dict[str, Any] = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64, "U": np.object_}
    return model.classes.astype(kinds[model.classes.dtype.kind])


def file_content(graph: Graph, model: Described, *, probabilities: int = 0, trees: bool = False) -> bytes:
    """Return the content of a file: ``features`` in, ``scores`` and ``labels`` out.

    Parameters
    ----------
    graph : Graph
        What computes them.
    model : Described
        What is told about the model.
    probabilities : int, default=0
        Columns of the further output ``probabilities``; 0 for a model that has none.
    trees : bool, default=False
        Whether the graph has trees, which need a newer version of the format.

    Returns
    -------
    bytes
        The content.
    """
    import onnx
    from onnx import TensorProto, helper

    m, of_type = len(model.tasks), helper.np_dtype_to_tensor_dtype(_classes(model).dtype)
    scores_shape: list[Any] = ["N"] if model.kind == "binary" else ["N", m]
    labels_shape: list[Any] = ["N"] if model.kind in ("binary", "multiclass") else ["N", m]
    missing = "NaN where one is missing" if model.takes_missing else "none may be missing"
    inputs = [helper.make_tensor_value_info("features", TensorProto.DOUBLE, ["N", len(model.features)])]
    outputs = [
        helper.make_tensor_value_info("scores", TensorProto.DOUBLE, scores_shape),
        helper.make_tensor_value_info("labels", of_type, labels_shape),
    ]
    if probabilities:
        outputs.append(helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, ["N", probabilities]))
    opsets = [helper.make_opsetid("", OPSET)]
    if trees:
        opsets.append(helper.make_opsetid("ai.onnx.ml", OPSET_OF_TREES))
    made = helper.make_model(
        helper.make_graph(graph.nodes, "smtl", inputs, outputs, initializer=graph.constants),
        producer_name="smtl",
        producer_version=version("smtl"),
        doc_string=f"features: {len(model.features)} of type double, in the order of the metadata; {missing}.",
        opset_imports=opsets,
        ir_version=IR_VERSION_OF_TREES if trees else IR_VERSION,
    )
    about = model.about().items()
    helper.set_model_props(made, {key: value if isinstance(value, str) else _text(value) for key, value in about})
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
