"""scikit-learn's own checks of SMTLEnsemble, with no expected failure."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl import SMTLEnsemble


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        SMTLEnsemble(preset="fast", cv=2),
        SMTLEnsemble(learners=["kernel", ("logistic", LogisticRegression())], cv=3),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
