"""Several tags in one cell: joined by a separator, written as a list, or in a column of lists."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from smtl.datasets.errors import shown
from smtl.tables.label_cells import Cells, count_codes, distinct, is_list, number_text
from smtl.tables.tag_lists import is_json_list, list_items
from smtl.tables.values import MISSING

__all__ = ["Tags", "Writing", "core", "looks_like_tags", "read_tags", "tags_written", "writing_of"]

Ints: TypeAlias = npt.NDArray[np.int64]

_SEPARATORS = (";", "|", ",")
_SHARE = 0.2  # a separator goes before a later one if it is in this share of that one's cells
_SHARE_OF_KNOWN = 0.02  # of cells with several tags, at least, where each of these stands alone in others
_SAMPLE = 10_000  # cells that tell whether there are blanks around the separator
_SHORT = 30  # characters of a tag, in the mean, at the most


class Writing(NamedTuple):
    """How tags are written: cells are "text" with a separator, "json" or "python" lists as text, or "list" values."""

    cells: str
    separator: str | None = None


class Tags(NamedTuple):
    """The tags of a column: which tag each (row, code) pair is, and of which rows tags are known."""

    tags: list[str]
    rows: Ints
    codes: Ints
    known: npt.NDArray[np.bool_]

    def counts(self) -> list[int]:
        """Return the number of rows that have each tag."""
        n = max(len(self.tags), 1)
        pairs = np.sort(self.rows * n + self.codes)
        # A tag that a cell has twice is one row.
        counts: list[int] = count_codes(pairs[np.diff(pairs, prepend=-1) > 0] % n, len(self.tags)).tolist()
        return counts


def core(separator: str) -> str:
    """Return a separator without blanks around, unless it is blank.

    Examples
    --------
    >>> core(" ; "), core(" ")
    (';', ' ')
    """
    return separator.strip() or separator


def writing_of(column: pa.ChunkedArray, name: str, separator: str | None = None) -> Writing:
    """Find out how the tags of a column are written.

    Parameters
    ----------
    column : ChunkedArray
        The column.
    name : str
        Its name, for the error.
    separator : str, optional
        The separator, if it is known.

    Returns
    -------
    Writing
        The kind of cells, and the separator with the blanks that are usual around it.

    Examples
    --------
    >>> writing_of(pa.chunked_array([["a; b", "", "b; c"]]), "topics")
    Writing(cells='text', separator='; ')
    >>> writing_of(pa.chunked_array([['["a"]', "[]"]]), "topics")
    Writing(cells='json', separator=None)
    """
    if separator is not None and not separator:
        raise ValueError("tag_separator must be one or more characters, got '' instead.")
    if is_list(column):
        return Writing("list")
    texts = [text for text in distinct(column, name).texts if text is not None and text not in MISSING]
    if separator is None:
        lists = _list_writing(texts, name)
        if lists is not None:
            return lists
        separator = _separator_of(texts) or _SEPARATORS[0]
    return Writing("text", _with_blanks(texts, core(separator)))


def _list_writing(texts: Sequence[str], name: str) -> Writing | None:
    """Return how lists are written, None if most cells are none; then all must be."""
    if not texts or 2 * sum(text[0] == "[" and text[-1] == "]" for text in texts) <= len(texts):
        return None
    others = [text for text in texts if not is_json_list(text)]
    odd = [text for text in others if list_items(text) is None]
    if 2 * len(odd) >= len(texts):
        return None
    if odd:
        raise ValueError(
            f"{shown(name)}: tags must be lists in all cells if they are in most, got {shown(odd[0])} instead; "
            "write it so, or give tag_separator."
        )
    return Writing("python" if others else "json")


def _separator_of(texts: Sequence[str]) -> str | None:
    """Return the separator that most cells have; an earlier one goes first, as commas may be inside tags."""
    counts = {sign: sum(sign in text for text in texts) for sign in _SEPARATORS}
    most = max(counts.values())
    return next((sign for sign in _SEPARATORS if counts[sign] and counts[sign] >= _SHARE * most), None)


def looks_like_tags(cells: Cells) -> bool:
    """Return whether the cells of a column look like tags: short, joined by a separator, the same ones again and again.

    Examples
    --------
    >>> looks_like_tags(distinct(pa.chunked_array([["a;b", "b;c", "a;b", "c", "a;c"]]), "topics"))
    True
    >>> looks_like_tags(distinct(pa.chunked_array([["Well, I paid twice.", "No, I did not.", "It is slow."]]), "text"))
    False
    """
    known = [
        (text, count)
        for text, count in zip(cells.texts[:_SAMPLE], cells.counts.tolist(), strict=False)
        if text is not None and text not in MISSING
    ]
    texts = [text for text, _ in known]
    if texts and all(text[0] == "[" and list_items(text) is not None for text in texts):
        return True
    separator = _separator_of(texts) if texts else None
    if separator is None or number_text(texts[0]) is not None:
        return False
    seen: Counter[str] = Counter()
    n_several, n_different, joined = 0, 0, set[str]()
    for text, count in known:
        tags = {tag.strip() for tag in text.split(separator)} - {""}
        if len(tags) > 1:
            n_several, n_different = n_several + count, n_different + 1
            joined |= tags
        seen.update(dict.fromkeys(tags, count))
    short = sum(map(len, seen)) <= _SHORT * len(seen)
    alone = joined <= set(texts)
    if n_different < 2 and not alone:  # one name with a comma in it
        return False
    least = _SHARE_OF_KNOWN if alone else _SHARE
    return short and n_several >= least * sum(count for _, count in known) and 2 * len(seen) <= seen.total()


def _with_blanks(texts: Sequence[str], sign: str) -> str:
    """Return the separator as it is mostly written."""
    sample = [text for text in texts[:_SAMPLE] if sign in text]
    n = sum(text.count(sign) for text in sample)
    if not sign.strip():
        return sign
    if 2 * sum(text.count(f" {sign} ") for text in sample) > n:
        return f" {sign} "
    return f"{sign} " if 2 * sum(text.count(f"{sign} ") for text in sample) > n else sign


def read_tags(column: pa.ChunkedArray, name: str, writing: Writing) -> Tags:
    """Read the tags of a column.

    Parameters
    ----------
    column : ChunkedArray
        Text, lists, or one number a cell.
    name : str
        Its name, for errors.
    writing : Writing
        How text is written.

    Returns
    -------
    Tags
        The tags, each once a row at least.

    Examples
    --------
    >>> found = read_tags(pa.chunked_array([["b;a", "", "a", "NA"]]), "topics", Writing("text", ";"))
    >>> found.tags, found.rows, found.codes, found.known
    (['b', 'a'], array([0, 0, 2]), array([0, 1, 1]), array([ True,  True,  True, False]))
    """
    if is_list(column):
        return _from_lists(column, name)
    cells = distinct(column, name)
    places: dict[str, int] = {}
    codes: list[int] = []
    ends = [0]
    known = np.zeros(len(cells.values) + 1, dtype=bool)  # the code -1 of nulls takes the last one
    for i, text in enumerate(cells.texts):
        if text is not None and (text == "" or text not in MISSING):
            known[i] = True
            codes.extend(places.setdefault(tag, len(places)) for tag in _split(text, writing, name, cells, i))
        ends.append(len(codes))
    ends.append(len(codes))
    starts, lengths = np.array([*ends[:-1]]), np.diff(np.array(ends))
    each = lengths[cells.codes]
    rows = np.repeat(np.arange(len(each)), each)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(each) - each, each)
    flat = np.array(codes, dtype=np.int64)[starts[cells.codes][rows] + within]
    return Tags(list(places), rows, flat, known[cells.codes])


def _split(text: str, writing: Writing, name: str, cells: Cells, i: int) -> Iterable[str]:
    """Return the tags in a cell, without blanks."""
    if not text:
        return ()
    if writing.separator is not None:
        return filter(None, (tag.strip() for tag in text.split(core(writing.separator))))
    items = list_items(text)
    if items is None:
        row = int(np.argmax(cells.codes == i)) + 1
        wanted = 'a list such as ["a", "b"]'
        raise ValueError(f"{shown(name)}, row {row}: tags must be {wanted}, got {shown(text)} instead; write it so.")
    return items


def _from_lists(column: pa.ChunkedArray, name: str) -> Tags:
    """Return the tags of a column of lists."""
    column = column.combine_chunks()
    lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    items = pa.chunked_array([pc.list_flatten(column)])
    if is_list(items):
        raise ValueError(f"{shown(name)} must hold lists of tags, got lists of lists instead.")
    cells = distinct(items, name)
    places: dict[str, int] = {}
    of_value = [places.setdefault(text, len(places)) if text else -1 for text in cells.texts]
    codes = np.array([*of_value, -1], dtype=np.int64)[cells.codes]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    kept = codes >= 0
    known = column.is_valid().to_numpy(zero_copy_only=False)
    return Tags(list(places), rows[kept], codes[kept], known)


def tags_written(rows: Iterable[Sequence[str] | None], writing: Writing) -> list[Any]:
    """Return cells for the tags of rows; None is "not known".

    Parameters
    ----------
    rows : iterable of sequences of str
        The tags of each row.
    writing : Writing
        How they are to be written.

    Returns
    -------
    list
        One cell a row.

    Examples
    --------
    >>> tags_written([["a", "b"], []], Writing("text", "; ")), tags_written([["a"]], Writing("json"))
    (['a; b', ''], ['["a"]'])
    """
    if writing.separator is not None:
        return [None if tags is None else _joined(tags, writing.separator) for tags in rows]
    if writing.cells == "list":
        return [None if tags is None else list(tags) for tags in rows]
    if writing.cells == "json":
        write = json.JSONEncoder(ensure_ascii=False).encode
        return [None if tags is None else write(list(tags)) for tags in rows]
    return [None if tags is None else repr(list(tags)) for tags in rows]


def _joined(tags: Sequence[str], separator: str) -> str:
    """Return tags as one text, from which they can be read again."""
    sign = core(separator)
    # Blanks keep "x|" and "||" apart.
    separator = f" {sign} " if len(sign) > 1 and sign.strip() else separator
    text = separator.join(tags)
    # A tag such as "NA", alone, would be "not known": said twice it is a tag.
    return separator.join([*tags, *tags]) if tags and text in MISSING else text
