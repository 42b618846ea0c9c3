"""Models as files: what is saved comes back, and nothing else is ever loaded, let alone run."""

import functools
import hashlib
import io
import json
import operator
import os
import pickle
import signal
import subprocess
import sys
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.datasets import make_multilabel_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, SplineTransformer, StandardScaler

from smtl import FBeta, SMTLClassifier, SMTLClassifierCV, Trace
from smtl.datasets import Dataset
from smtl.metrics import F1, metric_names
from smtl.model import ModelError, load_model, model_metadata, persistence, save_model
from smtl.model.report import write_report
from smtl.penalties import penalty_names
from tests.seeds import new_rng

X, Y = make_multilabel_classification(80, n_features=6, n_classes=3, random_state=0)


def pipeline(final, scaler=StandardScaler):
    return Pipeline([("impute", SimpleImputer(keep_empty_features=True)), ("scale", scaler()), ("classifier", final)])


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Return the file of a model."""
    path = tmp_path_factory.mktemp("model") / "good.skops"
    save_model(pipeline(SMTLClassifier(tol=1e-2)).fit(X, Y), path)
    return path


MODELS = {
    **{f"metric {name}": pipeline(SMTLClassifier(name, tol=1e-2)) for name in metric_names()},
    **{f"penalty {name}": SMTLClassifier(penalty=name, tol=1e-2) for name in penalty_names()},
    "objects": SMTLClassifier(FBeta(beta=3.0), Trace(), ridge=0.1, tol=1e-2),
    "search": pipeline(SMTLClassifierCV(["f1", "f2"], [Trace(), "l21"], Cs=2, cv=2, scoring="f1"), MaxAbsScaler),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back(tmp_path, name):
    model = MODELS[name].fit(X, Y)
    save_model(model, tmp_path / "m.skops", metadata={"note": "ü"})
    same = load_model(tmp_path / "m.skops")
    assert type(same) is type(model)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert str(same.get_params()) == str(model.get_params())
    metadata = model_metadata(tmp_path / "m.skops")
    assert metadata["note"] == "ü"
    assert (len(metadata["features"]), metadata["tasks"], metadata["kind"]) == (6, ["0", "1", "2"], "multilabel")


def test_targets_of_all_kinds_come_back(tmp_path):
    classes = np.array(["a", "b", "c"])[Y.argmax(axis=1)]
    for y, options in [(Y[:, 0], {}), (classes, {}), (Y[:, 0], {"tasks": np.repeat([3, 7], 40)})]:
        model = SMTLClassifier(tol=1e-2).fit(X, y, **options)
        save_model(model, tmp_path / "m.skops")
        np.testing.assert_array_equal(load_model(tmp_path / "m.skops").predict(X), model.predict(X))


def test_skops_itself_reads_the_file(good):
    types = skops.io.get_untrusted_types(file=good)
    assert types == ["numpy.dtype", "smtl.estimators.classifier.SMTLClassifier"]
    same = skops.io.load(good, trusted=types)
    np.testing.assert_array_equal(same.predict(X), load_model(good).predict(X))


class OwnMetric(F1):
    """A metric of a user's own."""


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    path = tmp_path / "m.skops"
    for model, words in {
        SMTLClassifier(OwnMetric()): "saved: SMTLClassifier has metric=OwnMetric\\(\\) of type OwnMetric",
        make_pipeline(
            SplineTransformer(3), SMTLClassifier()
        ): "saved: it holds .*SplineTransformer.* may have smtl's TableEncoder",
        SMTLClassifier(random_state=np.random.RandomState(0)): r"saved: SMTLClassifier has random_state=RandomState\(.*"
        r"call set_params\(random_state=0\) on it before you save",
        SMTLClassifierCV(
            cv=KFold(3), Cs=2
        ): r"saved: SMTLClassifierCV has cv=KFold\(n_splits=3.*call set_params\(cv=5\)",
    }.items():
        with pytest.raises(ModelError, match=words):
            save_model(model.fit(X, Y), path)
    with pytest.raises(TypeError, match="must be an SMTLClassifier"):
        save_model(LogisticRegression().fit(X, Y[:, 0]), path)
    with pytest.raises(ModelError, match="cannot be written"):
        save_model(SMTLClassifier().fit(X, Y), path, metadata={"what": object()})
    with pytest.raises(ValueError, match="feature_names must have 6 names, got 1"):
        save_model(SMTLClassifier().fit(X, Y), path, feature_names=["a"])
    assert list(tmp_path.iterdir()) == []


