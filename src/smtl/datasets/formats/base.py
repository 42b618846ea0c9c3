"""What a format of data sets is, and the first part of a file, by which it is told."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from contextlib import closing
from functools import cached_property
from typing import Any, ClassVar

from smtl.datasets.dataset import Dataset
from smtl.datasets.files import Source, blocks, opened, suffix_of
from smtl.registry import Named

__all__ = ["Beginning", "Format"]

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")


class Beginning:
    r"""The first part of a file, unpacked; what of it no format asks for is not read.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, optional
        The most bytes that its text may have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "Songs.TXT")
    ...     _ = path.write_text("# from 2008\n1 1:0.5\n")
    ...     beginning = Beginning(path)
    ...     beginning.suffix, beginning.first_row
    ('.txt', '1 1:0.5')
    """

    def __init__(self, path: Source, max_bytes: int | None = None) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.suffix = suffix_of(path)

    @property
    def is_table_by_suffix(self) -> bool:
        """Whether the suffix is that of a table of text."""
        return self.suffix in _TABLES

    @cached_property
    def magic(self) -> bytes:
        """The first eight bytes; none of a compressed file."""
        with opened(self.path, utf_16=self.is_table_by_suffix) as (stream, compressed):
            return b"" if compressed else stream.read(8)

    @property
    def in_utf_16(self) -> bool:
        """Whether it is UTF-16 text, which only tables may be."""
        return self.magic.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))

    @cached_property
    def lines(self) -> list[str]:
        """The first block of text; nothing of UTF-16 text."""
        if self.in_utf_16:
            return [""]
        with closing(blocks(self.path, self.max_bytes)) as source:
            _, block = next(source)
        return block.decode("latin-1").split("\n")

    @property
    def words(self) -> str:
        """The first line that is neither blank nor a comment of ARFF's."""
        return next((line.strip() for line in self.lines if line.strip() and not line.lstrip().startswith("%")), "")

    @property
    def first_row(self) -> str:
        """The first line that is neither blank nor a comment."""
        return next((line for line in self.lines if line.strip() and not line.startswith("#")), "")


class Format(Named, ABC):
    r"""A format of data sets: how it is told, read and written.

    A subclass that sets ``name`` is known to `smtl.datasets.read` and to the commands from then on.

    Attributes
    ----------
    name : str
        A subclass that sets it is found under it.
    title : str
        What people call it.
    order : int
        Who is asked first whether a file is of this format: the least. Formats with a signature come before those that
        any text could be.
    written : tuple of str
        The suffixes under which `smtl.datasets.write` writes it.
    is_table : bool
        Whether `smtl.tables` reads it, too: its columns have names and may be of any type.
    numbered_labels : bool
        Whether labels have numbers instead of names.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from smtl.datasets import Dataset, Format, read
    >>> class Signs(Format):
    ...     name, title, order = "signs", "lines of + and -", 1
    ...     def begins(self, beginning):
    ...         return beginning.suffix == ".signs"
    ...     def read(self, path):
    ...         Y = [[sign == "+" for sign in line] for line in Path(path).read_text().split()]
    ...         return Dataset(np.ones((len(Y), 1)), np.array(Y, dtype=float))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.signs")
    ...     _ = path.write_text("+-\n-+\n++\n")
    ...     read(path)
    Dataset('': 3 rows, 1 features, 2 labels)
    >>> del Format.known["signs"]
    """

    known: ClassVar[dict[str, type[Any]]] = {}
    title: ClassVar[str]
    order: ClassVar[int]
    written: ClassVar[tuple[str, ...]] = ()
    is_table: ClassVar[bool] = False
    numbered_labels: ClassVar[bool] = False

    @abstractmethod
    def begins(self, beginning: Beginning) -> bool:
        """Return whether a file is of this format, for all that those asked before have said no.

        Parameters
        ----------
        beginning : Beginning
            The first part of the file.

        Returns
        -------
        bool
            Whether it is.
        """

    # A subclass has its own options, each with a name.
    read: Any

    def write(self, data: Dataset, path: Source) -> None:
        """Write a data set; only formats with ``written`` suffixes have it.

        Parameters
        ----------
        data : Dataset
            What to write.
        path : path-like
            The file.
        """
        raise TypeError(
            f"{type(self).__name__} must define write, since it is written under {', '.join(self.written)}."
        )
