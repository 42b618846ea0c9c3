"""Classifiers of the user's own in an ONNX graph, as skl2onnx makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from smtl.ensemble.learners.wrapped import FLOOR
from smtl.model.onnx_graph import OPSET, OPSET_OF_TREES, Graph, NotExpressible, first_line

__all__ = ["joint_scores", "log_odds", "one_task_scores"]

DOMAINS = ("", "ai.onnx.ml")  # of the operators that every runtime has


def one_task_scores(model: Any, graph: Graph, x: str) -> str:
    """Add the scores of a classifier of 0 and 1.

    Parameters
    ----------
    model : object
        A fitted classifier.
    graph : Graph
        A graph.
    x : str
        Features.

    Returns
    -------
    str
        A double matrix of one column: log odds, or what `decision_function` says where there is one.

    Raises
    ------
    NotExpressible
        With the reason, where it cannot be done.
    """
    raw = hasattr(model, "decision_function")
    if not raw and not hasattr(model, "predict_proba"):
        raise NotExpressible(f"{_name(model)} has neither decision_function nor predict_proba")
    found, rank = _converted(model, graph, x, raw=raw)
    if rank != 2:
        raise NotExpressible(f"skl2onnx makes scores of {rank} dimensions of {_name(model)}")
    # Of two columns the last is that of yes; some classifiers have one score only.
    yes = graph.node("Gather", [found, graph.constant([-1])], axis=1)
    return yes if raw else log_odds(graph, yes, FLOOR)


def joint_scores(model: Any, graph: Graph, x: str) -> str:
    """Add the scores of a classifier of several labels.

    Parameters
    ----------
    model, graph, x
        As in `one_task_scores`.

    Returns
    -------
    str
        A double matrix, a column a label.

    Raises
    ------
    NotExpressible
        With the reason, where it cannot be done.
    """
    if not hasattr(model, "predict_proba"):
        raise NotExpressible(f"{_name(model)} has no predict_proba for several labels")
    found, rank = _converted(model, graph, x, raw=False)
    if rank == 3:  # labels, rows, no and yes
        yes = graph.node("Gather", [found, graph.constant(np.int64(-1))], axis=2)
        found = graph.node("Transpose", [yes], perm=[1, 0])
    return log_odds(graph, found, FLOOR)


def log_odds(graph: Graph, probability: str, floor: float) -> str:
    """Add log odds, of probabilities that are kept away from 0 and 1.

    Parameters
    ----------
    graph : Graph
        A graph.
    probability : str
        Probabilities, double.
    floor : float
        The least distance from 0 and 1.

    Returns
    -------
    str
        Of the same shape.

    Examples
    --------
    >>> graph = Graph()
    >>> _ = log_odds(graph, "shares", 0.01)
    >>> [node.op_type for node in graph.nodes]
    ['Clip', 'Sub', 'Log', 'Log', 'Sub']
    """
    kept = graph.node("Clip", [probability, graph.constant(floor), graph.constant(1.0 - floor)])
    rest = graph.node("Sub", [graph.constant(1.0), kept])
    return graph.node("Sub", [graph.node("Log", [kept]), graph.node("Log", [rest])])


def _converted(model: Any, graph: Graph, x: str, *, raw: bool) -> tuple[str, int]:
    """Add what skl2onnx makes of a classifier; return its scores, and how many dimensions they have."""
    from onnx import TensorProto, compose

    made = _by_skl2onnx(model, raw=raw)
    name = _name(model)
    strange = sorted({one.domain for one in made.opset_import} - set(DOMAINS))
    if strange or made.functions:
        raise NotExpressible(f"skl2onnx makes of {name} what needs other operators than those of ONNX ({strange})")
    prefix = graph.new_name("converted") + "_"
    made = compose.add_prefix(made, prefix).graph
    if len(made.output) != 2:
        raise NotExpressible(f"skl2onnx makes no scores of {name}")
    graph.converted.append(name)
    graph.count(made.ByteSize())
    graph.node("Identity", [x], made.input[0].name)
    graph.nodes.extend(made.node)
    graph.constants.extend(made.initializer)
    scores = made.output[1]
    return graph.node("Cast", [scores.name], to=TensorProto.DOUBLE), len(scores.type.tensor_type.shape.dim)


def _by_skl2onnx(model: Any, *, raw: bool) -> Any:
    """Return a classifier as a model of ONNX."""
    name = _name(model)
    try:
        from skl2onnx import to_onnx
        from skl2onnx.common.data_types import DoubleTensorType
    except ImportError as error:
        raise NotExpressible(f"{name} needs skl2onnx, which is not installed; run pip install skl2onnx") from error
    final = model[-1] if isinstance(model, Pipeline) else model
    wanted: dict[str, Any] = {"zipmap": False, "raw_scores": True} if raw else {"zipmap": False}
    types = [("x", DoubleTensorType([None, model.n_features_in_]))]
    versions = {"": OPSET, "ai.onnx.ml": OPSET_OF_TREES}
    while True:
        try:
            return to_onnx(model, initial_types=types, target_opset=versions, options={id(final): wanted})
        except NameError as error:  # an option that this classifier does not have
            without = {key: value for key, value in wanted.items() if f"'{key}'" not in str(error)}
            if without == wanted:
                raise NotExpressible(f"skl2onnx cannot convert {name}: {first_line(error)}") from error
            wanted = without
        except Exception as error:  # skl2onnx has many kinds of errors, and no base of them
            raise NotExpressible(f"skl2onnx cannot convert {name}: {first_line(error)}") from error


def _name(model: Any) -> str:
    """Return what a classifier is called; of a pipeline, that at its end."""
    return type(model[-1] if isinstance(model, Pipeline) else model).__name__
