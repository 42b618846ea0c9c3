"""Nominal features as numbers: one 0/1 column for each value, or the value's position.

A table holds a nominal value as its code, its position in the list of values. A missing one is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.datasets.errors import at_most
from smtl.datasets.files import Source

__all__ = ["Column", "Nominal", "check_nominal", "encode", "finite", "kind_of", "number"]

Nominal: TypeAlias = Literal["one-hot", "ordinal"]


@dataclass(frozen=True)
class Column:
    """One column of a table: its name, and its values if it is nominal."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def numbers(self) -> list[float] | None:
        """The values as numbers if they are 0 and 1, in whichever order."""
        try:
            numbers = [number(value) for value in self.values or ("?",)]
        except ValueError:
            return None
        return numbers if set(numbers) <= {0, 1} else None


def number(token: str) -> float:
    """Return the number that a token is; of what Python takes beyond that, digits of other scripts and 1_000, none."""
    if not token.isascii() or "_" in token:
        raise ValueError(token)
    return float(token)


def finite(token: str) -> float:
    """Return the number that a token is, or NaN; infinite ones, which no method can learn from, are refused.

    Examples
    --------
    >>> finite("1e3")
    1000.0
    >>> finite("1e999")
    Traceback (most recent call last):
        ...
    ValueError: 1e999
    """
    value = number(token)
    if math.isinf(value):
        raise ValueError(token)
    return value


def kind_of(token: str) -> str:
    """Return what a token that `finite` refuses should have been.

    Examples
    --------
    >>> kind_of("1e999"), kind_of("x")
    ('finite', 'a number')
    """
    try:
        return "finite" if math.isinf(number(token)) else "a number"
    except ValueError:
        return "a number"


def check_nominal(nominal: str) -> None:
    """Refuse an unknown encoding."""
    if nominal not in ("one-hot", "ordinal"):
        raise ValueError(f"nominal must be 'one-hot' or 'ordinal', got {nominal!r} instead.")


def encode(
    table: Any, columns: Sequence[Column], chosen: Sequence[int], nominal: Nominal, limit: int, path: Source
) -> tuple[Any, tuple[str, ...]]:
    """Return the chosen columns as features, and their names.

    A nominal column whose values are 0 and 1 stays one column. Others become one column for each value, named
    ``column=value``, or, if they are ordinal, one column of codes.

    Parameters
    ----------
    table : ndarray or CSC matrix of shape (n_rows, n_columns)
        Numbers and codes.
    columns : sequence of Column
        All columns.
    chosen : sequence of int
        The positions of the features.
    nominal : {"one-hot", "ordinal"}
        What becomes of nominal columns.
    limit : int
        The most bytes that the result may take.
    path : path-like
        The file, for the error.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        The features.
    names : tuple of str
        Their names.
    """
    n = table.shape[0]
    parts: list[Any] = []  # each a list of columns that stay as they are, or a matrix
    names: list[str] = []
    n_more = 0
    for j in chosen:
        column = columns[j]
        numbers = column.numbers
        as_it_is = column.values is None or (nominal == "ordinal" if numbers is None else numbers[0] == 0)
        if as_it_is:
            if not parts or not isinstance(parts[-1], list):
                parts.append([])
            parts[-1].append(j)
            names.append(column.name)
            continue
        values = column.values or ()
        n_more += 1 if numbers else len(values)
        # A sparse column of codes has as many entries as it has rows.
        at_most(
            8 * n * (len(chosen) + n_more) if not sp.issparse(table) else 12 * n * n_more,
            limit,
            "nominal features, one-hot,",
            "pass nominal='ordinal', or a larger max_bytes",
            path,
        )
        codes = table[:, [j]].toarray().ravel() if sp.issparse(table) else table[:, j]
        if numbers:
            parts.append(_values(codes, numbers))
            names.append(column.name)
        else:
            parts.append(_one_hot(codes, len(values), sp.issparse(table)))
            names.extend(f"{column.name}={value}" for value in values)
    matrices = [table[:, part] if isinstance(part, list) else part for part in parts] or [table[:, []]]
    if sp.issparse(table):
        X = sp.csr_matrix(sp.hstack(matrices, format="csr"))
        X.eliminate_zeros()
        X.sort_indices()
    else:
        X = np.ascontiguousarray(matrices[0] if len(matrices) == 1 else np.hstack(matrices))
    return X, tuple(names)


def _values(codes: npt.NDArray[np.float64], numbers: list[float]) -> npt.NDArray[np.float64]:
    """Return the numbers that the codes stand for; the last code, beyond them all, is for missing ones."""
    table = np.array([*numbers, np.nan])
    found: npt.NDArray[np.float64] = table[np.where(np.isnan(codes), len(numbers), codes).astype(np.intp)][:, None]
    return found


def _one_hot(codes: npt.NDArray[np.float64], n_values: int, sparse: bool) -> Any:
    """Return a 0/1 column for each value; where the value is missing, all are NaN."""
    missing = np.isnan(codes)
    if not sparse:
        X = (codes[:, None] == np.arange(n_values)).astype(np.float64)
        X[missing] = np.nan
        return X
    gone = np.flatnonzero(missing)
    rows = np.concatenate([np.flatnonzero(~missing), np.repeat(gone, n_values)])
    columns = np.concatenate([codes[~missing].astype(np.int64), np.tile(np.arange(n_values), len(gone))])
    data = np.concatenate([np.ones(len(codes) - len(gone)), np.full(n_values * len(gone), np.nan)])
    return sp.coo_matrix((data, (rows, columns)), shape=(len(codes), n_values))
