"""The report of a study: one page that needs no network, and its tables as CSV, Markdown and LaTeX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smtl.datasets.files import replacing
from smtl.experiments.report.material import gather
from smtl.experiments.report.page import page
from smtl.experiments.results import Results, rows_as_csv

__all__ = ["write_report"]


def write_report(
    results: Results,
    folder: str | os.PathLike[str],
    *,
    settings: Mapping[str, Any] | None = None,
    imbalance: Results | None = None,
    title: str = "A comparison of methods",
    command: str = "",
) -> Path:
    """Write the report of a study.

    Parameters
    ----------
    results : Results
        The study. Runs on data made imbalanced, such as ``"emotions@1:5"``, are kept out of tables and ranks and have a
        section of their own.
    folder : path-like
        Where to; made if it is not there. The page is ``report.html``, the runs are in ``runs.csv``, and the tables in
        ``tables``.
    settings : mapping, optional
        What all runs have in common.
    imbalance : Results, optional
        Runs on data made imbalanced that are not among the others.
    title : str, default="A comparison of methods"
        The heading of the page.
    command : str, optional
        The command that made it.

    Returns
    -------
    Path
        The page. Each file takes its place only once it is whole.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = [{"dataset": "yeast", "method": "br", "split": 0, "status": "done", "auc": 0.6}]
    >>> with TemporaryDirectory() as folder:
    ...     written = write_report(Results.of(rows), folder)
    ...     written.name, Path(folder, "tables", "results-yeast.csv").is_file()
    ('report.html', True)
    """
    folder = Path(folder)
    material = gather(results, imbalance, settings, command)
    text = page(material, title)
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for table in material.tables:
        for suffix, content in (("csv", table.to_csv()), ("md", table.to_markdown()), ("tex", table.to_latex())):
            _write(folder / "tables" / f"{table.name}.{suffix}", content + "\n")
    _write(folder / "runs.csv", rows_as_csv([*results.rows, *(imbalance.rows if imbalance else ())]) + "\n")
    _write(folder / "report.html", text)
    return folder / "report.html"


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)
