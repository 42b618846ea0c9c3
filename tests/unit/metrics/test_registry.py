"""Metrics are found by name, say what is wrong with what they are given, and users can add their own."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import smtl.metrics
from smtl.metrics import (
    AUC,
    F1,
    F2,
    MCC,
    NDCG,
    PRBEP,
    AUCLabelling,
    AveragePrecision,
    BalancedError,
    ContingencyMetric,
    Error,
    FBeta,
    FHalf,
    GMean,
    Jaccard,
    Log,
    Metric,
    PartialAUC,
    PointwiseMetric,
    PrecisionAtK,
    get_metric,
    metric_names,
)
from smtl.testing import check_metric

NAMES = {
    "ap": AveragePrecision,
    "auc": AUC,
    "auc-labelling": AUCLabelling,
    "balanced-error": BalancedError,
    "error": Error,
    "f0.5": FHalf,
    "f1": F1,
    "f2": F2,
    "gmean": GMean,
    "jaccard": Jaccard,
    "log": Log,
    "mcc": MCC,
    "ndcg": NDCG,
    "pauc": PartialAUC,
    "prbep": PRBEP,
    "precision@k": PrecisionAtK,
}


@pytest.fixture
def registered():
    """Names that a test adds go when it ends."""
    before = dict(Metric.known)
    yield Metric.known
    Metric.known.clear()
    Metric.known.update(before)


@pytest.mark.parametrize("name", NAMES)
def test_found_by_name(name):
    assert type(get_metric(name)) is NAMES[name]
    assert name in metric_names()


def test_names_are_sorted_and_an_instance_is_kept():
    assert metric_names() == sorted(metric_names())
    metric = FBeta(3)
    assert get_metric(metric) is metric


@pytest.mark.parametrize("got", ["f3", None, F1, ["f1"]])
def test_unknown_names_list_the_known_ones(got):
    known = ", ".join(map(repr, metric_names()))
    text = f"metric must be one of {known} or an instance of smtl.metrics.Metric, got {got!r} instead."
    with pytest.raises(ValueError, match=re.escape(text)):
        get_metric(got)


def test_a_new_metric_is_found_and_may_be_defined_anew(registered):
    for _ in range(2):

        class Renamed(Jaccard):
            name = "renamed"

    assert "renamed" in metric_names()
    assert type(get_metric("renamed")) is Renamed


def test_a_subclass_without_a_name_is_not_registered(registered):
    class Nameless(Jaccard):
        pass

    assert Nameless not in registered.values()
    assert FBeta not in registered.values()


def test_a_name_is_taken_once(registered):
    text = r"Mine must be one that is not taken yet, got 'f1' instead, which is the name of smtl\.metrics\.fbeta\.F1\."
    with pytest.raises(ValueError, match=text):

        class Mine(Jaccard):
            name = "f1"

    assert type(get_metric("f1")) is F1


@pytest.mark.parametrize("base", [Metric, ContingencyMetric, PointwiseMetric])
def test_abstract_means_abstract(base):
    class Incomplete(base):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Incomplete()


def test_public_names():
    assert all(isinstance(name, str) and hasattr(smtl.metrics, name) for name in smtl.metrics.__all__)


@pytest.mark.parametrize(
    ("y", "got"),
    [
        ([1, 1], r"shape \(2,\) with values \[1\]"),
        ([-1.0, -1.0], r"shape \(2,\) with values \[-1\.\]"),
        ([0, 1], r"shape \(2,\) with values \[0 1\]"),
        ([1, -1, 0], r"shape \(3,\) with values \[-1  0  1\]"),
        ([[1], [-1]], r"shape \(2, 1\) with values \[-1  1\]"),
        ([], r"shape \(0,\) with values \[\]"),
    ],
)
@pytest.mark.parametrize("name", ["auc", "f1", "log"])
def test_labels_must_be_plus_and_minus_one(name, y, got):
    text = rf"y must be a vector of \+1 and -1 with at least one of each, got {got} instead\."
    with pytest.raises(ValueError, match=text):
        get_metric(name).oracle(np.zeros(len(y)), y)


@pytest.mark.parametrize("beta", [0, -1.0, np.nan, np.inf, "1", None, 1j])
def test_beta_must_be_positive(beta):
    with pytest.raises(ValueError, match=rf"beta must be a positive number, got {re.escape(repr(beta))} instead\."):
        FBeta(beta)


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (FBeta(2.0), "FBeta(beta=2.0)"),
        (F1(), "F1()"),
        (FHalf(), "FHalf()"),
        (GMean(), "GMean()"),
        (AUC(), "AUC()"),
    ],
)
def test_repr(metric, text):
    assert repr(metric) == text


class Costs(ContingencyMetric):
    concave_in_fp = True

    def __init__(self, miss=1, alarm=1.0):
        self.miss = miss
        self.alarm = alarm

    def delta(self, tp, fp, fn, tn):
        return self.miss * fn / (tp + fn) + self.alarm * fp / (fp + tn)


def test_a_formula_with_parameters_in_attributes():
    check_metric(Costs(miss=5, alarm=0.5), n_trials=6)
    s, y = np.array([0.1, -0.1, 0.1, -0.2]), np.array([1, 1, -1, -1])
    # By hand: each positive is missed if miss/2 > 2 s, each negative flagged if alarm/2 > -2 s.
    delta, c = Costs(miss=1, alarm=0.1).oracle(s, y)
    assert delta == pytest.approx(1.05)
    np.testing.assert_array_equal(c, [2, 2, -2, 0])
    delta, c = Costs(miss=0.1, alarm=1.0).oracle(s, y)
    assert delta == pytest.approx(1.05)
    np.testing.assert_array_equal(c, [0, 2, -2, -2])


def test_a_changed_parameter_is_seen():
    metric, s, y = Costs(miss=1), np.zeros(2), np.array([1, -1])
    assert metric.oracle(s, y)[0] == 2.0
    metric.miss = 3
    assert metric.oracle(s, y)[0] == 4.0


def test_a_metric_works_as_a_parameter_of_an_estimator():
    class Model(BaseEstimator):
        def __init__(self, metric="f1"):
            self.metric = metric

    assert repr(clone(Model(Costs(miss=2))).metric) == "Costs(miss=2, alarm=1.0)"


class Precision(ContingencyMetric):
    def delta(self, tp, fp, fn, tn):
        return fp / (tp + fp)


class Shifted(ContingencyMetric):
    def delta(self, tp, fp, fn, tn):
        return fp + fn + 0.5


class Signed(ContingencyMetric):
    def delta(self, tp, fp, fn, tn):
        return fn - fp


@pytest.mark.parametrize(
    ("metric", "table", "wanted", "got"),
    [
        (Precision(), "tp=0, fp=0, fn=3, tn=7", "finite and non-negative", "nan"),
        (Shifted(), "tp=3, fp=0, fn=0, tn=7", "0", "0.5"),
        (Signed(), "tp=0, fp=7, fn=3, tn=0", "finite and non-negative", "-4.0"),
    ],
)
def test_a_formula_that_does_not_hold_on_a_task(metric, table, wanted, got):
    text = (
        f"{metric!r} is not defined on a task of 3 positives and 7 negatives: delta({table}) must be {wanted}, got "
        f"{got} instead."
    )
    with pytest.raises(ValueError, match=re.escape(text)):
        metric.check_task(3, 7)


@pytest.mark.parametrize("name", NAMES)
def test_shipped_metrics_are_defined_on_every_task(name):
    for n_pos, n_neg in [(1, 1), (1, 50), (50, 1), (3, 7)]:
        get_metric(name).check_task(n_pos, n_neg)


@pytest.mark.parametrize("name", ["f1", "f2", "f0.5", "jaccard", "gmean", "error", "balanced-error", "mcc"])
def test_functions_of_the_answers_say_so(name):
    """Also where a class between them and the base has set nothing but the formula."""
    assert get_metric(name).judges_answers
    assert not get_metric("auc").judges_answers
