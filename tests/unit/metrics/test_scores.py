"""What is reported agrees with scikit-learn."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn import metrics as sk

from smtl.metrics import AUC, F1, F2, AUCLabelling, Error, FBeta, FHalf, GMean, Jaccard, Log
from tests.seeds import new_rng


def gmean(y, answer):
    recall, specificity = np.mean(answer[y > 0] > 0), np.mean(answer[y < 0] < 0)
    return np.sqrt(recall * specificity)


def fbeta(beta):
    return lambda y, answer: sk.fbeta_score(y, answer, beta=beta, zero_division=0.0)


OF_ANSWERS = [
    (F1(), fbeta(1)),
    (F2(), fbeta(2)),
    (FHalf(), fbeta(0.5)),
    (FBeta(0.1), fbeta(0.1)),
    (FBeta(7), fbeta(7)),
    (Jaccard(), lambda y, answer: sk.jaccard_score(y, answer, zero_division=0.0)),
    (Error(), sk.accuracy_score),
    (GMean(), gmean),
]
OF_SCORES = [
    (AUC(), sk.roc_auc_score),
    (AUCLabelling(), sk.roc_auc_score),
    (Log(), lambda y, s: -sk.log_loss(y, expit(s))),
]


def draw(rng):
    n = int(rng.integers(2, 40))
    y = rng.choice([-1, 1], n)
    y[:2] = 1, -1
    return y, 0.25 * rng.integers(-8, 9, n) if rng.random() < 0.5 else rng.normal(size=n) - rng.normal()


@pytest.mark.parametrize(("metric", "reference"), OF_ANSWERS, ids=[repr(metric) for metric, _ in OF_ANSWERS])
def test_score_of_answers(metric, reference):
    rng = new_rng()
    for _ in range(50):
        y, s = draw(rng)
        score = metric.score(y, s)
        assert type(score) is float
        assert score == pytest.approx(reference(y, np.where(s > 0, 1, -1)), abs=1e-12)


@pytest.mark.parametrize(("metric", "reference"), OF_SCORES, ids=[repr(metric) for metric, _ in OF_SCORES])
def test_score_of_scores(metric, reference):
    rng = new_rng()
    for _ in range(50):
        y, s = draw(rng)
        score = metric.score(y, s)
        assert type(score) is float
        assert score == pytest.approx(reference(y, s), abs=1e-9)


def test_a_score_of_zero_answers_minus_one():
    assert Error().score([1, -1], [0.0, 0.0]) == 0.5
    assert F1().score([1, -1], [0.0, -1.0]) == 0.0


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_delta_of_fbeta_is_one_minus_scikit_learns_score_on_every_table(beta):
    for tp, fp, fn, tn in np.ndindex(3, 4, 3, 3):
        if tp + fn and fp + tn:
            y, answer = np.repeat([[1, -1, 1, -1], [1, 1, -1, -1]], [tp, fp, fn, tn], axis=1)
            assert FBeta(beta).delta(tp, fp, fn, tn) == pytest.approx(1.0 - fbeta(beta)(y, answer), abs=1e-12)


def test_score_without_one_of_the_classes():
    assert F1().score([1, 1], [1.0, -1.0]) == pytest.approx(2 / 3)
    assert F1().score([-1, -1], [1.0, -1.0]) == 0.0
    assert np.isnan(GMean().score([1, 1], [1.0, -1.0]))
    assert np.isnan(GMean().score([-1, -1], [1.0, -1.0]))


def test_log_score_of_large_margins_is_finite():
    assert Log().score([1, -1], [-1e6, -1e6]) == pytest.approx(-5e5)
    assert Log().score([1, -1], [1e6, -1e6]) == 0.0
