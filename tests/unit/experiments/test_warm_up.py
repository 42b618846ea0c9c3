"""The untimed first fit: once for each method, like the data, and without consequences."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

from smtl.experiments import Run, Study, methods, run_one
from smtl.experiments.methods import method_names
from smtl.experiments.warm_up import warm_up

QUICK = Study(cv=2, n_values=2)


def add_method(monkeypatch, make):
    """Make a method known until the test ends."""
    monkeypatch.setattr(methods.Method, "known", dict(methods.Method.known))

    class Watched(methods.Method):
        name, title, about = "watched", "Watched", "for a test"

        def make(self, search):
            return make(search)


@pytest.fixture
def fits(monkeypatch):
    """A method under a name, and what it has been fitted to."""
    seen = []

    class Watched(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append((X.shape, sp.issparse(X)))
            return super().fit(X, y)

    add_method(monkeypatch, lambda search: Watched())
    warm_up.cache_clear()
    return seen


def test_a_method_is_fitted_to_made_up_data_before_its_first_run_only(fits):
    first = run_one(QUICK, Run("digits", "watched", 0))
    assert fits == [((40, 3), False), ((first["n_train"], 64), False)]
    again = run_one(QUICK, Run("digits", "watched", 0))
    assert fits[2:] == fits[1:2]
    timed = ("seconds", "versions")
    assert {k: v for k, v in again.items() if not k.endswith(timed)} == {
        k: v for k, v in first.items() if not k.endswith(timed)
    }


def test_sparse_features_are_another_case_and_import_paths_are_left_alone(fits):
    warm_up("watched")
    warm_up("watched", sparse=True)
    warm_up("watched", sparse=True)
    assert fits == [((40, 3), False), ((40, 3), True)]
    warm_up("no.such.module")  # would not be found


def test_what_goes_wrong_is_ignored(monkeypatch):
    def fail(search):
        raise RuntimeError("no such luck")

    add_method(monkeypatch, fail)
    warm_up.cache_clear()
    warm_up("watched")


@pytest.mark.parametrize("method", method_names())
def test_it_leaves_the_global_generator_as_it_was(method):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    warm_up.cache_clear()
    warm_up(method)
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002
