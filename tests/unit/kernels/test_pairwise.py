"""The oracle of the pairwise AUC loss against all pairs."""

import numpy as np
import pytest

from smtl.kernels.pairwise import pairwise_planes
from tests.seeds import new_rng

SCORES = {
    "spread": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(-2, 3, size=n) * 0.5,
    "all the same": lambda rng, n: np.full(n, 0.25),
    "a few far away": lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.05, 1e4, 1.0),
    "nearly the same": lambda rng, n: 1e-12 * rng.normal(size=n),
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("positive", [0.03, 0.5, 0.97])
def test_as_all_pairs_have_it(scores, positive):
    rng = new_rng()
    sizes = [200, 3, 90]
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    s = np.concatenate([scores(rng, n) for n in sizes])
    y = np.where(rng.random(len(s)) < positive, 1, -1).astype(np.int8)
    y[rng.random(len(s)) < 0.1] = 0
    y[ptr[:-1]], y[ptr[:-1] + 1] = 1, -1
    c, delta, value = np.zeros(len(s)), np.empty(3), np.empty(3)
    pairwise_planes(s, y, np.empty(0), ptr, c, delta, value)
    for i in range(3):
        of_task = slice(ptr[i], ptr[i + 1])
        s_i, y_i, c_i = s[of_task], y[of_task], c[of_task]
        margins = s_i[y_i == 1][:, np.newaxis] - s_i[y_i == -1]
        scale = 1e-10 * (1.0 + np.abs(s_i).max())
        assert value[i] == pytest.approx(np.maximum(1.0 - margins, 0.0).mean(), abs=scale)
        assert delta[i] - s_i @ c_i == pytest.approx(value[i], abs=scale)  # the plane attains it
        assert not c_i[y_i == 0].any()
        inverted = margins < 1.0
        # Where a margin is 1 but for rounding, the pair may count or not.
        if np.abs(margins - 1.0).min() > 1e-9:
            np.testing.assert_allclose(c_i[y_i == 1], inverted.sum(axis=1) / inverted.size, atol=1e-12)
            np.testing.assert_allclose(c_i[y_i == -1], -inverted.sum(axis=0) / inverted.size, atol=1e-12)
            assert delta[i] == pytest.approx(inverted.mean(), abs=1e-12)
