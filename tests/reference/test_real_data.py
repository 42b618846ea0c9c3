"""The defaults on every real data set: C="auto" gives a useful model, to a certified gap."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.preprocessing import scale

import real_data
from smtl import SMTLClassifier, SMTLClassifierCV, smtl_path
from tests.seeds import new_rng

pytestmark = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")


@pytest.mark.parametrize("metric", ["f1", "auc"])
@pytest.mark.parametrize("name", [name for name in real_data.NAMES if name != "landmine"])
def test_the_default_C_gives_a_useful_model(name, metric):
    X, Y, X_test, Y_test = real_data.split(name)
    X, Y = X[:3000], Y[:3000]
    kept = (Y.sum(axis=0) > 0) & (Y_test.sum(axis=0) > 0) & (Y_test.sum(axis=0) < len(Y_test))
    if name == "mediamill":  # 101 labels take long
        kept &= Y.sum(axis=0) >= np.sort(Y.sum(axis=0))[-12]
    Y, Y_test = Y[:, kept], Y_test[:, kept]
    model = SMTLClassifier(metric).fit(X, Y)
    assert model.gap_ <= 1e-3
    assert len(model.null_tasks_) == 0
    scores = model.decision_function(X_test)
    assert roc_auc_score(Y_test, scores) > (0.51 if name == "cal500" else 0.6)
    if name != "cal500":  # 174 labels on 301 rows, hardly better than chance for any linear model
        yes_to_all = np.mean(2 * Y_test.mean(axis=0) / (1 + Y_test.mean(axis=0)))
        assert f1_score(Y_test, scores > 0, average="macro", zero_division=0) > yes_to_all


@pytest.mark.parametrize("metric", ["f1", "auc"])
def test_landmine_has_tasks_with_their_own_rows(metric):
    X, y, tasks = real_data.load("landmine")
    train = new_rng().random(len(y)) < 0.6
    model = SMTLClassifier(metric, "trace", tol=1e-2).fit(X[train], y[train], tasks=tasks[train])
    assert model.coef_.shape == (29, 9)
    assert model.gap_ <= 1e-2
    assert model.objective_ <= model.history_["objective"][0]  # the first is that of zero weights
    scores = model.decision_function(X[~train], tasks=tasks[~train])
    parts = [(y[~train][tasks[~train] == i], scores[tasks[~train] == i]) for i in range(29)]
    aucs = [roc_auc_score(labels, part) for labels, part in parts if 0 < labels.sum() < len(labels)]
    # On so few positives the F1 loss can be flat, and zero weights next to optimal.
    assert np.mean(aucs) > (0.6 if metric == "auc" else 0.45)


@pytest.mark.parametrize("name", ["emotions", "yeast", "optdigits", "cal500"])
@pytest.mark.parametrize("metric", ["auc", "f1"])
@pytest.mark.parametrize("penalty", ["l21", "trace"])
def test_a_warm_path_ends_where_cold_fits_do(name, metric, penalty):
    X, Y, _, _ = real_data.split(name)
    Cs = smtl_path(X, Y, metric=metric, penalty=penalty, Cs=2, max_iter=1, tol=1.0).Cs[0] * np.array([2.0, 5.0, 12.0])
    path = smtl_path(X, Y, metric=metric, penalty=penalty, Cs=Cs, tol=1e-2)
    assert path.gaps.max() <= 1e-2
    for C, objective in zip(Cs, path.objectives, strict=True):
        cold = SMTLClassifier(metric, penalty, C=C, tol=1e-2, threshold=0.0).fit(X, Y)
        assert objective == pytest.approx(cold.objective_, rel=1e-2)


@pytest.mark.parametrize("name", ["emotions", "landmine"])
def test_cross_validation_finds_a_useful_model(name):
    X, Y, tasks = real_data.load(name)
    X, train = scale(X), new_rng().random(len(X)) < 0.6
    options = {} if tasks is None else {"tasks": tasks[train]}
    model = SMTLClassifierCV("auc", "trace", Cs=10, cv=3).fit(X[train], Y[train], **options)
    held = {} if tasks is None else {"tasks": tasks[~train]}
    assert model.score(X[~train], Y[~train], **held) > 0.65
    # No worse than the ends of the path, where nothing or everything is fitted.
    assert model.scores_.mean(axis=0).max() > model.scores_.mean(axis=0)[0]
