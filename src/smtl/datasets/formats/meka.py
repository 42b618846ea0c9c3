"""MEKA: ARFF whose relation name holds the number of labels."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import closing

from smtl.datasets.arff import read_arff
from smtl.datasets.arff_header import Header, read_header
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source, text_blocks
from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.formats.mulan import is_arff
from smtl.datasets.nominal import Nominal

__all__ = ["MEKA", "n_labels", "read_meka"]

# As a rule "name: -C 6"; the options may hold more.
_OPTION = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?\d{1,9})(?!\S)")


def read_meka(
    path: Source, *, nominal: Nominal = "one-hot", drop: Collection[str] = (), max_bytes: int | None = None
) -> Dataset:
    r"""Read a file of MEKA's: ARFF with ``-C n`` in its relation name.

    The first n attributes are the labels; if n is negative, the last -n.

    Parameters
    ----------
    path : path-like
        The file, plain, gzip or bzip2.
    nominal : {"one-hot", "ordinal"}, default="one-hot"
        Whether a nominal feature becomes one 0/1 column for each of its values or one column with the value's
        position. One with the values 0 and 1 stays as it is.
    drop : collection of str, default=()
        Names of attributes to leave out, such as strings.
    max_bytes : int, optional
        The most bytes that the text, and an array made of it, may have. By default what
        `smtl.datasets.limits` says for its size.

    Returns
    -------
    Dataset
        Its features and labels.

    Raises
    ------
    DatasetError
        With the place of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "music.arff")
    ...     attributes = "@attribute calm {0,1}\n@attribute sad {0,1}\n@attribute beat numeric\n"
    ...     _ = path.write_text("@relation 'music: -C 2'\n" + attributes + "@data\n1,0,0.5\n1,1,?\n")
    ...     data = read_meka(path)
    >>> data.X
    array([[0.5],
           [nan]])
    >>> data.Y
    array([[1, 0],
           [1, 1]], dtype=int8)
    """
    return read_arff(path, _choose, nominal, drop, max_bytes)


def n_labels(relation: str) -> int | None:
    """Return the n of ``-C n`` in a relation name, None if there is none."""
    found = _OPTION.search(relation)
    return int(found[1]) if found else None


def _choose(header: Header) -> range:
    n = n_labels(header.relation)
    d = len(header.attributes)
    if n is None:
        raise DatasetError(
            f"the relation name must hold -C and the number of labels, got {shown(header.relation)} instead; "
            "if an XML file names the labels, use read_mulan.",
            header.path,
            header.relation_line,
            1,
        )
    if not 0 < abs(n) <= d:
        raise DatasetError(
            f"-C in the relation name must be from 1 to the number of attributes, {d}, or from -{d} to -1, "
            f"got {n} instead.",
            header.path,
            header.relation_line,
            1,
        )
    return range(n) if n > 0 else range(d + n, d)


class MEKA(Format):
    """ARFF whose relation name says how many labels there are."""

    name, title, order = "meka", "MEKA", 40

    read = staticmethod(read_meka)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        if not is_arff(beginning):
            return False
        with closing(text_blocks(beginning.path, beginning.max_bytes)) as text:
            header, _ = read_header(beginning.path, text)
        return n_labels(header.relation) is not None
