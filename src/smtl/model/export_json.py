"""Weights as one JSON file: docs/exporting.md has the format, and ten lines of Python that score with it."""

from __future__ import annotations

import json
from collections import Counter

from smtl.model.plain import PlainModel

__all__ = ["json_weights"]

_FORMAT, _VERSION = "smtl weights", 1


def json_weights(plain: PlainModel) -> bytes:
    """Return the content of a JSON file with a model's figures.

    Parameters
    ----------
    plain : PlainModel
        The model.

    Returns
    -------
    bytes
        JSON in UTF-8. Numbers are written with all digits that they have.

    Raises
    ------
    ValueError
        If two features have one name: rows are given by name.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> from smtl.model.plain import plain_model
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> content = json.loads(json_weights(plain_model(model, feature_names=["beat"])))
    >>> content["version"], content["features"], content["weights"] == model.coef_.tolist()
    (1, ['beat'], True)
    """
    name, count = Counter(plain.features).most_common(1)[0]
    if count > 1:
        raise ValueError(f"features must have names that differ to be exported to JSON, got {name!r} {count} times.")
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        **plain.about(),
        "fill": [None] * len(plain.features) if plain.fill is None else plain.fill.tolist(),
        "center": plain.center.tolist(),
        "intercepts": plain.intercepts.tolist(),
        "weights": plain.weights.tolist(),
    }
    # A line a field, so that the names can be read and two files compared.
    lines = (f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in content.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
