"""Which words of a table's texts speak for yes and for no, where a model is linear in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smtl.model.explain import top_features
from smtl.model.scores import classifier_of, encoder_of

__all__ = ["word_weights"]


def word_weights(model: Any, tasks: Sequence[str], n: int) -> list[dict[str, Any]]:
    """Return the words with the largest weights, by task and column of text.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model. Of an ensemble, the linear learner is looked at, if it has a share in the answer.
    tasks : sequence of str
        Names.
    n : int
        Words for each answer at the most.

    Returns
    -------
    list of dict
        ``task``, ``column``, and the words for ``yes`` and ``no``: each with its ``weight``, the largest first. Empty
        if the model has no column of text, or is not linear in its words.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from smtl import SMTLClassifier
    >>> from smtl.tables import TableEncoder
    >>> table = pd.DataFrame({"title": ["red car", "red bus", "green car", "green bus"] * 5})
    >>> model = make_pipeline(TableEncoder(text=["title"]), SMTLClassifier()).fit(table, [1, 1, 0, 0] * 5)
    >>> found = word_weights(model, ["stop"], 1)
    >>> found[0]["column"], found[0]["yes"][0]["word"], found[0]["no"][0]["word"]
    ('title', 'red', 'green')
    """
    encoder = encoder_of(model)
    coef = _weights_of(classifier_of(model))
    if encoder is None or coef is None or len(coef) != len(tasks):
        return []
    texts = {entry["column"] for entry in encoder.columns_ if entry["read_as"] == "text"}
    if coef.shape[1] != sum(len(part.names) for part in encoder.parts_):
        return []
    places = {part.name: (part, group) for part, group in zip(encoder.parts_, encoder.groups(), strict=True)}
    return [
        {
            "task": task,
            "column": column,
            "yes": _largest(np.maximum(coef[i, places[column][1]], 0.0), places[column][0].words, n),
            "no": _largest(np.minimum(coef[i, places[column][1]], 0.0), places[column][0].words, n),
        }
        for i, task in enumerate(tasks)
        for column in places
        if column in texts
    ]


def _weights_of(classifier: Any) -> Any | None:
    """Return the weights of a linear model, or of the linear learner of an ensemble; None if there are none."""
    if hasattr(classifier, "coef_"):
        return np.asarray(classifier.coef_)
    has_share = getattr(classifier, "weights_", {}).get("linear", 0.0) > 0.0
    coef = getattr(classifier.learners_["linear"], "coef", None) if has_share else None
    return None if coef is None else np.asarray(coef)


def _largest(weights: Any, words: Sequence[str], n: int) -> list[dict[str, Any]]:
    return [{"word": one["feature"], "weight": one["weight"]} for one in top_features(weights, words, n)]
