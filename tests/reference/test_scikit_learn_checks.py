"""scikit-learn's own checks; those that are expected to fail are few, each with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl import SMTLClassifier, SMTLClassifierCV

NOT_THE_SAME_BITS = "trained to the same certified gap, on another course (tests/unit/estimators/test_weights.py)"
EQUIVALENCE = {
    "check_sample_weight_equivalence_on_dense_data": NOT_THE_SAME_BITS,
    "check_sample_weight_equivalence_on_sparse_data": NOT_THE_SAME_BITS,
}
EXPECTED = {
    "f1": EQUIVALENCE | {"check_class_weight_classifiers": "F1 takes whole numbers for weights, the check has 0.0001"},
    "auc": EQUIVALENCE | {"check_class_weight_classifiers": "the weight of a class cancels in AUC"},
    "error": EQUIVALENCE,
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        SMTLClassifier(),
        *(SMTLClassifier(metric=metric) for metric in ["f1", "auc", "error"]),
        # Few folds and values of C: no check depends on how many there are.
        SMTLClassifierCV(Cs=4, cv=2),
        *(SMTLClassifierCV(metric=metric, Cs=4, cv=2) for metric in ["f1", "auc"]),
    ],
    expected_failed_checks=lambda estimator: EXPECTED.get(estimator.metric, {}),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
