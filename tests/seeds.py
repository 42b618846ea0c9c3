"""Random data for tests: new ones in every run, and the same ones again from the seed that the run has printed.

SMTL_SEED=123 pytest tests/unit/solvers      # the data of the run that printed SMTL_SEED=123
"""

from __future__ import annotations

import os
import sys
import zlib

import numpy as np

_draws: dict[str, int] = {}


def new_rng() -> np.random.Generator:
    """Return a generator that depends on the run's seed and on who asks.

    A test is told apart by its name, and by how often it has asked. A fixture or a module is told apart by the line
    that asks, since which test comes first to a fixture is a matter of chance.
    """
    test, _, phase = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")
    number = 0
    if phase == "(call)":
        who = test
        _draws[who] = number = _draws.get(who, -1) + 1
    else:
        caller = sys._getframe(1)
        who = f"{caller.f_globals['__name__']}:{caller.f_code.co_name}:{caller.f_lineno}"
    return np.random.default_rng([int(os.environ["SMTL_SEED"]), zlib.crc32(who.encode()), number])


def new_seed() -> int:
    """Return a number to seed something with."""
    return int(new_rng().integers(2**32))


def forget(test: str) -> None:
    """Begin the draws of a test again, before it is run again in the same process."""
    _draws.pop(test, None)
