"""The rows of an ARFF file, dense or sparse."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.datasets.arff_header import Attribute, skip_blanks, token_at
from smtl.datasets.errors import DatasetError, Fault, shown
from smtl.datasets.files import Source
from smtl.datasets.nominal import finite, kind_of, number
from smtl.datasets.sparse_rows import SparseRows

__all__ = ["ArffRows", "converter"]

Convert: TypeAlias = Callable[[str], float]

_BLANKS = re.compile(r"[ \t]+")
_WEIGHT = re.compile(r"\{[ \t]*([^ \t{}]+)[ \t]*\}")
# What sends a block to the exact reader.
_NOT_PLAIN = re.compile(r"""['"%\\_\r]|[^\x00-\x7f]""")


def converter(path: Source, attribute: Attribute, dropped: bool, label: bool) -> Convert:
    """Return what makes a number of an attribute's token, or raises ValueError or KeyError."""
    if dropped:
        return _nothing
    if attribute.values is not None:
        if label and attribute.numbers is None:
            raise DatasetError(
                f"label {shown(attribute.name)} must have the values {{0,1}}, got "
                f"{shown(','.join(attribute.values))} instead; recode it.",
                path,
                attribute.line,
                1,
            )
        codes = {value: float(code) for code, value in enumerate(attribute.values)}
        return codes.__getitem__
    if attribute.kind == "numeric":
        return _label if label else finite
    advice = "" if label else f"; pass drop=[{attribute.name!r}] to leave it out"
    raise DatasetError(
        f"attribute {shown(attribute.name)} must be numeric or nominal, got type {attribute.kind} instead{advice}.",
        path,
        attribute.line,
        1,
    )


def _nothing(_: str) -> float:
    return 0.0


def _all_finite(values: list[float]) -> npt.NDArray[np.float64]:
    """Return values as an array; ValueError if one is infinite."""
    found = np.array(values, dtype=np.float64)
    if np.isinf(found).any():
        raise ValueError("an infinite value")
    return found


def _label(token: str) -> float:
    value = number(token)
    if value not in (0, 1):
        raise ValueError(token)
    return value


class ArffRows:
    """Rows read so far."""

    def __init__(self, path: Source, attributes: list[Attribute], convert: list[Convert]) -> None:
        self.path, self.attributes, self.convert = path, attributes, convert
        # A block for the fast reader is ASCII and has no underscore: what `number` checks.
        self.fast = [float if function is finite else function for function in convert]
        self.dense: list[npt.NDArray[np.float64]] = []
        self.sparse = SparseRows()
        self.is_sparse: bool | None = None

    def add(self, line: int, text: str) -> None:
        """Add a block of lines."""
        if self.is_sparse is None:
            found = re.search(r"^[ \t\r]*([^ \t\r\n%])", text, re.MULTILINE)
            if found is None:
                return
            self.is_sparse = found[1] == "{"
        plain = text.replace("\r\n", "\n").removesuffix("\r")
        if not _NOT_PLAIN.search(plain):
            try:
                (self._fast_sparse if self.is_sparse else self._fast_dense)(plain)
            except (ValueError, KeyError, IndexError, OverflowError):
                pass
            else:
                return
        self._exact(line, text)

    def finish(self, line: int) -> Any:
        """Return all rows: an array, or a CSC matrix."""
        d = len(self.attributes)
        if self.is_sparse is None:
            raise DatasetError("must have rows below @data, got none; the file is cut short.", self.path, line)
        if not self.is_sparse:
            return np.vstack(self.dense)
        return self.sparse.matrix(d).tocsc()

    def _fast_dense(self, text: str) -> None:
        if " " in text or "\t" in text:
            text = _BLANKS.sub(" ", text).replace(" ,", ",").replace(", ", ",")
        lines = [line for line in map(str.strip, text.split("\n")) if line]
        d = len(self.attributes)
        if any(line.count(",") != d - 1 for line in lines):
            raise ValueError("wrong arity")
        tokens = ",".join(lines).split(",") if lines else []
        try:
            values = [convert(token) for convert, token in zip(cycle(self.fast), tokens, strict=False)]
        except (ValueError, KeyError):
            pairs = zip(cycle(self.fast), tokens, strict=False)
            values = [np.nan if token == "?" else convert(token) for convert, token in pairs]
        self.dense.append(_all_finite(values).reshape(-1, d))

    def _fast_sparse(self, text: str) -> None:
        lines = [line for line in map(str.strip, text.split("\n")) if line]
        bodies = [line[1:-1].strip() for line in lines]
        if any(line[0] != "{" or line[-1] != "}" for line in lines) or any(
            "{" in body or "}" in body for body in bodies
        ):
            raise ValueError("not plain")
        counts = [body.count(",") + 1 if body else 0 for body in bodies]
        n = sum(counts)
        tokens = ",".join(filter(None, bodies)).replace(",", " , ").split()
        # Index, value, comma, index, ...: all commas stand where every third token does, or a row is no such row.
        if len(tokens) != max(3 * n - 1, 0) or tokens[2::3].count(",") != n - bool(n):
            raise ValueError("not plain")
        indices = list(map(int, tokens[::3]))
        if n and min(indices) < 0:
            raise ValueError("negative index")
        convert = self.fast
        values = [convert[j](token) for j, token in zip(indices, tokens[1::3], strict=True)]
        self.sparse.add(counts, indices, _all_finite(values))

    def _exact(self, at: int, text: str) -> None:
        read = self._sparse_row if self.is_sparse else self._dense_row
        rows = []
        for line in text.split("\n"):
            pos = skip_blanks(line, 0)
            if pos < len(line) and line[pos] != "%":
                try:
                    rows.append(read(line, pos))
                except Fault as fault:
                    raise DatasetError(fault.message, self.path, at, fault.column) from None
            at += 1
        entries = [entry for row in rows for entry in row]
        if self.is_sparse:
            self.sparse.add([len(row) for row in rows], [j for j, _ in entries], [value for _, value in entries])
        else:
            self.dense.append(
                np.array([value for _, value in entries], dtype=np.float64).reshape(-1, len(self.attributes))
            )

    def _dense_row(self, line: str, pos: int) -> list[tuple[int, float]]:
        row: list[tuple[int, float]] = []
        d = len(self.attributes)
        while True:
            if line[pos : pos + 1] == "{" and len(row) == d:
                pos = self._weight(line, pos)
            else:
                if len(row) == d or (line[pos : pos + 1] == "{" and not row):
                    raise Fault(f"a row must have {d} values, got more.", pos + 1)
                value, pos = self._value(line, pos, len(row))
                row.append((len(row), value))
            pos, more = _separator(line, pos)
            if not more:
                break
        if len(row) < d:
            raise Fault(f"a row must have {d} values, got {len(row)} instead.", pos + 1)
        return row

    def _sparse_row(self, line: str, pos: int) -> list[tuple[int, float]]:
        if line[pos] != "{":
            raise Fault(f"a row of a sparse file must begin with a brace, got {shown(line[pos:])} instead.", pos + 1)
        row: dict[int, float] = {}
        pos = skip_blanks(line, pos + 1)
        while line[pos : pos + 1] != "}":
            start = pos
            token, _, pos = token_at(line, pos, "an index or a closing brace")
            # More digits than an index can have would take long to read.
            j = int(token) if token.isascii() and token.isdigit() and len(token) < 20 else -1
            if not 0 <= j < len(self.attributes):
                raise Fault(
                    f"an index must be from 0 to {len(self.attributes) - 1}, got {shown(token)} instead.", start + 1
                )
            if j in row:
                raise Fault(f"indices of a row must differ, got {j} again.", start + 1)
            row[j], pos = self._value(line, skip_blanks(line, pos), j)
            start = pos
            pos = skip_blanks(line, pos)
            if line[pos : pos + 1] == ",":
                pos = skip_blanks(line, pos + 1)
            elif line[pos : pos + 1] != "}":
                raise Fault(f"a comma or a closing brace must stand here, got {shown(line[pos:])} instead.", pos + 1)
        pos, more = _separator(line, pos + 1)
        if more:
            pos, more = _separator(line, self._weight(line, pos))
        if more:
            raise Fault(f"a row must end here, got {shown(line[pos:])} instead.", pos + 1)
        return sorted(row.items())

    def _value(self, line: str, pos: int, j: int) -> tuple[float, int]:
        token, quoted, end = token_at(line, pos)
        if token == "?" and not quoted:
            return np.nan, end
        try:
            return self.convert[j](token), end
        except (ValueError, KeyError):
            attribute = self.attributes[j]
            kind = "0 or 1" if self.convert[j] is _label else kind_of(token)
            if attribute.values is not None:
                kind = f"one of its values {{{shown(','.join(attribute.values), 60)[1:-1]}}}"
            raise Fault(f"{shown(attribute.name)} must be {kind}, got {shown(token)} instead.", pos + 1) from None

    def _weight(self, line: str, pos: int) -> int:
        """Pass over the weight that Weka allows behind a row: ``{0.5}``."""
        found = _WEIGHT.match(line, pos)
        try:
            number(found[1] if found else "")
        except ValueError:
            raise Fault(f"a row must end here, got {shown(line[pos:])} instead.", pos + 1) from None
        return found.end() if found else pos


def _separator(line: str, pos: int) -> tuple[int, bool]:
    """Pass over the comma or the blanks behind a value; return where, and whether more must come."""
    start, pos = pos, skip_blanks(line, pos)
    if pos == len(line) or line[pos] == "%":
        return pos, False
    if line[pos] == ",":
        return skip_blanks(line, pos + 1), True
    if pos == start:
        raise Fault(f"a comma must stand here, got {shown(line[pos:])} instead.", pos + 1)
    return pos, True
