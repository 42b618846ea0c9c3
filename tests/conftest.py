"""The seed of all that tests draw: from the environment, or drawn once a run, and printed. BLAS has one thread."""

from __future__ import annotations

import os
import secrets
import sys

import pytest

# BLAS and OpenMP read it when NumPy is imported, here and in all processes that tests start. The workers of
# pytest-xdist have taken the cores: two of them with two threads each wait for one another most of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests import seeds

# Where Python is told to keep no compiled modules, each process that a test starts would compile smtl again, and pytest
# would rewrite the asserts of all tests in each run: half the time of the collection. Numba keeps its files anyhow.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure(config: pytest.Config) -> None:
    # The workers of pytest-xdist inherit it.
    os.environ.setdefault("SMTL_SEED", str(secrets.randbelow(10**9)))


def pytest_report_header() -> str:
    return f"seed of random data: SMTL_SEED={os.environ['SMTL_SEED']}"


def pytest_runtest_setup(item: pytest.Item) -> None:
    seeds.forget(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if report.failed:
        report.sections.append(("to draw the same data again", f"SMTL_SEED={os.environ['SMTL_SEED']}"))
    return report
