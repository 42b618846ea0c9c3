"""A plain install fits and predicts; whatever needs more says which extra brings it."""

import json
import subprocess
import sys

import pytest

# What pyproject.toml has in extras, but for narwhals: scikit-learn itself has begun to need it.
OPTIONAL = ["skops", "pyarrow", "defusedxml", "platformdirs", "matplotlib"]
OPTIONAL += ["rich", "typer", "fastexcel", "onnx", "dask"]
BLOCK = f"""
import sys

class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {[*OPTIONAL, "distributed", "pandas", "polars", "lightgbm"]}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing)
"""

FITS = """
import json
import warnings
import numpy as np
from sklearn.datasets import make_multilabel_classification
import smtl
from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble, SMTLRanker, smtl_path

X, Y = make_multilabel_classification(120, n_features=6, n_classes=3, random_state=0)
sites = np.arange(120) % 2
found = {
    "one": SMTLClassifier("f1").fit(X, Y).predict(X).shape,
    "log": SMTLClassifier("log").fit(X, Y).predict_proba(X).shape,
    "sites": SMTLClassifier("auc", "trace").fit(X, Y[:, 0], tasks=sites).predict(X, tasks=sites).shape,
    "ensemble": SMTLEnsemble(preset="fast", cv=3).fit(X, Y).predict(X).shape,
    "ranker": SMTLRanker().fit(X, Y[:, 0], groups=np.arange(120) // 10).predict(X).shape,
    "path": smtl_path(X, Y, Cs=3).coefs[0].shape,
    "html": "<table" in SMTLClassifier().fit(X, Y)._repr_html_(),
}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found["search"] = SMTLClassifierCV("auc", Cs=3, cv=3, verbose=1).fit(X, Y).predict(X).shape
found["warnings"] = [str(one.message) for one in caught]
found["names"] = [name for name in smtl.__all__ if not hasattr(smtl, name)]
found["imported"] = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps(found))
"""

WANT_MORE = {
    "save_model(model, 'x.skops')": ("skops", "models"),
    "load_table(X)": ("pyarrow", "tables"),
    "read_csv('x.csv')": ("pyarrow", "tables"),
    "read_parquet('x.parquet')": ("pyarrow", "tables"),
    "read_mulan('x.arff')": ("defusedxml", "tables"),
    "load_dataset('emotions')": ("platformdirs", "tables"),
    "write_report(model)": ("pyarrow", "tables"),
    "plot_weights(model)": ("matplotlib", "plots"),
    "fit_folder(X)": ("pyarrow", "tables"),
}
ASK = """
import json
from pathlib import Path
from smtl import SMTLClassifier, save_model
from smtl.datasets import load_dataset, read_csv, read_mulan, read_parquet
from smtl.plotting import plot_weights

def load_table(X):
    from smtl.tables import TableEncoder

def write_report(model):
    from smtl.model.report import write_report

def fit_folder(X):
    from smtl.dask import SMTLClassifier
    SMTLClassifier().fit_parquet(".", ["a"])

Path("x.arff").write_text("@relation x\\n@attribute a numeric\\n@attribute b {0,1}\\n@data\\n1,0\\n")
Path("x.xml").write_text("<labels><label name='b'></label></labels>")
Path("x.csv").write_text("a,b\\n1,0\\n")
X = [[0.0], [1.0]]
model = SMTLClassifier().fit(X, [0, 1])
found = {}
for call in json.loads(sys.argv[1]):
    try:
        eval(call)
        found[call] = ""
    except Exception as error:
        found[call] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


def without_extras(code, *arguments, folder):
    return subprocess.run(
        [sys.executable, "-c", BLOCK + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
    )


def test_a_plain_install_fits_and_predicts(tmp_path):
    process = without_extras(FITS, folder=tmp_path)
    assert process.returncode == 0, process.stderr
    found = json.loads(process.stdout)
    assert found["one"] == found["search"] == found["ensemble"] == [120, 3]
    assert found["log"] == [120, 3]
    assert found["sites"] == found["ranker"] == [120]
    assert found["path"] == [3, 6]
    assert found["html"]
    assert found["names"] == []
    assert [line for line in found["warnings"] if "bar of progress" in line] == [
        "there is no bar of progress: bars of progress need rich, which is not installed; run pip install 'smtl[cli]'."
    ]
    assert set(found["imported"]).isdisjoint(OPTIONAL)


def test_what_needs_more_says_which_extra_brings_it(tmp_path):
    process = without_extras(ASK, json.dumps(list(WANT_MORE)), folder=tmp_path)
    assert process.returncode == 0, process.stderr
    for call, told in json.loads(process.stdout).items():
        module, extra = WANT_MORE[call]
        assert told.startswith("ImportError: "), (call, told)
        assert told.endswith(f"need {module}, which is not installed; run pip install 'smtl[{extra}]'."), (call, told)


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "x.csv"]])
def test_the_command_says_what_to_install(arguments, tmp_path):
    code = f"import runpy\nsys.argv = ['smtl', *{arguments}]\nrunpy.run_module('smtl', run_name='__main__')"
    process = without_extras(code, folder=tmp_path)
    assert process.returncode == 1
    assert process.stderr == "Error: commands need typer, which is not installed; run pip install 'smtl[cli]'.\n"
