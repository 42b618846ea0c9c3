"""What is reported agrees with scikit-learn."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn import metrics as sk

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
    Error,
    FBeta,
    FHalf,
    GMean,
    Jaccard,
    Log,
    PartialAUC,
    PrecisionAtK,
)
from tests.seeds import new_rng


def gmean(y, answer):
    recall, specificity = np.mean(answer[y > 0] > 0), np.mean(answer[y < 0] < 0)
    return np.sqrt(recall * specificity)


def top_of_all_orders(k, y, s):
    """The mean of many orders of equal scores, drawn by chance."""
    rng = np.random.default_rng(0)
    orders = [np.lexsort((rng.random(len(s)), -s))[:k] for _ in range(4000)]
    return np.mean([np.mean(y[order] > 0) for order in orders])


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
    (BalancedError(), sk.balanced_accuracy_score),
    (MCC(), sk.matthews_corrcoef),
]
OF_SCORES = [
    (AUC(), sk.roc_auc_score),
    (AUCLabelling(), sk.roc_auc_score),
    (Log(), lambda y, s: -sk.log_loss(y, expit(s))),
    (AveragePrecision(), sk.average_precision_score),
    (NDCG(), lambda y, s: sk.ndcg_score([y > 0], [s])),
    *((PartialAUC(b), lambda y, s, b=b: sk.roc_auc_score(y, s, max_fpr=b)) for b in (0.05, 0.1, 0.3, 0.77, 1.0)),
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


@pytest.mark.parametrize("k", [1, 3, 10])
def test_precision_of_the_top(k):
    rng = new_rng()
    for _ in range(4):
        y, s = draw(rng)
        wanted = pytest.approx(top_of_all_orders(k, y, s), abs=0.05)  # six standard errors
        assert PrecisionAtK(k).score(y, s) == wanted
        spread = s + 1e-6 * rng.random(len(s))
        assert PrecisionAtK(k).score(y, spread) == pytest.approx(np.mean(y[np.argsort(-spread)[:k]] > 0))
        P = np.sum(y > 0)
        recall, precision = (
            score(y > 0, spread >= np.sort(spread)[-P]) for score in (sk.recall_score, sk.precision_score)
        )
        assert PRBEP().score(y, spread) == pytest.approx(precision)
        assert recall == pytest.approx(precision)


@pytest.mark.parametrize("metric", [AveragePrecision(), NDCG(), PartialAUC(), PRBEP()], ids=repr)
def test_ranking_scores_without_a_positive(metric):
    assert np.isnan(metric.score([-1, -1], [1.0, -1.0]))
    assert np.isnan(metric.score([], []))


@pytest.mark.parametrize(
    ("metric", "reference"),
    [
        (AveragePrecision(), sk.average_precision_score),
        (PartialAUC(0.3), lambda y, s, sample_weight: sk.roc_auc_score(y, s, max_fpr=0.3, sample_weight=sample_weight)),
    ],
    ids=["ap", "pauc"],
)
def test_weighted_scores_of_rankings(metric, reference):
    rng = new_rng()
    for _ in range(30):
        y, s = draw(rng)
        weights = rng.uniform(0.1, 3.0, len(y))
        assert metric.score(y, s, weights) == pytest.approx(reference(y, s, sample_weight=weights), abs=1e-9)
