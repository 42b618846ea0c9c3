"""Rows in parts: the same objective, bound and labels as in one piece, whatever the parts are."""

from __future__ import annotations

import errno
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

import smtl
from smtl.dask import SMTLClassifier, SMTLClassifierCV
from smtl.datasets import DatasetError
from smtl.estimators.fitting import Formula
from smtl.estimators.targets import read_targets
from smtl.metrics import ContingencyMetric, get_metric
from smtl.model import load_model, save_model
from smtl.parts import curvature, parquet
from smtl.parts.data import read_rows
from smtl.parts.errors import SourceChangedError
from smtl.parts.parquet import ParquetRows
from smtl.parts.part import Fold, Sums, fold_of_rows, marked
from smtl.parts.passes import Checkpoint
from smtl.parts.problem import Scaling
from smtl.parts.raw import Raw, encoded, reading_of, survey
from smtl.parts.rows import PartsInMemory
from smtl.penalties import get_penalty
from smtl.solvers import Problem, critical_C, solve
from smtl.solvers.seam import Pass
from tests.seeds import new_rng

TOL = 1e-3


def on_disk(rng, X, Y, folder):
    """Some files and some row groups are empty."""
    cuts = np.sort(rng.integers(0, len(X) + 1, int(rng.integers(0, 20))))
    for k, rows in enumerate(np.split(np.arange(len(X)), cuts)):
        columns = {f"x{j}": X[rows, j] for j in range(X.shape[1])} | {f"y{i}": Y[rows, i] for i in range(Y.shape[1])}
        pq.write_table(pa.table(columns), folder / f"{k:02d}.parquet", row_group_size=int(rng.integers(1, 60)))
    return ParquetRows(folder, [f"y{i}" for i in range(Y.shape[1])], n_threads=int(rng.integers(1, 3)))


class Costs(ContingencyMetric):
    """A formula of a user's."""

    concave_in_fp = True

    def delta(self, tp, fp, fn, tn):
        return (3.0 * fn + fp) / (3.0 * (tp + fn) + fp + tn)


def draw(rng, n=150, d=4, m=3):
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m)) > 1.0).astype(float)
    Y[rng.random((n, m)) < 0.1] = np.nan
    Y[0], Y[1] = 1.0, 0.0
    return X, Y


def in_parts(rng, X, y, task=None, n_parts=None):
    """Some parts are empty."""
    cuts = np.sort(rng.integers(0, len(y) + 1, (n_parts or int(rng.integers(1, 21))) - 1))
    rows = np.split(np.arange(len(y)), cuts)
    return PartsInMemory([Raw(X[r], y[r], None if task is None else task[r], k) for k, r in enumerate(rows)])


@pytest.mark.parametrize("place", ["memory", "disk"])
@pytest.mark.parametrize("metric", ["auc", "f1", "f2", "error", "log", "jaccard", "ap", Costs()], ids=repr)
@pytest.mark.parametrize("penalty", ["l11", "l21", "trace", "ridge"])
def test_objective_and_bound_are_those_of_one_piece(tmp_path, metric, penalty, place):
    rng = new_rng()
    X, Y = draw(rng)
    if rng.random() < 0.5:  # classes apart, so that some parts have one only
        order = np.argsort(Y[:, 0])
        X, Y = X[order], Y[order]
    the_metric, the_penalty = get_metric(metric), get_penalty(penalty, 0.0)
    local = Problem(read_targets(X, Y).tasks(X, np.arange(3)), the_metric, the_penalty, with_intercept=True)
    C = 10.0 * critical_C(local)
    plain = solve(local, C, tol=TOL, max_iter=2000).certificate
    rows = in_parts(rng, X, Y) if place == "memory" else on_disk(rng, X, Y, tmp_path)
    data = read_rows(rows, n_folds=2, seed=0, scale=False)
    spread = solve(data.problem(Formula(the_metric, the_penalty)), C, tol=TOL, max_iter=2000).certificate
    assert max(spread.gap, plain.gap) <= TOL
    assert spread.bound <= plain.objective * (1.0 + 1e-9)
    assert plain.bound <= spread.objective * (1.0 + 1e-9)
    # The objective that is certified is that of the weights in the data themselves.
    shift = spread.intercept.copy()
    loss = local.one_pass(spread.W, shift).loss.sum()
    assert the_penalty.value(spread.W) + C * loss <= spread.objective * (1.0 + 1e-6)


