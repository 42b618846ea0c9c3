"""scikit-learn's own checks, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl import SMTLClassifier, SMTLClassifierCV


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        SMTLClassifier(),
        *(SMTLClassifier(metric=metric) for metric in ["f1", "auc", "error"]),
        # Few folds and values of C: no check depends on how many there are.
        SMTLClassifierCV(Cs=4, cv=2),
        *(SMTLClassifierCV(metric=metric, Cs=4, cv=2) for metric in ["f1", "auc"]),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
