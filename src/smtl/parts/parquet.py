"""Rows in Parquet files, read batch by batch in every pass: memory holds a few batches, however many rows there are."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from smtl.datasets.errors import DatasetError
from smtl.extras import of_extra
from smtl.metrics.spreading import Round, Scored, added
from smtl.parts.errors import SourceChangedError
from smtl.parts.part import Part, Sums, Where, answered, ordered, scored, slopes
from smtl.parts.raw import Raw, Reading, encoded
from smtl.parts.rows import Pass, Rows, sum_of
from smtl.parts.spool import Spool

__all__ = ["ParquetRows", "parquet_files"]

Source: TypeAlias = str | os.PathLike[str]

BATCH_BYTES = 16 * 2**20  # of features, in a batch; measured with benchmarks/scale.py: 8 to 64 MiB are equally fast
SPOOL_BYTES = 128 * 2**20  # of scores and the like that are kept in memory during a pass
BUFFER_BYTES = 2**20  # of each column that are read ahead, at most; all columns together as much as a batch
LEAST_BUFFER_BYTES = 2**13  # of each column, however many there are
MOST_ROWS_A_BYTE = 2**16  # of a file; writers begin a page of some bytes after ten thousand rows or so
OVERHEAD = 1e8  # of a pass, in multiplications: opening files, and reading them

_EXACT_IN_FLOAT32 = ("float", "halffloat", "bool", "int8", "int16", "uint8", "uint16")


class _Batch(NamedTuple):
    """Some rows of a row group of a file."""

    file: int
    group: int
    start: int
    n_rows: int
    number: int


def parquet_files(source: Source) -> list[Path]:
    """Return the Parquet files of a folder, in the order of their names, or the one file.

    Parameters
    ----------
    source : path-like
        A folder or a file.

    Returns
    -------
    list of Path
        At least one.

    Examples
    --------
    >>> parquet_files("no such folder")
    Traceback (most recent call last):
    FileNotFoundError: 'no such folder' must be a folder of Parquet files, or one, got nothing of that name instead.
    """
    path = Path(source)
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise FileNotFoundError(
            f"{str(source)!r} must be a folder of Parquet files, or one, got nothing of that name instead."
        )
    found = (file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
    files = sorted(file for file in found if file.is_file())  # nobody need ever write into a pipe
    if not files:
        raise FileNotFoundError(f"{str(source)!r} must hold files that end in .parquet, got none instead.")
    return files


class ParquetRows(Rows):
    """Rows in Parquet files.

    Parameters
    ----------
    source : path-like
        A folder of Parquet files, or one file. All have the same columns.
    labels : list of str
        The columns that are labels. Several are a matrix of yes and no, one may hold classes.
    tasks : str, optional
        The column that says each row's task.
    weight : str, optional
        The column of the rows' weights.
    ignore : collection of str, default=()
        Columns that are neither labels nor features.
    n_threads : int, default=1
        How many row groups are read side by side.
    batch_bytes : int, default=16 MiB
        Bytes of the features of a batch.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow
    >>> import pyarrow.parquet
    >>> with TemporaryDirectory() as folder:
    ...     table = pyarrow.table({"x": [0.5, 1.5, 2.5], "y": [0, 1, 1]})
    ...     pyarrow.parquet.write_table(table, Path(folder, "a.parquet"))
    ...     ParquetRows(folder, labels=["y"]).each_raw(lambda raw: raw.X.tolist())
    [[[0.5], [1.5], [2.5]]]
    """

    overhead = OVERHEAD

    def __init__(
        self,
        source: Source,
        labels: Sequence[str],
        tasks: str | None = None,
        *,
        weight: str | None = None,
        ignore: Collection[str] = (),
        n_threads: int = 1,
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        with of_extra("tables", "folders of Parquet"):
            import pyarrow.parquet as pq

        from smtl.tables.parquet import damaged, text_columns

        self.files = parquet_files(source)
        self.labels, self.tasks, self.weight, self.n_threads = list(labels), tasks, weight, n_threads
        with damaged(self.files[0]):
            schema = pq.read_schema(self.files[0])
        self.features, self.dtype = self._roles(schema, ignore)
        self._state = [_state(file) for file in self.files]
        batch_rows = max(batch_bytes // (len(self.features) * np.dtype(self.dtype).itemsize), 1)
        self._buffer_bytes = min(max(batch_bytes // len(self.features), LEAST_BUFFER_BYTES), BUFFER_BYTES)
        self.batches: list[_Batch] = []
        self._texts: list[list[str]] = []
        for f, file in enumerate(self.files):
            with damaged(file):
                metadata = pq.read_metadata(file)
                other = metadata.schema.to_arrow_schema()
                self._texts.append(text_columns(metadata))
                sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
            if other.names != schema.names:
                raise ValueError(f"{file} must have the columns of {self.files[0]}, got others instead.")
            if not other.equals(schema):  # the same names may have other types
                self._roles(other, ignore)
            _check_sizes(sizes, metadata.num_rows, file)
            for group, n in enumerate(sizes):
                for start in range(0, n, batch_rows):
                    self.batches.append(_Batch(f, group, start, min(batch_rows, n - start), len(self.batches)))
        self.n_parts = len(self.batches)
        self.n_rows = sum(batch.n_rows for batch in self.batches)
        if not self.n_rows:
            raise DatasetError("must have rows, got none", source)
        self._reading: Reading | None = None
        self._spool: Spool | None = None

    @property
    def _beside(self) -> list[str]:
        """The columns of tasks and weights."""
        return [name for name in (self.tasks, self.weight) if name is not None]

    def _roles(self, schema: Any, ignore: Collection[str]) -> tuple[list[str], type[np.floating[Any]]]:
        """Return the columns that are features, and the type that holds them all."""
        given = [*self.labels, *self._beside, *ignore]
        columns = Counter(schema.names)
        unknown = [name for name in given if name not in columns]
        if unknown or not self.labels:
            raise ValueError(
                f"labels, tasks and ignore must be columns of the files, at least one of them a label, got "
                f"{unknown[0]!r} instead; there are {', '.join(map(repr, schema.names[:20]))}."
                if unknown
                else "labels must name at least one column, got none instead."
            )
        twice = [name for name, times in columns.items() if times > 1]
        if twice:
            raise ValueError(f"columns must have names of their own, got {twice[0]!r} twice instead.")
        import pyarrow as pa

        taken = set(given)
        names = [name for name in columns if name not in taken]
        types = [schema.field(name).type for name in names]
        others = [
            n for n, t in zip(names, types, strict=True)
            if not (pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t))
        ]  # fmt: skip
        if others or not names:
            raise ValueError(
                f"Features must be columns of numbers, got {', '.join(map(repr, others[:5])) or 'none'} instead; "
                "encode other columns before, or name them in ignore."
            )
        exact = all(str(t) in _EXACT_IN_FLOAT32 for t in types)
        return names, np.float32 if exact else np.float64

    def each_raw(self, function: Callable[..., Any], *common: Any) -> list[Any]:  # noqa: D102
        return self._for_all(lambda raw: function(raw, *common))

    def prepare(self, reading: Reading) -> None:  # noqa: D102
        self._reading = reading

    def each(self, function: Callable[..., Any], *common: Any) -> list[Any]:  # noqa: D102
        return self._for_all(lambda raw: function(self.part(raw), *common))

    def summed(self, function: Callable[..., Any], *common: Any) -> Any:  # noqa: D102
        return self._sum_of_all(lambda raw: function(self.part(raw), *common), added)

    def begin(self, where: Where) -> Pass:  # noqa: D102
        if self._spool is None:
            self._spool = Spool(SPOOL_BYTES)
        return _PassOverBatches(self, where, self._spool)

    def close(self) -> None:
        """Remove the temporary files."""
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    def part(self, raw: Raw) -> Part:
        """Return a part whose labels are encoded."""
        assert self._reading is not None
        return ordered(*encoded(raw, self._reading), raw.number)  # that files stand still, their times and sizes tell

    def _for_all(self, work: Callable[[Raw], Any]) -> list[Any]:
        """Return what is made of every batch, in their order."""
        return [one for done in self._by_group(lambda raws: [work(raw) for raw in raws]) for one in done]

    def _sum_of_all(self, work: Callable[[Raw], Any], add: Callable[[Sequence[Any]], Any]) -> Any:
        """Return the sum of what is made of every batch, in their order, so that it is the same each time."""

        def of_group(raws: Iterator[Raw]) -> Any:
            return _sum(map(work, raws), add)

        return _sum(self._by_group(of_group), add)

    def _by_group(self, work: Callable[[Iterator[Raw]], Any]) -> Iterator[Any]:
        """Yield what is made of the batches of each row group; these are read side by side."""
        groups: dict[tuple[int, int], list[_Batch]] = {}
        for batch in self.batches:
            groups.setdefault((batch.file, batch.group), []).append(batch)

        def whole(batches: list[_Batch]) -> Any:
            return work(self._read(batches))

        if self.n_threads == 1 or len(groups) == 1:
            yield from map(whole, groups.values())
            return
        with ThreadPoolExecutor(self.n_threads) as executor:
            yield from executor.map(whole, groups.values())

    def _read(self, batches: Sequence[_Batch]) -> Iterator[Raw]:
        """Yield the batches of one row group."""
        import pyarrow.parquet as pq

        from smtl.tables.parquet import check_plain, damaged

        file = self.files[batches[0].file]
        self._check_still(batches[0].file)
        columns = [*self.features, *self.labels, *self._beside]
        with damaged(file):
            # Text as a dictionary: whether there is room for a copy in each row is asked before.
            source = pq.ParquetFile(
                file, buffer_size=self._buffer_bytes, pre_buffer=False, read_dictionary=self._texts[batches[0].file]
            )
            tables = source.iter_batches(
                batch_size=batches[0].n_rows, row_groups=[batches[0].group], columns=columns, use_threads=False
            )
        try:
            for batch in batches:
                with damaged(file):
                    table = next(tables, None)
                    if table is not None:
                        table.validate(full=True)
                        check_plain(table.columns, file)
                if table is None or table.num_rows != batch.n_rows:
                    self._check_still(batches[0].file)
                    raise DatasetError("must be a whole Parquet file, got a damaged one (rows are missing).", file)
                yield self._raw(table, batch.number)
                del table
        finally:
            with damaged(file):
                source.close()
        self._check_still(batches[0].file)

    def _raw(self, table: Any, number: int) -> Raw:
        """Return a batch as arrays; features column by column, as Parquet has them."""
        block = np.empty((len(self.features), table.num_rows), dtype=self.dtype)
        for row, name in zip(block, self.features, strict=True):
            column = table.column(name)
            if column.null_count:
                raise ValueError(
                    f"Features must have no missing values, got some in column {name!r}; fill them in before, or "
                    "name the column in ignore."
                )
            row[:] = column.to_numpy(zero_copy_only=False)
        labels = [_values(table.column(name)) for name in self.labels]
        y = labels[0] if len(labels) == 1 else np.column_stack(labels)
        task = None if self.tasks is None else _values(table.column(self.tasks))
        weight = None if self.weight is None else _values(table.column(self.weight))
        return Raw(block.T, y, task, number, self.features, self.labels, weight)

    def _check_still(self, number: int) -> None:
        """Raise SourceChangedError if a file is not as it was."""
        file = self.files[number]
        try:
            same = _state(file) == self._state[number]
        except OSError as error:
            raise SourceChangedError(f"{file} cannot be read any more: {error}.") from error
        if not same:
            raise SourceChangedError(
                f"{file} has changed under way: its time or size is another. Keep the files still while a model is "
                "fitted, and fit again."
            )


def _sum(found: Iterator[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
    """Return a sum, of which never more than two terms are held."""
    total = next(found)
    for one in found:
        total = add([total, one])
    return total


def _values(column: Any) -> Any:
    """Return a column of a batch as an array."""
    column = column.dictionary_decode() if hasattr(column, "dictionary") else column
    return column.to_numpy(zero_copy_only=False)


def _check_sizes(sizes: Sequence[int], n_rows: int, file: Path) -> None:
    """Refuse a file that claims more rows than it can have, before a list is made of them."""
    if min(sizes, default=0) < 0 or sum(sizes) != n_rows or n_rows > MOST_ROWS_A_BYTE * file.stat().st_size:
        raise DatasetError(
            f"must be a whole Parquet file, got a damaged one (it claims {max(n_rows, sum(sizes)):,} rows).", file
        )


def _state(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_mtime_ns, status.st_size


class _PassOverBatches(Pass):
    """A pass that reads the features once for scores and once for slopes; only once where there is one round."""

    def __init__(self, rows: ParquetRows, where: Where, spool: Spool) -> None:
        self.rows, self.where, self.spool = rows, where, spool
        self.begun = False

    def answer(self, todo: Round) -> Any:
        def first(raw: Raw) -> Any:
            state = scored(self.rows.part(raw), self.where)
            self.spool.keep(f"scores-{raw.number}", state[:4])
            return self._kept(state, todo, raw.number)

        def later(number: int) -> Any:
            return self._kept(self._state(number), todo, number)

        if not self.begun:
            self.begun = True
            return self.rows._for_all(first) if todo.joined is None else self.rows._sum_of_all(first, todo.joined)
        with ThreadPoolExecutor(self.rows.n_threads) as executor:
            sent = executor.map(later, range(self.rows.n_parts))
            return list(sent) if todo.joined is None else _sum(sent, todo.joined)

    def _state(self, number: int) -> Scored:
        return Scored(*self.spool.kept(f"scores-{number}"), *self.spool.kept(f"kept-{number}"))

    def _kept(self, state: Scored, todo: Round, number: int) -> Any:
        """Do a part's share of a round, keep what it is to keep, and return what it sends."""
        state, sent = answered(state, todo, None if todo.own is None else todo.own[number])
        self.spool.keep(f"kept-{number}", (state.kept,))
        return sent

    def sums(self, todo: Round) -> Sums:
        def last(raw: Raw) -> Sums:
            part = self.rows.part(raw)
            state = self._state(raw.number) if self.begun else scored(part, self.where)
            state, sent = answered(state, todo, None if todo.own is None else todo.own[raw.number])
            return slopes(part, self.where, state.kept, sent or ())

        total: Sums = self.rows._sum_of_all(last, sum_of)
        return total
