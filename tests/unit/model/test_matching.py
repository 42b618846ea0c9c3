"""Columns and features, by name; and a pipeline as one linear function."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier
from smtl.datasets import Dataset
from smtl.model.linear import linear_form
from smtl.model.matching import arranged, match_columns
from smtl.model.scores import task_scores
from smtl.model.training import Settings, make_model
from tests.seeds import new_rng


def test_any_order_gives_the_same_features():
    rng = new_rng()
    features = ["a", "k=x", "k=y", "b", "c"]
    table = {"a": [1.0, 2.0, np.nan], "b": [3.0, 4.0, 5.0], "c": [6.0, 7.0, 8.0]}
    for _ in range(5):
        columns = rng.permutation(["a", "b", "c", "k", "label"]).tolist()
        found = match_columns(columns, features, {"label"})
        numbers = np.column_stack([table[name] for name in found.numeric])
        X = found.features(numbers, {"k": ["y", None, "z"]})
        np.testing.assert_array_equal(X, [[1, 0, 1, 3, 6], [2, np.nan, np.nan, 4, 7], [np.nan, 0, 0, 5, 8]])
        assert found.new_values == {"k": {"z": 1}}


def test_a_column_with_an_equals_sign_is_itself_first():
    found = match_columns(["a=b", "a"], ["a=b", "a=c"])
    assert found.numeric == {"a=b": 0}
    assert found.nominal == {"a": {"c": 1}}


def test_long_lists_are_cut():
    with pytest.raises(ValueError, match=r"'x7' and 12 more are missing; 'y' is unknown\.$"):
        match_columns(["y"], [f"x{j}" for j in range(20)])


def test_features_of_a_data_set():
    X = np.arange(6.0).reshape(2, 3)
    data = Dataset(X, np.zeros((2, 1)), ("k=x", "b", "k=new"))
    features = ["b", "k=x", "k=y"]
    for given in (data, Dataset(sp.csr_matrix(X), data.Y, data.feature_names)):
        found = arranged(given, features, named=True)
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, [[1, 0, 0], [4, 3, 0]])
    with pytest.raises(ValueError, match="'b' is missing; 'c' is unknown"):
        arranged(Dataset(X[:, :2], data.Y, ("k=x", "c")), features, named=True)
    with pytest.raises(ValueError, match="model: 'id' is unknown"):
        arranged(Dataset(np.hstack([X, X]), data.Y, (*features, "id=r0", "id=r1", "id=r2")), features, named=True)
    with pytest.raises(ValueError, match="there must be 4 features, as the model has, got 3"):
        arranged(data, ["a", "b", "c", "d"], named=False)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_a_pipeline_is_one_linear_function(sparse, scale):
    rng = new_rng()
    X = rng.normal(3.0, [1.0, 10.0, 0.1, 0.0], size=(60, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0][rng.random(60) < 0.3] = 0.0
    X = sp.csr_matrix(X) if sparse else X
    tasks = np.arange(60) % 3
    y = (np.arange(60) // 3) % 2
    model = make_model(Settings(C=0.5, scale=scale), sparse=sparse).fit(X, y, classifier__tasks=tasks)
    form = linear_form(model)
    size = np.abs(task_scores(model, X)).max()
    np.testing.assert_allclose(form.scores(X), task_scores(model, X), rtol=1e-9, atol=1e-9 * size)
    own = task_scores(model, X, tasks)
    np.testing.assert_allclose(form.scores(X, tasks), own, rtol=1e-9, atol=1e-9 * size)
    infinite = X.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(ValueError, match="must be finite"):
        form.scores(infinite)


def test_what_is_missing_is_filled_on_the_scale_it_comes_in():
    X = new_rng().normal(5.0, 3.0, size=(40, 3))
    X[::7, 1] = np.nan
    steps = [StandardScaler(), SimpleImputer(strategy="median"), SMTLClassifier("error", C=0.5)]
    model = make_pipeline(*steps).fit(X, np.arange(40) % 2)
    np.testing.assert_allclose(linear_form(model).scores(X)[:, 0], model.decision_function(X), atol=1e-9)
