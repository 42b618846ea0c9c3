"""What holds for the package as a whole: names, types, and what importing it costs."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from itertools import chain
from pathlib import Path

import pytest

import smtl

MODULES = [
    "smtl",
    *(
        module.name
        for module in pkgutil.walk_packages(smtl.__path__, "smtl.")
        if not module.name.startswith("smtl.kernels") and not module.name.endswith("__main__")
    ),
]


def python(code: str, *arguments: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.parametrize("name", MODULES)
def test_all_are_strings_that_exist(name):
    module = importlib.import_module(name)
    names = module.__all__
    assert all(isinstance(entry, str) for entry in names)
    assert len(set(names)) == len(names)
    assert [entry for entry in names if not hasattr(module, entry)] == []


def test_is_typed():
    assert files("smtl").joinpath("py.typed").is_file()


def test_what_is_imported_is_declared():
    words = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]
    known = [*words["dependencies"], *chain.from_iterable(words["optional-dependencies"].values())]
    declared = {re.match(r"[\w-]+", name)[0].lower().replace("-", "_") for name in known}
    declared |= {"sklearn" if name == "scikit_learn" else name for name in declared} | {"smtl"}
    imported = set()
    for path in Path(smtl.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    assert imported - declared - sys.stdlib_module_names == set()


def test_the_version_is_that_of_citation_and_changelog():
    root = Path(__file__).parents[1]
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text(), re.M)[1]
    newest = re.search(r"^## \[(.*?)\]", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
    assert newest == ("Unreleased" if "dev" in version else version)
    assert cited == version or "dev" in version


def test_import_is_light():
    code = "import sys, smtl; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    assert {"numba", "llvmlite", "matplotlib", "typer"} & set(python(code).split()) == set()


def test_import_needs_neither_compiler_nor_plots_nor_tables():
    # scikit-learn itself imports pandas and rich where they are installed; None makes their import fail.
    python(
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['numba', 'matplotlib', 'pandas', 'typer', 'rich']))\n"
        "import smtl, smtl.metrics, smtl.penalties, smtl.solvers\n"
        "smtl.SMTLClassifier(metric='auc')"
    )


FIT = """
import pickle, sys
from sklearn.datasets import make_multilabel_classification
from smtl import SMTLClassifier
X, Y = make_multilabel_classification(n_samples=60, random_state=0)
with open(sys.argv[1], "wb") as file:
    pickle.dump((SMTLClassifier(tol=1e-2).fit(X, Y), X), file)
"""

PREDICT = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    model, X = pickle.load(file)
print(model.predict(X).shape, "numba" in sys.modules)
"""


def test_predicting_imports_no_compiler(tmp_path):
    path = str(tmp_path / "model.pickle")
    python(FIT, path)
    assert python(PREDICT, path).split() == ["(60,", "5)", "False"]
