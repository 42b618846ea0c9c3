"""A whole ensemble as one ONNX graph, in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from smtl.ensemble import SMTLEnsemble
from smtl.model.described import Described, described
from smtl.model.onnx_graph import Graph, NotExpressible, add_labels, file_content, first_line
from smtl.model.onnx_learners import add_step, learner_scores
from smtl.model.plain import check_step
from smtl.model.scores import classifier_of, columns_in_order, encoder_of, takes_frames

__all__ = ["describe_ensemble", "onnx_ensemble"]

AGREEMENT = 1e-5  # by how much a score may differ from that of the model
ADVICE = "train with --preset fast, which grows fewer trees"
_CANNOT = "the ensemble cannot be exported to ONNX"
_INSTEAD = "Fit it with other learners, or use it in Python (smtl.model.load_model)."


def onnx_ensemble(model: Any, about: Described | None = None, *, rows: Any = None) -> bytes:
    """Return the content of an ONNX file: features in, scores, labels and probabilities out; needs onnx.

    Everything is double, but for what forests compare in single precision. The leaves of trees are added up as in
    smtl, so that the scores are those of `decision_function` up to rounding.

    Parameters
    ----------
    model : SMTLEnsemble or Pipeline
        A fitted ensemble; a pipeline of filling, scaling and the ensemble.
    about : Described, optional
        What `describe_ensemble` says, for names of your own.
    rows : array-like of shape (n_samples, n_features), optional
        Rows on which the graph is compared with the model, in onnxruntime. They are needed for an ensemble with
        classifiers of your own: what skl2onnx makes of a classifier does not always say what the classifier says.

    Returns
    -------
    bytes
        A graph with the input ``features``, of shape (n_samples, n_features), and the outputs ``scores``, ``labels``
        and ``probabilities``, of the shapes that `decision_function`, `predict` and `predict_proba` return.

    Raises
    ------
    ImportError
        If onnx is not installed, or onnxruntime where there is something to compare.
    ValueError
        With the learner and the reason, where ONNX cannot express one; or if the scores of ``rows`` do not agree.

    See Also
    --------
    smtl.model.export_onnx.onnx_graph : The same of a linear model.

    Examples
    --------
    >>> from onnx import load_from_string
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(60, n_classes=2, random_state=0)
    >>> model = SMTLEnsemble(learners=["linear"], cv=2).fit(X, Y)
    >>> found = load_from_string(onnx_ensemble(model))
    >>> [output.name for output in found.graph.output]
    ['scores', 'labels', 'probabilities']
    """
    final = classifier_of(model)
    if not isinstance(final, SMTLEnsemble):
        raise TypeError(f"model must be an SMTLEnsemble, got {type(final).__name__} instead; onnx_graph takes it.")
    about = describe_ensemble(model) if about is None else about
    graph, x = Graph(ADVICE), "features"
    for _, step in model.steps[:-1] if isinstance(model, Pipeline) else []:
        if takes_frames(model) and step is model.steps[0][1]:
            continue
        if step is not encoder_of(model):
            check_step(step, len(about.features))
        x = add_step(graph, x, step)
    scores = [_of_learner(name, learner, graph, x) for name, learner in final.learners_.items()]
    odds = _add_log_odds(graph, x, final, scores)
    _add_scores(graph, final, odds)
    add_labels(graph, about)
    n_columns = _add_probabilities(graph, final, odds)
    if graph.converted and rows is None:
        raise ValueError(
            f"rows must be given for an ensemble with {graph.converted[0]}, got None instead: what skl2onnx makes of "
            "it must be compared with it. Some rows of your data will do."
        )
    content = file_content(graph, about, probabilities=n_columns, trees=True)
    if rows is not None:
        _check_agreement(content, model, rows, graph.converted)
    return content


def describe_ensemble(
    model: Any, *, feature_names: Sequence[str] | None = None, task_names: Sequence[str] | None = None
) -> Described:
    """Return what is told about an ensemble.

    Parameters
    ----------
    model : SMTLEnsemble or Pipeline
        A fitted ensemble.
    feature_names, task_names : sequence of str, optional
        Names; by default as in `save_model`.

    Returns
    -------
    Described
        Names, classes, thresholds, and the weight of each learner.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(60, n_classes=2, random_state=0)
    >>> describe_ensemble(SMTLEnsemble(learners=["linear"], cv=2).fit(X, Y)).settings
    {'learners': {'linear': 1.0}}
    """
    final = classifier_of(model)
    weights = {name: float(final.weights_[name]) for name in final.learners_}
    return described(model, feature_names=feature_names, task_names=task_names, settings={"learners": weights})


def _of_learner(name: str, learner: Any, graph: Graph, x: str) -> str:
    try:
        return learner_scores(learner, graph, x)
    except NotExpressible as error:
        raise ValueError(f"{_CANNOT}, because of its learner {name!r}: {error}. {_INSTEAD}") from error


def _add_log_odds(graph: Graph, x: str, final: SMTLEnsemble, scores: list[str]) -> str:
    """Add the log odds of every task: combination, curves and correction; constants for tasks of one class."""
    combination, correction = final.combination_, final.correction_
    standard = [
        graph.node("Div", [graph.node("Sub", [one, graph.constant(location)]), graph.constant(scale)])
        for one, location, scale in zip(scores, combination.standard.location, combination.standard.scale, strict=True)
    ]
    total = graph.repeated(np.zeros(len(final.thresholds_)), x)
    for one, weight in zip(standard, combination.weights, strict=True):
        if weight > 0.0:
            total = graph.node("Add", [total, graph.node("Mul", [one, graph.constant(weight)])])
    odds = graph.node("Mul", [total, graph.constant(combination.curves.slope)])
    odds = graph.node("Add", [odds, graph.constant(combination.curves.intercept)])
    if correction is not None:
        odds = graph.node("Add", [odds, graph.constant(correction.intercept)])
    if correction is not None and final._kind == "tasks":
        # The correction of a task looks at the learners' scores for this task; otherwise at all tasks.
        for one, coef in zip(standard, correction.coef.T, strict=True):
            odds = graph.node("Add", [odds, graph.node("Mul", [one, graph.constant(coef)])])
    elif correction is not None:
        # Not a division before the product: onnxruntime makes one node of both, with the divisor as a float32.
        coef = correction.coef.T / max(float(combination.weights.sum()), 1e-12)
        odds = graph.node("Add", [odds, graph.node("MatMul", [total, graph.constant(coef)])])
    learnable = np.isin(np.arange(len(final.thresholds_)), final._learnable)
    return graph.node("Where", [graph.constant(learnable), odds, graph.constant(final._constants)])


def _add_scores(graph: Graph, final: SMTLEnsemble, odds: str) -> None:
    """Add ``scores``: log odds less the thresholds."""
    binary = final._kind == "binary"
    cut = graph.node("Sub", [odds, graph.constant(final.thresholds_)], "column" if binary else "scores")
    if binary:
        graph.node("Squeeze", [cut, graph.constant([1])], "scores")


def _add_probabilities(graph: Graph, final: SMTLEnsemble, odds: str) -> int:
    """Add ``probabilities``, and return how many columns they have."""
    if len(final.classes_) == 1:
        graph.node("Identity", [graph.repeated([1.0], odds)], "probabilities")
        return 1
    yes = graph.node("Sigmoid", [odds])
    if final._kind == "binary":
        graph.node("Concat", [graph.node("Sub", [graph.constant(1.0), yes]), yes], "probabilities", axis=1)
        return 2
    if final._kind == "multiclass":
        total = graph.node("ReduceSum", [yes, graph.constant([1])], keepdims=1)
        least = graph.constant(np.finfo(np.float64).tiny)
        graph.node("Div", [yes, graph.node("Max", [total, least])], "probabilities")
    else:
        graph.node("Identity", [yes], "probabilities")
    return len(final.thresholds_)


def _check_agreement(content: bytes, model: Any, rows: Any, converted: list[str]) -> None:
    """Raise unless the graph says of some rows what the model says."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            "rows are compared in onnxruntime, which is not installed; run pip install onnxruntime."
        ) from error
    rows = np.asarray(rows, dtype=np.float64)
    made = f"what skl2onnx makes of {' and '.join(dict.fromkeys(converted))}" if converted else "the graph"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised; they need not be printed as well
    try:
        session = onnxruntime.InferenceSession(content, options)
        scores, labels = session.run(["scores", "labels"], {"features": rows})
    except Exception as error:  # onnxruntime has many kinds of errors, and no base of them
        raise ValueError(f"{_CANNOT}, because {made} cannot be run: {first_line(error)}. {_INSTEAD}") from error
    with columns_in_order():
        off = float(np.max(np.abs(scores - model.decision_function(rows)), initial=0.0))
        others = int(np.sum(labels != model.predict(rows)))
    if not off <= AGREEMENT:
        raise ValueError(
            f"{_CANNOT}, because {made} has scores that differ from the model's by {off:.1e}, and {AGREEMENT:g} is "
            f"allowed. {_INSTEAD}"
        )
    if others:  # where scores are few, such as those of small trees, a cut can be one of them
        raise ValueError(f"{_CANNOT}, because {made} gives {others} other answers than the model. {_INSTEAD}")
