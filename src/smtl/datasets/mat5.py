"""Cell arrays of MATLAB files, versions 5 to 7.2: matrices of numbers, full or sparse, and nothing else.

SciPy's reader trusts the sizes that a file states, and a damaged file can make it end the process. This one reads
less, from within the bounds of the file only.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.datasets.errors import DatasetError, at_most, shown
from smtl.datasets.files import Source, opened
from smtl.datasets.limits import limits_of

__all__ = ["Cell", "read_cells"]

Cell: TypeAlias = Any  # a float64 array, a CSC matrix, or None for anything else
Order: TypeAlias = Literal["little", "big"]

# Types of data elements, and classes of arrays, by the numbers that the format gives them.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _SPARSE, _FULL = 1, 5, range(6, 16)
_IS_COMPLEX = 8


class _DamagedError(Exception):
    pass


def read_cells(path: Source, max_bytes: int | None = None) -> dict[str, list[Cell]]:
    """Return the cell arrays of a file by name, each a list of its cells, column by column."""
    limit = limits_of(path, max_bytes).text
    with opened(path) as (stream, compressed):
        content = b"" if compressed else b"".join(_chunks(stream, limit, path))
    order: Order | None = {b"IM": "little", b"MI": "big"}.get(content[126:128])  # type: ignore[assignment]
    if order is None:
        raise DatasetError(
            "must be a MATLAB file of version 5 to 7.2, got another file instead; save it with -v7.", path
        )
    version = int.from_bytes(content[124:126], order)
    if version != 0x0100:
        got = "7.3 (HDF5)" if version == 0x0200 else shown(version)
        raise DatasetError(f"must be a MATLAB file of version 5 to 7.2, got {got} instead; save it with -v7.", path)
    cells = {}
    try:
        for kind, data in _inflated(memoryview(content)[128:], order, limit, path):
            if kind == _MATRIX:
                name, found = _array(data, order, nested=False)
                if isinstance(found, list):
                    cells[name] = found
    except _DamagedError as error:
        raise DatasetError(f"must be a whole MATLAB file, got a damaged one: {error}.", path) from None
    return cells


def _chunks(stream: Any, limit: int, path: Source) -> Iterator[bytes]:
    """Return the file's content; asked for all of it at once, a stream would make room for the limit."""
    n_bytes = 0
    while chunk := stream.read(2**20):
        n_bytes += len(chunk)
        at_most(n_bytes, limit, "the file", "pass a larger max_bytes", path)
        yield chunk
    if n_bytes == 0:
        raise DatasetError("must have data, got an empty file instead; get the file again.", path)


def _inflated(data: memoryview, order: Order, limit: int, path: Source) -> Iterator[tuple[int, memoryview]]:
    """Return the types and the data of all elements, those that are compressed decompressed."""
    n_bytes = len(data)
    for kind, element in _elements(data, order):
        if kind != _COMPRESSED:
            yield kind, element
            continue
        inflate = zlib.decompressobj()
        try:
            content = inflate.decompress(element, max(limit + 1 - n_bytes, 1))
        except zlib.error as error:
            raise _DamagedError(str(error)) from None
        n_bytes += len(content)
        if n_bytes > limit:
            raise DatasetError(
                f"the decompressed file must have at most max_bytes={limit:,} bytes, got more; "
                "if the file is to be trusted, pass a larger max_bytes.",
                path,
            )
        if not inflate.eof:
            raise _DamagedError("a compressed part is cut short")
        yield from _elements(memoryview(content), order)


