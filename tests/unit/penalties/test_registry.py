"""Penalties are found by name, and a name is taken once."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import smtl.penalties
from smtl.penalties import L11, L21, Elastic, Penalty, Ridge, Trace, get_penalty, penalty_names


@pytest.fixture
def registered():
    """Names that a test adds go when it ends."""
    before = dict(Penalty.known)
    yield Penalty.known
    Penalty.known.clear()
    Penalty.known.update(before)


@pytest.mark.parametrize(("name", "cls"), [("l11", L11), ("l21", L21), ("trace", Trace), ("ridge", Ridge)])
def test_found_by_name(name, cls):
    assert type(get_penalty(name)) is cls
    assert name in penalty_names()


def test_names_are_sorted_and_an_instance_is_kept():
    assert penalty_names() == sorted(penalty_names())
    penalty = L21()
    assert get_penalty(penalty) is penalty


@pytest.mark.parametrize("ridge", [0.5, 1, np.float32(2.0)])
def test_ridge_wraps(ridge):
    penalty = get_penalty("trace", ridge=ridge)
    assert isinstance(penalty, Elastic)
    assert repr(penalty) == f"Elastic(penalty=Trace(), ridge={float(ridge)})"


@pytest.mark.parametrize("ridge", [-1.0, np.nan, np.inf, "1", None])
def test_ridge_must_not_be_negative(ridge):
    with pytest.raises(ValueError, match=r"ridge must be a finite number >= 0, got .* instead\."):
        get_penalty("l21", ridge=ridge)


@pytest.mark.parametrize("got", ["l12", None, L21, ["l21"]])
def test_unknown_names_list_the_known_ones(got):
    known = ", ".join(map(repr, penalty_names()))
    near = "; did you mean 'l21'?" if got == "l12" else "."
    text = f"penalty must be one of {known} or an instance of smtl.penalties.Penalty, got {got!r} instead{near}"
    with pytest.raises(ValueError, match=re.escape(text)):
        get_penalty(got)


def test_a_new_penalty_is_found_and_may_be_defined_anew(registered):
    for _ in range(2):

        class Halved(L11):
            name = "halved"

    assert "halved" in penalty_names()
    assert type(get_penalty("halved")) is Halved


def test_a_subclass_without_a_name_is_not_registered(registered):
    class Nameless(L11):
        pass

    assert Nameless not in registered.values()
    assert Elastic not in registered.values()


def test_a_name_is_taken_once(registered):
    with pytest.raises(ValueError, match=r"Mine must be one that is not taken yet, got 'l21' instead"):

        class Mine(L11):
            name = "l21"

    assert type(get_penalty("l21")) is L21


def test_abstract_means_abstract():
    class Incomplete(Penalty):
        def value(self, W):
            return 0.0

    with pytest.raises(TypeError, match="abstract"):
        Incomplete()


def test_public_names():
    assert all(isinstance(name, str) and hasattr(smtl.penalties, name) for name in smtl.penalties.__all__)


def test_works_as_a_parameter_of_an_estimator():
    class Model(BaseEstimator):
        def __init__(self, penalty="l21"):
            self.penalty = penalty

    copied = clone(Model(Elastic(L21(), 0.5)))
    assert repr(copied.penalty) == "Elastic(penalty=L21(), ridge=0.5)"
