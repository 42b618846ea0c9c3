"""The log loss's oracle: its search for the intercept, against SciPy's."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from smtl.metrics import Log
from tests.seeds import new_rng


@pytest.mark.parametrize("n", [2, 40])
def test_the_intercept_is_found_from_far_away(n):
    # Scores so far out that Newton's steps are tiny, or no numbers, on most of the way.
    rng = new_rng()
    for _ in range(50):
        s = rng.normal(size=n) * 10.0 ** rng.uniform(-1.0, 6.0, n)
        y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
        y[:2] = 1, -1
        delta, c, value = Log().planes(s, y, np.array([0, n]), shift=np.zeros(1), with_intercept=True, eps=1e-9)

        def loss(b, s=s, y=y):
            return np.logaddexp(0.0, -y * (s + b)).sum()

        found = minimize_scalar(loss, bounds=(-s.max() - 40.0, -s.min() + 40.0), method="bounded").fun
        assert value[0] <= found + 1e-6 * max(1.0, found)
        # The plane touches the loss there, and its slope in the intercept is zero.
        np.testing.assert_allclose(delta[0] - s @ c, value[0], rtol=1e-6, atol=1e-6 * np.abs(s).max())
        np.testing.assert_allclose(c.sum(), 0.0, atol=1e-9)
