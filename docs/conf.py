"""How the site is built: `python -m sphinx -W docs docs/_build`."""

from __future__ import annotations

import importlib
import inspect
import os
import shutil
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

import smtl

os.environ.setdefault("OMP_NUM_THREADS", "1")

HERE = Path(__file__).resolve().parent

project, author, copyright = "smtl", "the smtl developers", "the smtl developers"
release = version = version_of("smtl")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",  # formulas without a network
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "results", "gallery/**/*.md5"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
# Docstrings that are inherited from scikit-learn refer to pages of its own.
suppress_warnings = ["config.cache", "ref.ref"]

html_theme = "pydata_sphinx_theme"
html_title = "smtl"
html_favicon = "images/favicon.svg"
html_static_path = ["images", "_static"]
html_css_files = ["smtl.css"]
# Pages that no others are below have nothing to show at their left.
ALONE = ["get_started", "how_it_works", "coming_from", "faq", "changelog", "releasing"]
html_sidebars = {page: [] for page in ALONE}
templates_path = ["_templates"]
html_show_sourcelink = False
html_use_index = False  # the API reference is one, and there is the search
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def class_of(name: str) -> type:
    """Return the class of a full name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def own_methods(name: str) -> list[str]:
    """Return the public methods of a class that are not scikit-learn's, in the order that they are written in."""
    methods = {
        key: (depth, place)
        for depth, kind in reversed(list(enumerate(class_of(name).__mro__)))
        for place, (key, value) in enumerate(vars(kind).items())
        if inspect.isfunction(inspect.unwrap(getattr(value, "__func__", getattr(value, "fn", value))))
        and kind.__module__.startswith("smtl")
        and not key.startswith("_")
    }
    return sorted(methods, key=methods.get)


def own_properties(name: str) -> list[str]:
    """Return the properties of a class that its docstring does not name."""
    kind = class_of(name)
    return [
        key
        for key, value in inspect.getmembers(kind, lambda value: isinstance(value, property))
        if not key.startswith("_") and key not in (kind.__doc__ or "") and value.__doc__
    ]


def in_examples(name: str) -> str:
    """Return the shortest full name of something public, which is that of the gallery."""
    module, _, last = name.rpartition(".")
    short = last in smtl.__all__ and getattr(smtl, last) is getattr(importlib.import_module(module), last)
    return f"smtl.{last}" if short else name


default_role = "autolink"  # `smtl.metrics.get_metric` in a docstring is a link
autosummary_generate = True
autosummary_context = {"own_methods": own_methods, "own_properties": own_properties, "in_examples": in_examples}
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# The gallery, by what a reader wants. An example that is not named here comes last in its section.
SECTIONS = ["answers", "judged", "inside", "large"]
EXAMPLES = [
    *("ensemble", "missing_labels", "sites", "text", "ranking"),
    *("cuts", "recall_floor", "metrics", "calibration", "own_metric"),
    *("shared_features", "path", "certificate", "planes"),
    "dask",
]


class InReadersOrder:
    """The place of an example within its section."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        """Return what to sort by."""
        name = file.removeprefix("plot_").removesuffix(".py")
        return (EXAMPLES.index(name) if name in EXAMPLES else len(EXAMPLES)), file


sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("smtl",),
    "filename_pattern": r"plot_",
    "subsection_order": ExplicitOrder([f"../examples/{section}" for section in SECTIONS]),
    "within_subsection_order": InReadersOrder,
    "nested_sections": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

# The packages with public names, and what each is about.
PACKAGES = {
    "smtl.estimators": "Linear models",
    "smtl.ensemble": "The ensemble",
    "smtl.metrics": "What to train on, and what to be judged by",
    "smtl.penalties": "What ties the tasks together",
    "smtl.tables": "Columns of a table as features",
    "smtl.model": "Models in files",
    "smtl.model.export": "Models for programs without smtl",
    "smtl.model.report": "A page about a model",
    "smtl.model_selection": "Folds for several labels",
    "smtl.dask": "Data past one machine, or past its memory",
    "smtl.plotting": "Pictures",
    "smtl.datasets": "Data from files and by name",
    "smtl.experiments": "Studies that compare methods",
    "smtl.baselines": "Methods to compare with",
    "smtl.solvers": "The training problem and its solvers",
    "smtl.tasks": "The data as a solver sees them",
    "smtl.testing": "Whether your own parts keep the rules",
}


def write_api_pages() -> None:
    """Write the API reference: a page a package, with every name of its ``__all__``."""
    folder = HERE / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    pages = []
    for package, about in PACKAGES.items():
        module = importlib.import_module(package)
        names = [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]
        title = f"``{package}``: {about}"
        lines = [title, "=" * len(title), "", f".. currentmodule:: {package}", ""]
        lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", "", *(f"   {n}" for n in names)]
        (folder / f"{package}.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")
        pages.append(package)
    index = [
        "API reference",
        "=============",
        "",
        "Every public name, by where it is.",
        "Those that are in ``smtl.__all__`` can be imported from ``smtl``, too.",
        "",
        ".. toctree::",
    ]
    index += ["   :maxdepth: 1", "", *(f"   {page}" for page in pages)]
    (folder / "index.rst").write_text("\n".join(index) + "\n", encoding="utf-8")


write_api_pages()
