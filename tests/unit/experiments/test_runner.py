"""Studies that run, fail, crash, are shared, and go on."""

import sqlite3
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from smtl import SMTLClassifierCV
from smtl.datasets import load_dataset
from smtl.experiments import Results, Run, Search, Store, Study, StudyError, compare, get_method, method_names, run_one
from smtl.experiments.protocol import seed_of, split
from smtl.experiments.study_data import load_for_study

QUICK = Study(cv=2, n_values=2)


def test_a_run_is_what_one_would_do_by_hand():
    got = run_one(QUICK, Run("digits", "smtl-auc-l21", 1))
    data = load_dataset("digits")
    seed = seed_of("digits", 1)
    parts = split(data.X, data.Y, seed)
    model = SMTLClassifierCV(
        "auc", "l21", Cs=2, cv=2, threshold="smoothed", threshold_metric="f1", tol=1e-2, random_state=seed
    ).fit(parts.X, parts.Y)
    assert got["auc"] == pytest.approx(roc_auc_score(parts.Y_test, model.decision_function(parts.X_test)))
    assert got["C"] == model.C_
    assert got["gap"] == model.gap_ <= 1e-2
    assert 0.0 < got["train_seconds"] < got["fit_seconds"]
    assert got["seed"] == seed
    assert got["versions"]["smtl"]


def test_every_method_has_a_name_and_words():
    names = method_names()
    assert len(names) == len(set(names)) == 21
    families = [get_method(name).family for name in names]
    assert [families.count(family) for family in ("SMTL", "MTL-CLS", "MTL-REG", "other")] == [6, 3, 3, 9]
    for name in names:
        method = get_method(name)
        assert method.title
        assert method.about
        assert hasattr(method.make(Search(cv=2, n_values=4)), "fit")


@pytest.mark.parametrize("n_values", [1, 2, 3, 7])
def test_what_is_said_of_grids_is_true_of_every_number_of_values(n_values):
    for name in method_names():
        model = get_method(name).make(Search(cv=2, n_values=n_values))
        grid = getattr(model, "param_grid", {})
        for parameter, values in grid.items():
            least, largest = {"alpha": (1e-4, 1.0), "estimator__C": (0.01, 10.0), "n_estimators": (25, 200)}[parameter]
            told = {
                "alpha": "alpha from 1e-4 to 1,",
                "estimator__C": "C from 0.01 to 10,",
                "n_estimators": "25 to 200,",
            }
            assert told[parameter] in get_method(name).about
            assert "at most" in get_method(name).about
            assert len(values) == min(n_values, 12 if parameter == "alpha" else 3)
            if n_values == 1:  # neither end
                assert values[0] == pytest.approx(np.sqrt(least * largest), rel=0.02)
            else:
                assert (min(values), max(values)) == pytest.approx((least, largest))


def test_the_words_about_mlcssp_and_one_value_of_thresholded_logistic():
    for m, drawn in ((10, 4), (60, 6)):  # a tenth, at least 4
        rng = np.random.default_rng(m)
        X, Y = rng.normal(size=(100, 3)), rng.integers(2, size=(100, m))
        model = get_method("mlcssp").make(Search()).estimator.fit(X, Y)
        assert len(model.labels_) == drawn
    assert "a tenth of the labels drawn, at least 4" in get_method("mlcssp").about
    assert get_method("thresholded-logistic").make(Search(n_values=1)).Cs == pytest.approx([1.0])


def test_an_estimator_by_its_path():
    model = get_method("sklearn.neighbors.KNeighborsClassifier").make(Search())
    assert isinstance(model, KNeighborsClassifier)  # multi-label by itself
    wrapped = get_method("sklearn.linear_model.LogisticRegression").make(Search())
    assert type(wrapped).__name__ == "BinaryRelevance"
    with pytest.raises(ValueError, match="method must be one of"):
        get_method("sklearn.nothing.Here")
    with pytest.raises(ValueError, match="must be one of"):
        get_method("smtl-f1-l22")
    with pytest.raises(TypeError, match="must make a classifier"):
        get_method("sklearn.linear_model.Ridge").make(Search())


def test_a_study_goes_on_and_gives_the_same_table(tmp_path):
    methods = ["smtl-auc-l21", "sklearn.neighbors.KNeighborsClassifier"]
    whole = compare(["digits"], methods, tmp_path / "whole", study=QUICK, n_splits=2)
    done = []
    compare(["digits"], methods[:1], tmp_path / "parts", study=QUICK, n_splits=1)
    parts = compare(
        ["digits"],
        methods,
        tmp_path / "parts",
        study=QUICK,
        n_splits=2,
        n_jobs=2,
        report=lambda run, *_: done.append(run),
    )
    assert len(done) == 3
    for measure in ("macro_f1", "micro_f1", "auc", "average_precision", "hamming_loss", "subset_accuracy", "C"):
        assert np.array_equal(Results.of(whole).values(measure), Results.of(parts).values(measure), equal_nan=True)
    with pytest.raises(StudyError, match="n_values=2, got n_values=3"):
        compare(["digits"], methods, tmp_path / "parts", study=Study(cv=2, n_values=3))


