"""JSON lines: an object a row."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.nominal import number
from smtl.tables.inputs import Input, decoded, line_blocks
from smtl.tables.layout import Layout
from smtl.tables.values import MISSING

__all__ = ["column_of", "objects_in", "table_of"]


def objects_in(source: Input, layout: Layout) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read objects, each with the number of its line; blank lines are none."""
    for block in line_blocks(source, layout.encoding, layout.skip):
        for line, text in enumerate(decoded(block.data).split("\n"), block.line):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except (ValueError, RecursionError) as error:
                column = error.colno if isinstance(error, json.JSONDecodeError) else None
                message = f"a line must be a JSON object, got a fault: {shown(str(error), 120)[1:-1]}."
                raise DatasetError(message, source.path, line, column) from None
            if not isinstance(row, dict):
                raise DatasetError(f"a line must be a JSON object, got {shown(row)} instead.", source.path, line)
            yield line, row


def table_of(
    rows: list[tuple[int, dict[str, Any]]], names: Collection[str], numbers: Collection[str], path: Any
) -> Any:
    """Return rows as a table with some names, and those that come up first in these rows behind them."""
    found = dict.fromkeys(names)
    for _, row in rows:
        found.update(dict.fromkeys(row))
    columns: dict[str, Any] = {}
    for name in found:
        values = [row.get(name) for _, row in rows]
        try:
            if name in numbers:
                columns[name] = pa.array([_number(value) for value in values], pa.float64())
            else:
                columns[name] = column_of(values)
        except ValueError as error:
            line = next((line for line, row in rows if not _fits(row.get(name), name in numbers)), None)
            value = next((row.get(name) for at, row in rows if at == line), error)
            kind = "a finite number" if name in numbers else "text that can be written as UTF-8"
            raise DatasetError(f"{shown(name)} must be {kind}, got {shown(value)} instead.", path, line) from None
    return pa.table(columns) if columns else pa.table({"": pa.nulls(len(rows))}).select([])


def column_of(values: list[Any]) -> Any:
    """Return values as an array: truth values, numbers, text or lists of text, and what is mixed as text.

    Examples
    --------
    >>> column_of([1, None, 2.5]).to_pylist()
    [1.0, None, 2.5]
    >>> column_of([1, "a", [2]]).to_pylist()
    ['1', 'a', '[2]']
    """
    values = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if value is None else _float(value) for value in values], pa.float64())
    if kinds == {str}:
        return pa.array(values, pa.string())
    if kinds == {list} and all(value is None or all(type(item) is str for item in value) for value in values):
        return pa.array(values, pa.list_(pa.string()))
    return pa.array([value if value is None or type(value) is str else json.dumps(value) for value in values])


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, bool | int | float):
        found = None if value is None else _float(value)
    elif isinstance(value, str):
        found = None if value.strip() in MISSING else number(value.strip())
    else:
        raise ValueError(value)
    if found is not None and math.isinf(found):
        raise ValueError(value)
    return None if found is None or math.isnan(found) else found


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _fits(value: Any, numeric: bool) -> bool:
    try:
        pa.array([_number(value)]) if numeric else column_of([value])
    except ValueError:
        return False
    return True


def batches(rows: Iterator[tuple[int, dict[str, Any]]], size: int) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """Read some rows at a time."""
    while batch := list(islice(rows, size)):
        yield batch
