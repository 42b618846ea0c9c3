"""Scores of folds against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from smtl.ensemble.judging import Judge
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.targets import read_targets
from smtl.estimators.thresholds import Cuts
from tests.seeds import new_rng


@pytest.mark.parametrize("classes", [["no", "yes"], ["high", "low", "middle"]])
def test_folds_of_many_models_and_cuts_are_scored_as_scikit_learn_does(classes):
    rng = new_rng()
    y = np.array(classes)[rng.permutation(np.arange(18) % len(classes))]
    none = np.zeros(0, dtype=np.int64)
    folds = [Fold(none, np.arange(k, k + 6), none, None) for k in (0, 6, 12)]
    m = 1 if len(classes) == 2 else 3
    targets = read_targets(np.zeros((18, 1)), y)
    judge = None
    for _ in range(15):
        odds, cut = rng.standard_normal((18, m)), rng.standard_normal((3, m))
        held = HeldOut(targets, folds, [odds[fold.test] for fold in folds])
        judge = judge or Judge("f1_macro", "auto", held)
        found = judge.scores(held, Cuts(np.zeros(m), np.zeros(m), cut, 0.0))
        for k, fold in enumerate(folds):
            left = odds[fold.test] - cut[k]
            answers = np.array(classes)[(left[:, 0] > 0).astype(int) if m == 1 else left.argmax(axis=1)]
            assert found[k] == pytest.approx(f1_score(y[fold.test], answers, average="macro"))