def _elements(data: memoryview, order: Order) -> Iterator[tuple[int, memoryview]]:
    """Return the types and the data of the elements that follow each other."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise _DamagedError("a part is cut short")
        kind, size = int.from_bytes(data[at : at + 4], order), int.from_bytes(data[at + 4 : at + 8], order)
        if kind >> 16:  # a small element: its size stands beside its type, its data in the place of the size
            kind, size, begin, after = kind & 0xFFFF, kind >> 16, at + 4, at + 8
            if size > 4:
                raise _DamagedError(f"a small part says that it has {size} bytes")
        else:
            begin = at + 8
            after = begin + size if kind == _COMPRESSED else begin + -(-size // 8) * 8
        if begin + size > len(data):
            raise _DamagedError(f"a part says that it has {size} bytes, but {len(data) - begin} are left")
        yield kind, data[begin : begin + size]
        at = after


def _array(data: memoryview, order: Order, nested: bool) -> tuple[str, Cell | list[Cell]]:
    """Return an array's name and content: a list if it is a cell array, None if it holds no numbers."""
    if not len(data):
        return "", np.empty((0, 0))
    elements = _elements(data, order)
    flags = _numbers(*_next(elements), order)
    dims = _numbers(*_next(elements), order)
    name = bytes(_next(elements)[1]).decode("latin-1")
    if len(flags) < 1 or len(dims) < 2 or dims.dtype.kind not in "iu" or flags.dtype.kind not in "iu":
        raise _DamagedError(f"array {shown(name)} has no class or no shape")
    shape = tuple(map(int, dims))
    if min(shape) < 0:
        raise _DamagedError(f"array {shown(name)} has the shape {shown(shape)}")
    kind, complex_numbers = int(flags[0]) & 0xFF, bool(int(flags[0]) >> 8 & _IS_COMPLEX)
    if kind == _CELL and not nested:
        cells = [_array(element, order, nested=True)[1] if of == _MATRIX else None for of, element in elements]
        if len(cells) != math.prod(shape):
            raise _DamagedError(f"cell array {shown(name)} has {len(cells)} cells, but the shape {shown(shape)}")
        return name, cells
    if complex_numbers or not (kind == _SPARSE or kind in _FULL):
        return name, None
    if kind == _SPARSE:
        return name, _sparse(shape, *(_numbers(*_next(elements), order) for _ in range(3)))
    values = _numbers(*_next(elements), order)
    if len(values) != math.prod(shape):
        raise _DamagedError(f"array {shown(name)} has {len(values)} values, but the shape {shown(shape)}")
    return name, values.astype(np.float64).reshape(shape, order="F")


def _sparse(shape: tuple[int, ...], rows: Any, starts: Any, values: Any) -> Any:
    """Return a sparse matrix, of which all indices have been checked."""
    fits = len(shape) == 2 and len(starts) == shape[1] + 1 and rows.dtype.kind in "iu" and starts.dtype.kind in "iu"
    n = int(starts[-1]) if fits else -1
    fits = fits and 0 <= n <= min(len(rows), len(values)) and int(starts[0]) == 0
    fits = fits and bool((np.diff(starts.astype(np.int64)) >= 0).all())
    rows = rows[: max(n, 0)].astype(np.int64)
    if not fits or (n and not 0 <= rows.min() <= rows.max() < shape[0]):
        raise _DamagedError("the indices of a sparse matrix contradict each other")
    return sp.csc_matrix((values[:n].astype(np.float64), rows, starts.astype(np.int64)), shape=shape)


def _next(elements: Iterator[tuple[int, memoryview]]) -> tuple[int, memoryview]:
    found = next(elements, None)
    if found is None:
        raise _DamagedError("an array is cut short")
    return found


def _numbers(kind: int, data: memoryview, order: Order) -> npt.NDArray[Any]:
    if kind not in _NUMBERS:
        raise _DamagedError(f"an array holds data of type {kind}, which are no numbers")
    dtype = np.dtype(_NUMBERS[kind]).newbyteorder("<" if order == "little" else ">")
    if len(data) % dtype.itemsize:
        raise _DamagedError(f"{len(data)} bytes hold numbers of {dtype.itemsize} bytes each")
    return np.frombuffer(data, dtype=dtype)
