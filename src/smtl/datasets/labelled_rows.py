"""Rows of labels and features, ``1,5 3:0.5 7:2``: what svmlight and the extreme-classification format share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.datasets.errors import DatasetError, Fault, at_most, shown
from smtl.datasets.files import Source
from smtl.datasets.limits import most_bytes
from smtl.datasets.nominal import finite, kind_of, number
from smtl.datasets.sparse_rows import SparseRows

__all__ = ["LabelledRows"]

_PLAIN = b"0123456789+-.eE"


class LabelledRows:
    """Rows of labels and features, read block by block.

    Parameters
    ----------
    path : path-like
        The file, for errors.
    indices : range
        The features' indices that may occur.
    allowed : sequence of int, optional
        The labels that may occur.
    blank : bool, default=False
        Whether a blank line is a row without labels and features.
    """

    def __init__(self, path: Source, indices: range, allowed: Sequence[int] | None, blank: bool = False) -> None:
        self.path, self.indices, self.allowed, self.blank = path, indices, allowed, blank
        self.features = SparseRows()
        self._labels: list[npt.NDArray[np.int64]] = []
        self._counts: list[npt.NDArray[np.int64]] = []

    def __len__(self) -> int:
        return len(self.features)

    def add(self, line: int, text: str) -> None:
        """Add a block of lines: as a whole if it is plain, else line by line, which finds the place of a fault."""
        plain = text.replace("\r\n", "\n").removesuffix("\r").replace("\t", " ")
        if not plain.encode().translate(None, _PLAIN + b":, \n"):
            try:
                self._fast(plain)
            except (ValueError, OverflowError):
                pass
            else:
                return
        self._exact(line, text)

    def labels(self, allowed: Sequence[int] | None, sparse: bool, max_bytes: int | None) -> tuple[Any, Sequence[int]]:
        """Return Y, and the labels that are its columns."""
        flat = np.concatenate(self._labels)
        counts = np.concatenate(self._counts)
        numbers: Sequence[int]
        if isinstance(allowed, range) and allowed.start == 0:
            numbers, columns = allowed, flat
        else:
            numbers = np.unique(flat).tolist() if allowed is None else allowed
            order = np.argsort(np.asarray(numbers, dtype=np.int64))
            columns = order[np.searchsorted(np.asarray(numbers, dtype=np.int64)[order], flat)]
        rows = np.repeat(np.arange(len(counts)), counts)
        return _label_matrix(rows, columns, (len(counts), len(numbers)), sparse, max_bytes, self.path), numbers

    def _fast(self, text: str) -> None:
        heads, tails = [], []
        for line in text.split("\n"):
            head, _, tail = line.partition(" ")
            if ":" in head:
                head, tail = "", line
            elif not (head or self.blank or tail.strip()):
                continue
            heads.append(head)
            tails.append(tail)
        counts = [tail.count(":") for tail in tails]
        n = sum(counts)
        entries = " ".join(" ".join(tails).split())
        # What is left of entries without their digits: one colon each, or one is no such entry.
        if entries.encode().translate(None, _PLAIN) != b" ".join([b":"] * n):
            raise ValueError("not plain")
        tokens = entries.replace(":", " ").split()
        if len(tokens) != 2 * n:
            raise ValueError("not plain")
        indices = list(map(int, tokens[::2]))
        labels = np.array(
            list(map(int, ",".join(filter(None, heads)).split(","))) if any(heads) else [], dtype=np.int64
        )
        if n and not (min(indices) in self.indices and max(indices) in self.indices):
            raise ValueError("index out of range")
        if not self._all_allowed(labels):
            raise ValueError("unknown label")
        values = np.array(list(map(float, tokens[1::2])))
        if not np.isfinite(values).all():
            raise ValueError("an infinite value")
        self.features.add(counts, indices, values)
        self._labels.append(labels)
        self._counts.append(np.array([head.count(",") + 1 if head else 0 for head in heads], dtype=np.int64))

    def _all_allowed(self, labels: npt.NDArray[np.int64]) -> bool:
        if self.allowed is None or len(labels) == 0:
            return True
        if isinstance(self.allowed, range):
            # A range looks a number of NumPy's up by going through all of its own.
            return int(labels.min()) in self.allowed and int(labels.max()) in self.allowed
        return bool(np.isin(labels, self.allowed).all())

    def _exact(self, at: int, text: str) -> None:
        labels: list[list[int]] = []
        rows: list[list[tuple[int, float]]] = []
        for line in text.split("\n"):
            content = line.partition("#")[0]
            if content.strip(" \t\r") or (self.blank and "#" not in line):
                try:
                    found, row = self._row(content)
                except Fault as fault:
                    raise DatasetError(fault.message, self.path, at, fault.column) from None
                labels.append(found)
                rows.append(row)
            at += 1
        entries = [entry for row in rows for entry in row]
        self.features.add([len(row) for row in rows], [j for j, _ in entries], [value for _, value in entries])
        self._labels.append(np.array([label for found in labels for label in found], dtype=np.int64))
        self._counts.append(np.array([len(found) for found in labels], dtype=np.int64))

    def _row(self, line: str) -> tuple[list[int], list[tuple[int, float]]]:
        labels: list[int] = []
        row: dict[int, float] = {}
        for k, found in enumerate(re.finditer(r"[^ \t\r]+", line)):
            token, start = found[0], found.start()
            index, colon, value = token.partition(":")
            if k == 0 and not colon:
                if start:
                    raise Fault("labels must begin their line, got a blank before them; remove it.", 1)
                for label in token.split(","):
                    labels.append(self._label(label, start))
                    start += len(label) + 1
                continue
            if index == "qid":
                continue
            j = int(index) if re.fullmatch(r"[0-9]{1,19}", index) else -1
            if not colon or not re.fullmatch(r"[0-9]+", index):
                raise Fault(f"an entry must be index:value, got {shown(token)} instead.", start + 1)
            if j not in self.indices:
                ends = f"from {self.indices.start} to {self.indices.stop - 1}" if self.indices else "none at all"
                raise Fault(f"an index must be {ends}, got {shown(index)} instead.", start + 1)
            if j in row:
                raise Fault(f"indices of a row must differ, got {j} again.", start + 1)
            try:
                row[j] = finite(value)
            except ValueError:
                message = f"a value must be {kind_of(value)}, got {shown(value)} instead."
                raise Fault(message, start + len(index) + 2) from None
        return labels, sorted(row.items())

    def _label(self, token: str, start: int) -> int:
        try:
            value = number(token)
            label = int(value)
        except (ValueError, OverflowError):
            value, label = 0.5, 0
        if value != label or abs(label) > 2**53:
            raise Fault(
                f"labels must be whole numbers with commas between them, got {shown(token)} instead.", start + 1
            )
        if self.allowed is not None and label not in self.allowed:
            ends = f"from {self.allowed[0]} to {self.allowed[-1]}" if len(self.allowed) else "none"
            raise Fault(f"a label must be one of those asked for, {ends}, got {label} instead.", start + 1)
        return label


def _label_matrix(
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    shape: tuple[int, int],
    sparse: bool,
    max_bytes: int | None,
    path: Source,
) -> Any:
    """Return a 0/1 matrix with ones at these places."""
    if sparse:
        Y = sp.csr_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=shape)
        Y.data[:] = 1  # a label that stands twice was added up
        return Y
    limit = most_bytes(path, max_bytes)
    at_most(shape[0] * shape[1], limit, "dense labels", "pass sparse_labels=True, or a larger max_bytes", path)
    Y = np.zeros(shape, dtype=np.int8)
    Y[rows, columns] = 1
    return Y
