"""Tasks whose answers are worth little are named, and others are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.estimators.behaviour import idle_tasks
from smtl.estimators.targets import Targets, read_targets
from tests.seeds import new_rng


@pytest.fixture
def data():
    rng = new_rng()
    X = rng.standard_normal((300, 6))
    Y = (X @ rng.standard_normal((6, 3)) + 0.5 * rng.standard_normal((300, 3)) > 0.5).astype(int)
    Y[:10], Y[10:20] = 0, 1
    return X, Y


def warned(model, X, Y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y)
    return [str(warning.message) for warning in caught]


def brute_force_idle(scores):
    """Put a class's mean score in place of its scores: do answers change?"""
    out = []
    for i in range(scores.shape[1]):
        replaced = scores.copy()
        replaced[:, i] = scores[:, i].mean()
        out.append(np.array_equal(replaced.argmax(axis=1), scores.argmax(axis=1)))
    return out


def test_weights_that_change_no_answer():
    rng = new_rng()
    for _ in range(100):
        scores = rng.standard_normal((7, 4)) * [1.0, 0.3, 0.1, 0.01] + rng.standard_normal(4)
        targets = Targets("multiclass", np.arange(4), np.arange(4), np.zeros((7, 4), dtype=np.int8))
        assert idle_tasks(scores, targets).tolist() == brute_force_idle(scores)
        labels = Targets("multilabel", np.arange(4), np.arange(4), np.zeros((7, 4), dtype=np.int8))
        assert idle_tasks(scores, labels).tolist() == [len(set(column > 0)) == 1 for column in scores.T]


@pytest.mark.parametrize("model", [SMTLClassifier(), SMTLClassifierCV(Cs=8, cv=3), SMTLClassifierCV("auc", cv=3)])
def test_good_tasks_are_not_warned_of(data, model):
    assert not [text for text in warned(model, *data) if "answer" in text]
    assert len(model.null_tasks_) == 0


def test_a_task_of_noise_is_named(data):
    X, Y = data
    rng = new_rng()
    named = 0
    for _ in range(5):
        frame = pd.DataFrame(Y, columns=["jazz", "rock", "folk"])
        frame["noise"] = (rng.random(300) < 0.3).astype(int)
        texts = warned(SMTLClassifierCV("log", Cs=6, cv=5), X, frame)
        named += any(text.startswith("Task noise has") for text in texts)
        assert not any("jazz" in text or "rock" in text for text in texts)
    assert named >= 3  # by chance noise looks like something, one time in forty


def test_weights_too_small_for_any_answer_are_null(data):
    """The F1 loss on noise: weights are not zero, but no row comes near the cut."""
    X, _ = data
    rng = new_rng()
    Y = np.column_stack([X[:, 0] > 0.3, rng.random((300, 2)) < 0.3]).astype(int)
    model = SMTLClassifier("f1", C=0.05)
    texts = warned(model, X, Y)
    constant = [i for i in range(3) if len(np.unique(model.predict(X)[:, i])) == 1]
    assert model.null_tasks_.tolist() == constant
    assert all(any(str(i) in text and text.startswith("Task") for text in texts) for i in constant)


def test_nearly_the_same_answer_is_named(data):
    X, Y = data
    Y = np.column_stack([Y, new_rng().random(300) < 0.5])
    model = SMTLClassifier("log", threshold="per-task", threshold_metric="f2")
    texts = warned(model, X, Y)
    share = model.predict(X)[:, 3].mean()
    if 0.95 < share < 1.0:  # fewer than a tenth of the labels that are no
        assert any("Task 3 has nearly the same answer" in text and "yes to 9" in text for text in texts)
    elif share == 1.0:
        assert 3 in model.null_tasks_


def test_who_gives_the_cut_is_not_told_what_it_does(data):
    X, Y = data
    model = SMTLClassifier("log", threshold=100.0)
    assert warned(model, X, Y) == []
    assert len(model.null_tasks_) == 0


def test_a_single_label_is_called_by_its_name(data):
    X, Y = data
    for y in (pd.Series(np.zeros(300), name="fault"), pd.DataFrame({"fault": np.zeros(300)})):
        assert any(text.startswith("Task fault has only one class") for text in warned(SMTLClassifier(), X, y))
    assert read_targets(X, pd.Series(Y[:, 0])).title is None


def test_a_default_model_answers_both_ways_to_every_task():
    """Also to one whose features tell nothing: F1 would have it say yes to all."""
    rng = new_rng()
    X, Y = rng.standard_normal((200, 4)), (rng.random((200, 3)) < [0.2, 0.5, 0.8]).astype(int)
    for model in (SMTLClassifier(C=1.0), SMTLClassifierCV("log", "ridge", Cs=[0.01, 1.0], cv=3, scoring="f1_macro")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yes = model.fit(X, Y).predict(X).mean(axis=0)
        assert np.all((yes > 0.0) & (yes < 1.0))
        assert len(model.null_tasks_) == 0