FAULTY = """
    import os
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Fails(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            raise RuntimeError("no such luck")

    class Dies(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            os._exit(3)
"""


def test_failures_are_rows_and_stop_nothing(tmp_path, monkeypatch):
    (tmp_path / "faulty.py").write_text(textwrap.dedent(FAULTY))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    methods = ["faulty.Fails", "faulty.Dies", "sklearn.neighbors.KNeighborsClassifier"]
    rows = compare(["digits"], methods, tmp_path / "study", study=QUICK, n_splits=2, n_jobs=2)
    status = {(row["method"], row["split"]): row for row in rows}
    for k in range(2):
        assert status["sklearn.neighbors.KNeighborsClassifier", k]["status"] == "done"
        assert "RuntimeError: no such luck" in status["faulty.Fails", k]["error"]
        assert "process died" in status["faulty.Dies", k]["error"]
    again = []
    compare(["digits"], methods, tmp_path / "study", study=QUICK, n_splits=2, report=lambda run, *_: again.append(run))
    assert again == []
    compare(
        ["digits"], methods[:1], tmp_path / "study", study=QUICK, n_splits=2, retry=True,
        report=lambda run, *_: again.append(run),
    )  # fmt: skip
    assert len(again) == 2
    with Store(tmp_path / "study" / "runs.sqlite") as store:
        assert len(store.rows()) == 6  # failures that were not to be run again are kept


def test_two_processes_share_a_study(tmp_path):
    code = """
        import sys
        from smtl.experiments import Study, compare
        if __name__ == "__main__":
            done = []
            compare(["digits"], ["smtl-auc-l21", "smtl-auc-trace"], sys.argv[1], study=Study(cv=2, n_values=2),
                    n_splits=3, report=lambda run, *_: done.append(run))
            print(len(done))
    """
    script = tmp_path / "share.py"
    script.write_text(textwrap.dedent(code))
    command = [sys.executable, str(script), str(tmp_path / "study")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    counts = [int(process.communicate(timeout=300)[0]) for process in processes]
    assert sum(counts) == 6
    with Store(tmp_path / "study" / "runs.sqlite") as store:
        assert len(store.rows()) == 6
    with sqlite3.connect(tmp_path / "study" / "runs.sqlite") as base:
        assert base.execute("SELECT COUNT(*) FROM claims").fetchone() == (0,)


UNGUARDED = """
    import math, sys
    from smtl.experiments import Study, compare
    rows = compare(["digits"], ["smtl-auc-l21", "beside.Mine"], sys.argv[1], study=Study(cv=2, n_values=2), n_splits=1)
    assert [row["status"] for row in rows] == ["done", "done"], rows
    assert all(math.isfinite(row["auc"]) for row in rows)
    assert __name__ == "__main__" and sys.modules["__main__"].rows is rows
"""
BESIDE = """
    from sklearn.neighbors import KNeighborsClassifier

    class Mine(KNeighborsClassifier):
        pass
"""


def test_a_script_needs_no_guard_and_may_have_a_method_in_a_module_beside_it(tmp_path):
    (tmp_path / "script.py").write_text(textwrap.dedent(UNGUARDED))
    (tmp_path / "beside.py").write_text(textwrap.dedent(BESIDE))
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "study")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_method_of_a_guarded_script_itself(tmp_path):
    code = """
        import sys
        from sklearn.neighbors import KNeighborsClassifier
        from smtl.experiments import Study, compare

        class Mine(KNeighborsClassifier):
            pass

        if __name__ == "__main__":
            rows = compare(["digits"], ["__main__.Mine"], sys.argv[1], study=Study(cv=2, n_values=2), n_splits=1)
            assert rows[0]["status"] == "done", rows
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(code))
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "study")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_imbalanced_runs_and_files(tmp_path):
    got = run_one(QUICK, Run("digits@1:10", "smtl-f1-l21", 0))
    assert got["n_train"] + got["n_test"] <= 1797
    X, Y = load_for_study("digits")
    table = np.column_stack([X, Y])[:200]
    names = [f"x{j}" for j in range(64)] + [f"label:{k}" for k in range(10)]
    np.savetxt(tmp_path / "some.csv", table, delimiter=",", header=",".join(names), comments="")
    X_file, Y_file = load_for_study(str(tmp_path / "some.csv"))
    assert np.array_equal(X_file, X[:200])
    assert np.array_equal(Y_file, Y[:200])


def test_wrong_settings():
    with pytest.raises(ValueError, match="protocol must be 'stratified' or 'paper'"):
        Study(protocol="random")
    with pytest.raises(ValueError, match="cv must be at least 2, got 1"):
        Study(cv=1)
    with pytest.raises(ValueError, match="train must be between 0 and 1"):
        Study(train=1.0)