def test_the_advice_for_what_cannot_be_saved_holds(tmp_path):
    model = SMTLClassifier(random_state=np.random.RandomState(0), tol=1e-2).fit(X, Y)
    answers = model.predict(X)
    save_model(model.set_params(random_state=0), tmp_path / "m.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").predict(X), answers)


@pytest.mark.parametrize("make", [lambda final: final, pipeline])
def test_a_warm_start_is_not_saved_and_stays_where_it_is(tmp_path, make):
    model = make(SMTLClassifier(warm_start=True, tol=1e-2)).fit(X, Y)
    final = model[-1] if isinstance(model, Pipeline) else model
    start = final._start
    save_model(model, tmp_path / "m.skops")
    same = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    assert final._start is start
    assert start is not None
    assert same.fit(X, Y).predict(X).shape == Y.shape


@pytest.mark.parametrize("make", [lambda final: final, pipeline])
def test_names_of_features_make_no_warning(tmp_path, make, recwarn):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = make(SMTLClassifier(tol=1e-2)).fit(frame, Y)
    save_model(model, tmp_path / "m.skops")
    same = load_model(tmp_path / "m.skops")
    write_report(
        same, Dataset(X, Y, tuple("abcdef")), tmp_path / "m.html", metadata=model_metadata(tmp_path / "m.skops")
    )
    assert [str(warning.message) for warning in recwarn] == []


def test_every_cut_and_every_changed_byte_is_found(good, tmp_path):
    content = good.read_bytes()
    path = tmp_path / "m.skops"
    rng = new_rng()
    for n in [0, 1, 30, *rng.integers(len(content), size=20), len(content) - 1]:
        path.write_bytes(content[:n])
        with pytest.raises(ModelError):
            load_model(path)
    for place in [0, len(content) - 1, *rng.integers(len(content), size=40)]:
        changed = bytearray(content)
        changed[place] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        with pytest.raises(ModelError):
            load_model(path)
    for more in (b"x" + content, content + b"x"):
        path.write_bytes(more)
        with pytest.raises(ModelError):
            load_model(path)


KILLED = """
import os, signal, sys
from pathlib import Path
from smtl import whole_file
from smtl.model import archive
whole_file.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
archive.write_whole(b"new" * 100000, Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_kill_while_saving_leaves_the_old_file(good, tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(good.read_bytes())
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == good.read_bytes()
    load_model(path)


def test_an_error_while_saving_leaves_the_old_file_and_nothing_else(good, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    path.write_bytes(b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_model(load_model(good), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(good, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        save_model(load_model(good), tmp_path / "m.skops")


# From here on: files that somebody else has made up, with a seal that is right.


def sealed(entries, compression=zipfile.ZIP_STORED):
    """Return an archive of these entries with a right seal."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in entries:
            file.writestr(name, content)
        file.comment = b"smtl model, SHA-256 " + b"0" * 64
    content = buffer.getvalue()[:-64]
    return content + hashlib.sha256(content).hexdigest().encode()


def entries_of(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def with_node(good, node):
    """Return the good model with another node in the place of an attribute."""
    entries = entries_of(good)
    schema = json.loads(entries["schema.json"])
    schema["content"]["content"]["verbose"] = node
    return sealed({**entries, "schema.json": json.dumps(schema)}.items())


def node(loader, name, content=None, **more):
    module, _, kind = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": kind, "content": content, **more}


def text(value):
    return node("JsonNode", "builtins.str", json.dumps(value), is_json=True)


def state_of(thing):
    """Return the node that skops itself makes of a thing."""
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(thing))) as file:
        schema = json.loads(file.read("schema.json"))
    return {key: value for key, value in schema.items() if key not in ("protocol", "_skops_version")}


