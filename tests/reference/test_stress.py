"""A part of the stress run: random problems of every kind, each solved in several ways. See benchmarks/stress.py."""

import pytest

import stress
from tests.seeds import new_seed


@pytest.mark.parametrize("part", range(10))
def test_random_problems_have_true_certificates_and_converge(part):
    first = new_seed()
    outcomes = [stress.examine(seed) for seed in range(first, first + 15)]
    assert [(o.seed, o.what, o.faults) for o in outcomes if o.faults] == []
    # One in a thousand runs may need more passes than there are.
    assert sum(len(o.unconverged) for o in outcomes) <= 1


def test_a_log_loss_that_its_curvature_leads_far_off_is_left_to_planes():
    outcome = stress.examine(914855033)  # far offsets, l11 with a ridge term, C far above the critical one
    assert (outcome.faults, outcome.unconverged) == ([], {})
