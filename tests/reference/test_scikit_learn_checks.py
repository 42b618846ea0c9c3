"""scikit-learn's own checks; where one is expected to fail there is a reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl import SMTLClassifier, SMTLClassifierCV

# The check gives one class a ten-millionth of the weight of the other.
CLASS_WEIGHTS = "check_class_weight_classifiers"
NOTHING_LEFT = {CLASS_WEIGHTS: "of such a class no held-out row is left that F1 could be scored by"}
CANCELS = {CLASS_WEIGHTS: "the weight of a class cancels in AUC, and no cut is chosen"}


def expected(estimator):
    if isinstance(estimator, SMTLClassifierCV):
        return NOTHING_LEFT
    return CANCELS if estimator.metric == "auc" else {}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        SMTLClassifier(),
        SMTLClassifier("f1"),
        SMTLClassifier("auc", threshold=0.0),
        # The equivalence of weights and repetition is asked for to seven digits: a tight gap, and one optimum.
        SMTLClassifier("error", "ridge", tol=1e-9),
        # Few folds and values of C: no check depends on how many there are.
        SMTLClassifierCV(Cs=4, cv=2),
        SMTLClassifierCV("f1", "ridge", Cs=4, cv=2, tol=1e-9),
        SMTLClassifierCV("auc", Cs=4, cv=2),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