@pytest.mark.parametrize("metric", ["auc", "f1", "log"])
def test_rows_of_tasks_of_their_own(metric):
    rng = new_rng()
    X, Y = draw(rng)
    task, y = rng.choice(["north", "south"], len(Y)), np.where(Y[:, 0] == 1, "yes", "no")
    y[:2], y[2:4], task[:4] = "yes", "no", ["north", "south", "north", "south"]
    local = smtl.SMTLClassifier(metric, C=5.0, threshold=0.0).fit(X, y, task)
    model = SMTLClassifier(metric, C=5.0, threshold=0.0)._fit_rows(in_parts(rng, X, y, task))
    assert model.task_names_.tolist() == ["north", "south"]
    assert abs(model.objective_ - local.objective_) <= TOL * local.objective_
    assert model.dual_bound_ <= local.objective_ * (1.0 + 1e-9)


def test_sparse_parts():
    rng = new_rng()
    X, Y = draw(rng)
    X[rng.random(X.shape) < 0.5] = 0.0
    local = smtl.SMTLClassifier("auc", C=5.0, threshold=0.0).fit(X, Y)
    model = SMTLClassifier("auc", C=5.0, threshold=0.0)._fit_rows(in_parts(rng, sp.csr_array(X), Y))
    assert abs(model.objective_ - local.objective_) <= TOL * local.objective_


@pytest.mark.parametrize("metric", ["auc", "f1", "log"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_scaling_is_folded_into_the_model(metric, fit_intercept):
    rng = new_rng()
    X, Y = draw(rng)
    X = X * [1e-3, 1.0, 50.0, 1e3] + [0.0, 3.0, -1e3, 1e3]
    scaler = StandardScaler().fit(X)
    options = {"C": 0.5, "threshold": 0.0, "fit_intercept": fit_intercept, "tol": 1e-4}
    local = smtl.SMTLClassifier(metric, **options).fit(scaler.transform(X), Y)
    model = SMTLClassifier(metric, scale=True, **options)._fit_rows(in_parts(rng, X, Y))
    assert abs(model.objective_ - local.objective_) <= 1e-4 * local.objective_
    wanted = local.decision_function(scaler.transform(X))
    if metric == "auc":  # any constant will do
        wanted = wanted - wanted.mean(axis=0) + model.decision_function(X).mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X), wanted, atol=0.2 * wanted.std() + 1e-9)


def test_kinds_of_labels():
    rng = new_rng()
    X = rng.normal(size=(30, 2))
    for y in (
        rng.choice(["a", "b", "c"], 30),
        rng.choice([1, 5], 30),
        rng.choice([-1.0, 1.0, np.nan], (30, 3)),
        rng.choice([True, False], 30),
        np.array(["x", None, "y"] * 10, dtype=object),
    ):
        wanted = read_targets(X, y)
        rows = in_parts(rng, X, y)
        reading = reading_of(rows.each_raw(survey))
        assert reading.kind == wanted.kind
        assert reading.classes.tolist() == wanted.classes.tolist()
        got = np.concatenate([encoded(raw, reading)[1] for raw in rows.raws])
        np.testing.assert_array_equal(got, wanted.Y)


