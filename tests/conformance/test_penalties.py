"""Every penalty that ships, found by name, passes the check that users run on their own."""

import pytest

from smtl.penalties import get_penalty, penalty_names
from smtl.testing import check_penalty
from tests.seeds import new_rng

SHAPES = [(4, 6), (7, 3), (1, 5), (5, 1), (1, 1)]


@pytest.mark.parametrize("name", penalty_names())
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shipped_penalty(name, ridge, shape):
    # A fresh seed at each run, and in the message: the check must hold for any.
    seed = int(new_rng().integers(2**32))
    try:
        check_penalty(get_penalty(name, ridge), shape=shape, n_trials=5, random_state=seed)
    except AssertionError as error:
        raise AssertionError(f"random_state={seed}: {error}") from error


@pytest.mark.parametrize("name", penalty_names())
def test_shipped_penalty_at_length(name):
    check_penalty(get_penalty(name))


@pytest.mark.parametrize("name", penalty_names())
def test_sum_of_ridge_terms(name):
    check_penalty(get_penalty(get_penalty(name, 0.5), 0.5), n_trials=5)
