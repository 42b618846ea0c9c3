"""What is lost in the middle of a fit on a real cluster costs time, or is an error in bounded time; nothing hangs."""

from __future__ import annotations

import os
import signal
import sys
import time

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster, wait

import smtl
from smtl.dask import ClusterError, SMTLClassifier, SourceChangedError, cluster, waiting
from tests.unit.dask import fits
from tests.unit.dask.fits import TOL, draw, fit_both, same

for module in (sys.modules[__name__], fits):
    cloudpickle.register_pickle_by_value(module)  # workers cannot import tests

DURING, BETWEEN = "while tasks are under way", "between two rounds"
both = pytest.mark.parametrize("when", [DURING, BETWEEN])


def disturbed(monkeypatch, disturb, at=5, when=DURING):
    """Do something in the middle of a fit; return a list that grows with its rounds."""
    asked, before = [], cluster._PassOnCluster._round

    def at_some_time(self, todo):
        asked.append(todo)
        if len(asked) == at and when == BETWEEN:
            disturb()
        futures = before(self, todo)
        if len(asked) == at and when == DURING:
            disturb()
        return futures

    monkeypatch.setattr(cluster._PassOnCluster, "_round", at_some_time)
    return asked


def kill(client, address=None):
    """Kill a worker, and wait until the scheduler has seen that."""
    processes = client.run(os.getpid)
    address = address or next(iter(processes))
    os.kill(processes[address], signal.SIGKILL)
    until(lambda: address not in seen(client))


def seen(client):
    """Return the workers that the scheduler knows."""
    return client.scheduler_info(n_workers=-1)["workers"]


def until(true, seconds=60.0):
    started = time.monotonic()
    while not true():
        assert time.monotonic() - started < seconds
        time.sleep(0.1)


@both
def test_a_worker_that_leaves(client, monkeypatch, when):
    first = next(iter(seen(client)))
    asked = disturbed(monkeypatch, lambda: client.retire_workers([first], close_workers=True), when=when)
    same(*fit_both(*draw()))
    assert len(asked) > 5


@both
def test_a_worker_that_is_killed(client, monkeypatch, when):
    asked = disturbed(monkeypatch, lambda: kill(client), when=when)
    same(*fit_both(*draw(), "auc"))
    assert len(asked) > 5


def test_a_result_that_is_lost_while_others_are_waited_for(client):
    here, there = seen(client)
    done = client.submit(os.getpid, workers=[here], allow_other_workers=True, pure=False)
    process = done.result()
    slow = client.submit(lambda: time.sleep(3.0), workers=[there], pure=False)
    os.kill(process, signal.SIGKILL)
    until(lambda: here not in seen(client))  # what was done is lost, or is being computed again
    got = waiting.results(client, [done, slow], 60.0)
    assert got[0] != process
    assert got[1] is None


def test_results_that_are_lost_with_the_last_worker_before_they_are_fetched(workers, client, monkeypatch):
    fetch = cluster.results

    def after_all_have_gone(client, futures, patience):
        if len(asked) == 5:
            wait(futures, timeout=60)
            workers.scale(0)
            until(lambda: not seen(client))
        return fetch(client, futures, patience)

    asked = disturbed(monkeypatch, lambda: None)
    monkeypatch.setattr(cluster, "results", after_all_have_gone)
    with pytest.raises(ClusterError, match="there has been no worker"):
        fit_both(*draw(), patience=2.0)