class Payload:
    """What, once it is unpickled, makes a file."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.mkdir, (self.marker,)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def huge_header():
    content = npy(np.zeros(3))
    return content.replace(b"(3,), }          ", b"(999999999999,), }")


def malicious(good, marker):
    """Return files by name; each would make the marker, or fill the memory, if it were loaded carelessly."""
    mark = str(marker)
    arguments = node("TupleNode", "builtins.tuple", [text(mark)])
    dictionary = node("DictNode", "builtins.dict", {mark: text(1)})
    dictionary["key_types"] = node("ListNode", "builtins.list", [node("TypeNode", "os.mkdir")])
    entries = entries_of(good)
    array = next(name for name in entries if name.endswith(".npy"))
    schema = json.loads(entries["schema.json"])
    deep = text(1)
    for _ in range(300):
        deep = node("ListNode", "builtins.list", [deep])
    cycle = node("ListNode", "builtins.list", [], __id__=7)
    cycle["content"] = [{**node("ListNode", "builtins.list", []), "__id__": 7}]
    objects = npy(np.array([Payload(mark)], dtype=object))
    compressed = io.BytesIO()
    joblib.dump(Payload(mark), compressed, compress=3)
    plain = io.BytesIO()
    joblib.dump(Payload(mark), plain)
    return {
        "pickle": pickle.dumps(Payload(mark)),
        "old pickle": pickle.dumps(Payload(mark), protocol=0),
        "joblib": plain.getvalue(),
        "compressed joblib": compressed.getvalue(),
        "skops without a seal": skops.io.dumps(SMTLClassifier().fit(X, Y)),
        "function": with_node(good, state_of(os.makedirs)),
        "builtin": with_node(good, state_of(os.mkdir)),
        "partial": with_node(good, state_of(functools.partial(os.mkdir, mark))),
        "methodcaller": with_node(good, state_of(operator.methodcaller("mkdir", mark))),
        "attrgetter": with_node(good, state_of(operator.attrgetter("mkdir"))),
        "method": with_node(good, state_of(LogisticRegression().fit)),
        "getattr": with_node(good, node("MethodNode", "builtins.str", {"func": "format", "obj": text("{0}")})),
        "constructor": with_node(good, node("ConstructorFromReduceNode", "os.mkdir", arguments)),
        "object": with_node(good, node("ObjectNode", "subprocess.Popen", dictionary)),
        "estimator": with_node(good, state_of(LogisticRegression())),
        "type": with_node(good, node("TypeNode", "os.mkdir")),
        "key type": with_node(good, dictionary),
        "list": with_node(good, node("ListNode", "os.mkdir", [text(mark)])),
        "tuple": with_node(good, node("TupleNode", "collections.OrderedDict", [text(mark)])),
        "set": with_node(good, state_of({1})),
        "bytes": with_node(good, state_of(b"mark")),
        "generator": with_node(good, state_of(np.random.default_rng(0))),
        "scalar": with_node(good, node("NdArrayNode", "os.mkdir", type="numpy", file=array)),
        "cached": with_node(good, node("CachedNode", "builtins.str", __id__=1)),
        "no type": with_node(good, {"content": 1}),
        "no node": with_node(good, [1]),
        "not there": with_node(good, node("NdArrayNode", "numpy.ndarray", type="numpy", file="../1.npy")),
        "deep": with_node(good, deep),
        "deep text": with_node(good, node("JsonNode", "builtins.str", "[" * 100_000)),
        "cycle": with_node(good, cycle),
        "deep schema": sealed({**entries, "schema.json": "[" * 100_000}.items()),
        "old protocol": sealed({**entries, "schema.json": json.dumps(schema | {"protocol": 0})}.items()),
        "other root": sealed({**entries, "schema.json": json.dumps(text(1) | {"protocol": 2})}.items()),
        "object array": sealed({**entries, array: objects}.items()),
        "large header": sealed({**entries, array: huge_header()}.items()),
        "header with code": sealed({**entries, array: npy(np.zeros(1)).replace(b"False", b"a()()")}.items()),
        "path": sealed({**entries, "../../evil.npy": npy(np.zeros(1))}.items()),
        "absolute path": sealed({**entries, mark: b"1"}.items()),
        "more files": sealed({**entries, "code.py": b"1"}.items()),
        "bomb": sealed({**entries, "1.npy": npy(np.zeros(10**6))}.items(), zipfile.ZIP_DEFLATED),
        "no metadata": sealed([(k, v) for k, v in entries.items() if k != "smtl.json"]),
        "metadata": sealed({**entries, "smtl.json": b"[1]"}.items()),
        "names": sealed({**entries, "smtl.json": b'{"format": 1, "features": [[]], "tasks": 3}'}.items()),
        "not JSON": sealed({**entries, "schema.json": b"\xff"}.items()),
        "no archive": b"PK" + good.read_bytes()[-84 - 64 :],
    }


def test_nothing_malicious_is_loaded_or_run(good, tmp_path):
    marker = tmp_path / "marker"
    files = malicious(good, marker)
    # The payload works where files are loaded carelessly.
    pickle.loads(files["pickle"])
    assert marker.exists()
    marker.rmdir()
    path = tmp_path / "m.skops"
    for name, content in files.items():
        path.write_bytes(content)
        for read in (load_model, model_metadata):
            if read is model_metadata and name in ("cycle", "other root"):
                continue  # harmless data, but no model
            with pytest.raises(ModelError) as refused:
                read(path)
            assert str(path) in str(refused.value), name
        assert not marker.exists(), name
    assert sorted(tmp_path.iterdir()) == [path]


def test_reasons_are_told(good, tmp_path):
    path = tmp_path / "m.skops"
    files = malicious(good, tmp_path / "marker")
    for name, words in {
        "pickle": "got a pickle instead; it was not loaded",
        "compressed joblib": "a zlib stream (joblib writes them)",
        "skops without a seal": "a zip archive (a skops file, perhaps) that smtl has not written",
        "partial": "it holds functools.partial (PartialNode), which no model needs",
        "function": "it holds os.makedirs (FunctionNode), which no model needs",
        "estimator": "it holds sklearn.linear_model._logistic.LogisticRegression (ObjectNode)",
        "object array": "it has an array of object",
        "bomb": "compressed",
        "path": "it has a file '../../evil.npy' in it",
        "deep": "nested deeper than 60 levels",
        "large header": "an array in it is not of the size that it says",
    }.items():
        path.write_bytes(files[name])
        with pytest.raises(ModelError) as refused:
            load_model(path)
        assert words in str(refused.value)


def with_metadata(good, **changes):
    entries = entries_of(good)
    metadata = json.loads(entries["smtl.json"]) | changes
    return sealed({**entries, "smtl.json": json.dumps(metadata)}.items())


def test_other_versions_load_or_say_why_not(good, tmp_path):
    path = tmp_path / "m.skops"
    metadata = model_metadata(good)
    path.write_bytes(with_metadata(good, versions=metadata["versions"] | {"smtl": "0.9.1", "scikit-learn": "1.7.0"}))
    load_model(path)
    path.write_bytes(with_metadata(good, format=2, versions={"smtl": "3.1"}))
    with pytest.raises(ModelError, match=r"must be of format 1, got 2 instead, written by smtl 3\.1"):
        load_model(path)
    # Whatever has changed in between: a model whose scores are no longer the same is not used.
    probe = np.array(metadata["probe"]) + 1e-3
    path.write_bytes(with_metadata(good, probe=probe.tolist(), versions={"smtl": "0.0.1", "scikit-learn": "1.2"}))
    with pytest.raises(ModelError, match=r"scores are not those .* written with smtl 0\.0\.1, scikit-learn 1\.2"):
        load_model(path)


def test_a_model_of_another_scikit_learn_loads_without_a_warning(good, tmp_path, recwarn):
    entries = entries_of(good)
    schema = entries["schema.json"].decode()
    version = persistence.version("scikit-learn")
    assert f'"\\"{version}\\""' in schema
    path = tmp_path / "m.skops"
    changed = schema.replace(f'"\\"{version}\\""', '"\\"1.7.0\\""')
    path.write_bytes(sealed({**entries, "schema.json": changed}.items()))
    load_model(path)
    assert len(recwarn) == 0
