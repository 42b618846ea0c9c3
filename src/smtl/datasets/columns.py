"""Tables with named columns, CSV and Parquet: which columns are labels, which features, and how both become numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, at_most, shown
from smtl.datasets.files import Source, stem
from smtl.datasets.limits import most_bytes
from smtl.datasets.nominal import Column, Nominal, encode, number

__all__ = ["LABEL", "TASK", "Roles", "assemble", "choose", "find", "sorted_values"]

LABEL, TASK = "label:", "task:"

Key: TypeAlias = str | int


@dataclass(frozen=True)
class Roles:
    """What each column is for, by its position."""

    features: list[int]
    labels: list[int]
    label_names: tuple[str, ...]
    of_class: int | None
    task: int | None
    ignored: frozenset[int] = frozenset()


def choose(
    names: Sequence[str],
    path: Source,
    labels: Sequence[Key] | None,
    prefix: str | None,
    last: int | None,
    of_class: Key | None,
    tasks: Key | None,
    ignore: Collection[Key] = (),
    line: int | None = None,
) -> Roles:
    """Return the columns' roles; the last columns, the names, the class and the prefix exclude each other."""
    if sum(choice is not None for choice in (labels, prefix, last, of_class)) > 1:
        raise ValueError("labels must be given by one of labels, prefix, last and class_column, got more than one.")
    position = _positions(names, path, line)
    task = position.get(TASK) if tasks is None else find(position, tasks, "tasks", path, line)
    one = None if of_class is None else find(position, of_class, "class_column", path, line)
    rest = [j for j in range(len(names)) if j not in (task, one)]
    chosen: list[int] = []
    if one is None and labels is not None:
        chosen = [find(position, key, "labels", path, line) for key in labels]
    elif one is None and last is not None:
        chosen = _last(rest, last, path, line)
    elif one is None:
        prefix = LABEL if prefix is None else prefix
        chosen = [j for j in rest if names[j].startswith(prefix)]
    if one is None:
        _check_labels(chosen, prefix, path, line)
    if task is not None and (one is not None or len(chosen) != 1):
        raise DatasetError(
            f"there must be one label column where a column says the task, got {len(chosen)} instead.", path, line
        )
    taken = set(chosen)
    features = [j for j in rest if j not in taken]
    ignored = _ignored(position, ignore, features, path, line)
    features = [j for j in features if j not in ignored]
    label_names = tuple(names[j].removeprefix(prefix or "") for j in chosen)
    return Roles(features, chosen, label_names, one, task, ignored)


def _positions(names: Sequence[str], path: Source, line: int | None) -> dict[str, int]:
    """Return where each name is; each may occur once."""
    position = {name: j for j, name in enumerate(names)}
    if len(position) < len(names):
        twice = next(name for j, name in enumerate(names) if position[name] != j)
        raise DatasetError(f"names of columns must differ, got {shown(twice)} twice; rename one.", path, line)
    return position


def _last(rest: list[int], last: int, path: Source, line: int | None) -> list[int]:
    """Return the last columns."""
    if not 0 < last <= len(rest):
        raise DatasetError(
            f"last must be from 1 to the number of columns, {len(rest)}, got {last} instead.", path, line
        )
    return rest[-last:]


def _check_labels(chosen: Sequence[int], prefix: str | None, path: Source, line: int | None) -> None:
    """Raise unless there are label columns, each once."""
    if chosen and len(set(chosen)) == len(chosen):
        return
    wrong = "one of them twice" if chosen else f"none: no column begins with {prefix!r}" if prefix else "none"
    raise DatasetError(
        f"label columns must be given, got {wrong}; pass labels=[names], prefix=, last= or class_column=.",
        path,
        line,
    )


def _ignored(
    position: Mapping[str, int], ignore: Collection[Key], features: Sequence[int], path: Source, line: int | None
) -> frozenset[int]:
    """Return the positions of columns that are to be left out."""
    found = {key: find(position, key, "ignore", path, line) for key in ignore}
    for key, j in found.items():
        if j not in features:
            raise DatasetError(f"ignore must name features, got {shown(key)} instead, which is a label.", path, line)
    return frozenset(found.values())


def find(position: Mapping[str, int], key: Key, what: str, path: Source, line: int | None) -> int:
    """Return the position of a column that is given by its name or its position."""
    if isinstance(key, str) and key in position:
        return position[key]
    if isinstance(key, int) and -len(position) <= key < len(position):
        return key % len(position)
    known = shown(", ".join(position), 200)[1:-1]
    message = f"{what} must be one of the columns, got {shown(key)} instead; there are: {known}."
    raise DatasetError(message, path, line)


def sorted_values(values: Iterable[str]) -> list[str]:
    """Return values in order: by size if all are numbers, else by the alphabet."""
    values = list(values)
    try:
        return sorted(values, key=lambda value: (number(value), value))
    except ValueError:
        return sorted(values)


def assemble(
    table: npt.NDArray[np.float64],
    columns: Sequence[Column],
    roles: Roles,
    named: bool,
    nominal: Nominal,
    max_bytes: int | None,
    path: Source,
) -> Dataset:
    """Return the data set of a table of numbers and codes."""
    limit = most_bytes(path, max_bytes)
    X, feature_names = encode(table, columns, roles.features, nominal, limit, path)
    label_names: tuple[str, ...] | None = roles.label_names if named else None
    if roles.of_class is None:
        Y = table[:, roles.labels]
    else:
        classes = columns[roles.of_class].values or ()
        at_most(8 * len(table) * len(classes), limit, "one label for each class", "pass a larger max_bytes", path)
        codes = table[:, roles.of_class, None]
        Y = np.where(np.isnan(codes), np.nan, codes == np.arange(len(classes)))
        label_names = tuple(classes)
    Y = Y if np.isnan(Y).any() else Y.astype(np.int8)
    tasks: npt.NDArray[Any] | None = None
    if roles.task is not None:
        values = columns[roles.task].values or ()
        whole = all(len(v) < 18 and v.isascii() and v.removeprefix("-").isdigit() and str(int(v)) == v for v in values)
        tasks = np.array([int(v) for v in values] if whole else values)[table[:, roles.task].astype(np.intp)]
        Y = Y[:, 0]
    return Dataset(X, Y, feature_names if named else None, label_names, tasks, stem(path))
