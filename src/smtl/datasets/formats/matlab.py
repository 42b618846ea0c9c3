"""MATLAB files of multi-task data: one cell for each task, with its rows and its labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, at_most
from smtl.datasets.files import Source, stem
from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.limits import most_bytes
from smtl.datasets.mat5 import Cell, read_cells

__all__ = ["Matlab", "read_matlab"]


def read_matlab(
    path: Source, *, features: str | None = None, labels: str | None = None, max_bytes: int | None = None
) -> Dataset:
    """Read a MATLAB file of multi-task data.

    It holds two cell arrays of the same length: cell t of one has the rows of task t, of shape (n_t, d), cell t of the
    other its labels, n_t values 0 and 1, or -1 and 1; NaN is a label that is missing.

    Parameters
    ----------
    path : path-like
        The file, of version 5 to 7.2 (``save -v7``); 7.3 is HDF5, and 4 has no cells.
    features, labels : str, optional
        The names of the two variables. By default the cell arrays that have these shapes.
    max_bytes : int, optional
        The most bytes that the decompressed file may have. By default 4 GiB.

    Returns
    -------
    Dataset
        The rows of all tasks, one after another, ``Y`` of shape (n,) and ``tasks``, from 0 on.

    Raises
    ------
    DatasetError
        With the name and the cell of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import scipy.io
    >>> X, y = np.empty(2, dtype=object), np.empty(2, dtype=object)
    >>> X[:] = [np.eye(2), np.ones((1, 2))]
    >>> y[:] = [np.array([1, -1]), np.array([1])]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "sites.mat")
    ...     scipy.io.savemat(path, {"X": X, "Y": y})
    ...     data = read_matlab(path)
    >>> data.Y, data.tasks
    (array([1, 0, 1], dtype=int8), array([0, 0, 1]))
    """
    cells = {name: found for name, found in read_cells(path, max_bytes).items() if found}
    name_X, name_y = _find(path, cells, features, labels)
    rows, answers = cells[name_X], cells[name_y]
    if len(rows) != len(answers):
        raise DatasetError(
            f"{name_X} and {name_y} must have a cell for each task, got {len(rows)} and {len(answers)} cells.", path
        )
    limit = most_bytes(path, max_bytes)
    for t, (cell, answer) in enumerate(zip(rows, answers, strict=True)):
        _check_task(path, f"{name_X}{{{t + 1}}}", f"{name_y}{{{t + 1}}}", cell, answer, rows[0])
    sizes = [cell.shape[0] for cell in rows]
    # Rows of a sparse matrix need no room in the file.
    at_most(16 * sum(sizes), limit, "rows and labels", "pass a larger max_bytes if the file is to be trusted", path)
    X = sp.vstack([sp.csr_matrix(cell) for cell in rows], "csr") if any(map(sp.issparse, rows)) else np.vstack(rows)
    Y = np.concatenate([_labels(path, f"{name_y}{{{t + 1}}}", answer) for t, answer in enumerate(answers)])
    tasks = np.repeat(np.arange(len(rows)), sizes)
    return Dataset(X, Y if np.isnan(Y).any() else Y.astype(np.int8), tasks=tasks, name=stem(path))


def _find(path: Source, cells: dict[str, list[Cell]], features: str | None, labels: str | None) -> tuple[str, str]:
    """Return the names of the two cell arrays."""
    known = ", ".join(cells) or "none"
    for name in (features, labels):
        if name is not None and name not in cells:
            raise DatasetError(f"{name!r} must be a cell array of the file, whose cell arrays are: {known}.", path)
    fitting = [
        (a, b)
        for a in cells
        for b in cells
        if a != b
        and features in (None, a)
        and labels in (None, b)
        and ((features and labels) or (len(cells[a]) == len(cells[b]) and all(map(_fit, cells[a], cells[b]))))
    ]
    # Where labels would fit as rows of one feature, too, they are not meant.
    fitting = [(a, b) for a, b in fitting if cells[a][0] is not None and cells[a][0].shape[-1] != 1] or fitting
    if len(fitting) != 1:
        raise DatasetError(
            "must have one cell array with the rows of each task and one with their labels, got "
            f"{len(fitting)} pairs that fit among the cell arrays {known}; pass features= and labels=.",
            path,
        )
    return fitting[0]


def _fit(rows: Cell, answers: Cell) -> bool:
    """Whether two cells can be a task's rows and labels."""
    shape, other = np.shape(rows), np.shape(answers)
    return len(shape) == 2 and len(other) == 2 and 1 in other and shape[0] == max(other)


def _check_task(path: Source, X: str, y: str, rows: Cell, answers: Cell, first: Cell) -> None:
    """Refuse cells that are no rows and labels of one task."""
    for name, cell in ((X, rows), (y, answers)):
        if cell is None or cell.ndim != 2:
            raise DatasetError(f"{name} must be a matrix of real numbers, got another array instead.", path)
    if rows.shape[1] != first.shape[1]:
        raise DatasetError(f"{X} must have {first.shape[1]} columns, as the first, got {rows.shape[1]} instead.", path)
    if 1 not in answers.shape or max(answers.shape) != rows.shape[0]:
        raise DatasetError(
            f"{y} must have {rows.shape[0]} labels, one for each row, got the shape {answers.shape} instead.", path
        )


def _labels(path: Source, name: str, cell: Cell) -> npt.NDArray[np.float64]:
    """Return a task's labels as 0, 1 and NaN."""
    y: npt.NDArray[np.float64] = (cell.toarray() if sp.issparse(cell) else cell).ravel()
    wrong = ~(np.isnan(y) | np.isin(y, (-1, 0, 1)))
    if wrong.any() or (np.isin(-1, y) and np.isin(0, y)):
        got = y[wrong][0] if wrong.any() else "-1 and 0"
        raise DatasetError(f"labels in {name} must be 0 and 1, or -1 and 1, got {got} instead.", path)
    return np.where(y == -1, 0, y)


class Matlab(Format):
    """MATLAB files."""

    name, title, order = "matlab", "MATLAB", 30

    read = staticmethod(read_matlab)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        return beginning.magic.startswith(b"MATLAB") or beginning.suffix == ".mat"
