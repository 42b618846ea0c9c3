"""The passes of a fit, kept in a file: a fit that was stopped goes on where it was, with the same certificate.

Solvers draw nothing at random. So a second run asks for the same passes as the first, and as long as the file has the
answer, no data are looked at: the run is soon where the first one was stopped, in the same state to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.seam import Pass

__all__ = ["Checkpoint", "PassLog"]

Float: TypeAlias = npt.NDArray[np.float64]

FORMAT = 1


class Checkpoint:
    """The file of a fit.

    After a header that tells which fit it is, each pass is two arrays in NumPy's format (which is read without pickle):
    a digest of what was asked, and W, the intercepts found, losses, offsets and slopes. A pass that was not written to
    its end is forgotten.

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
    ...         checkpoint.log("all rows").add(W, intercept, 0.0, intercept, Pass(np.ones(1), np.ones(1), W))
    ...     with Checkpoint(path, {"C": 1.0}) as checkpoint:
    ...         checkpoint.log("all rows").replayed(W, intercept, 0.0)
    Pass(loss=array([1.]), delta=array([1.]), slope=array([[1., 1.]]))
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any]) -> None:
        self.path = Path(path)
        self.passes: dict[bytes, tuple[Float, Pass]] = {}
        header = {"smtl passes": FORMAT, **identity}
        self._file: BinaryIO = open(self.path, "r+b" if self.path.exists() else "w+b")  # noqa: SIM115
        try:
            self._read(header)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Checkpoint:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
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
        if os.fstat(self._file.fileno()).st_size == 0:
            self._write(np.frombuffer(json.dumps(header, sort_keys=True).encode(), dtype=np.uint8))
            return
        try:
            found = json.loads(np.load(self._file, allow_pickle=False).tobytes())
        except (ValueError, EOFError, OSError) as error:
            raise ValueError(
                f"{self.path} must be a file that a fit with a checkpoint has written, got something else instead; "
                "give another name, or remove it."
            ) from error
        if found != json.loads(json.dumps(header)):
            other = sorted(
                key for key in {*found, *header} if found.get(key) != json.loads(json.dumps(header.get(key)))
            )
            raise ValueError(
                f"{self.path} must be the checkpoint of this fit, but it is that of one with other {', '.join(other)}. "
                "Give another name, or remove it."
            )
        whole = self._file.tell()
        while True:
            try:
                key = np.load(self._file, allow_pickle=False).tobytes()
                intercept = np.load(self._file, allow_pickle=False)
                planes = [np.load(self._file, allow_pickle=False) for _ in range(4)]
            except (ValueError, EOFError, OSError):
                break
            self.passes[key] = intercept, Pass(*planes[1:])
            whole = self._file.tell()
        self._file.seek(whole)
        self._file.truncate()

    def add(self, key: bytes, W: Float, intercept: Float, result: Pass) -> None:
        """Keep a pass.

        Parameters
        ----------
        key : bytes
            The digest of what was asked.
        W : ndarray of shape (n_tasks, n_features)
            Where it was.
        intercept : ndarray of shape (n_tasks,)
            The intercepts found.
        result : Pass
            Losses and planes.
        """
        self.passes[key] = intercept.copy(), result
        self._write(np.frombuffer(key, dtype=np.uint8), intercept, W, *result)

    def _write(self, *arrays: npt.NDArray[Any]) -> None:
        for array in arrays:
            np.save(self._file, array, allow_pickle=False)
        self._file.flush()
        os.fsync(self._file.fileno())


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

    def _key(self, W: Float, intercept: Float, eps: float) -> bytes:
        digest = hashlib.sha256(self._name.encode())
        for values in (W, intercept, np.float64(eps)):
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.digest()

    def replayed(self, W: Float, intercept: Float, eps: float) -> Pass | None:
        """Return what is known of a pass, with the intercepts overwritten; None if there was none like it.

        Parameters
        ----------
        W, intercept, eps
            As in `PartsProblem.one_pass`.

        Returns
        -------
        Pass or None
            Losses and planes.
        """
        found = self._checkpoint.passes.get(self._key(W, intercept, eps))
        if found is None:
            return None
        intercept[:] = found[0]
        return found[1]

    def add(self, W: Float, asked_at: Float, eps: float, intercept: Float, result: Pass) -> None:
        """Keep a pass.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Where it was.
        asked_at, intercept : ndarray of shape (n_tasks,)
            The intercepts before and after.
        eps : float
            What was asked.
        result : Pass
            Losses and planes.
        """
        self._checkpoint.add(self._key(W, asked_at, eps), W, intercept, result)
