"""A study of data with a single label: every method, and figures that are its own."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from smtl.datasets import Dataset, write
from smtl.experiments.methods import method_names
from smtl.experiments.protocol import mean_f1, measures
from smtl.experiments.runner import Study, run_one
from smtl.experiments.store import Run
from tests.seeds import new_rng


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = new_rng()
    X = rng.standard_normal((90, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(90) > 0).astype(float)
    path = tmp_path_factory.mktemp("one") / "one.csv"
    write(Dataset(X, y[:, None], label_names=("x",)), path)
    return str(path)


@pytest.mark.parametrize("method", [*method_names(), "sklearn.neighbors.KNeighborsClassifier", "sklearn.svm.LinearSVC"])
def test_every_method(file, method):
    result = run_one(Study(cv=2, n_values=3), Run(file, method, 0))
    assert result["macro_f1"] == pytest.approx(result["micro_f1"])
    assert 0.4 <= result["auc"] <= 1.0


def test_macro_f1_is_that_of_yes():
    rng = new_rng()
    for m in (1, 4):
        Y, answers = rng.integers(0, 2, (2, 30, m)).astype(float)
        Y[0] = 1.0
        expected = np.mean([f1_score(Y[:, i], answers[:, i]) for i in range(m)])
        assert mean_f1(Y, answers) == pytest.approx(expected)
    found = measures(Y[:, :1], answers[:, :1] - 0.5, answers[:, :1])
    if 0 < Y[:, 0].sum() < 30:
        assert found["auc"] == pytest.approx(roc_auc_score(Y[:, 0], answers[:, 0]))
