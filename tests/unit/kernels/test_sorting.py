"""The sort by buckets against numpy's."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from smtl.kernels.sorting import CROWDED, class_rows, sort_rows
from tests.seeds import new_rng

# What is written behind the last value: nothing may change it.
GUARD = -12345


def run(values):
    """Sort values that belong to rows 5, 6, ...; room is larger than needed, as it is in use."""
    n = len(values)
    room = n + 3
    given, rows = np.full(room, np.nan), np.full(room, GUARD)
    given[:n], rows[:n] = values, np.arange(5, n + 5)
    out, out_rows, counts = np.full(room, np.nan), np.full(room, GUARD), np.full(room, GUARD, np.int32)
    sort_rows(given, rows, n, out, out_rows, counts)
    assert np.isnan(given[n:]).all()
    assert (rows[n:] == GUARD).all()
    assert np.isnan(out[n:]).all()
    assert (out_rows[n:] == GUARD).all()
    assert (counts[n + 1 :] == GUARD).all()
    return out[:n], out_rows[:n] - 5


def assert_sorted(values):
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    out, rows = run(values)
    np.testing.assert_array_equal(out, values[order])
    np.testing.assert_array_equal(rows, order)


DRAW = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: 0.25 * rng.integers(-4, 5, n),
    "two values": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "constant": lambda rng, n: np.full(n, rng.normal()),
    "zeros of both signs": lambda rng, n: rng.choice([-0.0, 0.0], n),
    "skewed": lambda rng, n: np.exp(8 * rng.normal(size=n)),
    "crowded": lambda rng, n: np.where(np.arange(n) == n // 2, 1e6, rng.normal(size=n)),
    "huge range": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.uniform(-300, 300, n),
    "large": lambda rng, n: 1e307 * rng.uniform(-1, 1, n),
    "denormal": lambda rng, n: rng.integers(-9, 10, n) * 5e-324,
    "denormal and one": lambda rng, n: np.where(rng.random(n) < 0.5, rng.integers(-9, 10, n) * 5e-324, 1.0),
    "one unit apart": lambda rng, n: 1.0 + rng.integers(0, 50, n) * 2.0**-52,
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "reversed": lambda rng, n: -np.sort(rng.normal(size=n)),
    "nearly sorted": lambda rng, n: np.sort(rng.normal(size=n)) + 1e-3 * rng.normal(size=n),
}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, CROWDED, CROWDED + 1, CROWDED + 2, 1000])
@pytest.mark.parametrize("kind", DRAW)
def test_as_numpy_sorts_and_ties_in_the_order_of_their_rows(kind, n):
    rng = new_rng()
    for _ in range(5):
        assert_sorted(DRAW[kind](rng, n))


@settings(max_examples=120, deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.integers(0, 120),
        elements=st.floats(-1e300, 1e300) | st.integers(-3, 3).map(float),
        fill=st.nothing(),
    )
)
def test_as_numpy_sorts_whatever_the_values(values):
    assert_sorted(values)


NOT_FINITE = """if True:
    import numpy as np
    from smtl.kernels.sorting import sort_rows
    large = [1.7e308, -1.7e308, 0.0, 5.0]
    for values in ([1e308, -1e308, 0.0, 5.0], 40 * large, [np.inf, 1.0, -1.0], [1.0, np.nan, 2.0]):
        values = np.array(values)
        n = len(values)
        out, rows = np.full(n, -7.0), np.full(n, -7)
        sort_rows(values.copy(), np.arange(n), n, out, rows, np.empty(n + 1, np.int32))
        assert sorted(rows) == list(range(n)), (values, rows)
        if not np.isnan(values).any():
            np.testing.assert_array_equal(out, np.sort(values))
            np.testing.assert_array_equal(rows, np.argsort(values, kind="stable"))
"""


def test_a_range_that_is_not_finite_does_not_corrupt_memory():
    """In a process of its own: a write out of bounds would bring this one down."""
    done = subprocess.run([sys.executable, "-c", NOT_FINITE], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_class_rows():
    scores, y = np.array([9.0, 1.0, 2.0, 3.0, 4.0, 9.0]), np.array([1, 1, -1, 0, 1, 1], dtype=np.int8)
    for sign, wanted_values, wanted_rows in [(1, [1.0, 4.0], [1, 4]), (-1, [2.0], [2])]:
        values, rows = np.full(6, np.nan), np.full(6, GUARD)
        n = class_rows(scores, y, 1, 5, sign, -np.inf, values, rows)
        assert n == len(wanted_rows)
        assert values[:n].tolist() == wanted_values
        assert rows[:n].tolist() == wanted_rows
        assert (rows[n + 1 :] == GUARD).all()  # one more may be written
