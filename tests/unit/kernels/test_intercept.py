"""The search for the best intercept, on functions whose least value is known."""

import numpy as np
import pytest

from smtl.kernels import intercept
from tests.seeds import new_rng


def search(phi, start=0.0, eps=0.0, step=0.01):
    """Run a search; phi gives value and slope. Return the state, and the offsets of the last plane of each side."""
    state = np.full(intercept.SIZE, np.nan)
    intercept.begin(state, step)
    planes = {}
    while not np.isnan(x := intercept.propose(state, start, eps)):
        value, slope = phi(x)
        side = intercept.take(state, x, value, slope)
        assert side == np.sign(slope)
        planes[side] = value - slope * x, slope
    return state, planes


class Pieces:
    """The largest of random lines, some of which rise and some of which fall."""

    def __init__(self, rng, n):
        self.slopes = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 1)
        if rng.random() < 0.5:  # like those of labellings: few values, zero among them
            self.slopes = 2.0 * rng.integers(-3, 4, n)
        self.slopes[:2] = [-1.0 - rng.random(), 1.0 + rng.random()]
        self.offsets = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 2)

    def __call__(self, x):
        values = self.offsets + self.slopes * x
        k = int(np.argmax(values))
        return values[k], self.slopes[k]

    def least(self):
        """Attained where two lines meet, or by a line of slope zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            corners = (self.offsets[:, None] - self.offsets) / (self.slopes - self.slopes[:, None])
        corners = np.append(corners[np.isfinite(corners)], 0.0)
        return np.min(np.max(self.offsets + np.outer(corners, self.slopes), axis=1))


@pytest.mark.parametrize("eps", [0.0, 1e-6, 1e-2])
@pytest.mark.parametrize("n", [2, 3, 8, 40])
def test_piecewise_linear(n, eps):
    rng = new_rng()
    for _ in range(100):
        phi = Pieces(rng, n)
        start = rng.normal() * 10.0 ** rng.uniform(-2, 3)
        state, planes = search(phi, start, eps)
        size = 1.0 + np.abs(phi.offsets).max()
        least = phi.least()
        best = state[intercept.BEST_VALUE]
        assert least - 1e-9 * size <= best <= least + eps + 1e-9 * size
        assert phi(state[intercept.BEST_X])[0] == best
        # The two planes, mixed, are a bound from below whatever the intercept, and no more than eps under it.
        theta = intercept.left_weight(state)
        assert 0.0 <= theta <= 1.0
        left, right = planes.get(-1, planes.get(0)), planes.get(1, planes.get(0))
        if state[intercept.FLAT] == 1.0:
            left = right = planes[0]
        slope = theta * left[1] + (1.0 - theta) * right[1]
        height = theta * left[0] + (1.0 - theta) * right[0]
        assert slope == pytest.approx(0.0, abs=1e-9 * np.abs(phi.slopes).max())
        assert height == pytest.approx(intercept.lowest(state), abs=1e-9 * size)
        assert height <= least + 1e-9 * size
        assert height >= best - eps - 1e-8 * size
        assert state[intercept.EVALUATIONS] < intercept.MAX_EVALUATIONS


@pytest.mark.parametrize("eps", [1e-10, 1e-3])
def test_smooth(eps):
    rng = new_rng()
    for _ in range(50):
        middle, width = rng.normal() * 10, 10.0 ** rng.uniform(-1, 1)
        state, _ = search(lambda x, m=middle, w=width: (np.hypot(x - m, w), (x - m) / np.hypot(x - m, w)), eps=eps)
        assert state[intercept.BEST_VALUE] == pytest.approx(width, abs=eps + 1e-9)


def test_far_from_the_start():
    for middle in (1e6, -1e6):
        state, _ = search(lambda x, m=middle: (abs(x - m), float(np.sign(x - m)) or 1.0), eps=1e-6)
        assert state[intercept.BEST_X] == pytest.approx(middle, abs=1e-5)


def test_a_loose_tolerance_takes_fewer_evaluations():
    phi = Pieces(np.random.default_rng(0), 40)
    counts = [search(phi, 3.0, eps)[0][intercept.EVALUATIONS] for eps in (1e-9, 1e-1, 10.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0]


def test_a_flat_start_is_the_end():
    state, planes = search(lambda x: (max(0.0, abs(x) - 1.0), float(np.sign(x)) if abs(x) > 1 else 0.0), 0.5)
    assert state[intercept.EVALUATIONS] == 1
    assert state[intercept.BEST_X] == 0.5
    assert intercept.left_weight(state) == 1.0
    assert planes == {intercept.IS_BOTH: (0.0, 0.0)}
