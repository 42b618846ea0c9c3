"""Every metric that ships, found by name, passes the check that users run on their own."""

import pytest

import smtl.metrics
from smtl.metrics import FBeta, Metric, get_metric, metric_names
from smtl.testing import check_metric
from tests.seeds import new_rng

BETAS = [0.03, 0.1, 0.3, 1.5, 5.0, 30.0]
SHIPPED = [*map(get_metric, metric_names()), *map(FBeta, BETAS)]
CLASSES = [cls for cls in vars(smtl.metrics).values() if isinstance(cls, type) and issubclass(cls, Metric)]


@pytest.mark.parametrize("metric", SHIPPED, ids=repr)
@pytest.mark.parametrize("run", range(2))
def test_shipped_metric(metric, run):
    # A fresh seed at each run, and in the message: the check must hold for any.
    seed = int(new_rng().integers(2**32))
    try:
        check_metric(metric, n_trials=6, random_state=seed)
    except AssertionError as error:
        raise AssertionError(f"random_state={seed}: {error}") from error


@pytest.mark.parametrize("name", metric_names())
def test_shipped_metric_at_length(name):
    check_metric(get_metric(name))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_documented_with_an_example(cls):
    doc = vars(cls)["__doc__"]
    assert "Examples\n    --------\n" in doc
    assert ">>> " in doc


def test_every_registered_class_is_public():
    assert {type(get_metric(name)) for name in metric_names()} <= set(CLASSES)
