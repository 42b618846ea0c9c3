"""The passes of a fit, kept in a file: a fit that was stopped goes on where it was, with the same certificate.

Solvers draw nothing at random. So a second run asks for the same passes as the first, and as long as the file has the
answer, no data are looked at: the run is soon where the first one was stopped, in the same state to the last bit.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.datasets.errors import named
from smtl.solvers.seam import Pass
from smtl.whole_file import whole_file

__all__ = ["Checkpoint", "PassLog"]

Float: TypeAlias = npt.NDArray[np.float64]
Memory: TypeAlias = dict[str, npt.NDArray[Any]]

_MAGIC = b"smtl passes 2\n"
_SIZE, _DIGEST = 8, hashlib.sha256().digest_size  # bytes before the content of a record


class Checkpoint:
    """The file of a fit.

    It holds records, each with its size and its digest before it. The first tells which fit it is, as JSON. Each other
    is a pass, as arrays in NumPy's format (which is read without pickle): a digest of what was asked, the intercepts
    found, W, losses, offsets, slopes, and what the metric remembers for the next pass. A record that was not written to
    its end, or is damaged, is forgotten, and all behind it.

    Parameters
    ----------
    path : path-like
        The file; made if it is not there.
    identity : dict
        What tells this fit from others, as plain JSON.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> W, intercept = np.ones((1, 2)), np.zeros(1)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fit.passes")
    ...     with Checkpoint(path, {"C": 1.0}) as checkpoint:
    ...         checkpoint.log("all rows").add(W, intercept, 0.0, intercept, {}, Pass(np.ones(1), np.ones(1), W))
    ...     with Checkpoint(path, {"C": 1.0}) as checkpoint:
    ...         checkpoint.log("all rows").replayed(W, intercept, 0.0, {}).slope
    array([[1., 1.]])
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any]) -> None:
        self.path = Path(path)
        self.passes: dict[bytes, tuple[Float, Memory, Pass]] = {}
        header = json.dumps(identity, sort_keys=True).encode()
        if not self.path.exists() or (self.path.is_file() and self.path.stat().st_size == 0):
            with whole_file(self.path) as part:  # so that a file that is there is ours
                part.write_bytes(_MAGIC + _record(header))
        self._file: BinaryIO = open(self.path, "r+b")  # noqa: SIM115
        try:
            with named(self.path):
                self._read(json.loads(header))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Checkpoint:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        with named(self.path):
            self._file.close()

    def log(self, name: str) -> PassLog:
        """Return where the passes of one problem are kept.

        Parameters
        ----------
        name : str
            What tells it from the other problems of the fit.

        Returns
        -------
        PassLog
            For a `PartsProblem`.
        """
        return PassLog(self, name)

    def _read(self, header: dict[str, Any]) -> None:
        """Read what is there, and leave the file where the next pass is to be written."""
        records = self._records()
        try:
            if self._file.read(len(_MAGIC)) != _MAGIC:
                raise ValueError("it begins in another way")
            found = dict(json.loads(next(records, b"")))
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{self.path} must be a file that a fit with a checkpoint has written, got something else instead; "
                "give another name, or remove it."
            ) from error
        if found != header:
            other = sorted(key for key in {*found, *header} if found.get(key) != header.get(key))
            raise ValueError(
                f"{self.path} must be the checkpoint of this fit, but it is that of one with other {', '.join(other)}. "
                "Give another name, or remove it."
            )
        whole = self._file.tell()
        for record in records:
            key, intercept, _, loss, delta, slope, names, *values = _arrays(record)
            memory = dict(zip(names.tolist(), values, strict=True))
            self.passes[key.tobytes()] = intercept, memory, Pass(loss, delta, slope)
            whole = self._file.tell()
        self._file.seek(whole)
        self._file.truncate()

    def _records(self) -> Iterator[bytes]:
        """Read records, up to the end or to one that is not whole."""
        end = os.fstat(self._file.fileno()).st_size
        while True:
            head = self._file.read(_SIZE + _DIGEST)
            size = int.from_bytes(head[:_SIZE], "little")
            if size > end - self._file.tell():
                return
            content = self._file.read(size)
            if hashlib.sha256(content).digest() != head[_SIZE:]:
                return
            yield content

    def add(self, key: bytes, W: Float, intercept: Float, memory: Memory, result: Pass) -> None:
        """Keep a pass.

        Parameters
        ----------
        key : bytes
            The digest of what was asked.
        W : ndarray of shape (n_tasks, n_features)
            Where it was.
        intercept : ndarray of shape (n_tasks,)
            The intercepts found.
        memory : dict of str to ndarray
            What the metric remembers.
        result : Pass
            Losses and planes.
        """
        self.passes[key] = intercept.copy(), dict(memory), result
        buffer = io.BytesIO()
        names = np.array(list(memory), dtype=np.str_)
        arrays: list[npt.NDArray[Any]] = [np.frombuffer(key, dtype=np.uint8), intercept, W, *result[:3], names]
        for array in [*arrays, *memory.values()]:
            np.save(buffer, array, allow_pickle=False)
        with named(self.path):
            self._file.write(_record(buffer.getvalue()))
            self._file.flush()
            os.fsync(self._file.fileno())


