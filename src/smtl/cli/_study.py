"""What ``smtl compare`` and ``smtl reproduce`` share: checks before hours are spent, progress, and the report."""

from __future__ import annotations

import os
import shlex
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtl.cli._errors import CommandError
from smtl.cli._guard import files_of, guard
from smtl.cli._model_options import writing_errors
from smtl.terminal import clean_console

if TYPE_CHECKING:
    from smtl.experiments import Study

__all__ = ["chosen_methods", "guard_study", "missing_data", "run_study", "told_apart"]


def chosen_methods(given: Sequence[str]) -> list[str]:
    """Return the methods that a user asks for: names, families, import paths, separated by commas or given apart.

    Parameters
    ----------
    given : sequence of str
        What stands behind ``--methods``. Nothing, or "all", is all of them; "smtl", "mtl-cls" and "mtl-reg" are those
        of one family. For import paths the current folder is put on ``sys.path``.

    Returns
    -------
    list of str
        Each once.

    Examples
    --------
    >>> chosen_methods(["mtl-reg,br", "br"])
    ['mtl-reg-l21', 'mtl-reg-l11', 'mtl-reg-trace', 'br']
    """
    from smtl.experiments import get_method, method_names

    names: dict[str, None] = {}
    for word in (word.strip() for words in given for word in words.split(",")):
        family = [name for name in method_names() if word == "all" or get_method(name).family.lower() == word.lower()]
        if not family and word:
            if "." in word and os.getcwd() not in sys.path:
                sys.path.insert(0, os.getcwd())  # as python -m does, so that ./mymodel.py is found; workers get it too
            try:
                get_method(word)
            except ValueError as error:
                raise CommandError(f"{error} Families: 'all', 'smtl', 'mtl-cls', 'mtl-reg'.") from error
            family = [word]
        names.update(dict.fromkeys(family))
    return list(names or dict.fromkeys(method_names()))


def guard_study(datasets: Iterable[str], out: Path, reading: dict[str, Any] | None = None) -> None:
    """Refuse data among the files that a study writes.

    Parameters
    ----------
    datasets : iterable of str
        Names or files, perhaps with an imbalance.
    out : Path
        The folder of the study.
    reading : dict, optional
        The options that tables are read with.

    Examples
    --------
    >>> guard_study(["digits"], Path("study"))
    """
    files = [file for name in datasets for file in files_of(name, reading)]
    own = [out / name for name in ("runs.sqlite", "runs.csv", "report.html")]
    own += [path for folder in ("tables", "data") for path in sorted((out / folder).glob("*"))]
    guard(files, own, "copy it to another folder first")


