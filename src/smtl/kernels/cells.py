"""Cells of comma-separated text: where they are, and the numbers among them, rounded as Python rounds them.

The text ends with a line end, which ends every loop over bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_QUOTE, _SPACE, _RETURN, _NEWLINE = 34, 32, 13, 10
_DOT, _PLUS, _MINUS, _e, _E = 46, 43, 45, 101, 69
# Bytes less the byte of 0, as unsigned numbers: what is no digit is above 9.
_ZERO, _NINE, _TEN = np.uint64(48), np.uint64(9), np.uint64(10)
_EXACT = np.uint64(2**53)
_LOW = np.uint64(0x7FF)
_SPLIT = 134217729.0  # 2**27 + 1
_DOUBT = 2.0**-98


@njit(cache=True, nogil=True)
def _number(text, at, high, low):
    """Return the number that a cell begins with, whether it is surely rounded right, and where it ends.

    A number with few digits is a product or quotient of two that are exact. One with more is computed with twice as
    many digits, and in doubt, near the middle between two floats, left to the caller.
    """
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    first = at
    digits = np.uint64(text[at]) - _ZERO
    if digits <= _NINE:
        at += 1
        c = np.uint64(text[at]) - _ZERO
        while c <= _NINE:
            digits = digits * _TEN + c
            at += 1
            c = np.uint64(text[at]) - _ZERO
    else:
        digits = np.uint64(0)
    n_digits = at - first
    exponent = 0
    if text[at] == _DOT:
        at += 1
        first = at
        c = np.uint64(text[at]) - _ZERO
        while c <= _NINE:
            digits = digits * _TEN + c
            at += 1
            c = np.uint64(text[at]) - _ZERO
        exponent = first - at
        n_digits -= exponent
    # With zeros before them, fewer digits would fit, too: those are left to the caller.
    if n_digits < 1 or n_digits > 19:
        return 0.0, False, at
    if text[at] == _e or text[at] == _E:
        at += 1
        down = text[at] == _MINUS
        if down or text[at] == _PLUS:
            at += 1
        first = at
        power = 0
        c = np.uint64(text[at]) - _ZERO
        while c <= _NINE and at - first < 5:
            power = 10 * power + int(c)
            at += 1
            c = np.uint64(text[at]) - _ZERO
        if at == first:
            return 0.0, False, at
        exponent += -power if down else power
    sure = True
    if digits < _EXACT and -22 <= exponent <= 22:
        value = float(np.int64(digits))
        value = value * high[250 + exponent] if exponent >= 0 else value / high[250 - exponent]
    elif -250 <= exponent <= 250:
        value, sure = _product(digits, high[250 + exponent], low[250 + exponent])
    else:
        return 0.0, False, at
    return (-value if negative else value), sure, at


@njit(cache=True, nogil=True)
def _product(digits, high, low):
    """Return digits * (high + low) to twice the digits, rounded, and whether the rounding is beyond doubt."""
    b = 0.0 if digits < _EXACT else float(digits & _LOW)
    a = float(digits) if digits < _EXACT else float(digits & ~_LOW)
    p = a * high
    c = _SPLIT * a
    a1 = c - (c - a)
    a2 = a - a1
    c = _SPLIT * high
    h1 = c - (c - high)
    h2 = high - h1
    error = ((a1 * h1 - p) + a1 * h2 + a2 * h1) + a2 * h2  # p + error is a * high, exactly
    s = error + (a * low + b * high)
    value = p + s
    rest = s - (value - p)
    margin = value * _DOUBT
    return value, value + (rest + margin) == value and value + (rest - margin) == value


@njit(cache=True, nogil=True)
def _ends(text, at, separator):
    """Return whether a cell ends here."""
    if text[at] == separator or text[at] == _NEWLINE:
        return True
    return text[at] == _RETURN and text[at + 1] == _NEWLINE


@njit(cache=True, nogil=True)
def _end_of_cell(text, at, separator):
    """Return where a cell ends, or -1 where quotes are not as they should be."""
    if text[at] == _QUOTE:
        at += 1
        while True:
            while at < len(text) and text[at] != _QUOTE:
                at += 1
            if at >= len(text) - 1:
                return -1
            at += 1
            if text[at] != _QUOTE:
                return at if _ends(text, at, separator) else -1
            at += 1  # two quotes stand for one
    while not _ends(text, at, separator):
        if text[at] == _QUOTE:
            return -1
        at += 1
    return at


@njit(cache=True, nogil=True)
def parse_cells(text, separator, role, high, low, numbers, cells, odd):
    """Parse rows of cells.

    Parameters
    ----------
    text : ndarray of uint8
        Whole lines; the last byte ends a line.
    separator : int
        The byte between two cells.
    role : ndarray of int64 of shape (n_columns,)
        For each column -1 if it is not wanted; j if its numbers go to ``numbers[:, j]``; -2 - k if the places of its
        cells go to ``cells[k]``.
    high, low : ndarray of shape (501,)
        Powers of ten from -250 on, each a sum of two floats.
    numbers : ndarray of shape (n_rows, n_features)
        For the numbers; NaN for empty cells.
    cells : ndarray of int64 of shape (n_text, n_rows, 2)
        For beginnings and ends.
    odd : ndarray of int64 of shape (n_odd, 4)
        For cells that the caller must read: j, row, beginning, end.

    Returns
    -------
    n_rows : int
        Rows, or -1 where the text is no table with that many columns, or ``numbers`` or ``odd`` is too small.
    n_odd : int
        Cells in ``odd``.
    """
    n, d, most = len(text), len(role), len(numbers)
    at = row = n_odd = 0
    while at < n:
        if text[at] == _NEWLINE or (text[at] == _RETURN and text[at + 1] == _NEWLINE):
            at += 1  # an empty line
            continue
        if row == most:
            return -1, 0
        for column in range(d):
            while text[at] == _SPACE:
                at += 1
            begin, to = at, role[column]
            value, sure = 0.0, False
            if to >= 0:
                value, sure, at = _number(text, at, high, low)
            if not (sure and text[at] == separator):
                if not (sure and _ends(text, at, separator)):
                    sure, at = False, _end_of_cell(text, begin, separator)
                    if at < 0:
                        return -1, 0
                end = at
                if text[at] == _RETURN:
                    at += 1
                if to >= 0 and not sure:
                    value = np.nan
                    if begin < end:
                        if n_odd == len(odd):
                            return -1, 0
                        odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2], odd[n_odd, 3] = to, row, begin, end
                        n_odd += 1
                elif to < -1:
                    cells[-2 - to, row, 0], cells[-2 - to, row, 1] = begin, end
            if text[at] != (_NEWLINE if column == d - 1 else separator):
                return -1, 0
            at += 1
            if to >= 0:
                numbers[row, to] = value
        row += 1
    return row, n_odd
