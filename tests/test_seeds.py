"""Random data of tests can be drawn again."""

import os
import subprocess
import sys
from pathlib import Path

from tests.seeds import new_rng

ROOT = Path(__file__).parents[1]

FAILING = """
from tests.seeds import new_rng


def test_it():
    print("drawn:", new_rng().integers(10**9), new_rng().integers(10**9))
    assert False
"""


def run(folder, seed=None):
    environment = {key: value for key, value in os.environ.items() if key != "SMTL_SEED" and "XDIST" not in key}
    if seed is not None:
        environment["SMTL_SEED"] = seed
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.conftest", str(folder)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout


def test_a_failure_prints_the_seed_that_draws_the_same_data_again(tmp_path):
    (tmp_path / "test_fails.py").write_text(FAILING)
    first, other = run(tmp_path), run(tmp_path)
    seeds = {line.split("SMTL_SEED=")[1] for line in first.splitlines() if "SMTL_SEED=" in line}
    assert len(seeds) == 1
    again = run(tmp_path, seeds.pop())
    drawn = [next(line for line in out.splitlines() if line.startswith("drawn:")) for out in (first, other, again)]
    assert drawn[0] == drawn[2] != drawn[1]
    assert "to draw the same data again" in first


def test_a_test_may_ask_more_than_once():
    assert new_rng().integers(2**62) != new_rng().integers(2**62)
