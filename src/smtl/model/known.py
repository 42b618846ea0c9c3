"""What the metadata of a model may hold, value by value. What users add under other names may be any plain JSON."""

from __future__ import annotations

from typing import Any

from smtl.model.schema import Refused
from smtl.model.values import (
    Dims,
    Value,
    choice,
    either,
    list_of,
    mapping_to,
    name,
    nothing,
    number,
    plain,
    truth,
    whole,
)

__all__ = ["METADATA_VALUES", "check_metadata"]


def _record(needed: dict[str, Value], optional: dict[str, Value] | None = None) -> Value:
    """Return a dictionary with values of known kinds under some names, and plain JSON under others."""

    def fits(value: Any, dims: Dims) -> bool:
        if not isinstance(value, dict) or not set(needed) <= set(value):
            return False
        known = needed | (optional or {})
        return all(known[key].fits(one, dims) if key in known else plain(one) for key, one in value.items())

    return Value(f"a dictionary with {', '.join([*needed, *(optional or ())])}", fits)


_count = whole()
_score = either(nothing, number())
_scores = _record({}, {key: _score for key in ("f1", "auc", "precision", "recall", "average_precision")})
_means = _record({"f1": _score, "auc": _score})
_task = _record({"name": name}, {"f1": _score, "auc": _score, "threshold": number(), "cut": number()})

METADATA_VALUES: dict[str, Value] = {
    "versions": mapping_to(name),
    "created": name,
    "features": list_of(name, "features"),
    "named_features": truth,
    "tasks": list_of(name, "tasks"),
    "kind": choice("binary", "multiclass", "multilabel", "tasks", "ranking"),
    "table": list_of(_record({"column": name, "read_as": name, "features": _count, "why": name})),
    "probe": list_of(list_of(number())),
    "data": _record({"name": name}, {"rows": _count, "features": _count, "checksum": name}),
    "columns": _record(
        {"labels": list_of(name), "task": either(nothing, name)}, {"ignored": list_of(name), "weight": name}
    ),
    "training": _record({}, {"rows": _count, "test_rows": _count, "model": name, "preset": name}),
    "scores": _record(
        {},
        {
            "tasks": list_of(_task),
            "macro": _means,
            "micro": _scores,
            "rivals": mapping_to(_record({"macro": _means}, {"tasks": list_of(_task), "micro": _scores})),
        },
    ),
    "test_rows": name,
}
_NEEDED = ("versions", "created", "features", "named_features", "tasks", "kind", "probe")


def check_metadata(metadata: dict[str, Any]) -> None:
    """Raise `Refused` unless metadata are what those of a model are.

    Parameters
    ----------
    metadata : dict
        What is known about a model.

    Examples
    --------
    >>> known = {"versions": {}, "created": "", "features": ["x"], "named_features": True, "tasks": ["y"]}
    >>> known |= {"kind": "binary", "probe": [[0.5]]}
    >>> check_metadata(known)
    >>> check_metadata(known | {"training": {"rows": "many"}})
    Traceback (most recent call last):
        ...
    smtl.model.schema.Refused: 'training' in its metadata must be a dictionary with rows, test_rows, model, preset
    """
    for key in _NEEDED:
        if key not in metadata:
            raise Refused(f"there must be {key!r} in its metadata, got none")
    for key, value in metadata.items():
        known = METADATA_VALUES.get(key)
        if known is not None and (value is not None or key in _NEEDED) and not known.fits(value, {}):
            raise Refused(f"{key!r} in its metadata must be {known.what}")
        if not plain(value):
            raise Refused(f"{key[:80]!r} in its metadata must be plain, with finite numbers")
    if metadata.get("labels") is not None:
        from smtl.tables.labels import LabelForm

        try:
            LabelForm.from_json(metadata["labels"])
        except Exception as error:
            raise Refused(f"'labels' in its metadata must say how labels are written ({error})") from None
