"""``smtl export``: a model for other programs, as ONNX or plain JSON."""

from __future__ import annotations

import json as to_json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smtl.cli._errors import CommandError
from smtl.cli._guard import guard
from smtl.cli._model_options import Json, Model, read_saved, writing_errors
from smtl.cli._reading import one_line_errors
from smtl.cli._writable import check_writable

if TYPE_CHECKING:
    from smtl.model.described import Described

__all__ = ["export"]

_FORMATS = ("onnx", "json")
# Names that the summary has of each kind; --json and the file have all.
_NAMES = 8


def export(
    model: Model,
    to: Annotated[str, typer.Option(metavar="|".join(_FORMATS), help="The format.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="Where to write. [default: MODEL with the format for a suffix]"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a model for programs that have no smtl: ONNX, or a linear model's plain weights as JSON.

    Filling, scaling, learners, weights and thresholds are all in the file; features are taken as they come.
    ONNX needs the package onnx. JSON has linear models only: train with --model linear for that.

    Example: smtl export songs.skops --to onnx
    """
    if to not in _FORMATS:
        raise typer.BadParameter(f"--to must be one of {', '.join(_FORMATS)}, got {to!r} instead.")
    fitted, metadata = read_saved(model)
    out = model.with_suffix(f".{to}") if out is None else out
    check_writable(out, advice="choose another with -o")
    guard([model], [out])

    from smtl.model.archive import write_whole

    with one_line_errors():
        names = metadata["features"] if metadata["named_features"] else None
        try:
            about, content = _exported(fitted, to, feature_names=names, task_names=metadata["tasks"])
        except TypeError as error:  # a step that has no place in such a file
            raise CommandError(f"{model}: {error}") from error
        try:
            write_whole(content, out)
        except OSError as error:
            raise writing_errors(out, error) from error
    if json:
        found = {"model": str(model), "out": str(out), "to": to, "bytes": len(content), **about.about()}
        print(to_json.dumps(found, indent=2, ensure_ascii=False))
    else:
        _print(about, to, out)


def _exported(fitted: Any, to: str, **names: Any) -> tuple[Described, bytes]:
    """Return what is told about a model, and the content of its file."""
    from smtl.ensemble import SMTLEnsemble
    from smtl.model.export_json import json_weights
    from smtl.model.export_onnx import onnx_graph
    from smtl.model.onnx_ensemble import describe_ensemble, onnx_ensemble
    from smtl.model.plain import plain_model
    from smtl.model.scores import classifier_of

    if to == "onnx" and isinstance(classifier_of(fitted), SMTLEnsemble):
        about = describe_ensemble(fitted, **names)
        return about, onnx_ensemble(fitted, about)
    plain = plain_model(fitted, **names)
    return plain, onnx_graph(plain) if to == "onnx" else json_weights(plain)


def _print(about: Described, to: str, out: Path) -> None:
    """Print what was written, what it takes, and two lines of Python that use it."""
    lines = {
        "Features": _some(about.features),
        "One-hot": _one_hot(about.one_hot()),
        "Missing features": _missing(about, to),
        "Tasks": f"{_some(about.tasks)}; {about.kind}",
    }
    print(f"Wrote {out}.")
    for name, value in lines.items():
        if value:
            print(f"{name + ':':<18}{value}")
    print("\nNext, in Python:")
    for line in _use(about, to, str(out)):
        print(f"    {line}")


def _missing(about: Described, to: str) -> str:
    if not about.takes_missing:
        return "none may be"
    return "NaN" if to == "onnx" else "NaN or None"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f", ... ({len(names):,} in all)" if len(names) > _NAMES else "")


def _one_hot(columns: dict[str, dict[str, str]]) -> str:
    """Return which columns are to be given as 0 and 1, with one of them explained."""
    for column, values in columns.items():
        value, feature = next(iter(values.items()))
        return f"{_some(list(columns))}; {feature} is 1 where {column} is {value}, else 0"
    return ""


def _use(about: Described, to: str, out: str) -> tuple[str, str]:
    """Return two lines that score: a matrix X with ONNX; with JSON a row, given by name."""
    if to == "onnx":
        names = ", ".join(f'"{name}"' for name in about.outputs)
        return (
            f"import onnxruntime; session = onnxruntime.InferenceSession({out!r})",
            f'{", ".join(about.outputs)} = session.run([{names}], {{"features": X}})  # X: float64, a row a sample',
        )
    return (
        f'import json; model = json.load(open({out!r}, encoding="utf-8"))',
        'scores = [b + sum(w * (row[f] - c) for w, f, c in zip(ws, model["features"], model["center"])) for ws, b in '
        'zip(model["weights"], model["intercepts"])]  # row: features by name, none missing',
    )