def _record(content: bytes) -> bytes:
    return len(content).to_bytes(_SIZE, "little") + hashlib.sha256(content).digest() + content


def _arrays(content: bytes) -> list[npt.NDArray[Any]]:
    """Return the arrays of a record."""
    buffer, arrays = io.BytesIO(content), []
    while buffer.tell() < len(content):
        arrays.append(np.lib.format.read_array(buffer, allow_pickle=False))
    return arrays


class PassLog:
    """The passes of one problem.

    Parameters
    ----------
    checkpoint : Checkpoint
        The file.
    name : str
        What tells the problem from others.
    """

    def __init__(self, checkpoint: Checkpoint, name: str) -> None:
        self._checkpoint, self._name = checkpoint, name

    def beside(self, name: str) -> PassLog:
        """Return where something else of the same problem is kept.

        Parameters
        ----------
        name : str
            What it is.

        Returns
        -------
        PassLog
            Of the same file.
        """
        return PassLog(self._checkpoint, f"{self._name}, {name}")

    def _key(self, W: Float, intercept: Float, eps: float) -> bytes:
        digest = hashlib.sha256(self._name.encode())
        for values in (W, intercept, np.float64(eps)):
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.digest()

    def replayed(self, W: Float, intercept: Float, eps: float, memory: Memory) -> Pass | None:
        """Return what is known of a pass, with intercepts and memory overwritten; None if there was none like it.

        Parameters
        ----------
        W, intercept, eps
            As in `PartsProblem.one_pass`.
        memory : dict of str to ndarray
            What the metric remembers.

        Returns
        -------
        Pass or None
            Losses and planes.
        """
        found = self._checkpoint.passes.get(self._key(W, intercept, eps))
        if found is None:
            return None
        intercept[:] = found[0]
        memory.update(found[1])
        return found[2]

    def add(self, W: Float, asked_at: Float, eps: float, intercept: Float, memory: Memory, result: Pass) -> None:
        """Keep a pass.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Where it was.
        asked_at, intercept : ndarray of shape (n_tasks,)
            The intercepts before and after.
        eps : float
            What was asked.
        memory : dict of str to ndarray
            What the metric remembers after it.
        result : Pass
            Losses and planes.
        """
        self._checkpoint.add(self._key(W, asked_at, eps), W, intercept, memory, result)

    def add_beside(self, W: Float, intercept: Float, eps: float, memory: Memory) -> None:
        """Keep arrays that are no pass.

        Parameters
        ----------
        W, intercept, eps
            What was asked.
        memory : dict of str to ndarray
            The arrays, which `replayed` gives back.
        """
        nothing = np.zeros(0)
        self.add(W, intercept, eps, intercept, memory, Pass(nothing, nothing, nothing))
