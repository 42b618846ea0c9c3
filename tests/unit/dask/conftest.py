"""A cluster of two processes for the tests of a run; each test has a time limit."""

from __future__ import annotations

import faulthandler
import time

import dask
import pytest
from dask.distributed import Client, LocalCluster

LONGEST = 240.0  # seconds that a test may take, on a machine with other things to do


@pytest.fixture(autouse=True)
def time_limit():
    """End a test that hangs, with what all threads were at."""
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def workers():
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "900MB", "dashboard_address": None}
    quickly = {"distributed.scheduler.allowed-failures": 1, "distributed.deploy.lost-worker-timeout": "100ms"}
    with dask.config.set(quickly), LocalCluster(**options) as local:
        yield local


@pytest.fixture
def two_workers(workers):
    """Wait until there are two workers: one that was lost is replaced once the cluster has seen it go."""

    def wait(connected):
        for _ in range(60):
            workers.scale(2)
            if len(connected.scheduler_info()["workers"]) == 2:
                break
            time.sleep(1.0)

    return wait


@pytest.fixture
def client(workers, two_workers):
    with Client(workers) as connected:
        two_workers(connected)
        yield connected