def told_apart(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tell data from methods where both stand behind ``--methods``: an option takes only the first of several words.

    Parameters
    ----------
    words : sequence of str
        Of the command line.

    Returns
    -------
    data, methods : list of str
        A word is a method if it has the name of one or of a family, or is the import path of a class and no file.

    Examples
    --------
    >>> told_apart(["emotions", "br", "smtl,lp", "sklearn.dummy.DummyClassifier", "table.csv"])
    (['emotions', 'table.csv'], ['br', 'smtl,lp', 'sklearn.dummy.DummyClassifier'])
    """
    from smtl.experiments import get_method, method_names

    known = {"all", *method_names(), *(get_method(name).family.lower() for name in method_names())}
    data: list[str] = []
    methods: list[str] = []
    for word in words:
        *module, name = word.split(".")
        is_class = bool(module) and name[:1].isupper() and all(part.isidentifier() for part in [*module, name])
        is_method = not Path(word).exists() and (is_class or known.issuperset(word.lower().split(",")))
        (methods if is_method else data).append(word)
    return data, methods


def missing_data(datasets: Iterable[str]) -> dict[str, str]:
    """Return which data sets cannot be had, and why; the others are then in the cache.

    Parameters
    ----------
    datasets : iterable of str
        Names or files, perhaps with an imbalance.

    Returns
    -------
    dict of str to str
        Reasons by name.

    Examples
    --------
    >>> missing_data(["digits"])
    {}
    """
    from smtl.experiments.imbalance import parse_ratio
    from smtl.experiments.study_data import load_for_study

    reasons = {}
    for name in dict.fromkeys(parse_ratio(name)[0] for name in datasets):
        try:
            load_for_study(name)
        except (OSError, ValueError) as error:
            reasons[name] = str(error)
    return reasons


def run_study(
    datasets: Sequence[str],
    methods: Sequence[str],
    out: Path,
    *,
    study: Study,
    n_splits: int,
    n_jobs: int,
    retry: bool,
    also: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
) -> None:
    """Run a study with a display of its progress, and write its report.

    Parameters
    ----------
    datasets, methods : sequence of str
        What to run.
    out : Path
        The folder.
    study : Study
        Settings.
    n_splits, n_jobs : int
        Splits and processes.
    retry : bool
        Whether to run again what has failed.
    also : sequence of (datasets, methods)
        What else to run.
    """
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from smtl.experiments import Run, StudyError, compare

    console = clean_console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    parts = [(datasets, methods), *also]
    total = n_splits * sum(len(data) * len(names) for data, names in parts)
    before = 0

    def tell(run: Run, result: dict[str, Any], done: int, _: int) -> None:
        words = f"{run.dataset} {run.method} split {run.split}"
        if "error" in result:
            why = " ".join(result["error"].split())[:300]
            console.print(f"Failed: {words}: {why}", markup=False, soft_wrap=True)
        elif not console.is_terminal:
            print(f"{before + done} of {total}: {words}, {result['fit_seconds']:.1f} s", file=sys.stderr, flush=True)
        bar.update(task, completed=before + done, description=escape(words))

    try:
        with bar:
            task = bar.add_task("starting", total=total)
            for data, names in parts:
                compare(data, names, out, study=study, n_splits=n_splits, n_jobs=n_jobs, retry=retry, report=tell)
                before += n_splits * len(data) * len(names)
                bar.update(task, completed=before)
    except StudyError as error:
        raise CommandError(str(error)) from error
    except sqlite3.Error as error:
        raise _of_store(out, error) from error
    except OSError as error:
        raise writing_errors(error.filename or out, error) from error
    except KeyboardInterrupt:
        print(f"Interrupted. {out} keeps what is done; the same command goes on from there.", file=sys.stderr)
        raise
    try:
        _write_report(out, datasets)
    except sqlite3.Error as error:
        raise _of_store(out, error) from error
    except OSError as error:
        raise writing_errors(error.filename or out, error) from error


def _of_store(out: Path, error: sqlite3.Error) -> CommandError:
    """Return the error for a store that cannot be written: what it holds is not touched by that."""
    if not isinstance(error, sqlite3.OperationalError):
        return CommandError(
            f"cannot read {str(out / 'runs.sqlite')!r}: {error}. If the same command fails again, the disk or the file "
            "is damaged: put back a copy of it, or give another folder."
        )
    return CommandError(
        f"cannot write {str(out / 'runs.sqlite')!r}: {error}. It keeps what is done; the same command goes on there."
    )


def _write_report(out: Path, datasets: Sequence[str]) -> None:
    from smtl.cli._study_tables import print_scores
    from smtl.experiments import Results, Store
    from smtl.experiments.report import write_report

    with Store(out / "runs.sqlite") as store:
        rows, settings = store.rows(), store.settings
    plain = Results.of([row for row in rows if "@1:" not in row["dataset"]], datasets)
    skewed = [row for row in rows if "@1:" in row["dataset"]]
    command = "smtl " + shlex.join(sys.argv[1:])
    page = write_report(
        plain, out, settings=settings, imbalance=Results.of(skewed) if skewed else None, command=command
    )
    print_scores(plain)
    failed = sum(row["status"] == "failed" for row in rows)
    print(
        f"{len(rows) - failed} runs{f', {failed} failed' if failed else ''}. Report: {page}, tables: {out / 'tables'}"
    )
