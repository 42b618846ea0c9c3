"""A column of a table that says what each row counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source

__all__ = ["read_weights"]


def read_weights(column: pa.ChunkedArray, name: str, path: Source) -> npt.NDArray[np.float64]:
    """Return the weights of all rows, or raise DatasetError.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        The column.
    name : str
        Its name, for messages.
    path : path-like
        Its file, for messages.

    Returns
    -------
    ndarray of shape (n_rows,)
        Finite, none of them negative, some positive.

    Examples
    --------
    >>> read_weights(pa.chunked_array([[1, 2]]), "times", "songs.csv")
    array([1., 2.])
    >>> read_weights(pa.chunked_array([[1.0, -2.0]]), "times", "songs.csv")
    Traceback (most recent call last):
    smtl.datasets.errors.DatasetError: songs.csv: row 2, column 'times': must be a weight, a number that is not
    negative, got -2.0 instead
    """
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise DatasetError(f"column {shown(name)} must hold weights, which are numbers, got type {kind} instead", path)
    weights = np.array(column.cast(pa.float64(), safe=False).to_pylist(), dtype=np.float64)  # None becomes NaN
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        got = "nothing" if np.isnan(weights[row]) else repr(float(weights[row]))
        raise DatasetError(
            f"row {row + 1}, column {shown(name)}: must be a weight, a number that is not negative, got {got} instead",
            path,
        )
    if not weights.any():
        raise DatasetError(f"column {shown(name)} must have a positive weight, got only zeros instead", path)
    return weights
