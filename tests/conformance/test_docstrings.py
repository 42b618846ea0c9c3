"""Every public name is documented, with an example (which pytest runs)."""

import importlib
import inspect

import pytest

PACKAGES = [
    "smtl",
    "smtl.baselines",
    "smtl.datasets",
    "smtl.ensemble",
    "smtl.estimators",
    "smtl.experiments",
    "smtl.metrics",
    "smtl.model",
    "smtl.model.report",
    "smtl.penalties",
    "smtl.plotting",
    "smtl.solvers",
    "smtl.tasks",
    "smtl.testing",
]
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
