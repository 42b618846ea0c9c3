"""Every public name is in the API reference, documented, with an example (which pytest runs)."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import smtl

ROOT = Path(__file__).resolve().parents[2]
# Those of the API reference, as docs/conf.py has them: Sphinx is not there to import it.
PACKAGES = [
    "smtl",
    *next(
        ast.literal_eval(statement.value)
        for statement in ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8")).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "PACKAGES"
    ),
]
# Packages whose names are reached from another, or are none of the user's.
INSIDE = {
    "smtl.cli",
    "smtl.datasets.formats",
    "smtl.ensemble.learners",
    "smtl.estimators.rules",
    "smtl.experiments.methods",
    "smtl.experiments.report",
    "smtl.kernels",
    "smtl.pages",
    "smtl.parts",
    "smtl.solvers.proposers",
}
NAMES = [(package, name) for package in PACKAGES for name in importlib.import_module(package).__all__]


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_public_name_has_a_docstring_with_an_example(package, name):
    thing = getattr(importlib.import_module(package), name)
    documentation = inspect.getdoc(thing) or ""
    assert ">>> " in documentation
    assert documentation == inspect.cleandoc(thing.__doc__ or ""), "inherited from its base"
    for method, function in inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []:
        if not method.startswith("_"):
            assert inspect.getdoc(function), f"{name}.{method} has no docstring"


def test_every_package_is_in_the_reference():
    packages = {module.name for module in pkgutil.walk_packages(smtl.__path__, "smtl.") if module.ispkg}
    assert packages - INSIDE - set(PACKAGES) == set()
    assert INSIDE - packages == set()


def test_what_the_pages_import_is_in_the_reference():
    scripts = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")]
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        scripts += re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    imported = {
        (node.module, alias.name)
        for script in scripts
        for node in ast.walk(ast.parse(script))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("smtl")
        for alias in node.names
    }
    assert len(imported) > 20
    assert imported - set(NAMES) == set()
