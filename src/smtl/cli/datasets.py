"""``smtl datasets``: the named sets, and what is in one of them or in a file."""

from __future__ import annotations

import json as to_json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from smtl.cli._guard import files_of, guard
from smtl.cli._model_options import writing_errors
from smtl.cli._reading import read_matrix, with_reading_options
from smtl.cli._writable import check_writable
from smtl.terminal import clean_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from smtl.cli._labels import LabelCounts
    from smtl.datasets import Dataset
    from smtl.datasets.known import Content, NamedSet

__all__ = ["GROUP"]

GROUP = typer.Typer(
    rich_markup_mode=None, help="List the named data sets, or show what is in one: smtl datasets show digits."
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_BAR = 16
_MOST_LABELS = 1000  # that a table shows; JSON has all
_NOT_IN_A_NAME = re.compile(r"[^\w-]+")


@GROUP.callback(invoke_without_command=True)
def _list(context: typer.Context, json: Json = False) -> None:
    """List the named data sets: what they hold, and where they are or how to get them."""
    if context.invoked_subcommand is not None:
        return
    from smtl.datasets.known import SETS

    entries = [
        entry
        for known in SETS.values()
        for entry in (
            _entry(known, known.name, known.content),
            *(_entry(known, f"{known.name}:{variant}", content) for variant, content in known.variants.items()),
        )
    ]
    if json:
        print(to_json.dumps(entries, indent=2))
        return
    _print_list(clean_console(), entries)


def _print_list(console: Console, entries: list[dict[str, Any]]) -> None:
    """Print a line for each set, and how to get those that are not here."""
    from rich.markup import escape

    from smtl.cli._labels import ratio_text

    table = _table()
    table.add_column("Name", no_wrap=True)
    for heading in ("Rows", "Features", "Tasks", "Density", "Imbalance"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Where")
    for entry in entries:
        figures = [f"{entry[key]:,}" for key in ("rows", "features", "tasks")]
        ratios = f"{ratio_text(entry['imbalance'])} / {ratio_text(entry['worst'])}"
        table.add_row(entry["name"], *figures, f"{100 * entry['density']:.1f} %", ratios, escape(_where(entry)))
    console.print(table)
    lines = [
        "Density: the share of labels that are 1. Imbalance: negatives for each positive,",
        "the median of the tasks / the most. Labels: smtl datasets show NAME. In Python:",
        "smtl.datasets.load_dataset(NAME).",
    ]
    missing = [entry for entry in entries if entry["get"] is not None and ":" not in entry["name"]]
    if any(entry["openml"] for entry in missing):
        lines.append("OpenML: it will be fetched from there when it is loaded.")
    lines += ["", *(f"{entry['name']}: {entry['get']}" for entry in missing)] if missing else []
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _entry(known: NamedSet, name: str, content: Content) -> dict[str, Any]:
    """Return what is known of a set without reading it."""
    from smtl.datasets.places import how_to_get, look

    found, _ = look(known)
    return {
        "name": name,
        "rows": content.rows,
        "features": content.features,
        "tasks": content.tasks,
        "density": round(content.density, 4),
        "imbalance": content.imbalance,
        "worst": content.worst,
        "found": found.where if found is not None else None,
        "files": [str(path) for path in found.paths] if found is not None else [],
        "openml": known.openml,
        "get": None if found is not None else how_to_get(known),
    }


def _where(entry: dict[str, Any]) -> str:
    if entry["found"] is not None:
        return str(entry["found"]).removeprefix("the ")
    return f"OpenML {entry['openml']}" if entry["openml"] else "not here"


@GROUP.command(name="show")
@with_reading_options
def _show(
    source: Annotated[str, typer.Argument(metavar="NAME|FILE", help="The name of a set, or a file of any format.")],
    reading: dict[str, Any],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to save the picture: .png, .pdf or .svg. [default: smtl-NAME.png]"),
    ] = None,
    json: Json = False,
) -> None:
    """Show the labels of a named set or of a file, and draw their imbalance and which come together.

    With --json, a picture is drawn only if --out says where.
    """
    from smtl.cli._figure import SUFFIXES
    from smtl.cli._labels import count

    name = Path(source).name
    if out is None and not json:
        out = Path(f"smtl-{_NOT_IN_A_NAME.sub('-', name.partition('.')[0])}.png")
    if out is not None:
        check_writable(out, SUFFIXES)
    guard(files_of(source, reading), [] if out is None else [out], "choose another with --out")
    data = read_matrix(source, reading)
    counts = count(data)
    if out is not None:
        from smtl.cli._labels_figure import draw_labels

        title = f"{name}: {data.X.shape[0]:,} rows, {data.X.shape[1]:,} features, {_tasks(data, counts)}"
        try:
            draw_labels(out, title, counts)
        except OSError as error:
            raise writing_errors(out, error) from error
    summary = _summary(name, data, counts)
    if json:
        _print_json(summary | {"labels": [], "picture": None if out is None else str(out)}, counts)
        return
    _print(clean_console(), data, counts, summary)
    print(f"{'Picture:':<18}{out}")


def _print_json(summary: dict[str, Any], counts: LabelCounts) -> None:
    """Print the figures with a line for each label: there may be millions."""
    before, after = to_json.dumps(summary, indent=2).split('"labels": []')
    print(f'{before}"labels": [', end="")
    for k, label in enumerate(_labels(counts, range(len(counts.names)))):
        print(f"{',' if k else ''}\n    {to_json.dumps(label)}", end="")
    print(f"\n  ]{after}")


def _tasks(data: Dataset, counts: LabelCounts) -> str:
    return f"{len(counts.names):,} {'labels' if data.tasks is None else 'tasks'}"


def _summary(name: str, data: Dataset, counts: LabelCounts) -> dict[str, Any]:
    """Return the figures of a data set; None for what cannot be told."""
    ratio = counts.imbalance
    finite = ratio[np.isfinite(ratio)]
    per_row = None if counts.Y is None else _labels_of_rows(counts.Y)
    return {
        "name": name,
        "rows": int(data.X.shape[0]),
        "features": int(data.X.shape[1]),
        "sparse": not isinstance(data.X, np.ndarray),
        "tasks": len(counts.names),
        "density": _number(counts.positives.sum() / max(counts.known.sum(), 1)),
        "labels_per_row": None if per_row is None else _number(per_row.mean()),
        "rows_without_label": None if per_row is None else int(np.count_nonzero(per_row == 0)),
        "imbalance": _number(np.median(ratio)),
        "worst": _number(finite.max(initial=0.0)) if len(finite) == len(ratio) else None,
    }


def _labels(counts: LabelCounts, chosen: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield the figures of some labels."""
    share, ratio = counts.share, counts.imbalance
    for k in chosen:
        yield {
            "name": counts.names[k],
            "positives": int(counts.positives[k]),
            "known": int(counts.known[k]),
            "share": _number(share[k]),
            "imbalance": _number(ratio[k]),
        }


def _labels_of_rows(Y: Any) -> Any:
    """Return how many labels each row has."""
    return np.nansum(Y, axis=1) if isinstance(Y, np.ndarray) else np.asarray(Y.sum(axis=1)).ravel()


def _number(value: Any) -> float | None:
    return round(float(value), 4) if np.isfinite(value) else None


def _print(console: Console, data: Dataset, counts: LabelCounts, summary: dict[str, Any]) -> None:
    """Print a table with a line for each label, or for the most frequent, and the figures of the whole."""
    from rich.markup import escape

    from smtl.cli._labels import ratio_text

    own = data.tasks is not None
    # A terminal of another encoding has no blocks.
    block = "█" if "utf" in (console.encoding or "").lower() else "#"
    table = _table()
    table.add_column("Task" if own else "Label", overflow="fold")
    for heading in ("Rows", "Positives", "Share", "Imbalance") if own else ("Positives", "Share", "Imbalance"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    frequent = np.argsort(-np.nan_to_num(counts.share), kind="stable")[:_MOST_LABELS]
    labels = list(_labels(counts, np.sort(frequent).tolist()))
    most = max((label["share"] or 0.0 for label in labels), default=0.0) or 1.0
    for label in labels:
        rows = [f"{label['known']:,}"] if own else []
        share = "" if label["share"] is None else f"{100 * label['share']:.1f} %"
        ratio = "" if label["imbalance"] is None else ratio_text(label["imbalance"])
        bar = block * round(_BAR * (label["share"] or 0.0) / most)
        table.add_row(escape(label["name"]), *rows, f"{label['positives']:,}", share, ratio, bar)
    console.print(table)
    if more := summary["tasks"] - len(labels):
        console.print(
            f"These are the most frequent; {more:,} more {'tasks' if own else 'labels'}: --json has them all."
        )
    lines = {
        "Rows": f"{summary['rows']:,}",
        "Features": f"{summary['features']:,}{', sparse' if summary['sparse'] else ''}",
        "Tasks": f"{summary['tasks']:,}{', each with rows of its own' if own else ''}",
        "Label density": f"{100 * (summary['density'] or 0.0):.2f} %",
        "Labels per row": None if own else f"{summary['labels_per_row']:.2f}",
        "Without a label": None if own else f"{summary['rows_without_label']:,} rows",
        "Imbalance": None
        if summary["imbalance"] is None
        else f"{ratio_text(summary['imbalance'])} negatives for each positive, the median",
    }
    for name, value in lines.items():
        if value is not None:
            console.print(f"{name + ':':<18}{value}", soft_wrap=True)