@pytest.mark.parametrize("always", [False, True], ids=["once", "always"])
def test_a_worker_that_runs_out_of_memory(client, tmp_path, monkeypatch, always):
    monkeypatch.setattr(cluster, "KEPT_SHARE", 0.0)  # so that the source is read in each pass
    X, Y = draw()
    hungry = tmp_path / "hungry"

    def read():
        if hungry.exists():
            if not always:
                hungry.unlink()
            wanted = np.ones(2 * 900_000_000 // 8)  # twice the worker's limit: its nanny kills it
            time.sleep(60.0)
            return X[: len(wanted)]
        return X

    lazy = da.from_delayed(dask.delayed(read, pure=False)(), X.shape, X.dtype)
    options = {"C": 5.0, "threshold": 0.0, "tol": TOL}
    asked = disturbed(monkeypatch, hungry.touch)
    model = SMTLClassifier("f1", **options)
    if always:
        with pytest.raises(ClusterError, match=r"most often for want of memory\. Make partitions smaller"):
            model.fit(lazy, da.from_array(Y, chunks=-1))
        return
    same(model.fit(lazy, da.from_array(Y, chunks=-1)), smtl.SMTLClassifier("f1", **options).fit(X, Y))
    assert len(asked) > 5
    assert not hungry.exists()


def test_a_lost_fit_goes_on_from_its_checkpoint(client, two_workers, tmp_path, monkeypatch):
    X, Y = draw()
    with monkeypatch.context() as patched:
        whole = disturbed(patched, lambda: None)
        wanted, _ = fit_both(X, Y, "auc")
    with monkeypatch.context() as patched:
        disturbed(patched, lambda: client.restart(wait_for_workers=False), at=8)
        with pytest.raises(ClusterError, match="with a checkpoint, it goes on where it was"):
            fit_both(X, Y, "auc", checkpoint=tmp_path / "passes")
    two_workers(client)
    again = disturbed(monkeypatch, lambda: None)
    model, local = fit_both(X, Y, "auc", checkpoint=tmp_path / "passes")
    same(model, local)
    for name in ("objective_", "dual_bound_", "n_iter_"):
        assert getattr(model, name) == getattr(wanted, name)
    np.testing.assert_array_equal(model.coef_, wanted.coef_)
    assert 0 < len(again) < len(whole)


def test_scattered_data_that_are_lost(client, monkeypatch):
    monkeypatch.setattr(cluster, "KEPT_SHARE", 0.0)  # so that the data are asked for in each pass
    X, Y = draw()
    held = client.scatter(X, workers=[next(iter(seen(client)))])
    lazy = da.from_delayed(dask.delayed(held), X.shape, X.dtype)
    holder = client.who_has(held)[held.key][0]
    disturbed(monkeypatch, lambda: kill(client, holder), when=BETWEEN)
    with pytest.raises(ClusterError, match="data that were scattered are lost with their worker"):
        SMTLClassifier("f1", C=5.0, tol=TOL, patience=20.0).fit(lazy, da.from_array(Y, chunks=-1))


@both
def test_a_restarted_client(client, monkeypatch, when):
    disturbed(monkeypatch, lambda: client.restart(wait_for_workers=False), when=when)
    with pytest.raises(ClusterError, match="client was closed or restarted"):
        fit_both(*draw())


@both
def test_all_workers_gone(workers, client, monkeypatch, when):
    disturbed(monkeypatch, lambda: workers.scale(0), when=when)
    with pytest.raises(ClusterError, match="there has been no worker"):
        fit_both(*draw(), patience=2.0)


def pause(dask_worker, at):
    """Let a worker pause where its memory is used to a share, and return the share before."""
    manager = dask_worker.memory_manager
    before, manager.memory_pause_fraction = manager.memory_pause_fraction, at
    return before


def known_tasks(dask_worker):
    return len(dask_worker.state.tasks)


@pytest.fixture
def pausing(client):
    """Let workers pause, as if their memory were full, until the test is over."""
    before = next(iter(client.run(pause, at=0.8).values()))

    def all_paused(addresses):
        client.run(pause, at=1e-6, workers=addresses)
        until(lambda: {seen(client)[one]["status"] for one in addresses} == {"paused"})

    yield all_paused
    client.run(pause, at=before)


def test_all_workers_paused(client, pausing, monkeypatch):
    disturbed(monkeypatch, lambda: pausing(list(seen(client))), when=BETWEEN)
    with pytest.raises(ClusterError, match="all have paused for want of memory"):
        fit_both(*draw(), patience=2.0)


def test_a_worker_that_has_paused_with_tasks(client, pausing):
    here = next(iter(seen(client)))
    tasks = [client.submit(time.sleep, 4.0, workers=[here], pure=False) for _ in range(2)]
    until(lambda: client.run(known_tasks, workers=[here])[here] == 2)  # none waits elsewhere
    pausing([here])
    with pytest.raises(ClusterError, match="a worker that has paused for want of memory, and has tasks"):
        waiting.results(client, tasks, 2.0)


@both
def test_a_scheduler_that_is_gone(monkeypatch, when):
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as local, Client(local):
        disturbed(monkeypatch, lambda: local.close(timeout=10), when=when)
        with pytest.raises(ClusterError, match=r"scheduler"):
            fit_both(*draw(), patience=2.0)


def test_a_source_that_changes(client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "KEPT_SHARE", 0.0)
    X, Y = draw()
    np.save(tmp_path / "X.npy", X)
    lazy = da.from_delayed(dask.delayed(np.load, pure=True)(tmp_path / "X.npy"), X.shape, X.dtype)
    disturbed(monkeypatch, lambda: np.save(tmp_path / "X.npy", X + 1e-6), at=3)
    with pytest.raises(SourceChangedError, match="have changed under way"):
        SMTLClassifier("f1", C=5.0, tol=TOL).fit(lazy, da.from_array(Y, chunks=-1))