def test_moments_are_those_of_one_piece():
    rng = new_rng()
    X = rng.normal(size=(60, 3)) * [1.0, 1e-3, 0.0] + [0.0, 1e4, 7.0]
    for form in (np.asarray, sp.csr_array):
        reading = reading_of(in_parts(rng, form(X), np.arange(60) % 2).each_raw(survey))
        scaler = StandardScaler().fit(X)
        np.testing.assert_allclose(reading.mean, scaler.mean_)
        if form is np.asarray:
            np.testing.assert_allclose(reading.deviation, scaler.scale_)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.array([[1.0], [np.nan], [2.0]]), [0, 1, 1], "X must be finite, got NaN or infinity in row 1 of part 0"),
        (np.eye(3), [0, 1], "y must have the same rows as X in every part, got 2 and 3 in part 0"),
        (np.eye(3), [[0, 1], [0, 2], [1, 1]], "must hold 0 and 1 .* got 2"),
        (np.eye(3), [np.nan] * 3, "y must have at least one label"),
        (np.array([["a"], ["b"], ["c"]]), [0, 1, 1], "X must hold numbers"),
        (np.zeros((2000, 1)), np.arange(2000) / 7, "y must hold classes, got more than 1000"),
    ],
)
def test_what_cannot_be_trained_on_is_said(X, y, message):
    with pytest.raises(ValueError, match=message):
        read_rows(PartsInMemory([Raw(X, np.asarray(y), None, 0)]), n_folds=2, seed=0, scale=False)


def test_folds_are_even_and_stratified():
    rng = new_rng()
    Y = np.where(rng.random((300, 2)) < [0.1, 0.4], 1, -1).astype(np.int8)
    part = marked(np.zeros((300, 1)), Y, None, None, 5)
    folds = fold_of_rows(part, Fold(0, 3, 1))
    np.testing.assert_array_equal(folds, fold_of_rows(part, Fold(2, 3, 1)))
    counts = np.array([(Y[folds == k, 0] > 0).sum() for k in range(3)])
    assert np.ptp(counts) <= 1


def test_a_changed_part_is_found_out():
    rows = np.arange(12.0).reshape(6, 2)
    y = np.array([[1], [-1]] * 3, dtype=np.int8)
    mark = marked(rows, y, None, None, 0).mark
    assert marked(rows.copy(), y, None, None, 0).mark == mark
    assert marked(np.where(rows == 11.0, 11.5, rows), y, None, None, 0).mark != mark
    assert marked(rows, -y, None, None, 0).mark != mark


def write_folder(folder, X, Y, rng, n_files=3, **columns):
    names = [f"y{i}" for i in range(Y.shape[1])]
    table = {f"x{j}": X[:, j] for j in range(X.shape[1])} | dict(zip(names, Y.T, strict=True)) | columns
    for k, rows in enumerate(np.array_split(np.arange(len(X)), n_files)):
        one = pa.table({name: np.asarray(values)[rows] for name, values in table.items()})
        pq.write_table(one, folder / f"{k}.parquet", row_group_size=int(rng.integers(5, 40)))
    return names


@pytest.mark.parametrize("spool_bytes", [0, 10**9])
@pytest.mark.parametrize("metric", ["auc", "f1", "log"])
def test_folder_of_parquet(tmp_path, monkeypatch, metric, spool_bytes):
    monkeypatch.setattr(parquet, "SPOOL_BYTES", spool_bytes)
    rng = new_rng()
    X, Y = draw(rng)
    labels = write_folder(tmp_path, X, Y, rng, id=np.arange(len(X)))
    rows = ParquetRows(tmp_path, labels, ignore=["id"], n_threads=2, batch_bytes=7 * 8 * X.shape[1])
    assert rows.n_rows == len(X)
    local = smtl.SMTLClassifier(metric, C=2.0, threshold=0.0).fit(X, Y)
    model = SMTLClassifier(metric, C=2.0, threshold=0.0)._fit_rows(rows)
    rows.close()
    assert abs(model.objective_ - local.objective_) <= TOL * local.objective_
    assert model.dual_bound_ <= local.objective_ * (1.0 + 1e-9)
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    assert model.task_names_.tolist() == labels


