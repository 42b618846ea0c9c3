"""Room for what a pass keeps of each part: in memory while that is little, otherwise in files."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Spool"]


class Spool:
    """Arrays by name, each of which may be replaced.

    Parameters
    ----------
    most_bytes : int
        How many bytes may be in memory; what comes beyond that goes into a temporary folder.

    Examples
    --------
    >>> with Spool(0) as spool:
    ...     spool.keep("scores", (np.arange(3), None))
    ...     spool.kept("scores")
    (array([0, 1, 2]), None)
    """

    def __init__(self, most_bytes: int) -> None:
        self._room = most_bytes
        self._lock = Lock()
        self._memory: dict[str, tuple[Any, ...]] = {}
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Spool:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        """Forget everything."""
        self.close()

    def close(self) -> None:
        """Forget everything, and remove the folder."""
        self._memory.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def keep(self, name: str, arrays: tuple[npt.NDArray[Any] | None, ...]) -> None:
        """Keep some arrays instead of what had the name before.

        Parameters
        ----------
        name : str
            The name.
        arrays : tuple of ndarray or None
            What to keep.
        """
        size = _size(arrays)
        with self._lock:
            self._room += _size(self._memory.pop(name, ()))
            if size <= self._room:
                self._room -= size
                self._memory[name] = arrays
                return
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="smtl-")
        with open(Path(self._folder.name, name), "wb") as file:
            for array in arrays:
                np.save(file, np.zeros(0, dtype="V1") if array is None else array, allow_pickle=False)

    def kept(self, name: str) -> tuple[Any, ...]:
        """Return what is kept under a name.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        tuple of ndarray or None
            As they were given.
        """
        with self._lock:
            if name in self._memory:
                return self._memory[name]
        assert self._folder is not None
        path, arrays = Path(self._folder.name, name), []
        with open(path, "rb") as file:
            end = os.fstat(file.fileno()).st_size
            while file.tell() < end:
                array = np.load(file, allow_pickle=False)
                arrays.append(None if array.dtype == np.dtype("V1") else array)
        return tuple(arrays)


def _size(arrays: tuple[Any, ...]) -> int:
    return sum(array.nbytes for array in arrays if array is not None)
