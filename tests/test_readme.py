"""The Python of README and docs runs, the README's commands do what they say, and its lists are complete."""

import pkgutil
import re
from pathlib import Path

import pytest

import smtl.cli
from smtl.metrics import metric_names
from smtl.penalties import penalty_names
from smtl.registry import Named
from smtl.solvers import solver_names

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
PAGES = {
    str(page.relative_to(README.parent)): re.findall(
        r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S
    )
    for page in [README, *sorted((README.parent / "docs").rglob("*.md"))]
}


def families(base=Named):
    """Return the dictionaries of classes by name, of all kinds of classes that have one."""
    found = [vars(base)["known"]] if "known" in vars(base) else []
    return found + [known for kind in base.__subclasses__() for known in families(kind)]


@pytest.fixture
def _as_if_it_had_not_run():
    """Forget the classes that a page has given a name: other tests of this process list those of smtl."""
    yield
    for known in families():
        for name in [name for name, kind in known.items() if kind.__module__ == "page"]:
            del known[name]


@pytest.mark.usefixtures("_as_if_it_had_not_run")
@pytest.mark.parametrize("page", [page for page, blocks in PAGES.items() if blocks])
def test_the_python_of_a_page_runs_from_top_to_bottom(page, monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for number, block in enumerate(PAGES[page]):
        exec(compile(block, f"{page}, block {number}", "exec"), names)


def test_the_readme_has_the_examples():
    assert len(PAGES["README.md"]) >= 3


def test_each_command_sets_up_all_it_needs():
    start = TEXT.split("## Use it")[0]
    commands = [line for block in re.findall(r"^```sh\n(.*?)^```$", start, re.M | re.S) for line in block.splitlines()]
    assert len(commands) == 2
    assert all(re.match(r"python3\.11 -m venv \.venv && \.venv/bin/pip install ", line) for line in commands)


@pytest.mark.parametrize("name", [*metric_names(), *penalty_names(), *solver_names()])
def test_lists_every_name(name):
    assert f'`"{name}"`' in TEXT.split("## What there is")[1]


def test_the_other_commands_are_there():
    words = re.findall(r"^smtl (\w+)", TEXT, re.M)
    assert words
    assert set(words) <= {module.name for module in pkgutil.iter_modules(smtl.cli.__path__)}


def test_links_lead_somewhere():
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", TEXT) if "://" not in target]
    assert targets
    assert all((README.parent / target).is_file() for target in targets)
