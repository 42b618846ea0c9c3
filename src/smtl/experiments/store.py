"""What has been run: one SQLite file, one row a finished run, that a kill at any moment leaves whole.

Several processes may share a store. Each claims a run before it starts; the claim of a process that is gone is void.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Run", "Store", "StudyError"]

# A process that has not been heard of for so many seconds is gone.
SILENCE = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    dataset TEXT NOT NULL, method TEXT NOT NULL, split INTEGER NOT NULL, status TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (dataset, method, split)
);
CREATE TABLE IF NOT EXISTS owners (
    owner TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, seen REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS claims (
    dataset TEXT NOT NULL, method TEXT NOT NULL, split INTEGER NOT NULL, owner TEXT NOT NULL,
    PRIMARY KEY (dataset, method, split)
);
"""


class Run(NamedTuple):
    """One method on one split of one data set.

    Examples
    --------
    >>> Run("yeast", "smtl-f1-l21", 0).dataset
    'yeast'
    """

    dataset: str
    method: str
    split: int


class StudyError(ValueError):
    """The store belongs to a study with other settings, or on other data, or the file is no store.

    Examples
    --------
    >>> issubclass(StudyError, ValueError)
    True
    """


class Store:
    """The runs of a study.

    Parameters
    ----------
    path : path-like
        The file; made if it is not there.
    settings : dict, optional
        What all runs of the study have in common. A store that was made with others is refused. None to take the
        store as it is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store(Path(folder, "runs.sqlite"), {"cv": 5}) as store:
    ...     run = store.claim([Run("yeast", "br", 0)])
    ...     store.finish(run, {"auc": 0.7})
    ...     store.claim([Run("yeast", "br", 0)]), store.rows()
    (None, [{'dataset': 'yeast', 'method': 'br', 'split': 0, 'status': 'done', 'auc': 0.7}])
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any] | None = None) -> None:
        self.path = Path(path)
        self.owner = uuid.uuid4().hex
        if settings is None and not self.path.is_file():
            raise FileNotFoundError(f"{self.path} must be a store of runs, and is not there.")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Each statement is its own transaction, but for those in _at_once.
        self._base = sqlite3.connect(self.path, timeout=SILENCE, isolation_level=None, check_same_thread=False)
        try:
            self._base.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            self._base.close()
            if (
                getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_NOTADB
            ):  # a full disk, one that cannot be read, or the like
                raise
            raise StudyError(f"{self.path} must be a store of runs, got another file instead ({error}).") from error
        if settings is not None:
            try:
                self._settle(settings)
            except BaseException:
                self._base.close()
                raise
        self._seen = 0.0

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(sqlite3.Error) if kind is not None else nullcontext():  # what went wrong first is told
            self.close()

    def close(self) -> None:
        """Give up this process's claims, and close the file."""
        try:
            with self._at_once():
                self._base.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))
                self._base.execute("DELETE FROM owners WHERE owner = ?", (self.owner,))
        finally:
            self._base.close()

    @property
    def settings(self) -> dict[str, Any]:
        """What all runs have in common."""
        return {key: json.loads(value) for key, value in self._base.execute("SELECT key, value FROM study")}

    def _settle(self, settings: dict[str, Any]) -> None:
        with self._at_once():
            there = self.settings
            for key, value in settings.items():
                value = json.loads(json.dumps(value))
                if key in there and there[key] != value:
                    raise StudyError(
                        f"{self.path} is of a study with {key}={there[key]!r}, got {key}={value!r} instead. "
                        "Give the same, or another folder."
                    )
                self._base.execute("INSERT OR IGNORE INTO study VALUES (?, ?)", (key, json.dumps(value)))

    def keep(self, key: str, value: Any) -> Any:
        """Note something of the study for good.

        Parameters
        ----------
        key : str
            What it is called among the settings.
        value : object
            What JSON can hold.

        Returns
        -------
        object
            What was noted first: the value, or an earlier one.
        """
        self._base.execute("INSERT OR IGNORE INTO study VALUES (?, ?)", (key, json.dumps(value)))
        return self.settings[key]

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite does it itself where the disk is full
                self._base.execute("ROLLBACK")
            raise

    def here(self) -> None:
        """Say that this process is alive; to be called more often than every `SILENCE` seconds."""
        now = time.time()
        if now - self._seen > SILENCE / 6:
            self._base.execute(
                "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)",
                (self.owner, socket.gethostname(), os.getpid(), now),
            )
            self._seen = now

    def claim(self, runs: Iterable[Run]) -> Run | None:
        """Claim the first of the runs that is neither done nor claimed.

        Parameters
        ----------
        runs : iterable of Run
            In the order in which they are wanted.

        Returns
        -------
        Run or None
            The claimed one. None where nothing is left to do, or others are at it.
        """
        with self._at_once():
            self.here()
            gone = [owner for owner, *where in self._base.execute("SELECT * FROM owners") if not _alive(*where)]
            self._base.executemany("DELETE FROM claims WHERE owner = ?", [(owner,) for owner in gone])
            self._base.executemany("DELETE FROM owners WHERE owner = ?", [(owner,) for owner in gone])
            taken = set(
                self._base.execute(
                    "SELECT dataset, method, split FROM runs UNION SELECT dataset, method, split FROM claims"
                )
            )
            for run in runs:
                if tuple(run) not in taken:
                    self._base.execute("INSERT INTO claims VALUES (?, ?, ?, ?)", (*run, self.owner))
                    return run
        return None

    def release(self, run: Run) -> None:
        """Give a claimed run back.

        Parameters
        ----------
        run : Run
            The run.
        """
        self._base.execute("DELETE FROM claims WHERE dataset = ? AND method = ? AND split = ?", tuple(run))

    def finish(self, run: Run, result: dict[str, Any], *, failed: bool = False) -> None:
        """Write down a run's result. If another process was faster, its result stays.

        Parameters
        ----------
        run : Run
            The run.
        result : dict
            What came out: numbers and texts.
        failed : bool, default=False
            Whether it is an error.
        """
        with self._at_once():
            self._base.execute(
                "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?)",
                (*run, "failed" if failed else "done", json.dumps(result)),
            )
            self.release(run)

    def forget_failures(self, runs: Iterable[Run]) -> int:
        """Delete the rows of those of the runs that have failed, so that they are run again.

        Parameters
        ----------
        runs : iterable of Run
            What is to be run.

        Returns
        -------
        int
            How many there were.
        """
        query = "DELETE FROM runs WHERE status = 'failed' AND dataset = ? AND method = ? AND split = ?"
        with self._at_once():
            return self._base.executemany(query, [tuple(run) for run in runs]).rowcount

    def done(self) -> set[Run]:
        """Return the runs that are over, failed or not.

        Returns
        -------
        set of Run
            The runs.
        """
        return {Run(*row) for row in self._base.execute("SELECT dataset, method, split FROM runs")}

    def rows(self) -> list[dict[str, Any]]:
        """Return what has been written down.

        Returns
        -------
        list of dict
            Ordered by data set, method and split, each with ``status`` and its result's entries.
        """
        query = "SELECT dataset, method, split, status, result FROM runs ORDER BY dataset, method, split"
        keys = ("dataset", "method", "split", "status")
        return [dict(zip(keys, row[:4], strict=True)) | json.loads(row[4]) for row in self._base.execute(query)]


def _alive(host: str, pid: int, seen: float) -> bool:
    """Whether a process is still there, as far as can be told from here."""
    if time.time() - seen > SILENCE:
        return False
    if host != socket.gethostname() or os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