def test_parquet_model_is_a_plain_one(tmp_path):
    rng = new_rng()
    X, Y = draw(rng)
    labels = write_folder(tmp_path, X, Y, rng)
    model = SMTLClassifier("auc", scale=True).fit_parquet(tmp_path, labels)
    assert type(model.plain()) is smtl.SMTLClassifier
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert type(loaded) is smtl.SMTLClassifier
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_parquet_changed_under_way(tmp_path):
    rng = new_rng()
    X, Y = draw(rng)
    labels = write_folder(tmp_path, X, Y, rng)
    rows = ParquetRows(tmp_path, labels)
    data = read_rows(rows, n_folds=2, seed=0, scale=False)
    problem = data.problem(Formula(get_metric("auc"), get_penalty("l21", 0.0)))
    problem.one_pass(np.zeros(problem.shape), np.zeros(3))
    write_folder(tmp_path, X[::-1], Y[::-1], rng)
    with pytest.raises(SourceChangedError, match="has changed under way"):
        problem.one_pass(np.zeros(problem.shape), np.zeros(3))


def test_parquet_messages(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold files that end in \.parquet"):
        SMTLClassifier().fit_parquet(tmp_path, "y")
    pq.write_table(pa.table({"x": [1.0, None], "word": ["a", "b"], "y": [0, 1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="Features must be columns of numbers, got 'word'"):
        SMTLClassifier().fit_parquet(tmp_path, "y")
    with pytest.raises(ValueError, match="no missing values, got some in column 'x'"):
        SMTLClassifier().fit_parquet(tmp_path, "y", ignore=["word"])
    with pytest.raises(ValueError, match=r"must be columns of the files.* got 'z'"):
        SMTLClassifier().fit_parquet(tmp_path, "z")


def test_damaged_parquet_is_refused(tmp_path):
    path, rng = tmp_path / "a.parquet", new_rng()
    pq.write_table(pa.table({"x": rng.normal(size=5), "y": [0, 1, 0, 1, 1]}), path)
    whole, refused = path.read_bytes(), 0
    for at in rng.choice(np.arange(4, len(whole) - 4), 200, replace=False):
        changed = bytearray(whole)
        changed[at] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        try:
            rows = ParquetRows(tmp_path, ["y"])
            assert sum(rows.each_raw(lambda raw: len(raw.X))) == rows.n_rows
        except ValueError:
            refused += 1
    assert refused > 20


def test_a_small_file_does_not_claim_many_rows(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": np.zeros(2000), "y": np.arange(2000) % 2}), path)
    assert ParquetRows(tmp_path, ["y"]).n_rows == 2000
    monkeypatch.setattr(parquet, "MOST_ROWS_A_BYTE", 2000 / (path.stat().st_size + 1))
    with pytest.raises(DatasetError, match=r"got a damaged one \(it claims 2,000 rows\)"):
        ParquetRows(tmp_path, ["y"])


def test_text_of_labels_has_a_limit(tmp_path):
    words = pa.array(["a" * 10**6, "b" * 10**6])
    labels = pa.DictionaryArray.from_arrays(pa.array(np.arange(1000) % 2, pa.int32()), words)
    pq.write_table(pa.table({"x": np.arange(1000.0), "y": labels}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 2 * 10**5
    with pytest.raises(DatasetError, match="the text of some rows must take at most"):
        ParquetRows(tmp_path, ["y"]).each_raw(lambda raw: raw)


def test_cross_validation_on_parts():
    rng = new_rng()
    X, Y = draw(rng, n=240)
    model = SMTLClassifierCV(["auc", "log"], "ridge", Cs=3, cv=2, scoring="f1_macro")._fit_rows(in_parts(rng, X, Y))
    assert model.C_ in model.Cs_
    assert model.scores_.shape == (2, 3)
    final = smtl.SMTLClassifier(model.metric_, "ridge", C=model.C_, threshold=0.0).fit(X, Y)
    assert abs(final.objective_ - model.objective_) <= TOL * final.objective_


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("with_intercept", [False, True])
def test_second_derivatives_are_those_of_one_piece(with_intercept, scale):
    rng = new_rng()
    X, Y = draw(rng)
    X += 20.0  # far from zero, so that it matters what squares are about
    data = read_rows(in_parts(rng, X, Y), n_folds=2, seed=0, scale=scale)
    here = (X - X.mean(axis=0)) / X.std(axis=0) if scale else X
    tasks = read_targets(here, Y).tasks(here, np.arange(3))
    penalty = get_penalty("l21", 0.0)
    plain = Problem(tasks, get_metric("log"), penalty, with_intercept=with_intercept).curvature()
    spread = data.problem(Formula(get_metric("log"), penalty, with_intercept=with_intercept)).curvature()
    W, intercept = 0.02 * rng.normal(size=(3, 4)), with_intercept * rng.normal(size=3)
    for step in (0.0, 2.0 if scale else 0.05):
        matrices = [one.own(W + step, intercept, 3.0) for one in (plain, spread)]
        np.testing.assert_allclose(matrices[1].H, matrices[0].H, atol=1e-4 * np.abs(matrices[0].H).max())
        np.testing.assert_allclose(spread.mean, plain.mean, atol=1e-6 * (1.0 + np.abs(plain.mean).max()))


def test_matrices_that_are_too_large_are_not_sent(monkeypatch):
    rng = new_rng()
    data = read_rows(in_parts(rng, *draw(rng)), n_folds=2, seed=0, scale=False)
    formula = Formula(get_metric("log"), get_penalty("l21", 0.0))
    monkeypatch.setattr(curvature, "MOST_BYTES", 4 * 3 * 4**2)
    assert data.problem(formula).curvature() is not None
    monkeypatch.setattr(curvature, "MOST_BYTES", 4 * 3 * 4**2 - 1)
    assert data.problem(formula).curvature() is None
    assert solve(data.problem(formula), 1.0, tol=TOL).converged


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("metric", ["f1", "log"])
def test_a_stopped_fit_goes_on_where_it_was(tmp_path, metric):
    rng = new_rng()
    X, Y = draw(rng)
    options = {"C": 5.0, "threshold": 0.0, "checkpoint": tmp_path / "passes"}
    rows = in_parts(rng, X, Y, n_parts=4)
    whole = SMTLClassifier(metric, C=5.0, threshold=0.0)._fit_rows(rows)
    begin, asked = PartsInMemory.begin, []

    def counted(self, where):
        asked.append(where)
        if len(asked) == 4:
            raise StoppedError
        return begin(self, where)

    rows.begin = counted.__get__(rows)
    with pytest.raises(StoppedError):
        SMTLClassifier(metric, **options)._fit_rows(rows)
    with open(tmp_path / "passes", "ab") as file:
        file.write(b"half a pass")
    model = SMTLClassifier(metric, **options)._fit_rows(rows)
    assert len(asked) - 4 + 3 == whole.n_iter_ or metric == "log"  # no pass is done twice
    assert model.gap_ <= TOL
    assert (model.objective_, model.dual_bound_, model.n_iter_) == (whole.objective_, whole.dual_bound_, whole.n_iter_)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    np.testing.assert_array_equal(model.intercept_, whole.intercept_)
    before = len(asked)
    again = SMTLClassifier(metric, **options)._fit_rows(rows)
    assert len(asked) == before
    assert (again.objective_, again.dual_bound_) == (model.objective_, model.dual_bound_)


def test_checkpoint_of_another_fit_is_refused(tmp_path):
    with Checkpoint(tmp_path / "passes", {"C": "1.0"}) as checkpoint:
        one = Pass(np.ones(1), np.ones(1), np.ones((1, 1)))
        checkpoint.log("a").add(np.ones((1, 1)), np.zeros(1), 0.0, np.zeros(1), {}, one)
    with pytest.raises(ValueError, match="it is that of one with other C"):
        Checkpoint(tmp_path / "passes", {"C": "2.0"})
    for content in (b"no checkpoint", b"PK\x03\x04" + bytes(40), (tmp_path / "passes").read_bytes()[:30]):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(ValueError, match="must be a file that a fit with a checkpoint has written"):
            Checkpoint(tmp_path / "other", {})
        assert (tmp_path / "other").read_bytes() == content


def test_a_checkpoint_that_is_damaged_anywhere_says_nothing_wrong(tmp_path):
    rng = new_rng()
    path, zeros, eps = tmp_path / "passes", np.zeros(2), 0.0
    path.touch()  # as a name that mktemp has made
    passes = [Pass(*rng.normal(size=(2, 2)), rng.normal(size=(2, 3))) for _ in range(4)]
    with Checkpoint(path, {"C": "1.0"}) as checkpoint:
        for k, one in enumerate(passes):
            checkpoint.log("a").add(np.full((2, 3), k), zeros, eps, zeros + k, {"step": zeros - k}, one)
    whole = path.read_bytes()
    for at in rng.integers(100, len(whole), size=30):
        changed = bytearray(whole)
        changed[at] ^= 1 << rng.integers(8)
        path.write_bytes(changed if rng.random() < 0.7 else whole[:at])
        with Checkpoint(path, {"C": "1.0"}) as checkpoint:
            found = []
            for k in range(4):
                shift, memory = zeros.copy(), {}
                found.append(checkpoint.log("a").replayed(np.full((2, 3), k), shift, eps, memory))
                if found[-1] is not None:
                    assert (shift == k).all()
                    assert (memory["step"] == -k).all()
        known = [one is not None for one in found]
        assert known == sorted(known, reverse=True), "what is behind a damaged pass is forgotten, too"
        assert not all(known)
        for one, true in zip(found, passes, strict=True):
            assert one is None or all(map(np.array_equal, one, true))


def test_scaling_of_slopes():
    rng = new_rng()
    X, c, w = rng.normal(size=(9, 3)), rng.normal(size=9), rng.normal(size=(1, 3))
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    V, at_zero = Scaling(mean, deviation).unscaled(w)
    scaled = (X - mean) / deviation
    np.testing.assert_allclose(X @ V[0] + at_zero, scaled @ w[0])
    sums = Sums((X.T @ c)[None], c.sum(keepdims=True), ())
    np.testing.assert_allclose(Scaling(mean, deviation).slopes(sums)[0], scaled.T @ c)


@pytest.mark.parametrize("metric", ["auc", "f1", "log", "error"])
@pytest.mark.parametrize("own_rows", [False, True])
def test_a_weight_is_a_number_of_equal_rows(metric, own_rows):
    rng = new_rng()
    X, Y = draw(rng, n=60)
    weight = rng.integers(0, 4, len(X))
    weight[:4] = 1
    y, task = (Y[:, 0], rng.integers(0, 2, len(X))) if own_rows else (Y, None)
    if own_rows:
        y = np.nan_to_num(y)
        y[:4], task[:4] = [0, 1, 0, 1], [0, 0, 1, 1]
    copies = np.repeat(np.arange(len(X)), weight)
    options = {"C": 1.0, "threshold": 0.0, "tol": TOL}
    local = smtl.SMTLClassifier(metric, **options).fit(X[copies], y[copies], None if task is None else task[copies])
    rows = in_parts(rng, X, y, task)
    weights = np.split(weight, np.cumsum([len(raw.y) for raw in rows.raws])[:-1])
    rows.raws = [raw._replace(weight=one) for raw, one in zip(rows.raws, weights, strict=True)]
    model = SMTLClassifier(metric, **options)._fit_rows(rows)
    assert abs(model.objective_ - local.objective_) <= TOL * local.objective_
    assert model.dual_bound_ <= local.objective_ * (1.0 + 1e-9)


def test_a_checkpoint_that_cannot_be_closed_is_named(tmp_path):
    class Full:
        def close(self):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "fit.passes"
    checkpoint = Checkpoint(path, {})
    checkpoint._file.close()
    checkpoint._file = Full()
    with pytest.raises(OSError, match="No space left on device") as caught, checkpoint:
        pass
    assert caught.value.filename == str(path)
