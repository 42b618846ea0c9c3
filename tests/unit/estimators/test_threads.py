"""Threads, and what a fit leaves behind of them."""

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from smtl.estimators.threads import threads


def blas_threads():
    return [pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "blas"]


def test_fits_at_once_leave_blas_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert 2 in before  # of two libraries one may be built with a limit
        first, second = threads(None), threads(None)
        first.__enter__()
        second.__enter__()  # begins during the first, and ends after it, as in two threads
        assert set(blas_threads()) == {1}
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [0, 2.5, "2"])
def test_what_n_jobs_cannot_be(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a whole number other than 0, or None, got"), threads(n_jobs):
        pass
